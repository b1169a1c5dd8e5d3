/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries that are left out of a bundle, and caches that cannot be read. */

static void write_bytes_at(const char *path, size_t offset, const void *data,
                           size_t size)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(pwrite(fd, data, size, (off_t)offset), size);
	(void)close(fd);
}

/*
 * Entries that are left out
 */

/* What makes an entry one that cannot be packed. */
struct damage {
	const char *name;
	void (*act)(const char *folder, const struct damage *damage);
	const char *file; /* in the entry's folder */
	const char *from;
	const char *to;
	enum tkb_reason reason;
	const char *part;    /* of the message */
	const char *key;     /* told of; NULL: that of the entry */
	const char *entry;   /* NULL: ADD */
	const char *fixture; /* NULL: triton-3.6.0-cpu */
	off_t size;
};

static const char *path_of(const char *folder, const struct damage *damage)
{
	return text("%s/%s", folder, damage->file);
}

static void overwrite(const char *folder, const struct damage *damage)
{
	write_text(path_of(folder, damage), damage->to);
}

static void edit(const char *folder, const struct damage *damage)
{
	edit_file(path_of(folder, damage), damage->from, damage->to);
}

static void cut(const char *folder, const struct damage *damage)
{
	SYS(truncate(path_of(folder, damage), damage->size));
}

static void cut_off(const char *folder, const struct damage *damage)
{
	const char *path = path_of(folder, damage);
	struct stat status;

	SYS(stat(path, &status));
	SYS(truncate(path, status.st_size - damage->size));
}

static void take_away(const char *folder, const struct damage *damage)
{
	remove_file(path_of(folder, damage));
}

static void call_it(const char *folder, const struct damage *damage)
{
	SYS(rename(path_of(folder, damage), text("%s/%s", folder, damage->to)));
}

static void write_over_limit(const char *folder, const struct damage *damage)
{
	const char *path = path_of(folder, damage);

	remove_file(path);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	CHECK(fd >= 0);
	SYS(ftruncate(fd, 64 * 1024 * 1024 + 1));
	(void)close(fd);
}

static void make_link(const char *folder, const struct damage *damage)
{
	const char *path = path_of(folder, damage);
	const char *elsewhere =
		text("%s/elsewhere-%s", test_folder(), damage->file);

	SYS(rename(path, elsewhere));
	SYS(symlink(elsewhere, path));
}

static void make_fifo(const char *folder, const struct damage *damage)
{
	remove_file(path_of(folder, damage));
	SYS(mkfifo(path_of(folder, damage), 0666));
}

static void make_it_a_folder(const char *folder, const struct damage *damage)
{
	remove_file(path_of(folder, damage));
	make_folder(path_of(folder, damage));
}

/* List `from`, as JSON has it, at the path `to`, or in the entry. */
static void list_more(const char *folder, const struct damage *damage)
{
	list_child_at(text("%s/" ADD_GROUP, folder), damage->from,
	              damage->to != NULL
	                      ? damage->to
	                      : text(RECORDED "/" ADD "/%s", damage->from));
}

/* The same, and the file is there. */
static void list_there(const char *folder, const struct damage *damage)
{
	list_more(folder, damage);
	write_text(path_of(folder, damage), "a\n");
}

static void list_256_bytes(const char *folder, const struct damage *damage)
{
	struct damage own = *damage;
	char *name = test_alloc(256);

	memset(name, 'n', 256);
	own.from = name;
	list_more(folder, &own);
}

static void list_65(const char *folder, const struct damage *damage)
{
	(void)damage;
	list_many(folder, 65 - ADD_FILES);
}

static void make_64_more(const char *folder, const struct damage *damage)
{
	(void)damage;
	for (size_t i = 0; i < 64; i++)
		write_text(text("%s/%02zu.autotune.json", folder, i), "{}");
}

static void nest(const char *folder, const struct damage *damage)
{
	char *nested = test_alloc(20000);

	memset(nested, '[', 10000);
	memset(nested + 10000, ']', 10000);
	write_text(path_of(folder, damage),
	           text("{\"more\": %s, \"child_paths\": {}}", nested));
}

static void copy_there(const char *folder, const struct damage *damage)
{
	write_file(text("%s/%s", folder, damage->to),
	           read_file(path_of(folder, damage)));
}

static void set_flags(const char *folder, const struct damage *damage)
{
	const uint32_t flags = (uint32_t)damage->size;

	write_bytes_at(path_of(folder, damage), offsetof(Elf64_Ehdr, e_flags),
	               &flags, sizeof(flags));
}

static void set_machine(const char *folder, const struct damage *damage)
{
	static const unsigned char x86_64[] = { 62, 0 };

	write_bytes_at(path_of(folder, damage), offsetof(Elf64_Ehdr, e_machine),
	               x86_64, sizeof(x86_64));
}

/* The first section says that it goes on far behind the file's end. */
static void enlarge_section(const char *folder, const struct damage *damage)
{
	static const uint64_t size = UINT64_C(1) << 40;
	const char *path = path_of(folder, damage);
	Elf64_Ehdr header;

	memcpy(&header, read_file(path).data, sizeof(header));
	write_bytes_at(path,
	               header.e_shoff + sizeof(Elf64_Shdr) +
	                       offsetof(Elf64_Shdr, sh_size),
	               &size, sizeof(size));
}

/* The entry's folder gets another name. */
static void call_folder(const char *folder, const struct damage *damage)
{
	SYS(rename(folder, text("%s/../%s", folder, damage->to)));
}

static void move_to_another_key(const char *folder, const struct damage *damage)
{
	replace_in_file(text("%s/" ADD_GROUP, folder), ADD, damage->to);
	call_folder(folder, damage);
}

static void link_folder(const char *folder, const struct damage *damage)
{
	const char *elsewhere = text("%s/elsewhere", test_folder());

	(void)damage;
	SYS(rename(folder, elsewhere));
	SYS(symlink(elsewhere, folder));
}

static void list_up(const char *folder, const struct damage *damage)
{
	write_text(path_of(folder, damage), list_of_add);
	edit_file(path_of(folder, damage), "[", "[\"../x.ptx\", ");
}

#define OUTSIDE(path)                                                          \
	.reason = TKB_REASON_OUTSIDE,                                          \
	.part = "lists '" path "', which is not in this entry"
#define NO_NAME(name)                                                          \
	.reason = TKB_REASON_NAME,                                             \
	.part = "lists '" name "', which cannot be a file's name"
#define MISSING(name)                                                          \
	.reason = TKB_REASON_MISSING, .part = "'" name "' is not there"
#define NO_FILE(name)                                                          \
	.reason = TKB_REASON_UNSAFE, .part = "'" name "' is not a regular "    \
					     "file"
#define TOO_LARGE(name)                                                        \
	.reason = TKB_REASON_LIMIT, .part = "'" name "' has 67108865 bytes"
#define CUT_SHORT                                                              \
	.reason = TKB_REASON_BINARY, .part = "'add_kernel.cubin' is cut short"

static const struct damage damages[] = {
	/* Group files */
	{ "an empty group file", overwrite, ADD_GROUP, NULL, "",
	  .reason = TKB_REASON_GROUP, .part = "the group file is empty" },
	{ "a group file cut short", cut, ADD_GROUP, NULL, NULL,
	  .reason = TKB_REASON_GROUP, .part = "the group file is not JSON",
	  .size = 300 },
	{ "a group file that is not JSON", overwrite, ADD_GROUP, NULL,
	  "not JSON", .reason = TKB_REASON_GROUP,
	  .part = "the group file is not JSON at byte 0" },
	{ "a group file with something behind it", edit, ADD_GROUP, "\"}}",
	  "\"}} {}", .reason = TKB_REASON_GROUP,
	  .part = "the group file is not JSON" },
	{ "a group file that is not UTF-8", edit, ADD_GROUP, "/home/serve",
	  "/home/\xff", .reason = TKB_REASON_GROUP,
	  .part = "the group file is not JSON at byte" },
	{ "a group file nested 10000 deep", nest, ADD_GROUP, NULL, NULL,
	  .reason = TKB_REASON_GROUP, .part = "nested deeper than 64" },
	{ "a group file that is no object", overwrite, ADD_GROUP, NULL,
	  "[\"add_kernel.json\"]", .reason = TKB_REASON_GROUP,
	  .part = "the group file is not a JSON object" },
	{ "a group file that lists nothing", overwrite, ADD_GROUP, NULL,
	  "{\"child_paths\": {}}", .reason = TKB_REASON_GROUP,
	  .part = "the group file lists no files" },
	{ "a group file that lists numbers", overwrite, ADD_GROUP, NULL,
	  "{\"child_paths\": {\"add_kernel.json\": 1}}",
	  .reason = TKB_REASON_GROUP,
	  .part = "the group file lists a path that is not a string" },
	{ "a group file that lists a file twice", list_more, NULL,
	  "add_kernel.ptx", NULL, .reason = TKB_REASON_GROUP,
	  .part = "lists 'add_kernel.ptx' twice" },
	{ "a group file that lists a group file", list_more, NULL, ADD_GROUP,
	  NULL, .reason = TKB_REASON_GROUP,
	  .part = "lists a group file, '" ADD_GROUP "'" },
	{ "two group files", copy_there, ADD_GROUP, NULL, "__grp__other.json",
	  .reason = TKB_REASON_GROUP, .part = "2 group files" },

	/* What group files list */
	{ "no listed text", take_away, "add_kernel.ptx", NULL, NULL,
	  MISSING("add_kernel.ptx") },
	{ "no listed metadata", take_away, "add_kernel.json", NULL, NULL,
	  MISSING("add_kernel.json") },
	{ "no listed binary", take_away, "add_kernel.cubin", NULL, NULL,
	  MISSING("add_kernel.cubin") },
	{ "another entry's file", list_more, NULL, "softmax_kernel.ptx",
	  RECORDED "/" SOFTMAX "/softmax_kernel.ptx",
	  OUTSIDE(RECORDED "/" SOFTMAX "/softmax_kernel.ptx") },
	{ "a file below itself", list_more, NULL, "x.ptx",
	  RECORDED "/" ADD "/sub/x.ptx",
	  OUTSIDE(RECORDED "/" ADD "/sub/x.ptx") },
	{ "a file under another name", list_more, NULL, "x.ptx",
	  RECORDED "/" ADD "/add_kernel.ptx",
	  OUTSIDE(RECORDED "/" ADD "/add_kernel.ptx") },
	{ "/etc/passwd", list_more, NULL, "passwd", "/etc/passwd",
	  OUTSIDE("/etc/passwd") },
	{ "a path that goes up", list_more, NULL, "x.ptx",
	  RECORDED "/" ADD "/../x.ptx", OUTSIDE(RECORDED "/" ADD "/../x.ptx") },
	{ "a path that is a bare name", list_more, NULL, "x.ptx", "x.ptx",
	  OUTSIDE("x.ptx") },
	{ "the name ..", list_more, NULL, "..", NULL, NO_NAME("..") },
	{ "a name with a slash", list_more, NULL,
	  "../" SOFTMAX "/softmax_kernel.ptx", NULL,
	  NO_NAME("../" SOFTMAX "/softmax_kernel.ptx") },
	{ "a name with a zero", list_more, NULL, "add_kernel.ptx\\u0000", NULL,
	  NO_NAME("add_kernel.ptx\\u0000") },
	{ "a list that goes up", list_up, ADD_GROUP, NULL, NULL,
	  .reason = TKB_REASON_NAME, .part = "lists '../x.ptx'" },
	{ "a name of 256 bytes", list_256_bytes, NULL, NULL, NULL,
	  .reason = TKB_REASON_NAME, .part = "nnnnnn', which cannot be" },
	{ "a name with a newline", list_there, "new\nline.ttir",
	  "new\\nline.ttir", NULL, NO_NAME("new\\nline.ttir") },
	/* As Python writes the byte: "surrogateescape". */
	{ "a name that is not UTF-8", list_there, "bad\xff.ttir",
	  "bad\\udcff.ttir", NULL, NO_NAME("bad\\udcff.ttir") },

	/* Names of other things */
	{ "a group file with a newline in its name", call_it, ADD_GROUP, NULL,
	  "__grp__add\nkernel.json", .reason = TKB_REASON_NAME,
	  .part = "'__grp__add\\x0akernel.json'" },
	{ "a group file whose name is not UTF-8", call_it, ADD_GROUP, NULL,
	  "__grp__add\xffkernel.json", .reason = TKB_REASON_NAME,
	  .part = "'__grp__add\\xffkernel.json'" },
	{ "a module with a newline in its second name", copy_there, LAUNCHER_SO,
	  NULL, "new\nline.so", .reason = TKB_REASON_NAME, .part = "line.so'",
	  .entry = H100_LAUNCHER, .fixture = "triton-3.6.0-h100" },
	{ "timings whose second name is not UTF-8", overwrite,
	  "z\xff.autotune.json", NULL, "{}", .reason = TKB_REASON_NAME,
	  .part = ".autotune.json'", .entry = AUTOTUNE },
	{ "a folder whose name is no key", call_folder, NULL, NULL, "add",
	  .reason = TKB_REASON_NAME,
	  .part = "the folder's name does not have the shape of a key",
	  .key = "add" },

	/* Metadata */
	{ "the hash of another key", edit, "add_kernel.json", "\"hash\": \"e8",
	  "\"hash\": \"e9", .reason = TKB_REASON_HASH,
	  .part = "the metadata's hash 'e9" },
	{ "no hash", edit, "add_kernel.json", "\"hash\"", "\"hush\"",
	  .reason = TKB_REASON_HASH, .part = "the metadata's hash" },
	{ "another key", move_to_another_key, NULL, NULL, H100_MATMUL,
	  .reason = TKB_REASON_HASH, .part = "the metadata's hash",
	  .key = H100_MATMUL },
	{ "empty metadata", overwrite, "add_kernel.json", NULL, "",
	  .reason = TKB_REASON_METADATA, .part = "'add_kernel.json' is" },
	{ "metadata cut short", cut, "add_kernel.json", NULL, NULL,
	  .reason = TKB_REASON_METADATA,
	  .part = "'add_kernel.json' is not JSON", .size = 700 },
	{ "metadata that is no object", overwrite, "add_kernel.json", NULL,
	  "[]", .reason = TKB_REASON_METADATA,
	  .part = "'add_kernel.json' is not a JSON object" },
	{ "metadata that is not UTF-8", edit, "add_kernel.json", "tf32",
	  "tf\xff\xfe", .reason = TKB_REASON_METADATA,
	  .part = "'add_kernel.json' is not JSON" },
	{ "a group file that lists no metadata", edit, ADD_GROUP,
	  ", \"add_kernel.json\": \"" RECORDED "/" ADD "/add_kernel.json\"", "",
	  .reason = TKB_REASON_METADATA, .part = "lists no 'add_kernel.json'" },
	{ "timings cut short", cut, "gelu_kernel.autotune.json", NULL, NULL,
	  .reason = TKB_REASON_METADATA,
	  .part = "'gelu_kernel.autotune.json' is not JSON", .entry = AUTOTUNE,
	  .size = 40 },
	{ "the sentinel in a group file", edit, ADD_GROUP, RECORDED "/" ADD,
	  TKB_SENTINEL, .reason = TKB_REASON_SENTINEL,
	  .part = "the group file holds '[REPLACE]' already" },
	{ "the sentinel in metadata", edit, "add_kernel.json",
	  "/opt/triton-3.6.0", "[REPLACE]/triton",
	  .reason = TKB_REASON_SENTINEL,
	  .part = "'add_kernel.json' holds '[REPLACE]' already" },
	{ "the sentinel in metadata, escaped", edit, "add_kernel.json",
	  "/opt/triton-3.6.0", "\\u005bREPL\\u0041CE]",
	  .reason = TKB_REASON_SENTINEL,
	  .part = "'add_kernel.json' holds '[REPLACE]' already" },

	/* Binaries, and texts */
	{ "a cubin without its last byte", cut_off, "add_kernel.cubin", NULL,
	  NULL, CUT_SHORT, .size = 1 },
	{ "a cubin without 8 bytes", cut_off, "add_kernel.cubin", NULL, NULL,
	  CUT_SHORT, .size = 8 },
	{ "a cubin without 27 bytes", cut_off, "add_kernel.cubin", NULL, NULL,
	  CUT_SHORT, .size = 27 },
	{ "a cubin without 64 bytes", cut_off, "add_kernel.cubin", NULL, NULL,
	  CUT_SHORT, .size = 64 },
	{ "an empty cubin", cut, "add_kernel.cubin", NULL, NULL,
	  .reason = TKB_REASON_BINARY,
	  .part = "'add_kernel.cubin' is not an ELF file" },
	{ "a cubin of another architecture, as CUDA 12 says it", set_flags,
	  "add_kernel.cubin", NULL, NULL, .reason = TKB_REASON_BINARY,
	  .part = "'add_kernel.cubin' is for sm_80, its metadata says sm_90",
	  .size = 0x5a0d50 },
	{ "a cubin of another architecture, as CUDA 13 says it", set_flags,
	  "add_kernel.cubin", NULL, NULL, .reason = TKB_REASON_BINARY,
	  .part = "'add_kernel.cubin' is for sm_100, its metadata says sm_90",
	  .size = 0x9006404,
	  .entry = "NBH6IGFVT4LSTB25PX7PFWWT567DBRMPGJW42CAFUXLY6HML6TDQ",
	  .fixture = "triton-3.9.0-cpu" },
	{ "a cubin without its kernel", edit, "add_kernel.json",
	  "\"name\": \"add_kernel\"", "\"name\": \"sub_kernel\"",
	  .reason = TKB_REASON_BINARY,
	  .part = "'add_kernel.cubin' has no kernel 'sub_kernel'" },
	{ "a cubin with a section outside", enlarge_section, "add_kernel.cubin",
	  NULL, NULL, CUT_SHORT },
	{ "a cubin for another machine", set_machine, "add_kernel.cubin", NULL,
	  NULL, .reason = TKB_REASON_BINARY,
	  .part = "'add_kernel.cubin' is not a cubin" },
	{ "a group file that lists no binary", edit, ADD_GROUP,
	  "\"add_kernel.cubin\": \"" RECORDED "/" ADD "/add_kernel.cubin\", ",
	  "", .reason = TKB_REASON_BINARY,
	  .part = "lists no 'add_kernel.cubin'" },
	{ "a module cut short", cut, LAUNCHER_SO, NULL, NULL,
	  .reason = TKB_REASON_BINARY, .part = "'" LAUNCHER_SO "' is cut short",
	  .entry = H100_LAUNCHER, .fixture = "triton-3.6.0-h100",
	  .size = 5000 },
	{ "an empty text", cut, "add_kernel.ptx", NULL, NULL,
	  .reason = TKB_REASON_BINARY,
	  .part = "'add_kernel.ptx' was never written" },

	/* Limits */
	{ "65 files", list_65, NULL, NULL, NULL, .reason = TKB_REASON_LIMIT,
	  .part = "the group file lists more than 63 files" },
	{ "65 files of timings", make_64_more, NULL, NULL, NULL,
	  .reason = TKB_REASON_LIMIT, .part = "holds more than 64 files",
	  .entry = AUTOTUNE },
	{ "a text over 64 MiB", write_over_limit, "add_kernel.ptx", NULL, NULL,
	  TOO_LARGE("add_kernel.ptx") },
	{ "metadata over 64 MiB", write_over_limit, "add_kernel.json", NULL,
	  NULL, TOO_LARGE("add_kernel.json") },
	{ "a group file over 64 MiB", write_over_limit, ADD_GROUP, NULL, NULL,
	  TOO_LARGE(ADD_GROUP) },

	/* What is no plain file */
	{ "a link for a text", make_link, "add_kernel.ptx", NULL, NULL,
	  .reason = TKB_REASON_UNSAFE, .part = "'add_kernel.ptx' is " },
	{ "a link for a binary", make_link, "add_kernel.cubin", NULL, NULL,
	  .reason = TKB_REASON_UNSAFE, .part = "'add_kernel.cubin' is " },
	{ "a link for metadata", make_link, "add_kernel.json", NULL, NULL,
	  .reason = TKB_REASON_UNSAFE, .part = "'add_kernel.json' is " },
	{ "a link for a group file", make_link, ADD_GROUP, NULL, NULL,
	  .reason = TKB_REASON_UNSAFE, .part = "'" ADD_GROUP "' is " },
	{ "a FIFO for a text", make_fifo, "add_kernel.ptx", NULL, NULL,
	  NO_FILE("add_kernel.ptx") },
	{ "a FIFO for a binary", make_fifo, "add_kernel.cubin", NULL, NULL,
	  NO_FILE("add_kernel.cubin") },
	{ "a FIFO for metadata", make_fifo, "add_kernel.json", NULL, NULL,
	  NO_FILE("add_kernel.json") },
	{ "a FIFO for a group file", make_fifo, ADD_GROUP, NULL, NULL,
	  NO_FILE(ADD_GROUP) },
	{ "a folder for a text", make_it_a_folder, "add_kernel.ptx", NULL, NULL,
	  .reason = TKB_REASON_MISSING,
	  .part = "'add_kernel.ptx' is a folder" },
	{ "a link for the entry's folder", link_folder, NULL, NULL, NULL,
	  .reason = TKB_REASON_UNSAFE,
	  .part = "the folder is a symbolic link" },
};

/* The folder of a device of its own for each damage. */
static const char *root_of(size_t index)
{
	return text("%s/damaged/triton/%zu", test_folder(), 100 + index);
}

/* A copy of the entry, damaged, and beside it one that is good. */
static void do_damage(const struct damage *damage, const char *root)
{
	const char *fixture =
		damage->fixture != NULL ? damage->fixture : "triton-3.6.0-cpu";
	const char *entry = damage->entry != NULL ? damage->entry : ADD;
	const char *good = strcmp(entry, AUTOTUNE) == 0 ? ADD : AUTOTUNE;

	if (!exists(fixture))
		unpack(fixture, fixture);
	make_folder(root);
	copy_folder(text("%s/.triton/cache/%s", fixture, entry),
	            text("%s/%s", root, entry));
	copy_folder(text("triton-3.6.0-cpu/.triton/cache/%s", good),
	            text("%s/%s", root, good));
	damage->act(text("%s/%s", root, entry), damage);
}

static const char *key_of(const struct damage *damage)
{
	if (damage->key != NULL)
		return damage->key;
	return damage->entry != NULL ? damage->entry : ADD;
}

/* The library leaves it out, packs the other one, and says why. */
static const char *check_left_out(const struct damage *damage, const char *root)
{
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		SIZED(options), .watch = watch_with(&seen)
	};
	struct tkb_collect_report report = { SIZED(report) };
	size_t index;

	DONE(tkb_collect_to_file(root, &options, "rest.tkb", &report, ERR),
	     report.left_out_count > 0);
	if (report.left_out_count != 1 || seen.reason != damage->reason ||
	    strstr(seen.message, damage->part) == NULL)
		fail_msg("%s: left out %d, %s: %s", damage->name,
		         (int)report.left_out_count,
		         tkb_reason_name(seen.reason), seen.message);
	CHECK_INT(report.collected_count, 1);
	CHECK_INT(seen.left_out_count, 1);
	CHECK_INT(seen.collected_count, 1);
	CHECK_STR(seen.key, key_of(damage));

	struct tkb_bundle *bundle = test_bundle("rest.tkb");
	CHECK_INT(tkb_bundle_entry_count(bundle), 1);
	CHECK_INT(tkb_bundle_find(bundle, key_of(damage), &index, ERR),
	          TKB_MISS);
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
	return text("left out %s: %s: %s\n", seen.key,
	            tkb_reason_name(seen.reason), seen.message);
}

static size_t count_lines(const char *all)
{
	size_t count = 0;

	for (; *all != '\0'; all++)
		count += *all == '\n';
	return count;
}

/* Root by root by the library, and all at once by the program. */
TEST(collect_refused, leaves_out_what_is_damaged_and_says_why)
{
	const char *lines[TKB_COUNT_OF(damages)];

	make_folder("damaged");
	make_folder("damaged/triton");
	EACH(i, damages) {
		do_damage(&damages[i], root_of(i));
		lines[i] = check_left_out(&damages[i], root_of(i));
	}

	FAILS(tkb_collect_to_file("damaged", NULL, "rest.tkb", NULL, ERR),
	      TKB_ERR_PARTIAL, "the group file is empty");
	struct outcome outcome =
		run(program(), "collect", "damaged", "-o", "p.tkb", NULL);
	struct outcome strict = run(program(), "collect", "damaged", "-o",
	                            "s.tkb", "--strict", NULL);
	CHECK_INT(outcome.status, 4);
	CHECK_INT(strict.status, 1);
	CHECK(!exists("s.tkb"));
	CHECK_INT(count_lines(outcome.err), TKB_COUNT_OF(damages));
	EACH(i, damages) {
		CHECK_CONTAINS(outcome.err, lines[i]);
		CHECK_CONTAINS(strict.err, lines[i]);
	}
	check_same(read_file("p.tkb"), read_file("rest.tkb"));
}

TEST(collect_refused, leaves_out_a_group_file_of_any_length_but_its_own)
{
	const char *root = small_cache();
	const struct tkb_bytes whole = read_file(group_of_add(root));

	for (size_t size = 0; size < whole.size;
	     size += size + 19 < whole.size ? 19 : 1) {
		struct seen seen = { 0 };
		const char *const keys[] = { ADD };
		const struct tkb_collect_options options = {
			SIZED(options), .keys = keys, .key_count = 1,
			.is_dry_run = true, .watch = watch_with(&seen)
		};

		write_file(group_of_add(root),
		           (struct tkb_bytes){ whole.data, size });
		FAILS(tkb_collect(root, &options, NULL, NULL, ERR),
		      TKB_ERR_PARTIAL, seen.message);
		CHECK_INT(ERR->reason, TKB_REASON_GROUP);
		CHECK_INT(seen.left_out_count, 1);
		CHECK_INT(seen.collected_count, 0);
		CHECK_INT(seen.reason, TKB_REASON_GROUP);
	}
}

TEST(collect_refused, minds_the_sentinel_only_where_a_value_begins)
{
	const char *root = small_cache();

	edit_file(in(root, ADD, "add_kernel.json"), "/opt/triton-3.6.0",
	          "/opt/[REPLACE]");
	edit_file(in(root, ADD, "add_kernel.ttir"), "module", "[REPLACE]");

	check_counts(root, 5, 0, 0);
}

static const char *const one_of_each[] = { "add_kernel.ptx", "add_kernel.cubin",
	                                   "add_kernel.json",
	                                   "__grp__add_kernel.json" };

/*
 * As somebody who may not read everything
 */

/* What somebody who is not root collects, and finds out. */
struct attempt {
	const char *root;
	const char *path; /* NULL: a dry run */
	bool is_made;
	int rc;
	struct seen seen;
	struct tkb_collect_report report;
	struct tkb_error err;
};

static void attempt(void *self)
{
	struct attempt *it = self;
	const struct tkb_collect_options options = {
		SIZED(options),
		.is_dry_run = it->path == NULL,
		.threads = 1,
		.watch = watch_with(&it->seen),
	};

	it->is_made = become_nobody(test_folder());
	if (it->is_made)
		it->rc = tkb_collect_to_file(it->root, &options, it->path,
		                             &it->report, &it->err);
}

static struct attempt collect_as_nobody(const char *root, const char *path)
{
	struct attempt it = { .root = root,
		              .path = path,
		              .report = { SIZED(it.report) } };

	SYS(chmod(test_folder(), 0755));
	in_child(attempt, &it, sizeof(it));
	if (!it.is_made) {
		print_message("cannot be somebody else in '%s'\n",
		              test_folder());
		skip();
	}
	return it;
}

static void check_unreadable(const char *root, const char *path,
                             const char *part)
{
	struct stat status;

	SYS(stat(path, &status));
	SYS(chmod(path, 0));

	struct attempt got = collect_as_nobody(root, NULL);

	SYS(chmod(path, status.st_mode));
	CHECK_INT(got.rc, TKB_ERR_PARTIAL);
	CHECK_INT(got.report.collected_count, 4);
	CHECK_INT(got.report.left_out_count, 1);
	CHECK_INT(got.seen.reason, TKB_REASON_UNREADABLE);
	CHECK_STR(got.seen.key, ADD);
	CHECK_CONTAINS(got.seen.message, part);
	CHECK_CONTAINS(got.seen.message, "Permission denied");
}

TEST(collect_refused, leaves_out_an_entry_with_an_unreadable_file)
{
	const char *root = small_cache();

	EACH(i, one_of_each)
		check_unreadable(root, in(root, ADD, one_of_each[i]),
		                 text("%s'", one_of_each[i]));
}

TEST(collect_refused, leaves_out_an_unreadable_folder)
{
	const char *root = small_cache();

	check_unreadable(root, text("%s/" ADD, root), "'" ADD "'");
}

TEST(collect_refused, passes_over_an_unreadable_folder_that_is_no_key)
{
	const char *root = small_cache();
	const char *path = text("%s/lost+found", root);

	make_folder(path);
	SYS(chmod(path, 0));

	struct attempt got = collect_as_nobody(root, NULL);

	CHECK_INT(got.rc, 0);
	CHECK_STR(got.seen.message, "");
	CHECK_INT(got.report.left_out_count, 0);
	CHECK_INT(got.report.collected_count, 5);
	CHECK_INT(got.report.unfinished_count + got.report.stray_count, 1);
}

TEST(collect_refused, fails_where_the_root_cannot_be_read)
{
	const char *root = small_cache();

	SYS(chmod(root, 0));

	struct attempt got = collect_as_nobody(root, NULL);

	CHECK_INT(got.rc, TKB_ERR_IO);
	CHECK_CONTAINS(got.err.message, root);
	CHECK_CONTAINS(got.err.message, "Permission denied");
}

TEST(collect_refused, fails_where_the_bundle_cannot_be_written)
{
	const char *root = small_cache();

	make_folder("closed");
	SYS(chmod("closed", 0555));

	struct attempt got = collect_as_nobody(root, "closed/b.tkb");

	CHECK_INT(got.rc, TKB_ERR_IO);
	CHECK_CONTAINS(got.err.message, "'closed/b.tkb'");
	CHECK_CONTAINS(got.err.message, "Permission denied");
	CHECK_INT(count_names("closed"), 0);
}

/*
 * While somebody writes there
 */

/* Does something to the cache in the middle of a collect, once. */
struct meddler {
	struct seen seen;
	void (*act)(struct meddler *meddler);
	const char *root;
	char *mapped;   /* of the group file */
	size_t calls;   /* of before_reading() */
	size_t last_of; /* so many does an undisturbed collect make */
	bool is_done;
};

static void meddle(struct meddler *meddler)
{
	if (meddler->is_done)
		return;
	meddler->is_done = true;
	meddler->act(meddler);
}

static bool count_call(void *self)
{
	struct meddler *meddler = self;

	meddler->last_of++;
	return false;
}

/*
 * The last time that it is asked, for there is but one frame: all folders
 * were listed and all JSON files read, and nothing else yet.
 */
static bool before_reading(void *self)
{
	struct meddler *meddler = self;

	if (++meddler->calls == meddler->last_of)
		meddle(meddler);
	return false;
}

/* The files were read, and those of the first entry looked at again. */
static void after_reading(void *self, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	meddle(self);
}

static void meddler_result(void *self, const struct tkb_result *result)
{
	struct meddler *meddler = self;

	see_result(&meddler->seen, result);
}

/* Only an entry that nobody meddled with is in the bundle. */
static void check_meddled(struct meddler *meddler, const char *key,
                          enum tkb_reason reason, const char *part,
                          bool is_early)
{
	const struct tkb_collect_options options = {
		SIZED(options),
		.threads = 1,
		.watch = &CHOSEN(
			tkb_watch, .self = meddler, .on_result = meddler_result,
			.on_progress = is_early ? NULL : after_reading,
			.is_cancelled = is_early ? before_reading : NULL),
	};
	const struct tkb_collect_options count = {
		SIZED(count),
		.is_dry_run = true,
		.threads = 1,
		.watch = &CHOSEN(tkb_watch, .self = meddler,
		                 .is_cancelled = count_call),
	};
	struct tkb_collect_report report = { SIZED(report) };
	size_t index;

	OK(tkb_collect(meddler->root, &count, NULL, NULL, ERR));
	DONE(tkb_collect_to_file(meddler->root, &options, "b.tkb", &report,
	                         ERR),
	     report.left_out_count > 0);

	CHECK(meddler->is_done);
	CHECK_INT(report.collected_count, 4);
	CHECK_INT(report.left_out_count, 1);
	CHECK_STR(meddler->seen.key, key);
	CHECK_STR(tkb_reason_name(meddler->seen.reason),
	          tkb_reason_name(reason));
	CHECK_CONTAINS(meddler->seen.message, part);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_INT(tkb_bundle_find(bundle, key, &index, ERR), TKB_MISS);
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

static void rewrite_ptx(struct meddler *meddler)
{
	const char *path = in(meddler->root, SOFTMAX, "softmax_kernel.ptx");

	write_file(path, read_file(path));
}

static void rewrite_metadata(struct meddler *meddler)
{
	const char *path = in(meddler->root, SOFTMAX, "softmax_kernel.json");

	write_file(path, read_file(path));
}

static void replace_cubin(struct meddler *meddler)
{
	const char *path = in(meddler->root, SOFTMAX, "softmax_kernel.cubin");
	const struct tkb_bytes bytes = read_file(path);
	struct timespec times[2];
	struct stat status;

	SYS(stat(path, &status));
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	write_file("new", bytes);
	SYS(utimensat(AT_FDCWD, "new", times, 0));
	SYS(rename("new", path));
}

static void remove_group(struct meddler *meddler)
{
	remove_file(in(meddler->root, SOFTMAX, "__grp__softmax_kernel.json"));
}

static void remove_cubin(struct meddler *meddler)
{
	remove_file(in(meddler->root, SOFTMAX, "softmax_kernel.cubin"));
}

TEST(collect_refused, leaves_out_an_entry_that_changes_meanwhile)
{
	static const struct {
		void (*act)(struct meddler *meddler);
		bool is_early; /* before its files are read, or after */
		enum tkb_reason reason;
		const char *part;
	} cases[] = {
		{ rewrite_ptx, true, TKB_REASON_BUSY,
		  "'softmax_kernel.ptx' changed while it was read" },
		{ rewrite_ptx, false, TKB_REASON_BUSY,
		  "'softmax_kernel.ptx' changed while it was read" },
		{ rewrite_metadata, true, TKB_REASON_BUSY,
		  "'softmax_kernel.json' changed while it was read" },
		{ replace_cubin, false, TKB_REASON_BUSY,
		  "'softmax_kernel.cubin' changed while it was read" },
		{ remove_group, false, TKB_REASON_BUSY,
		  "'__grp__softmax_kernel.json' vanished while it was read" },
		{ remove_cubin, true, TKB_REASON_MISSING,
		  "softmax_kernel.cubin' is not there" },
	};
	const char *root = small_cache();

	EACH(i, cases) {
		struct meddler meddler = { .root = text("meddled-%zu", i),
			                   .act = cases[i].act };

		copy_folder(root, meddler.root);
		check_meddled(&meddler, SOFTMAX, cases[i].reason, cases[i].part,
		              cases[i].is_early);
	}
}

/* A page that is dirty already is written without a new time stamp. */
static void write_to_map(struct meddler *meddler)
{
	char *found = strstr(meddler->mapped, "serve");

	memcpy(found, "SERVE", 5);
}

TEST(collect_refused,
     leaves_out_a_group_file_that_changes_within_one_time_stamp)
{
	struct meddler meddler = { .root = small_cache(), .act = write_to_map };
	const char *path =
		in(meddler.root, SOFTMAX, "__grp__softmax_kernel.json");
	const size_t size = read_file(path).size;
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	meddler.mapped =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(meddler.mapped != MAP_FAILED);
	meddler.mapped[0] = '{';

	check_meddled(&meddler, SOFTMAX, TKB_REASON_BUSY, "changed while",
	              true);
	(void)munmap(meddler.mapped, size);
	(void)close(fd);
}

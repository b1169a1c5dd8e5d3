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
	const char *script; /* in the entry's folder, behind these_words */
	enum tkb_reason reason;
	const char *part;               /* of the message */
	void (*act)(const char *cubin); /* instead of a script */
	const char *key;                /* told of; NULL: that of the entry */
	const char *entry;              /* NULL: ADD */
	const char *fixture;            /* NULL: triton-3.6.0-cpu */
};

/* In $there nobody looks. A backslash in what is listed is written twice. */
static const char these_words[] =
	"insert() { sed -i \"s|{.child_paths.: {|&$1|\" " ADD_GROUP "; };"
	"at=" RECORDED "/" ADD ";"
	"list() { insert \"\\\"$1\\\": \\\"${2-$at/$1}\\\", \"; };"
	"move_and_link() { mv $1 $there/$1; ln -s $there/$1 $1; };"
	"instead() { rm $2; $1 $2; };";

static void set_flags(const char *cubin, uint32_t flags)
{
	write_bytes_at(cubin, offsetof(Elf64_Ehdr, e_flags), &flags,
	               sizeof(flags));
}

static void set_flags_of_cuda_12(const char *cubin)
{
	set_flags(cubin, 0x5a0d50);
}

static void set_flags_of_cuda_13(const char *cubin)
{
	set_flags(cubin, 0x9006404);
}

static void set_machine(const char *cubin)
{
	static const unsigned char x86_64[] = { 62, 0 };

	write_bytes_at(cubin, offsetof(Elf64_Ehdr, e_machine), x86_64,
	               sizeof(x86_64));
}

/* The first section says that it goes on far behind the file's end. */
static void enlarge_section(const char *cubin)
{
	static const uint64_t size = UINT64_C(1) << 40;
	Elf64_Ehdr header;

	memcpy(&header, read_file(cubin).data, sizeof(header));
	write_bytes_at(cubin,
	               header.e_shoff + sizeof(Elf64_Shdr) +
	                       offsetof(Elf64_Shdr, sh_size),
	               &size, sizeof(size));
}

#define BAD(reason_, part_) .reason = TKB_REASON_##reason_, .part = (part_)
#define BAD_GROUP(part) BAD(GROUP, part)
#define BAD_METADATA(part) BAD(METADATA, part)
#define BAD_BINARY(part) BAD(BINARY, part)
#define BAD_NAME(part) BAD(NAME, part)
#define OUTSIDE(path)                                                          \
	BAD(OUTSIDE, "lists '" path "', which is not in this entry")
#define NO_NAME(name)                                                          \
	BAD_NAME("lists '" name "', which cannot be a file's name")
#define MISSING(name) BAD(MISSING, "'" name "' is not there")
#define NO_FILE(name) BAD(UNSAFE, "'" name "' is not a regular file")
#define A_LINK(name) BAD(UNSAFE, "'" name "' is ")
#define TOO_LARGE(name) BAD(LIMIT, "'" name "' has 67108865 bytes")
#define CUT_SHORT BAD_BINARY("'add_kernel.cubin' is cut short")
#define HELD(name) BAD(SENTINEL, name " holds '[REPLACE]' already")
#define OF_H100 .entry = H100_LAUNCHER, .fixture = "triton-3.6.0-h100"
#define N64 "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

static const struct damage damages[] = {
	/* Group files */
	{ "an empty group file", ": >" ADD_GROUP,
	  BAD_GROUP("the group file is empty") },
	{ "a group file cut short", "truncate -s 300 " ADD_GROUP,
	  BAD_GROUP("the group file is not JSON") },
	{ "a group file that is not JSON", "echo not JSON >" ADD_GROUP,
	  BAD_GROUP("the group file is not JSON at byte 0") },
	{ "a group file with something behind it", "echo ' {}' >>" ADD_GROUP,
	  BAD_GROUP("the group file is not JSON") },
	{ "a group file that is not UTF-8",
	  "LC_ALL=C sed -i 's|/home/serve|/home/\\xff|' " ADD_GROUP,
	  BAD_GROUP("the group file is not JSON at byte") },
	{ "a group file nested 10000 deep",
	  "printf '{\"more\": %s%s, \"child_paths\": {}}'"
	  " $(printf '[%.0s' $(seq 10000)) $(printf ']%.0s' $(seq 10000))"
	  " >" ADD_GROUP,
	  BAD_GROUP("nested deeper than 64") },
	{ "a group file that is no object",
	  "echo '[\"add_kernel.json\"]' >" ADD_GROUP,
	  BAD_GROUP("the group file is not a JSON object") },
	{ "a group file that lists nothing",
	  "echo '{\"child_paths\": {}}' >" ADD_GROUP,
	  BAD_GROUP("the group file lists no files") },
	{ "a group file that lists numbers",
	  "echo '{\"child_paths\": {\"add_kernel.json\": 1}}' >" ADD_GROUP,
	  BAD_GROUP("the group file lists a path that is not a string") },
	{ "a group file that lists a file twice", "list add_kernel.ptx",
	  BAD_GROUP("lists 'add_kernel.ptx' twice") },
	{ "a group file that lists a group file", "list " ADD_GROUP,
	  BAD_GROUP("lists a group file, '" ADD_GROUP "'") },
	{ "two group files", "cp " ADD_GROUP " __grp__other.json",
	  BAD_GROUP("2 group files") },

	/* What group files list */
	{ "no listed text", "rm add_kernel.ptx", MISSING("add_kernel.ptx") },
	{ "no listed metadata", "rm add_kernel.json",
	  MISSING("add_kernel.json") },
	{ "no listed binary", "rm add_kernel.cubin",
	  MISSING("add_kernel.cubin") },
	{ "another entry's file",
	  "list softmax_kernel.ptx " RECORDED "/" SOFTMAX "/softmax_kernel.ptx",
	  OUTSIDE(RECORDED "/" SOFTMAX "/softmax_kernel.ptx") },
	{ "a file below itself", "list x.ptx " RECORDED "/" ADD "/sub/x.ptx",
	  OUTSIDE(RECORDED "/" ADD "/sub/x.ptx") },
	{ "a file under another name",
	  "list x.ptx " RECORDED "/" ADD "/add_kernel.ptx",
	  OUTSIDE(RECORDED "/" ADD "/add_kernel.ptx") },
	{ "/etc/passwd", "list passwd /etc/passwd", OUTSIDE("/etc/passwd") },
	{ "a path that goes up", "list x.ptx " RECORDED "/" ADD "/../x.ptx",
	  OUTSIDE(RECORDED "/" ADD "/../x.ptx") },
	{ "a path that is a bare name", "list x.ptx x.ptx", OUTSIDE("x.ptx") },
	{ "the name ..", "list ..", NO_NAME("..") },
	{ "a name with a slash", "list ../" SOFTMAX "/softmax_kernel.ptx",
	  NO_NAME("../" SOFTMAX "/softmax_kernel.ptx") },
	{ "a name with a zero", "list 'add_kernel.ptx\\\\u0000'",
	  NO_NAME("add_kernel.ptx\\u0000") },
	{ "a list that goes up",
	  "echo '{\"child_paths\": [\"../x.ptx\", \"add_kernel.cubin\", "
	  "\"add_kernel.json\"]}' >" ADD_GROUP,
	  BAD_NAME("lists '../x.ptx'") },
	{ "a name of 256 bytes", "list " N64 N64 N64 N64,
	  BAD_NAME("nnnnnn', which cannot be") },
	{ "a name with a newline",
	  "list 'new\\\\nline.ttir'; echo a >\"$(printf 'new\\nline.ttir')\"",
	  NO_NAME("new\\nline.ttir") },
	/* As Python writes the byte: "surrogateescape". */
	{ "a name that is not UTF-8",
	  "list 'bad\\\\udcff.ttir'; echo a >\"$(printf 'bad\\377.ttir')\"",
	  NO_NAME("bad\\udcff.ttir") },

	/* Names of other things */
	{ "a group file with a newline in its name",
	  "mv " ADD_GROUP " \"$(printf '__grp__add\\nkernel.json')\"",
	  BAD_NAME("'__grp__add\\x0akernel.json'") },
	{ "a group file whose name is not UTF-8",
	  "mv " ADD_GROUP " \"$(printf '__grp__add\\377kernel.json')\"",
	  BAD_NAME("'__grp__add\\xffkernel.json'") },
	{ "a module with a newline in its second name",
	  "cp " LAUNCHER_SO " \"$(printf 'new\\nline.so')\"",
	  BAD_NAME("line.so'"), OF_H100 },
	{ "timings whose second name is not UTF-8",
	  "echo {} >\"$(printf 'z\\377.autotune.json')\"",
	  BAD_NAME(".autotune.json'"), .entry = AUTOTUNE },
	{ "a folder whose name is no key", "mv ../" ADD " ../add",
	  BAD_NAME("the folder's name does not have the shape of a key"),
	  .key = "add" },

	/* Metadata */
	{ "the hash of another key",
	  "sed -i 's/\"hash\": \"e8/\"hash\": \"e9/' add_kernel.json",
	  BAD(HASH, "the metadata's hash 'e9") },
	{ "no hash", "sed -i 's/\"hash\"/\"hush\"/' add_kernel.json",
	  BAD(HASH, "the metadata's hash") },
	{ "another key",
	  "sed -i s/" ADD "/" H100_MATMUL "/g " ADD_GROUP ";"
	  "mv ../" ADD " ../" H100_MATMUL,
	  BAD(HASH, "the metadata's hash"), .key = H100_MATMUL },
	{ "empty metadata", ": >add_kernel.json",
	  BAD_METADATA("'add_kernel.json' is") },
	{ "metadata cut short", "truncate -s 700 add_kernel.json",
	  BAD_METADATA("'add_kernel.json' is not JSON") },
	{ "metadata that is no object", "echo [] >add_kernel.json",
	  BAD_METADATA("'add_kernel.json' is not a JSON object") },
	{ "metadata that is not UTF-8",
	  "LC_ALL=C sed -i 's/tf32/tf\\xff\\xfe/' add_kernel.json",
	  BAD_METADATA("'add_kernel.json' is not JSON") },
	{ "a group file that lists no metadata",
	  "sed -i 's/, \"add_kernel.json\": \"[^\"]*\"//' " ADD_GROUP,
	  BAD_METADATA("lists no 'add_kernel.json'") },
	{ "timings cut short", "truncate -s 40 gelu_kernel.autotune.json",
	  BAD_METADATA("'gelu_kernel.autotune.json' is not JSON"),
	  .entry = AUTOTUNE },
	{ "the sentinel in a group file",
	  "sed -i 's|" RECORDED "/" ADD "|" TKB_SENTINEL "|' " ADD_GROUP,
	  HELD("the group file") },
	{ "the sentinel in metadata",
	  "sed -i 's|/opt/triton-3.6.0|[REPLACE]/triton|' add_kernel.json",
	  HELD("'add_kernel.json'") },
	{ "the sentinel in metadata, escaped",
	  "sed -i 's|/opt/triton-3.6.0|\\\\u005bREPL\\\\u0041CE]|' "
	  "add_kernel.json",
	  HELD("'add_kernel.json'") },

	/* Binaries, and texts */
	{ "a cubin without its last byte", "truncate -s -1 add_kernel.cubin",
	  CUT_SHORT },
	{ "a cubin without 8 bytes", "truncate -s -8 add_kernel.cubin",
	  CUT_SHORT },
	{ "a cubin without 27 bytes", "truncate -s -27 add_kernel.cubin",
	  CUT_SHORT },
	{ "a cubin without 64 bytes", "truncate -s -64 add_kernel.cubin",
	  CUT_SHORT },
	{ "an empty cubin", ": >add_kernel.cubin",
	  BAD_BINARY("'add_kernel.cubin' is not an ELF file") },
	{ "a cubin of another architecture, as CUDA 12 says it", NULL,
	  BAD_BINARY("'add_kernel.cubin' is for sm_80, its metadata says "
	             "sm_90"),
	  .act = set_flags_of_cuda_12 },
	{ "a cubin of another architecture, as CUDA 13 says it", NULL,
	  BAD_BINARY("'add_kernel.cubin' is for sm_100, its metadata says "
	             "sm_90"),
	  .act = set_flags_of_cuda_13,
	  .entry = "NBH6IGFVT4LSTB25PX7PFWWT567DBRMPGJW42CAFUXLY6HML6TDQ",
	  .fixture = "triton-3.9.0-cpu" },
	{ "a cubin without its kernel",
	  "sed -i 's/\"name\": \"add_/\"name\": \"sub_/' add_kernel.json",
	  BAD_BINARY("'add_kernel.cubin' has no kernel 'sub_kernel'") },
	{ "a cubin with a section outside", NULL, CUT_SHORT,
	  .act = enlarge_section },
	{ "a cubin for another machine", NULL,
	  BAD_BINARY("'add_kernel.cubin' is not a cubin"), .act = set_machine },
	{ "a group file that lists no binary",
	  "sed -i 's/\"add_kernel.cubin\": \"[^\"]*\", //' " ADD_GROUP,
	  BAD_BINARY("lists no 'add_kernel.cubin'") },
	{ "a module cut short", "truncate -s 5000 " LAUNCHER_SO,
	  BAD_BINARY("'" LAUNCHER_SO "' is cut short"), OF_H100 },
	{ "an empty text", ": >add_kernel.ptx",
	  BAD_BINARY("'add_kernel.ptx' was never written") },

	/* Limits */
	{ "65 files",
	  "for i in $(seq 57); do echo module >$i.ttir;"
	  " more=\"$more\\\"$i.ttir\\\": \\\"$at/$i.ttir\\\", \"; done;"
	  "insert \"$more\"",
	  BAD(LIMIT, "the group file lists more than 63 files") },
	{ "65 files of timings",
	  "for i in $(seq 64); do echo {} >$i.autotune.json; done",
	  BAD(LIMIT, "holds more than 64 files"), .entry = AUTOTUNE },
	{ "a text over 64 MiB", "instead 'truncate -s 67108865' add_kernel.ptx",
	  TOO_LARGE("add_kernel.ptx") },
	{ "metadata over 64 MiB",
	  "instead 'truncate -s 67108865' add_kernel.json",
	  TOO_LARGE("add_kernel.json") },
	{ "a group file over 64 MiB",
	  "instead 'truncate -s 67108865' " ADD_GROUP, TOO_LARGE(ADD_GROUP) },

	/* What is no plain file */
	{ "a link for a text", "move_and_link add_kernel.ptx",
	  A_LINK("add_kernel.ptx") },
	{ "a link for a binary", "move_and_link add_kernel.cubin",
	  A_LINK("add_kernel.cubin") },
	{ "a link for metadata", "move_and_link add_kernel.json",
	  A_LINK("add_kernel.json") },
	{ "a link for a group file", "move_and_link " ADD_GROUP,
	  A_LINK(ADD_GROUP) },
	{ "a FIFO for a text", "instead mkfifo add_kernel.ptx",
	  NO_FILE("add_kernel.ptx") },
	{ "a FIFO for a binary", "instead mkfifo add_kernel.cubin",
	  NO_FILE("add_kernel.cubin") },
	{ "a FIFO for metadata", "instead mkfifo add_kernel.json",
	  NO_FILE("add_kernel.json") },
	{ "a FIFO for a group file", "instead mkfifo " ADD_GROUP,
	  NO_FILE(ADD_GROUP) },
	{ "a folder for a text", "instead mkdir add_kernel.ptx",
	  BAD(MISSING, "'add_kernel.ptx' is a folder") },
	{ "a link for the entry's folder", "cd ..; move_and_link " ADD,
	  BAD(UNSAFE, "the folder is a symbolic link") },
};

/* The folder of a device of its own for each damage. */
static const char *root_of(size_t index)
{
	return text("%s/damaged/triton/%zu", test_folder(), 100 + index);
}

static const char *entry_of(const struct damage *damage)
{
	return damage->entry != NULL ? damage->entry : ADD;
}

/* Copies of entries, each damaged, and beside each one that is good. */
static void do_damage(void)
{
	BUF(script, TKB_MIB);

	unpack("triton-3.6.0-cpu", "triton-3.6.0-cpu");
	unpack("triton-3.6.0-h100", "triton-3.6.0-h100");
	unpack("triton-3.9.0-cpu", "triton-3.9.0-cpu");
	EACH(i, damages) {
		const struct damage *damage = &damages[i];
		const char *entry = entry_of(damage);

		tkb_buf_add_text(
			&script,
			text("echo \"%s\" >&2; mkdir %s;"
		             "cp -a %s/.triton/cache/%s"
		             " triton-3.6.0-cpu/.triton/cache/%s %s;"
		             "(cd %s/%s; %s);",
		             damage->name, root_of(i),
		             damage->fixture != NULL ? damage->fixture
		                                     : "triton-3.6.0-cpu",
		             entry,
		             strcmp(entry, AUTOTUNE) == 0 ? ADD : AUTOTUNE,
		             root_of(i), root_of(i), entry,
		             damage->script != NULL ? damage->script : ":"));
	}
	shell("there=%s; mkdir -p damaged/triton; %s%.*s", test_folder(),
	      these_words, (int)script.size, (const char *)script.data);
	EACH(i, damages) {
		if (damages[i].act != NULL)
			damages[i].act(text("%s/%s/add_kernel.cubin",
			                    root_of(i), entry_of(&damages[i])));
	}
}

static const char *key_of(const struct damage *damage)
{
	if (damage->key != NULL)
		return damage->key;
	return entry_of(damage);
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

	do_damage();
	EACH(i, damages)
		lines[i] = check_left_out(&damages[i], root_of(i));

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
	check_same_bytes(read_file("p.tkb"), read_file("rest.tkb"));
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

	SYS(mkdir(path, 0777));
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

	SYS(mkdir("closed", 0777));
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
	SYS(unlink(in(meddler->root, SOFTMAX, "__grp__softmax_kernel.json")));
}

static void remove_cubin(struct meddler *meddler)
{
	SYS(unlink(in(meddler->root, SOFTMAX, "softmax_kernel.cubin")));
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

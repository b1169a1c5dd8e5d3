/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <elf.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The keys of triton-3.6.0-cpu; these are all that most tests work with. */
#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define GELU_2 "CPSMUG3KHAYNZXCXDQ32RQIT7TEPDLHOM5LX25JRHMXIW3AR72BQ"
#define AUTOTUNE "OHLECDAU2WNCE4HO4Q2ANXCJVEUGFJBA73LV2GWZKGZKESJ5RVMA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

/* Two of triton-3.6.0-h100 that begin alike, and a module there. */
#define H100_MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define H100_SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"
#define H100_LAUNCHER "HEUKIG4JTP2YEOVQFSWBTVS6LZOIS6UFCDGRSN4HPQYM3RTA6GRQ"

#define LAUNCHER_SO "__triton_launcher.cpython-312-x86_64-linux-gnu.so"

#define ADD_GROUP "__grp__add_kernel.json"
#define RECORDED "/home/serve/.triton/cache"
#define GROUP_START "{\"child_paths\": {"

enum {
	NOBODY = 65534,
	ADD_FILES = 8 /* the group file is one of them */
};

static const char *cache_of(const char *fixture)
{
	unpack(fixture, "unpacked");
	return text("%s/unpacked/.triton/cache", test_folder());
}

/* A cache of five entries, to be damaged. */
static const char *small_cache(void)
{
	return cache_of("triton-3.6.0-cpu");
}

static const char *in(const char *root, const char *key, const char *name)
{
	return text("%s/%s/%s", root, key, name);
}

static const char *group_of_add(const char *root)
{
	return in(root, ADD, ADD_GROUP);
}

static void remove_file(const char *path)
{
	CHECK_INT(remove(path), 0);
}

static void make_folder(const char *path)
{
	CHECK_INT(mkdir(path, 0777), 0);
}

static void must(struct outcome outcome)
{
	if (outcome.status != 0)
		fail_msg("%s", outcome.err);
}

static void cut_file(const char *path, size_t size)
{
	CHECK_INT(truncate(path, (off_t)size), 0);
}

static void write_bytes_at(const char *path, size_t offset, const void *data,
                           size_t size)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(pwrite(fd, data, size, (off_t)offset), size);
	(void)close(fd);
}

/* Replace each `from` in `bytes` by `to`. */
static struct tkb_bytes replace(struct tkb_bytes bytes, const char *from,
                                const char *to)
{
	const size_t length = strlen(from);
	struct tkb_buf buf = TKB_BUF_INIT((size_t)1 << 30);
	const char *at = bytes.data;
	const char *end = at + bytes.size;
	const char *found = memmem(at, bytes.size, from, length);
	char *kept;

	while (found != NULL) {
		tkb_buf_add(&buf,
		            (struct tkb_bytes){ at, (size_t)(found - at) });
		tkb_buf_add_text(&buf, to);
		at = found + length;
		found = memmem(at, (size_t)(end - at), from, length);
	}
	tkb_buf_add(&buf, (struct tkb_bytes){ at, (size_t)(end - at) });
	kept = test_alloc(buf.size);
	memcpy(kept, buf.data, buf.size);
	bytes = (struct tkb_bytes){ kept, buf.size };
	tkb_buf_release(&buf);
	return bytes;
}

static void replace_in_file(const char *path, const char *from, const char *to)
{
	write_file(path, replace(read_file(path), from, to));
}

/* List one file more, first; `json_name` is escaped as JSON wants it. */
static void list_child_at(const char *group, const char *json_name,
                          const char *path)
{
	edit_file(group, GROUP_START,
	          text(GROUP_START "\"%s\": \"%s\", ", json_name, path));
}

/* List `count` files more in an entry's folder, and make them. */
static void list_many(const char *folder, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = text("%02zu.ttir", i);

		list_child_at(text("%s/" ADD_GROUP, folder), name,
		              text(RECORDED "/" ADD "/%s", name));
		write_text(text("%s/%s", folder, name), "module\n");
	}
}

static void list_child(const char *root, const char *json_name)
{
	list_child_at(group_of_add(root), json_name,
	              text(RECORDED "/" ADD "/%s", json_name));
}

/* What a collect told its caller. */
struct seen {
	struct tkb_watch watch;
	size_t collected_count;
	size_t left_out_count;
	enum tkb_reason reason; /* of the last one left out */
	char key[128];
	char message[512];
	uint64_t done;
	uint64_t total;
	bool went_back;
	bool went_too_far;
};

static void see_result(void *self, const struct tkb_result *result)
{
	struct seen *seen = self;

	if (result->outcome == TKB_OUTCOME_COLLECTED) {
		seen->collected_count++;
		return;
	}
	assert_int_equal(result->outcome, TKB_OUTCOME_LEFT_OUT);
	seen->left_out_count++;
	seen->reason = result->reason;
	(void)snprintf(seen->key, sizeof(seen->key), "%s", result->key);
	(void)snprintf(seen->message, sizeof(seen->message), "%s",
	               result->message);
}

static void see_progress(void *self, uint64_t done, uint64_t total)
{
	struct seen *seen = self;

	seen->went_back |= done < seen->done;
	seen->went_too_far |= done > total;
	seen->done = done;
	seen->total = total;
}

static const struct tkb_watch *watch_with(struct seen *seen)
{
	seen->watch =
		(struct tkb_watch){ .struct_size = sizeof(struct tkb_watch),
		                    .self = seen,
		                    .on_result = see_result,
		                    .on_progress = see_progress };
	return &seen->watch;
}

static int add_to_buf(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)err;
	tkb_buf_add(self, bytes);
	return 0;
}

/* What `root` gives, with all defaults. */
static struct tkb_bytes collected(const char *root)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT((size_t)1 << 30);
	const struct tkb_sink sink = { add_to_buf, &buf };
	struct tkb_error err = { 0 };
	char *kept;

	CHECK_OK(tkb_collect(root, NULL, &sink, NULL, &err), &err);
	kept = test_alloc(buf.size);
	memcpy(kept, buf.data, buf.size);
	return (struct tkb_bytes){ kept, buf.size };
}

static void check_same(struct tkb_bytes got, struct tkb_bytes wanted)
{
	CHECK_INT(got.size, wanted.size);
	assert_memory_equal(got.data, wanted.data, wanted.size);
}

static void close_bundle_at(struct tkb_bundle **bundle)
{
	tkb_bundle_close(*bundle);
}

static const struct tkb_entry *entry_of(const struct tkb_bundle *bundle,
                                        const char *key, size_t *index_out)
{
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_bundle_find(bundle, key, index_out, &err), &err);
	return tkb_bundle_entry(bundle, *index_out);
}

/* File `name` of entry `key`, as it is packed. */
static struct tkb_bytes packed_file(const struct tkb_bundle *bundle,
                                    const char *key, const char *name)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT((size_t)1 << 30);
	const struct tkb_sink sink = { add_to_buf, &buf };
	struct tkb_error err = { 0 };
	const struct tkb_entry *entry;
	size_t index = 0;
	size_t file = 0;
	char *kept;

	entry = entry_of(bundle, key, &index);
	while (file < entry->file_count &&
	       strcmp(entry->files[file].name, name) != 0)
		file++;
	CHECK(file < entry->file_count);
	CHECK_OK(tkb_bundle_read(bundle, index, file, &sink, &err), &err);
	kept = test_alloc(buf.size);
	memcpy(kept, buf.data, buf.size);
	return (struct tkb_bytes){ kept, buf.size };
}

/* Are all files of the entry's folder packed, with the bytes they have? */
static void check_whole(const struct tkb_bundle *bundle, size_t index,
                        const char *root, const char *recorded)
{
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, index);

	CHECK_INT(entry->file_count,
	          count_names(text("%s/%s", root, entry->key)));
	for (size_t i = 0; i < entry->file_count; i++) {
		const char *name = entry->files[i].name;
		struct tkb_bytes packed = packed_file(bundle, entry->key, name);

		if (entry->files[i].sentinels != 0)
			packed = replace(packed, TKB_SENTINEL,
			                 text("%s/%s", recorded, entry->key));
		check_same(packed, read_file(in(root, entry->key, name)));
	}
}

/* Every entry is collected, whole. */
static void check_all(const char *root, size_t entry_count)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options), .watch = watch_with(&seen)
	};
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect_to_file(root, &options, "all.tkb", &report, &err),
	         &err);
	CHECK_STR(seen.message, "");
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.collected_count, entry_count);
	CHECK_OK(tkb_bundle_open("all.tkb", &bundle, &err), &err);
	for (size_t i = 0; i < entry_count; i++)
		check_whole(bundle, i, root, RECORDED);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

/*
 * Whole caches, of every version
 */

struct fixture {
	const char *name;
	const char *version; /* of Triton, as the metadata says */
	size_t kernel_count;
	size_t module_count;
	size_t autotune_count;
	size_t file_count;
};

static size_t count_kind(const struct tkb_bundle *bundle, enum tkb_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
		count += tkb_bundle_entry(bundle, i)->kind == kind;
	return count;
}

static void check_kernel(const struct tkb_entry *entry, const char *version)
{
	CHECK_STR(entry->target.backend, "cuda");
	CHECK_STR(entry->target.arch, "90");
	CHECK_INT(entry->target.warp_size, 32);
	CHECK_STR(entry->producer, "triton");
	CHECK_STR(entry->producer_version, version);
	CHECK_STR(entry->platform, "");
	CHECK_INT(entry->device_count, 1);
	CHECK_INT(entry->devices[0], 0);
}

static void check_collected(const struct fixture *fixture, const char *folder,
                            const char *root, const char *recorded)
{
	const size_t entry_count = fixture->kernel_count +
	                           fixture->module_count +
	                           fixture->autotune_count;
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	uint64_t size = 0;

	CHECK_OK(tkb_collect_to_file(folder, NULL, "b.tkb", &report, &err),
	         &err);
	CHECK_INT(report.collected_count, entry_count);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.unfinished_count, 0);
	CHECK_INT(report.stray_count, 0);
	CHECK_INT(report.moved_count, fixture->kernel_count);
	CHECK_INT(report.file_count, fixture->file_count);
	CHECK_INT(report.bundle_size, read_file("b.tkb").size);
	CHECK_INT(report.is_inductor, strcmp(folder, root) != 0);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_STR(tkb_bundle_profile(bundle), "full");
	CHECK_INT(tkb_bundle_entry_count(bundle), entry_count);
	CHECK_INT(count_kind(bundle, TKB_KIND_KERNEL), fixture->kernel_count);
	CHECK_INT(count_kind(bundle, TKB_KIND_MODULE), fixture->module_count);
	CHECK_INT(count_kind(bundle, TKB_KIND_AUTOTUNE),
	          fixture->autotune_count);
	for (size_t i = 0; i < entry_count; i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		if (entry->kind == TKB_KIND_KERNEL)
			check_kernel(entry, fixture->version);
		size += tkb_entry_size(entry);
		check_whole(bundle, i, root, recorded);
	}
	CHECK_INT(report.size, size);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

static const struct fixture fixtures[] = {
	{ "triton-3.0.0-cpu", "", 3, 0, 0, 21 },
	{ "triton-3.1.0-cpu", "", 3, 0, 0, 21 },
	{ "triton-3.2.0-cpu", "", 3, 0, 0, 21 },
	{ "triton-3.3.1-cpu", "3.3.1", 3, 0, 0, 21 },
	{ "triton-3.4.0-cpu", "3.4.0", 4, 0, 1, 33 },
	{ "triton-3.5.1-cpu", "3.5.1", 4, 0, 1, 33 },
	{ "triton-3.6.0-cpu", "3.6.0", 4, 0, 1, 33 },
	{ "triton-3.7.1-cpu", "3.7.1", 4, 0, 1, 33 },
	{ "triton-3.8.0-cpu", "3.8.0", 4, 0, 1, 33 },
	{ "triton-3.9.0-cpu", "3.9.0", 4, 0, 1, 33 },
	{ "triton-3.6.0-h100", "3.6.0", 13, 4, 0, 108 },
};

TEST(collect, packs_all_of_every_triton)
{
	for (size_t i = 0; i < TKB_COUNT_OF(fixtures); i++) {
		const char *root = text("%s/%s/.triton/cache", test_folder(),
		                        fixtures[i].name);

		unpack(fixtures[i].name, fixtures[i].name);
		check_collected(&fixtures[i], root, root, RECORDED);
	}
}

TEST(collect, packs_all_of_inductor)
{
	static const struct fixture fixture = {
		"inductor-2.11-llama4-h100", "3.6.0", 23, 3, 0, 187
	};

	unpack(fixture.name, "unpacked");
	check_collected(&fixture, "unpacked/.cache/torchinductor",
	                "unpacked/.cache/torchinductor/triton/0",
	                "/home/serve/.cache/torchinductor/triton/0");
}

TEST(collect, gives_a_module_its_platform)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = cache_of("triton-3.6.0-h100");
	struct tkb_error err = { 0 };
	const struct tkb_entry *entry;
	size_t index = 0;

	CHECK_OK(tkb_collect_to_file(root, NULL, "b.tkb", NULL, &err), &err);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	entry = entry_of(bundle, H100_LAUNCHER, &index);
	CHECK_INT(entry->kind, TKB_KIND_MODULE);
	CHECK_STR(entry->name, "__triton_launcher");
	CHECK(strncmp(entry->platform, "x86_64-glibc2.", 14) == 0);
	CHECK_CONTAINS(entry->platform, "-cpython312");
}

TEST(collect, packs_autotune_timings_under_their_function)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	struct tkb_error err = { 0 };
	const struct tkb_entry *entry;
	size_t index = 0;

	CHECK_OK(tkb_collect_to_file(root, NULL, "b.tkb", NULL, &err), &err);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	entry = entry_of(bundle, AUTOTUNE, &index);
	CHECK_INT(entry->kind, TKB_KIND_AUTOTUNE);
	CHECK_STR(entry->name, "gelu_kernel");
	CHECK_INT(entry->file_count, 1);
}

/* The shape of Triton 2 and of the remote cache manager: bare names. */
static const char list_of_add[] =
	"{\"child_paths\": [\"add_kernel.cubin\", \"add_kernel.json\", "
	"\"add_kernel.llir\", \"add_kernel.ptx\", \"add_kernel.source\", "
	"\"add_kernel.ttgir\", \"add_kernel.ttir\"]}";

TEST(collect, packs_a_group_file_that_is_a_list)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	size_t index = 0;

	write_text(group_of_add(root), list_of_add);

	CHECK_OK(tkb_collect_to_file(root, NULL, "b.tkb", &report, &err), &err);
	CHECK_INT(report.collected_count, 5);
	CHECK_INT(report.moved_count, 3);
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(entry_of(bundle, ADD, &index)->file_count, ADD_FILES);
	check_whole(bundle, index, root, RECORDED);
}

TEST(collect, packs_a_key_of_triton_2_whose_metadata_has_no_hash)
{
	static const char key[] = "d41d8cd98f00b204e9800998ecf8427e";
	const char *root = small_cache();

	CHECK_INT(rename(text("%s/" ADD, root), text("%s/%s", root, key)), 0);
	write_text(in(root, key, "__grp__add_kernel.json"), list_of_add);
	edit_file(in(root, key, "add_kernel.json"), "\"hash\"", "\"hush\"");

	check_all(root, 5);
}

TEST(collect, packs_an_entry_that_lies_where_its_group_file_says)
{
	const char *root = small_cache();
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	const struct tkb_collect_options dry = { .struct_size = sizeof(dry),
		                                 .is_dry_run = true };
	struct tkb_error err = { 0 };

	replace_in_file(group_of_add(root), RECORDED, root);

	CHECK_OK(tkb_collect(root, &dry, NULL, &report, &err), &err);
	CHECK_INT(report.collected_count, 5);
	CHECK_INT(report.moved_count, 3);
}

TEST(collect, packs_the_same_from_a_group_file_of_any_place)
{
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root);

	replace_in_file(group_of_add(root), RECORDED, root);
	check_same(collected(root), wanted);
	replace_in_file(group_of_add(root), root, "../relative/./path");
	check_same(collected(root), wanted);
	replace_in_file(group_of_add(root), "../relative/./path",
	                "/caf\\u00e9/\\\"q\\\"/back\\\\slash");
	check_same(collected(root), wanted);
}

TEST(collect, puts_the_sentinel_for_each_path_in_a_group_file)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	struct tkb_error err = { 0 };
	struct tkb_bytes packed;

	CHECK_OK(tkb_collect_to_file(root, NULL, "b.tkb", NULL, &err), &err);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	packed = packed_file(bundle, ADD, "__grp__add_kernel.json");
	check_same(packed, replace(read_file(group_of_add(root)),
	                           RECORDED "/" ADD, TKB_SENTINEL));
	CHECK(memmem(packed.data, packed.size, "serve", 5) == NULL);
}

TEST(collect, puts_the_sentinel_for_paths_in_other_json_files)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	struct tkb_error err = { 0 };
	struct tkb_bytes packed;

	edit_file(in(root, ADD, "add_kernel.json"), "\"shared\": 0",
	          text("\"a\": \"" RECORDED "/" ADD "/x\", "
	               "\"b\": \"%s/" ADD "\", "
	               "\"c\": \"" RECORDED "/" ADD "x\", \"shared\": 0",
	               root));

	CHECK_OK(tkb_collect_to_file(root, NULL, "b.tkb", NULL, &err), &err);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	packed = packed_file(bundle, ADD, "add_kernel.json");
	CHECK_CONTAINS(packed.data, "\"a\": \"[REPLACE]/x\", "
	                            "\"b\": \"[REPLACE]\", "
	                            "\"c\": \"" RECORDED "/" ADD "x\", ");
}

TEST(collect, packs_nothing_from_an_empty_cache)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };
	struct outcome outcome;

	make_folder("empty");

	outcome = run(program(), "collect", "empty", "-o", "b.tkb", NULL);

	CHECK_INT(outcome.status, 0);
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_entry_count(bundle), 0);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

/*
 * What is passed over
 */

static void check_counts(const char *root, uint64_t collected_count,
                         uint64_t unfinished_count, uint64_t stray_count)
{
	const struct tkb_collect_options strict = { .struct_size =
		                                            sizeof(strict),
		                                    .is_strict = true,
		                                    .is_dry_run = true };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect(root, &strict, NULL, &report, &err), &err);
	CHECK_INT(report.collected_count, collected_count);
	CHECK_INT(report.unfinished_count, unfinished_count);
	CHECK_INT(report.stray_count, stray_count);
}

TEST(collect, counts_folders_of_compiles_that_were_stopped)
{
	const char *root = small_cache();

	make_folder(text("%s/" H100_MATMUL, root));
	make_folder(text("%s/" H100_SOFTMAX, root));
	make_folder(in(root, H100_SOFTMAX, "tmp.pid_7_0c5d"));
	write_text(in(root, H100_SOFTMAX, "tmp.pid_7_0c5d/k.ttir"), "module");
	make_folder(text("%s/not a key", root));

	check_counts(root, 5, 3, 0);
}

TEST(collect, counts_an_entry_whose_group_file_is_not_yet_there)
{
	const char *root = small_cache();

	remove_file(group_of_add(root));

	check_counts(root, 4, 1, 0);
}

TEST(collect, counts_strays_and_packs_the_entry_without_them)
{
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root);

	write_text(text("%s/stray", root), "x");
	write_text(text("%s/not utf-8: \xff\n", root), "x");
	CHECK_INT(symlink("/etc", text("%s/link", root)), 0);
	write_text(in(root, ADD, "add_kernel.sass"), "x");
	make_folder(in(root, ADD, "tmp.pid_7_0c5d"));
	write_text(in(root, AUTOTUNE, "stray\xff"), "x");

	check_counts(root, 5, 0, 6);
	check_same(collected(root), wanted);
}

TEST(collect, tells_of_what_it_passed_over)
{
	const char *root = small_cache();
	struct outcome outcome;

	write_text(text("%s/stray", root), "x");
	make_folder(text("%s/" H100_SOFTMAX, root));

	outcome = run(program(), "collect", root, "-o", "b.tkb", NULL);

	CHECK_INT(outcome.status, 0);
	CHECK_CONTAINS(outcome.out, "collected 5 entries (33 files, ");
	CHECK_CONTAINS(outcome.out, ", unfinished 1, stray 1, moved 4\n");
	CHECK_STR(outcome.err, "");
}

TEST(collect, ignores_the_folder_of_its_own)
{
	const char *root = small_cache();

	make_folder(text("%s/.tkbundle", root));
	write_text(text("%s/.tkbundle/lock", root), "");
	make_folder(text("%s/.tkbundle/stage-1", root));
	copy_folder(text("%s/" ADD, root),
	            text("%s/.tkbundle/stage-1/" H100_MATMUL, root));

	check_counts(root, 5, 0, 0);
}

TEST(collect, leaves_the_cache_as_it_was)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1 },
		                                     { .tv_sec = 2 } };
	const char *root = small_cache();
	const char *names[] = { ADD, ADD "/__grp__add_kernel.json",
		                ADD "/add_kernel.json", ADD "/add_kernel.cubin",
		                ADD "/add_kernel.ptx" };
	struct stat status;

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++)
		CHECK_INT(utimensat(AT_FDCWD, text("%s/%s", root, names[i]),
		                    long_ago, 0),
		          0);

	(void)collected(root);

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		CHECK_INT(stat(text("%s/%s", root, names[i]), &status), 0);
		CHECK_INT(status.st_atim.tv_sec, 1);
		CHECK_INT(status.st_mtim.tv_sec, 2);
	}
	CHECK_INT(count_names(root), 5);
	CHECK_INT(count_names(text("%s/" ADD, root)), ADD_FILES);
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
	CHECK_INT(truncate(path_of(folder, damage), damage->size), 0);
}

static void cut_off(const char *folder, const struct damage *damage)
{
	const char *path = path_of(folder, damage);
	struct stat status;

	CHECK_INT(stat(path, &status), 0);
	CHECK_INT(truncate(path, status.st_size - damage->size), 0);
}

static void take_away(const char *folder, const struct damage *damage)
{
	remove_file(path_of(folder, damage));
}

static void call_it(const char *folder, const struct damage *damage)
{
	CHECK_INT(rename(path_of(folder, damage),
	                 text("%s/%s", folder, damage->to)),
	          0);
}

static void write_over_limit(const char *folder, const struct damage *damage)
{
	const char *path = path_of(folder, damage);
	int fd;

	remove_file(path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	CHECK(fd >= 0);
	CHECK_INT(ftruncate(fd, 64 * 1024 * 1024 + 1), 0);
	(void)close(fd);
}

static void make_link(const char *folder, const struct damage *damage)
{
	const char *path = path_of(folder, damage);
	const char *elsewhere =
		text("%s/elsewhere-%s", test_folder(), damage->file);

	CHECK_INT(rename(path, elsewhere), 0);
	CHECK_INT(symlink(elsewhere, path), 0);
}

static void make_fifo(const char *folder, const struct damage *damage)
{
	remove_file(path_of(folder, damage));
	CHECK_INT(mkfifo(path_of(folder, damage), 0666), 0);
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
	CHECK_INT(rename(folder, text("%s/../%s", folder, damage->to)), 0);
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
	CHECK_INT(rename(folder, elsewhere), 0);
	CHECK_INT(symlink(elsewhere, folder), 0);
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
	  .part = "the folder's name has not the shape of a key",
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
	  NO_FILE("add_kernel.ptx") },
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
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options), .watch = watch_with(&seen)
	};
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	size_t index;

	CHECK_OK(tkb_collect_to_file(root, &options, "rest.tkb", &report, &err),
	         &err);
	if (report.left_out_count != 1 || seen.reason != damage->reason ||
	    strstr(seen.message, damage->part) == NULL)
		fail_msg("%s: left out %d, %s: %s", damage->name,
		         (int)report.left_out_count,
		         tkb_reason_name(seen.reason), seen.message);
	CHECK_INT(report.collected_count, 1);
	CHECK_INT(seen.left_out_count, 1);
	CHECK_INT(seen.collected_count, 1);
	CHECK_STR(seen.key, key_of(damage));

	CHECK_OK(tkb_bundle_open("rest.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_entry_count(bundle), 1);
	CHECK_INT(tkb_bundle_find(bundle, key_of(damage), &index, &err),
	          TKB_MISS);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
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
TEST(collect, leaves_out_what_is_damaged_and_says_why)
{
	const char *lines[TKB_COUNT_OF(damages)];
	struct tkb_error err = { 0 };
	struct outcome outcome;
	struct outcome strict;

	make_folder("damaged");
	make_folder("damaged/triton");
	for (size_t i = 0; i < TKB_COUNT_OF(damages); i++) {
		do_damage(&damages[i], root_of(i));
		lines[i] = check_left_out(&damages[i], root_of(i));
	}

	CHECK_OK(tkb_collect_to_file("damaged", NULL, "rest.tkb", NULL, &err),
	         &err);
	outcome = run(program(), "collect", "damaged", "-o", "p.tkb", NULL);
	strict = run(program(), "collect", "damaged", "-o", "s.tkb", "--strict",
	             NULL);
	CHECK_INT(outcome.status, 4);
	CHECK_INT(strict.status, 1);
	CHECK(!exists("s.tkb"));
	CHECK_INT(count_lines(outcome.err), TKB_COUNT_OF(damages));
	for (size_t i = 0; i < TKB_COUNT_OF(damages); i++) {
		CHECK_CONTAINS(outcome.err, lines[i]);
		CHECK_CONTAINS(strict.err, lines[i]);
	}
	check_same(read_file("p.tkb"), read_file("rest.tkb"));
}

TEST(collect, leaves_out_a_group_file_of_any_length_but_its_own)
{
	const char *root = small_cache();
	const struct tkb_bytes whole = read_file(group_of_add(root));

	for (size_t size = 0; size < whole.size;
	     size += size + 19 < whole.size ? 19 : 1) {
		struct seen seen = { 0 };
		const char *const keys[] = { ADD };
		const struct tkb_collect_options options = {
			.struct_size = sizeof(options),
			.keys = keys,
			.key_count = 1,
			.is_dry_run = true,
			.watch = watch_with(&seen)
		};
		struct tkb_error err = { 0 };

		write_file(group_of_add(root),
		           (struct tkb_bytes){ whole.data, size });
		CHECK_OK(tkb_collect(root, &options, NULL, NULL, &err), &err);
		CHECK_INT(seen.left_out_count, 1);
		CHECK_INT(seen.collected_count, 0);
		CHECK_INT(seen.reason, TKB_REASON_GROUP);
	}
}

TEST(collect, minds_the_sentinel_only_where_a_value_begins)
{
	const char *root = small_cache();

	edit_file(in(root, ADD, "add_kernel.json"), "/opt/triton-3.6.0",
	          "/opt/[REPLACE]");
	edit_file(in(root, ADD, "add_kernel.ttir"), "module", "[REPLACE]");

	check_counts(root, 5, 0, 0);
}

/*
 * Odd names, and much
 */

TEST(collect, packs_a_name_of_255_bytes)
{
	const char *root = small_cache();
	char *name = test_alloc(255);

	memset(name, 'n', 255);
	memcpy(name + 250, ".ttir", 5);
	list_child(root, name);
	write_text(in(root, ADD, name), "module");

	check_all(root, 5);
}

TEST(collect, packs_a_kernel_with_the_longest_name)
{
	static const char *const extensions[] = { "source", "ttir", "ttgir",
		                                  "llir",   "ptx",  "cubin",
		                                  "json" };
	const char *root = small_cache();
	char *name = test_alloc(243);

	memset(name, 'k', 243);
	for (size_t i = 0; i < TKB_COUNT_OF(extensions); i++)
		CHECK_INT(rename(in(root, ADD,
		                    text("add_kernel.%s", extensions[i])),
		                 in(root, ADD,
		                    text("%s.%s", name, extensions[i]))),
		          0);
	replace_in_file(group_of_add(root), "add_kernel", name);
	CHECK_INT(rename(group_of_add(root),
	                 in(root, ADD, text("__grp__%s.json", name))),
	          0);

	check_all(root, 5);
}

TEST(collect, packs_names_with_quotes_spaces_and_accents)
{
	const char *root = small_cache();

	list_child(root, "q\\\"uo'te.ttir");
	write_text(in(root, ADD, "q\"uo'te.ttir"), "a");
	list_child(root, "back\\\\slash [REPLACE].ttir");
	write_text(in(root, ADD, "back\\slash [REPLACE].ttir"), "b");
	list_child(root, "n\\u00e9 \xe2\x82\xac.ttir");
	write_text(in(root, ADD, "n\xc3\xa9 \xe2\x82\xac.ttir"), "c");

	check_counts(root, 5, 0, 0);
	must(run(program(), "collect", root, "-o", "b.tkb", "--strict", NULL));
	must(run(program(), "verify", "b.tkb", NULL));
}

TEST(collect, packs_an_entry_of_64_files)
{
	const char *root = small_cache();

	list_many(text("%s/" ADD, root), 64 - ADD_FILES);

	check_all(root, 5);
}

static const char *const one_of_each[] = { "add_kernel.ptx", "add_kernel.cubin",
	                                   "add_kernel.json",
	                                   "__grp__add_kernel.json" };

TEST(collect, follows_a_root_that_is_a_symbolic_link)
{
	const char *root = small_cache();

	CHECK_INT(symlink(root, "link"), 0);

	check_same(collected("link"), collected(root));
}

TEST(collect, packs_from_a_root_with_any_name)
{
	static const char odd[] = "caf\xc3\xa9 \"q\" back\\slash [REPLACE]\xff";
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root);
	struct outcome outcome;

	CHECK_INT(rename(root, odd), 0);

	check_same(collected(odd), wanted);
	outcome = run(program(), "collect", odd, "-o", "b.tkb", NULL);
	CHECK_INT(outcome.status, 0);
	check_same(read_file("b.tkb"), wanted);
}

/*
 * As somebody who may not read everything
 */

/* What a child process found out; shared memory. */
struct attempt {
	int rc;
	struct seen seen;
	struct tkb_collect_report report;
	struct tkb_error err;
};

/* In a child: cmocka's handlers would go on with the next test there. */
static void die_of_signals(void)
{
	static const int signals[] = { SIGABRT, SIGBUS,  SIGFPE,
		                       SIGILL,  SIGSEGV, SIGSYS };

	for (size_t i = 0; i < TKB_COUNT_OF(signals); i++)
		(void)signal(signals[i], SIG_DFL);
}

/* Collect to file `path` as somebody who is not root; NULL: a dry run. */
static struct attempt collect_as_nobody(const char *root, const char *key,
                                        const char *path)
{
	struct attempt *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *const keys[] = { key };
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.keys = keys,
		.key_count = key != NULL,
		.is_dry_run = path == NULL,
		.threads = 1,
		.watch = watch_with(&shared->seen),
	};
	struct attempt attempt;
	int status = 0;
	pid_t child;

	CHECK(shared != MAP_FAILED);
	shared->report.struct_size = sizeof(shared->report);
	CHECK_INT(chmod(test_folder(), 0755), 0);
	child = fork();
	if (child == 0) {
		die_of_signals();
		if (geteuid() == 0 &&
		    (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 ||
		     setuid(NOBODY) < 0))
			_exit(1);
		if (access(test_folder(), X_OK) < 0)
			_exit(2);
		shared->rc = tkb_collect_to_file(root, &options, path,
		                                 &shared->report, &shared->err);
		_exit(0);
	}
	CHECK(child > 0);
	CHECK_INT(waitpid(child, &status, 0), child);
	attempt = *shared;
	(void)munmap(shared, sizeof(*shared));
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
		print_message("cannot be somebody else in '%s'\n",
		              test_folder());
		skip();
	}
	CHECK_INT(status, 0);
	return attempt;
}

static void check_unreadable(const char *root, const char *path,
                             const char *part)
{
	struct attempt got;
	struct stat status;

	CHECK_INT(stat(path, &status), 0);
	CHECK_INT(chmod(path, 0), 0);

	got = collect_as_nobody(root, NULL, NULL);

	CHECK_INT(chmod(path, status.st_mode), 0);
	CHECK_INT(got.rc, 0);
	CHECK_INT(got.report.collected_count, 4);
	CHECK_INT(got.report.left_out_count, 1);
	CHECK_INT(got.seen.reason, TKB_REASON_UNREADABLE);
	CHECK_STR(got.seen.key, ADD);
	CHECK_CONTAINS(got.seen.message, part);
	CHECK_CONTAINS(got.seen.message, "Permission denied");
}

TEST(collect, leaves_out_an_entry_with_an_unreadable_file)
{
	const char *root = small_cache();

	for (size_t i = 0; i < TKB_COUNT_OF(one_of_each); i++)
		check_unreadable(root, in(root, ADD, one_of_each[i]),
		                 text("%s'", one_of_each[i]));
}

TEST(collect, leaves_out_an_unreadable_folder)
{
	const char *root = small_cache();

	check_unreadable(root, text("%s/" ADD, root), "'" ADD "'");
}

TEST(collect, passes_over_an_unreadable_folder_that_is_no_key)
{
	const char *root = small_cache();
	const char *path = text("%s/lost+found", root);
	struct attempt got;

	make_folder(path);
	CHECK_INT(chmod(path, 0), 0);

	got = collect_as_nobody(root, NULL, NULL);

	CHECK_INT(got.rc, 0);
	CHECK_STR(got.seen.message, "");
	CHECK_INT(got.report.left_out_count, 0);
	CHECK_INT(got.report.collected_count, 5);
	CHECK_INT(got.report.unfinished_count + got.report.stray_count, 1);
}

TEST(collect, fails_where_the_root_cannot_be_read)
{
	const char *root = small_cache();
	struct attempt got;

	CHECK_INT(chmod(root, 0), 0);

	got = collect_as_nobody(root, NULL, NULL);

	CHECK_INT(got.rc, TKB_ERR_IO);
	CHECK_CONTAINS(got.err.message, root);
	CHECK_CONTAINS(got.err.message, "Permission denied");
}

TEST(collect, fails_where_the_bundle_cannot_be_written)
{
	const char *root = small_cache();
	struct attempt got;

	make_folder("closed");
	CHECK_INT(chmod("closed", 0555), 0);

	got = collect_as_nobody(root, NULL, "closed/b.tkb");

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
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.threads = 1,
		.watch =
			&(const struct tkb_watch){
				.struct_size = sizeof(struct tkb_watch),
				.self = meddler,
				.on_result = meddler_result,
				.on_progress = is_early ? NULL : after_reading,
				.is_cancelled =
					is_early ? before_reading : NULL },
	};
	const struct tkb_collect_options count = {
		.struct_size = sizeof(count),
		.is_dry_run = true,
		.threads = 1,
		.watch =
			&(const struct tkb_watch){
				.struct_size = sizeof(struct tkb_watch),
				.self = meddler,
				.is_cancelled = count_call },
	};
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	size_t index;

	CHECK_OK(tkb_collect(meddler->root, &count, NULL, NULL, &err), &err);
	CHECK_OK(tkb_collect_to_file(meddler->root, &options, "b.tkb", &report,
	                             &err),
	         &err);

	CHECK(meddler->is_done);
	CHECK_INT(report.collected_count, 4);
	CHECK_INT(report.left_out_count, 1);
	CHECK_STR(meddler->seen.key, key);
	CHECK_STR(tkb_reason_name(meddler->seen.reason),
	          tkb_reason_name(reason));
	CHECK_CONTAINS(meddler->seen.message, part);
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_find(bundle, key, &index, &err), TKB_MISS);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
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

	CHECK_INT(stat(path, &status), 0);
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	write_file("new", bytes);
	CHECK_INT(utimensat(AT_FDCWD, "new", times, 0), 0);
	CHECK_INT(rename("new", path), 0);
}

static void remove_group(struct meddler *meddler)
{
	remove_file(in(meddler->root, SOFTMAX, "__grp__softmax_kernel.json"));
}

static void remove_cubin(struct meddler *meddler)
{
	remove_file(in(meddler->root, SOFTMAX, "softmax_kernel.cubin"));
}

TEST(collect, leaves_out_an_entry_that_changes_meanwhile)
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

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
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

TEST(collect, leaves_out_a_group_file_that_changes_within_one_time_stamp)
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

/*
 * Choices
 */

/* Run the program; what does not fit its status is shown. */
#define CHECK_RUN(wanted, ...)                                                 \
	check_run((wanted), run(program(), "collect", __VA_ARGS__, NULL))

static struct outcome check_run(int wanted, struct outcome outcome)
{
	if (outcome.status != wanted)
		fail_msg("status %d, not %d: %s%s", outcome.status, wanted,
		         outcome.out, outcome.err);
	return outcome;
}

static size_t count_in(const char *path)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_bundle_open(path, &bundle, &err), &err);
	return tkb_bundle_entry_count(bundle);
}

TEST(collect, takes_a_key_by_its_unique_prefix)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	struct tkb_error err = { 0 };

	CHECK_RUN(0, root, "-o", "b.tkb", "--key", "5D");

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_entry_count(bundle), 1);
	CHECK_STR(tkb_bundle_entry(bundle, 0)->key, ADD);
}

TEST(collect, takes_several_keys_each_once)
{
	const char *root = small_cache();

	CHECK_RUN(0, root, "-o", "b.tkb", "--key", "Q", "--key", ADD, "--key",
	          "5");

	CHECK_INT(count_in("b.tkb"), 2);
}

TEST(collect, refuses_a_prefix_of_several_keys)
{
	const char *root = cache_of("triton-3.6.0-h100");
	struct outcome outcome;

	outcome = CHECK_RUN(2, root, "-o", "b.tkb", "--key", "D");

	CHECK_CONTAINS(outcome.err, "several keys begin with 'D'");
	CHECK_CONTAINS(outcome.err, H100_MATMUL);
	CHECK_CONTAINS(outcome.err, H100_SOFTMAX);
	CHECK(!exists("b.tkb"));
}

TEST(collect, misses_a_key_that_is_not_there)
{
	const char *root = small_cache();
	struct outcome outcome;

	outcome =
		CHECK_RUN(3, root, "-o", "b.tkb", "--key", "5D", "--key", "ZZ");

	CHECK_CONTAINS(outcome.err, "no key begins with 'ZZ'");
	CHECK(!exists("b.tkb"));
}

TEST(collect, minds_only_the_keys_asked_for)
{
	const char *root = small_cache();

	write_text(in(root, GELU_2, "__grp__gelu_kernel.json"), "");
	cut_file(in(root, SOFTMAX, "softmax_kernel.cubin"), 100);
	CHECK_INT(symlink("/etc", text("%s/" H100_MATMUL, root)), 0);

	CHECK_RUN(0, root, "-o", "b.tkb", "--strict", "--key", ADD);

	CHECK_INT(count_in("b.tkb"), 1);
}

TEST(collect, leaves_out_the_key_asked_for_where_it_is_bad)
{
	const char *root = small_cache();

	write_text(group_of_add(root), "");

	CHECK_RUN(4, root, "-o", "b.tkb", "--key", ADD);

	CHECK_INT(count_in("b.tkb"), 0);
}

TEST(collect, misses_a_cache_that_is_not_there)
{
	struct outcome outcome;

	outcome = CHECK_RUN(3, "absent", "-o", "b.tkb");

	CHECK_CONTAINS(outcome.err, "'absent'");
	CHECK(!exists("b.tkb"));
}

TEST(collect, refuses_a_root_that_is_a_file)
{
	struct outcome outcome;

	write_text("file", "");
	outcome = CHECK_RUN(2, "file", "-o", "b.tkb");

	CHECK_CONTAINS(outcome.err, "file' is not a folder");
	CHECK(!exists("b.tkb"));
}

static void check_device(const char *path, uint32_t device)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_bundle_open(path, &bundle, &err), &err);
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		CHECK_INT(entry->device_count, 1);
		CHECK_INT(entry->devices[0], device);
	}
}

TEST(collect, names_the_device_of_a_triton_root)
{
	const char *root = small_cache();

	CHECK_RUN(0, root, "-o", "b.tkb", "--device", "3");

	CHECK_INT(count_in("b.tkb"), 5);
	check_device("b.tkb", 3);
}

/* An Inductor folder: devices 0 to 3, the same five entries in each. */
static void make_four_devices(void)
{
	const char *root = small_cache();

	make_folder("ind");
	make_folder("ind/triton");
	for (size_t i = 0; i < 4; i++)
		copy_folder(root, text("ind/triton/%zu", i));
}

static const char *of_device(size_t device, const char *below)
{
	return text("ind/triton/%zu/%s", device, below);
}

TEST(collect, takes_one_device_of_inductor)
{
	make_four_devices();
	remove_file(of_device(2, SOFTMAX "/softmax_kernel.ptx"));

	CHECK_RUN(0, "ind", "-o", "b.tkb", "--device", "1", "--strict");

	CHECK_INT(count_in("b.tkb"), 5);
	check_device("b.tkb", 1);
}

TEST(collect, misses_a_device_that_inductor_has_not)
{
	make_four_devices();

	CHECK_RUN(3, "ind", "-o", "b.tkb", "--device", "7");

	CHECK(!exists("b.tkb"));
}

TEST(collect, takes_the_last_device_that_can_be)
{
	make_four_devices();
	copy_folder("ind/triton/0", "ind/triton/1023");

	CHECK_RUN(0, "ind", "-o", "b.tkb", "--device", "1023", "--strict");

	CHECK_INT(count_in("b.tkb"), 5);
	check_device("b.tkb", 1023);
}

TEST(collect, passes_over_what_is_no_device_of_inductor)
{
	make_four_devices();
	make_folder("ind/triton/01");
	make_folder("ind/triton/x");
	make_folder("ind/triton/99999");
	make_folder("ind/triton/1024");
	write_text("ind/triton/5", "no folder");

	CHECK_RUN(0, "ind", "-o", "b.tkb", "--strict");

	CHECK_INT(count_in("b.tkb"), 5);
}

static void check_devices(const struct tkb_entry *entry,
                          const uint32_t *devices, size_t count)
{
	CHECK_INT(entry->device_count, count);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(entry->devices[i], devices[i]);
}

static const uint32_t four[] = { 0, 1, 2, 3 };

TEST(collect, packs_what_is_equal_on_four_devices_once)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	make_four_devices();

	CHECK_OK(tkb_collect_to_file("ind", NULL, "b.tkb", &report, &err),
	         &err);

	CHECK_INT(report.collected_count, 5);
	CHECK(report.is_inductor);
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_entry_count(bundle), 5);
	for (size_t i = 0; i < 5; i++)
		check_devices(tkb_bundle_entry(bundle, i), four, 4);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

TEST(collect, packs_equal_entries_once_though_each_names_its_own_place)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	size_t index = 0;

	make_four_devices();
	for (size_t i = 0; i < 4; i++)
		replace_in_file(of_device(i, ADD "/__grp__add_kernel.json"),
		                RECORDED,
		                text("%s/ind/triton/%zu", test_folder(), i));

	CHECK_OK(tkb_collect_to_file("ind", NULL, "b.tkb", &report, &err),
	         &err);

	CHECK_INT(report.collected_count, 5);
	CHECK_INT(report.moved_count, 3);
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	check_devices(entry_of(bundle, ADD, &index), four, 4);
}

TEST(collect, packs_what_differs_on_one_device_apart)
{
	static const uint32_t equal[] = { 0, 1, 3 };
	static const uint32_t other[] = { 2 };
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };
	size_t index = 0;

	make_four_devices();
	edit_file(of_device(2, ADD "/add_kernel.ttir"), "module", "MODULE");

	CHECK_OK(tkb_collect_to_file("ind", NULL, "b.tkb", NULL, &err), &err);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_entry_count(bundle), 6);
	check_devices(entry_of(bundle, ADD, &index), equal, 3);
	CHECK_STR(tkb_bundle_entry(bundle, index + 1)->key, ADD);
	check_devices(tkb_bundle_entry(bundle, index + 1), other, 1);
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

TEST(collect, leaves_out_the_device_whose_entry_is_bad)
{
	static const uint32_t good[] = { 1, 2, 3 };
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options), .watch = watch_with(&seen)
	};
	struct tkb_error err = { 0 };
	size_t index = 0;

	make_four_devices();
	cut_file(of_device(0, ADD "/add_kernel.cubin"), 1000);

	CHECK_OK(tkb_collect_to_file("ind", &options, "b.tkb", NULL, &err),
	         &err);

	CHECK_INT(seen.left_out_count, 1);
	CHECK_INT(seen.reason, TKB_REASON_BINARY);
	CHECK_CONTAINS(seen.message, "'add_kernel.cubin' is cut short");
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(tkb_bundle_entry_count(bundle), 5);
	check_devices(entry_of(bundle, ADD, &index), good, 3);
	check_devices(entry_of(bundle, SOFTMAX, &index), four, 4);
}

TEST(collect, leaves_modules_out_where_they_are_not_wanted)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = cache_of("triton-3.6.0-h100");
	struct tkb_error err = { 0 };
	struct outcome outcome;

	outcome = CHECK_RUN(0, root, "-o", "b.tkb", "--no-modules", "--strict");

	CHECK_CONTAINS(outcome.out, "collected 13 entries (104 files, ");
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_INT(count_kind(bundle, TKB_KIND_KERNEL), 13);
	CHECK_INT(count_kind(bundle, TKB_KIND_MODULE), 0);
}

TEST(collect, writes_nothing_in_a_dry_run)
{
	const char *root = small_cache();
	struct outcome outcome;

	outcome = CHECK_RUN(0, root, "-o", "b.tkb", "-n");

	CHECK_CONTAINS(outcome.out, "would collect 5 entries (33 files, ");
	CHECK_INT(count_names("."), 1);
}

TEST(collect, writes_no_file_in_a_dry_run_of_the_library)
{
	const struct tkb_collect_options dry = { .struct_size = sizeof(dry),
		                                 .is_dry_run = true };
	const char *root = small_cache();
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect_to_file(root, &dry, "b.tkb", NULL, &err), &err);

	CHECK_INT(count_names("."), 1);
}

TEST(collect, checks_as_much_in_a_dry_run)
{
	const char *root = small_cache();
	struct outcome outcome;

	edit_file(in(root, ADD, "add_kernel.json"), "\"name\": \"add_kernel\"",
	          "\"name\": \"sub_kernel\"");

	outcome = CHECK_RUN(4, root, "-n");

	CHECK_CONTAINS(outcome.err, "left out " ADD ": binary: ");
	CHECK_CONTAINS(outcome.out, "would collect 4 entries");
}

TEST(collect, tells_in_a_dry_run_the_id_that_the_bundle_would_have)
{
	const char *root = small_cache();
	const struct tkb_collect_options dry = { .struct_size = sizeof(dry),
		                                 .is_dry_run = true };
	struct tkb_collect_report would = { .struct_size = sizeof(would) };
	struct tkb_collect_report did = { .struct_size = sizeof(did) };
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect(root, &dry, NULL, &would, &err), &err);
	CHECK_OK(tkb_collect_to_file(root, NULL, "b.tkb", &did, &err), &err);

	assert_memory_equal(&would.id, &did.id, sizeof(did.id));
	CHECK_INT(would.bundle_size, 0);
	CHECK_INT(would.size, did.size);
}

TEST(collect, does_nothing_where_it_is_disabled)
{
	const char *root = small_cache();
	struct outcome outcome;

	outcome = run("env", "TKBUNDLE_DISABLE=1", program(), "collect", root,
	              "-o", "b.tkb", NULL);

	CHECK_INT(outcome.status, 0);
	CHECK_CONTAINS(outcome.err, "TKBUNDLE_DISABLE");
	CHECK_INT(count_names("."), 1);
}

TEST(collect, lists_in_json_what_is_left_out)
{
	const char *root = small_cache();
	struct outcome outcome;

	remove_file(in(root, ADD, "add_kernel.ptx"));

	outcome = CHECK_RUN(4, root, "-o", "b.tkb", "--json");

	CHECK_CONTAINS(outcome.out, "\"collected\":4");
	CHECK_CONTAINS(outcome.out, "\"left_out_count\":1");
	CHECK_CONTAINS(outcome.out, "\"key\":\"" ADD "\"");
	CHECK_CONTAINS(outcome.out, "\"reason\":\"missing\"");
	CHECK_CONTAINS(outcome.out, "'add_kernel.ptx' is not there");
}

/*
 * Where the bundle goes
 */

TEST(collect, writes_the_same_to_standard_output)
{
	const char *root = small_cache();
	struct outcome outcome;

	CHECK_RUN(0, root, "-o", "b.tkb");
	outcome = CHECK_RUN(0, root, "-o", "-");

	check_same((struct tkb_bytes){ outcome.out, outcome.out_size },
	           read_file("b.tkb"));
	CHECK_CONTAINS(outcome.err, "collected 5 entries");
	CHECK_INT(count_names("."), 2);
}

TEST(collect, replaces_a_file_whole)
{
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root);
	char *old = test_alloc(1000000);

	memset(old, 'o', 1000000);
	write_text("b.tkb", old);
	CHECK_INT(link("b.tkb", "held"), 0);

	CHECK_RUN(0, root, "-o", "b.tkb");

	check_same(read_file("b.tkb"), wanted);
	CHECK_STR(read_file("held").data, old);
	CHECK_INT(count_names("."), 3);
}

TEST(collect, keeps_the_file_that_is_there_when_it_fails)
{
	const char *root = small_cache();

	write_text("b.tkb", "old");
	remove_file(in(root, ADD, "add_kernel.ptx"));

	CHECK_RUN(1, root, "-o", "b.tkb", "--strict");

	CHECK_STR(read_file("b.tkb").data, "old");
	CHECK_INT(count_names("."), 2);
}

TEST(collect, fails_where_the_bundles_folder_is_not_there)
{
	const char *root = small_cache();
	struct outcome outcome;

	outcome = CHECK_RUN(1, root, "-o", "absent/b.tkb");

	CHECK_CONTAINS(outcome.err, "'absent/b.tkb'");
	CHECK_INT(count_names("."), 1);
}

TEST(collect, fails_where_the_disk_is_full)
{
	const char *root = small_cache();
	struct outcome outcome;

	outcome = CHECK_RUN(1, root, "-o", "/dev/full");

	CHECK_CONTAINS(outcome.err, "No space left");
}

TEST(collect, gives_a_bundle_the_mode_that_the_umask_leaves)
{
	const char *root = small_cache();
	const mode_t before = umask(027);
	struct stat status;
	struct outcome outcome;

	outcome = run(program(), "collect", root, "-o", "b.tkb", NULL);
	(void)umask(before);

	CHECK_INT(outcome.status, 0);
	CHECK_INT(stat("b.tkb", &status), 0);
	CHECK_INT(status.st_mode & 07777, 0640);
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	size_t *calls = self;

	(void)bytes;
	(*calls)++;
	return tkb_fail(err, TKB_ERR_IO, "the sink is full");
}

TEST(collect, passes_on_what_its_sink_says)
{
	const char *root = small_cache();
	size_t calls = 0;
	const struct tkb_sink sink = { refuse, &calls };
	struct tkb_error err = { 0 };

	CHECK_FAILS(tkb_collect(root, NULL, &sink, NULL, &err), TKB_ERR_IO,
	            &err, "the sink is full");
	CHECK_INT(calls, 1);
}

TEST(collect, sends_nothing_where_strict_leaves_something_out)
{
	const char *root = small_cache();
	size_t calls = 0;
	const struct tkb_sink sink = { refuse, &calls };
	const struct tkb_collect_options strict = { .struct_size =
		                                            sizeof(strict),
		                                    .is_strict = true };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	cut_file(in(root, ADD, "add_kernel.cubin"), 1000);

	CHECK_FAILS(tkb_collect(root, &strict, &sink, &report, &err),
	            TKB_ERR_LEFT_OUT, &err, "1 entr");
	CHECK_INT(calls, 0);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(report.collected_count, 4);
}

static bool always(void *self)
{
	(void)self;
	return true;
}

TEST(collect, ends_where_it_is_cancelled_and_leaves_nothing)
{
	const char *root = small_cache();
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.watch = &(const struct tkb_watch){ .struct_size = sizeof(
							    struct tkb_watch),
		                                    .is_cancelled = always }
	};
	struct tkb_error err = { 0 };

	CHECK_FAILS(tkb_collect_to_file(root, &options, "b.tkb", NULL, &err),
	            TKB_ERR_CANCELLED, &err, "cancelled");
	CHECK_INT(count_names("."), 1);
}

TEST(collect, tells_its_progress_to_the_end)
{
	const char *root = small_cache();
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.is_dry_run = true,
		.watch = watch_with(&seen)
	};
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect(root, &options, NULL, &report, &err), &err);

	CHECK_INT(seen.done, report.size);
	CHECK_INT(seen.total, report.size);
	CHECK(!seen.went_back);
}

TEST(collect, tells_no_more_progress_than_there_is_to_make)
{
	const char *root = small_cache();
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.is_dry_run = true,
		.watch = watch_with(&seen)
	};
	struct tkb_error err = { 0 };

	cut_file(in(root, ADD, "add_kernel.cubin"), 1000);

	CHECK_OK(tkb_collect(root, &options, NULL, NULL, &err), &err);

	CHECK_INT(seen.left_out_count, 1);
	CHECK(!seen.went_too_far);
	CHECK(!seen.went_back);
	CHECK_INT(seen.done, seen.total);
}

/*
 * Lean
 */

static const char lean_group[] =
	"{\"child_paths\": {"
	"\"add_kernel.cubin\": \"[REPLACE]/add_kernel.cubin\", "
	"\"add_kernel.json\": \"[REPLACE]/add_kernel.json\"}}";

static const struct tkb_collect_options lean = { .struct_size = sizeof(lean),
	                                         .profile = TKB_PROFILE_LEAN };

TEST(collect, packs_lean_what_a_launch_needs)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	const struct tkb_entry *entry;
	struct tkb_error err = { 0 };
	size_t index = 0;

	CHECK_RUN(0, root, "-o", "b.tkb", "--profile", "lean", "--strict");

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_STR(tkb_bundle_profile(bundle), "lean");
	CHECK_INT(tkb_bundle_entry_count(bundle), 5);
	entry = entry_of(bundle, ADD, &index);
	CHECK_INT(entry->file_count, 3);
	check_same(packed_file(bundle, ADD, "__grp__add_kernel.json"),
	           tkb_text(lean_group));
	check_same(packed_file(bundle, ADD, "add_kernel.cubin"),
	           read_file(in(root, ADD, "add_kernel.cubin")));
	check_same(packed_file(bundle, ADD, "add_kernel.json"),
	           read_file(in(root, ADD, "add_kernel.json")));
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

TEST(collect, packs_lean_a_group_file_that_is_a_list)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	struct tkb_error err = { 0 };

	write_text(group_of_add(root), list_of_add);

	CHECK_OK(tkb_collect_to_file(root, &lean, "b.tkb", NULL, &err), &err);

	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	check_same(packed_file(bundle, ADD, "__grp__add_kernel.json"),
	           tkb_text("{\"child_paths\": [\"add_kernel.cubin\", "
	                    "\"add_kernel.json\"]}"));
	CHECK_OK(tkb_bundle_verify(bundle, NULL, NULL, &err), &err);
}

TEST(collect, counts_no_strays_for_what_lean_drops)
{
	const char *root = small_cache();
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect_to_file(root, &lean, "b.tkb", &report, &err),
	         &err);

	CHECK_INT(report.stray_count, 0);
	CHECK_INT(report.file_count, 4 * 3 + 1);
}

TEST(collect, packs_again_what_lean_left)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	const char *root = small_cache();
	const struct tkb_collect_options again = { .struct_size = sizeof(again),
		                                   .profile = TKB_PROFILE_LEAN,
		                                   .is_strict = true };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_collect_to_file(root, &lean, "b.tkb", NULL, &err), &err);
	CHECK_OK(tkb_bundle_open("b.tkb", &bundle, &err), &err);
	CHECK_OK(tkb_emit(bundle, "out", NULL, NULL, &err), &err);

	check_counts("out", 5, 0, 0);
	CHECK_OK(tkb_collect_to_file("out", &again, "c.tkb", &report, &err),
	         &err);
	CHECK_INT(report.moved_count, 0);
	check_same(read_file("c.tkb"), read_file("b.tkb"));
}

TEST(collect, leaves_out_a_torn_entry_under_lean_too)
{
	const char *root = small_cache();
	struct outcome outcome;

	remove_file(in(root, ADD, "add_kernel.ttir"));

	outcome = CHECK_RUN(4, root, "-o", "b.tkb", "--profile", "lean");

	CHECK_CONTAINS(outcome.err, "left out " ADD ": missing: "
	                            "'add_kernel.ttir' is not there");
	CHECK_INT(count_in("b.tkb"), 4);
}

TEST(collect, without_a_sink_is_refused_unless_it_is_dry)
{
	const struct tkb_collect_options dry = { .struct_size = sizeof(dry),
		                                 .is_dry_run = true };
	struct tkb_error err = { 0 };

	unpack("triton-3.6.0-cpu", "cache");
	CHECK_FAILS(tkb_collect("cache/.triton/cache", NULL, NULL, NULL, &err),
	            TKB_ERR_INVALID, &err, "there is no sink");
	CHECK_OK(tkb_collect("cache/.triton/cache", &dry, NULL, NULL, &err),
	         &err);
}

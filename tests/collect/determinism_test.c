/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

/* The same entries give the same bytes, whatever else is different. */

/* Keys of triton-3.6.0-cpu. */
#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

/* A key of no fixture. */
#define OTHER "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"

#define RECORDED "/home/serve/.triton/cache"
#define GROUP_START "{\"child_paths\": {"
#define INDUCTOR "unpacked/.cache/torchinductor"

static const struct tkb_collect_options defaults = { SIZED(defaults) };

static const char *cache_of(const char *fixture)
{
	unpack(fixture, "unpacked");
	return text("%s/unpacked/.triton/cache", test_folder());
}

/*
 * Five entries; one of them has a file whose name is not ASCII, which is
 * where tar writers ask for the locale.
 */
static const char *make_cache(void)
{
	const char *root = cache_of("triton-3.6.0-cpu");

	edit_file(text("%s/" ADD "/__grp__add_kernel.json", root), GROUP_START,
	          GROUP_START "\"n\\u00e9 \\u20ac.ttir\": \"" RECORDED "/" ADD
	                      "/n\\u00e9 \\u20ac.ttir\", ");
	write_text(text("%s/" ADD "/n\xc3\xa9 \xe2\x82\xac.ttir", root),
	           "module");
	return root;
}

static void must(struct outcome outcome)
{
	if (outcome.status != 0)
		fail_msg("%s", outcome.err);
}

static int collect(const char *root, const struct tkb_collect_options *options,
                   struct tkb_bytes *out, struct tkb_error *err)
{
	struct tkb_buf *buf = test_buf((size_t)1 << 30);
	const struct tkb_sink sink = tkb_buf_sink(buf);

	int rc = tkb_collect(root, options, &sink, NULL, err);
	if (!tkb_is_done(rc))
		return rc;
	char *kept = test_alloc(buf->size);
	memcpy(kept, buf->data, buf->size);
	*out = (struct tkb_bytes){ kept, buf->size };
	return rc;
}

static struct tkb_bytes collected_with(
	const char *root, const struct tkb_collect_options *options)
{
	struct tkb_bytes bytes = { 0 };

	DONE(collect(root, options, &bytes, ERR),
	     ERR->status == TKB_ERR_PARTIAL);
	return bytes;
}

static struct tkb_bytes collected(const char *root)
{
	return collected_with(root, &defaults);
}

static void check_same(struct tkb_bytes got, struct tkb_bytes wanted)
{
	CHECK_INT(got.size, wanted.size);
	assert_memory_equal(got.data, wanted.data, wanted.size);
}

/* Emit the bundle `bytes` to `root`. */
static void emit(struct tkb_bytes bytes, const char *root)
{
	struct tkb_emit_report report = { SIZED(report) };

	write_file("emitted.tkb", bytes);
	struct tkb_bundle *bundle = test_bundle("emitted.tkb");
	OK(tkb_emit(bundle, root, NULL, &report, ERR));
	CHECK_INT(report.emitted_count, tkb_bundle_entry_count(bundle));
}

/*
 * One test for each thing that must make no difference
 */

TEST(determinism, holds_for_the_same_cache_twice)
{
	const char *root = make_cache();

	check_same(collected(root), collected(root));
}

TEST(determinism, holds_wherever_the_cache_lies)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);
	const char *far = text("%s/caf\xc3\xa9 \"q\" "
	                       "back\\slash/a/much/longer/path/to/the/cache",
	                       test_folder());

	must(run("mkdir", "-p", far, NULL));
	copy_folder(root, text("%s/x", far));

	check_same(collected(text("%s/x", far)), wanted);
	check_same(collected(text("%s/./x//", far)), wanted);
	check_same(collected("unpacked/.triton/cache"), wanted);
}

TEST(determinism, holds_for_a_cache_that_was_written_where_it_lies)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	emit(wanted, "caf\xc3\xa9 \"q\" back\\slash");
	check_same(collected("caf\xc3\xa9 \"q\" back\\slash"), wanted);
	emit(wanted, "not utf-8 \xff");
	check_same(collected("not utf-8 \xff"), wanted);
}

/* The names of `folder` in the order in which the system gives them. */
static const char *order_of(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *item;
	const char *names = "";

	CHECK(dir != NULL);
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if (item->d_name[0] != '.')
			names = text("%s/%s", names, item->d_name);
	}
	(void)closedir(dir);
	return names;
}

/* Copy a cache, entry by entry and file by file, forwards or backwards. */
static bool copy_in_order(const char *root, const char *to, bool is_backwards)
{
	const char **keys = list(root);
	const size_t key_count = count_names(root);
	bool is_good = mkdir(to, 0777) == 0;

	for (size_t i = 0; i < key_count && is_good; i++) {
		const char *key = keys[is_backwards ? key_count - 1 - i : i];
		const char *from = text("%s/%s", root, key);
		const size_t count = count_names(from);
		const char **names = list(from);

		is_good = mkdir(text("%s/%s", to, key), 0777) == 0;
		for (size_t j = 0; j < count && is_good; j++) {
			const char *name =
				names[is_backwards ? count - 1 - j : j];

			is_good = run("cp", text("%s/%s", from, name),
			              text("%s/%s/%s", to, key, name), NULL)
			                  .status == 0;
		}
	}
	return is_good;
}

/* tmpfs gives names in an order that tells how they were made. */
static const char *make_folder_on_tmpfs(void)
{
	char *folder = test_alloc(64);

	(void)snprintf(folder, 64, "/dev/shm/tkb-test-XXXXXX");
	return mkdtemp(folder);
}

TEST(determinism, holds_for_any_order_of_a_folders_names)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);
	const char *shm = make_folder_on_tmpfs();
	struct tkb_bytes got[2] = { { 0 } };
	const char *orders[2] = { "", "" };
	int rcs[2] = { 0 };
	bool is_good = shm != NULL;

	/* What lies outside the test's folder is removed before any check. */
	for (size_t i = 0; i < 2 && is_good; i++) {
		const char *copy = text("%s/%zu", shm, i);

		is_good = copy_in_order(root, copy, i == 1);
		if (is_good) {
			orders[i] = order_of(copy);
			rcs[i] = collect(copy, &defaults, &got[i], NULL);
		}
	}
	if (shm != NULL)
		must(run("rm", "-r", shm, NULL));
	if (!is_good || strcmp(orders[0], orders[1]) == 0) {
		print_message("/dev/shm gives names in one order only\n");
		skip();
	}

	CHECK_INT(rcs[0], 0);
	CHECK_INT(rcs[1], 0);
	check_same(got[0], wanted);
	check_same(got[1], wanted);
}

TEST(determinism, holds_for_any_umask)
{
	static const mode_t masks[] = { 0, 022, 077 };
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	EACH(i, masks) {
		const char *path = text("%zu.tkb", i);
		const mode_t before = umask(masks[i]);
		const struct outcome outcome =
			run(program(), "collect", root, "-o", path, NULL);

		(void)umask(before);
		must(outcome);
		check_same(read_file(path), wanted);
	}
}

static int disguise_one(const char *path, const struct stat *status, int type,
                        struct FTW *where)
{
	const struct timespec times[2] = {
		{ .tv_sec = 1000000000 },
		{ .tv_sec = 1000000000 + where->level, .tv_nsec = where->base }
	};

	(void)status;
	if (chmod(path, type == FTW_F ? 0640 : 0750) < 0)
		return -1;
	if (geteuid() == 0 && lchown(path, 1234, 5678) < 0)
		return -1;
	return utimensat(AT_FDCWD, path, times, 0);
}

TEST(determinism, holds_for_any_owner_mode_and_time_of_the_files)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	SYS(nftw(root, disguise_one, 16, FTW_PHYS));

	check_same(collected(root), wanted);
}

TEST(determinism, holds_in_any_time_zone)
{
	static const char *const zones[] = { "TZ=UTC0", "TZ=XXX-14",
		                             "TZ=America/St_Johns" };
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	EACH(i, zones) {
		const char *path = text("%zu.tkb", i);

		must(run("env", zones[i], program(), "collect", root, "-o",
		         path, NULL));
		check_same(read_file(path), wanted);
	}
}

TEST(determinism, holds_for_any_locale_of_the_program)
{
	static const char *const locales[] = { "C", "C.UTF-8", "POSIX",
		                               "de_DE.ISO-8859-1", "absent" };
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	EACH(i, locales) {
		const char *path = text("%zu.tkb", i);

		must(run("env", text("LANG=%s", locales[i]),
		         text("LC_ALL=%s", locales[i]), program(), "collect",
		         root, "-o", path, NULL));
		check_same(read_file(path), wanted);
	}
}

TEST(determinism, holds_for_any_locale_of_a_caller)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	/* Where there is no such locale, the one before stays. */
	(void)setlocale(LC_ALL, "C.UTF-8");
	struct tkb_bytes got = collected(root);
	(void)setlocale(LC_ALL, "C");

	check_same(got, wanted);
}

/* Two frames at least, or threads would have nothing to share. */
TEST(determinism, holds_for_any_number_of_threads)
{
	static const uint32_t threads[] = { 1, 2, 8 };

	unpack("inductor-2.11-llama4-h100", "unpacked");
	struct tkb_bytes wanted = collected(INDUCTOR);
	write_file("b.tkb", wanted);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK(tkb_bundle_frame_count(bundle) > 1);

	EACH(i, threads) {
		const struct tkb_collect_options options = {
			SIZED(options), .threads = threads[i]
		};

		check_same(collected_with(INDUCTOR, &options), wanted);
	}
}

TEST(determinism, holds_for_any_j_of_the_program)
{
	static const char *const jobs[] = { "-j1", "-j2", "-j8" };
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	EACH(i, jobs) {
		const char *path = text("%zu.tkb", i);

		must(run(program(), "collect", root, jobs[i], "-o", path,
		         NULL));
		check_same(read_file(path), wanted);
	}
}

TEST(determinism, holds_for_hard_links)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	must(run("cp", "-al", root, "linked", NULL));
	SYS(link("linked/" ADD "/add_kernel.ptx", "more"));

	check_same(collected("linked"), wanted);
}

TEST(determinism, holds_with_an_entry_beside_that_is_bad_at_first_sight)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	copy_folder(text("%s/" ADD, root), text("%s/" OTHER, root));

	check_same(collected(root), wanted);
}

TEST(determinism, holds_with_an_entry_beside_that_only_its_bytes_betray)
{
	const char *root = make_cache();

	SYS(rename(text("%s/" ADD, root), "away"));
	struct tkb_bytes wanted = collected(root);
	SYS(truncate("away/add_kernel.cubin", 1000));
	SYS(rename("away", text("%s/" ADD, root)));

	check_same(collected(root), wanted);
}

TEST(determinism, holds_with_a_bad_binary_in_a_frame_of_several)
{
	const char *root = INDUCTOR "/triton/0";

	unpack("inductor-2.11-llama4-h100", "unpacked");
	const char *key = list(root)[3];
	SYS(rename(text("%s/%s", root, key), "away"));
	struct tkb_bytes wanted = collected(INDUCTOR);

	SYS(rename("away", text("%s/%s", root, key)));
	must(run("find", text("%s/%s", root, key), "-name", "*.cubin", "-exec",
	         "truncate", "-s", "1000", "{}", ";", NULL));

	check_same(collected(INDUCTOR), wanted);
}

TEST(determinism, holds_for_what_is_unfinished_or_stray)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root);

	write_text(text("%s/stray", root), "x");
	write_text(text("%s/" ADD "/stray.ttir", root), "x");
	SYS(mkdir(text("%s/" OTHER, root), 0777));
	SYS(mkdir(text("%s/" OTHER "/tmp.pid_1_2", root), 0777));

	check_same(collected(root), wanted);
}

static void note_left_out(void *self, const struct tkb_result *result)
{
	tkb_buf_add_text(self, text(" %c%s", result->key[0],
	                            strrchr(result->root, '/')));
}

/* In the order of the keys and, of one key, of what is told of its root. */
TEST(determinism, holds_for_what_is_told_of_several_devices)
{
	static const char *const devices[] = { "10", "0", "2" };
	BUF(told, 4096);
	const struct tkb_watch watch = { SIZED(watch),
		                         .on_result = note_left_out,
		                         .self = &told };
	const struct tkb_collect_options options = { SIZED(options),
		                                     .is_dry_run = true,
		                                     .watch = &watch };

	EACH(i, devices) {
		shell("mkdir -p ind/triton/%s", devices[i]);
		for (const char *first = "BCA"; *first != '\0'; first++)
			SYS(symlink("elsewhere",
			            text("ind/triton/%s/%c%s", devices[i],
			                 *first, &OTHER[1])));
	}

	CHECK_INT(tkb_collect_to_file("ind", &options, NULL, NULL, NULL),
	          TKB_ERR_PARTIAL);
	tkb_buf_add_byte(&told, '\0');
	CHECK_STR(told.data, " A/0 A/10 A/2 B/0 B/10 B/2 C/0 C/10 C/2");
}

TEST(determinism, holds_for_any_order_of_the_keys_asked_for)
{
	static const char *const one_way[] = { ADD, SOFTMAX };
	static const char *const other_way[] = { "Q", ADD, SOFTMAX, "5" };
	const struct tkb_collect_options one = { SIZED(one), .keys = one_way,
		                                 .key_count = 2 };
	const struct tkb_collect_options other = { SIZED(other),
		                                   .keys = other_way,
		                                   .key_count = 4 };
	const char *root = make_cache();

	check_same(collected_with(root, &other), collected_with(root, &one));
}

TEST(determinism, holds_for_a_lean_bundle_of_a_lean_cache)
{
	static const struct tkb_collect_options lean = {
		SIZED(lean), .profile = TKB_PROFILE_LEAN
	};
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected_with(root, &lean);

	emit(wanted, "lean");

	check_same(collected_with("lean", &lean), wanted);
}

static void check_round_trip(const char *root)
{
	/* A module is emitted only where it can be loaded. */
	static const struct tkb_collect_options is_kernels_only = {
		SIZED(is_kernels_only), .is_kernels_only = true
	};
	const struct tkb_bytes wanted = collected_with(root, &is_kernels_only);

	emit(wanted, "torchinductor_again");

	check_same(collected_with("torchinductor_again", &is_kernels_only),
	           wanted);
	must(run("rm", "-r", "torchinductor_again", "unpacked", NULL));
}

TEST(determinism, holds_from_emit_to_collect_for_every_triton)
{
	static const char *const fixtures[] = {
		"triton-3.0.0-cpu", "triton-3.1.0-cpu", "triton-3.2.0-cpu",
		"triton-3.3.1-cpu", "triton-3.4.0-cpu", "triton-3.5.1-cpu",
		"triton-3.6.0-cpu", "triton-3.7.1-cpu", "triton-3.8.0-cpu",
		"triton-3.9.0-cpu", "triton-3.6.0-h100"
	};

	EACH(i, fixtures)
		check_round_trip(cache_of(fixtures[i]));
}

TEST(determinism, holds_from_emit_to_collect_for_inductor)
{
	unpack("inductor-2.11-llama4-h100", "unpacked");
	check_round_trip(INDUCTOR);
}

static void make_devices(const char *root, const char *into)
{
	SYS(mkdir(into, 0777));
	SYS(mkdir(text("%s/triton", into), 0777));
	for (size_t i = 0; i < 4; i++)
		copy_folder(root, text("%s/triton/%zu", into, i));
	edit_file(text("%s/triton/2/" ADD "/add_kernel.ttir", into), "module",
	          "MODULE");
}

TEST(determinism, holds_from_emit_to_collect_for_several_devices)
{
	make_devices(make_cache(), "ind");
	struct tkb_bytes wanted = collected("ind");

	write_file("b.tkb", wanted);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	OK(tkb_emit(bundle, "again", NULL, NULL, ERR));

	check_same(collected("again"), wanted);
}

/*
 * The bytes themselves
 */

/* Compressors change, the id does not: this pins version 1 of the format. */
TEST(determinism, gives_the_id_that_version_1_always_gave)
{
	static const char wanted[] = "81254de2783fee9b1dd1a5f469977065"
				     "de14b182603d9f417d2dbe21148387a4";
	const char *root = cache_of("triton-3.6.0-cpu");
	const struct tkb_collect_options dry = { SIZED(dry),
		                                 .is_dry_run = true };
	struct tkb_collect_report report = { SIZED(report) };
	char hex[TKB_DIGEST_HEX_SIZE];

	OK(tkb_collect(root, &dry, NULL, &report, ERR));

	tkb_digest_to_hex(&report.id, hex);
	CHECK_STR(hex, wanted);
}

/* What a tar header must say of each member. */
static void check_header(struct archive_entry *entry)
{
	CHECK_INT(archive_entry_filetype(entry), AE_IFREG);
	CHECK_INT(archive_entry_perm(entry), 0644);
	CHECK_INT(archive_entry_mtime(entry), 0);
	CHECK_INT(archive_entry_mtime_nsec(entry), 0);
	CHECK_INT(archive_entry_uid(entry), 0);
	CHECK_INT(archive_entry_gid(entry), 0);
	CHECK(!archive_entry_atime_is_set(entry));
	CHECK(!archive_entry_ctime_is_set(entry));
	if (archive_entry_uname(entry) != NULL)
		CHECK_STR(archive_entry_uname(entry), "");
	if (archive_entry_gname(entry) != NULL)
		CHECK_STR(archive_entry_gname(entry), "");
	CHECK(archive_entry_hardlink(entry) == NULL);
	CHECK(archive_entry_symlink(entry) == NULL);
}

static struct tkb_bytes read_member(struct archive *archive,
                                    struct archive_entry *entry)
{
	const size_t size = (size_t)archive_entry_size(entry);
	char *bytes = test_alloc(size);

	CHECK_INT(archive_read_data(archive, bytes, size), size);
	return (struct tkb_bytes){ bytes, size };
}

static bool holds(struct tkb_bytes bytes, const char *part)
{
	return memmem(bytes.data, bytes.size, part, strlen(part)) != NULL;
}

/* Go through the bundle as any tar reader does. Returns how many members. */
static size_t check_members(const char *path, const char *const *hidden)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	size_t count = 0;

	CHECK(archive != NULL);
	CHECK_INT(archive_read_support_filter_zstd(archive), ARCHIVE_OK);
	CHECK_INT(archive_read_support_format_tar(archive), ARCHIVE_OK);
	CHECK_INT(archive_read_open_filename(archive, path, 65536), ARCHIVE_OK);
	while (archive_read_next_header(archive, &entry) == ARCHIVE_OK) {
		const char *name = archive_entry_pathname(entry);
		const size_t length = strlen(name);
		const struct tkb_bytes bytes = read_member(archive, entry);

		check_header(entry);
		count++;
		if (length < 5 || strcmp(name + length - 5, ".json") != 0)
			continue;
		for (size_t i = 0; hidden[i] != NULL; i++)
			CHECK(!holds(bytes, hidden[i]));
	}
	CHECK(archive_error_string(archive) == NULL);
	(void)archive_read_free(archive);
	return count;
}

TEST(determinism, hides_the_path_of_a_cache_in_place)
{
	const char *const hidden[] = { test_folder(), "hidden", RECORDED,
		                       "/home/serve", NULL };
	const char *root = cache_of("triton-3.6.0-cpu");
	const char *metadata =
		text("%s/hidden/" ADD "/add_kernel.json", test_folder());

	emit(collected(root), text("%s/hidden", test_folder()));
	edit_file(metadata, "\"shared\": 0",
	          text("\"here\": \"%s/hidden/" ADD "/x\", \"shared\": 0",
	               test_folder()));

	write_file("b.tkb", collected("hidden"));

	CHECK_INT(check_members("b.tkb", hidden), 2 + 33);
}

TEST(determinism, hides_the_path_of_a_moved_cache_and_tells_no_owner_or_time)
{
	const char *const hidden[] = { test_folder(), "/home/serve/.triton",
		                       NULL };
	const char *root = cache_of("triton-3.6.0-h100");

	SYS(nftw(root, disguise_one, 16, FTW_PHYS));

	write_file("b.tkb", collected(root));

	CHECK_INT(check_members("b.tkb", hidden), 2 + 108);
}

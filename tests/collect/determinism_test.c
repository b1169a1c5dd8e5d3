/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

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

#define INDUCTOR "unpacked/.cache/torchinductor"

/*
 * Five entries; one of them has a file whose name is not ASCII, which is
 * where tar writers ask for the locale.
 */
static const char *make_cache(void)
{
	const char *root = cache_of("triton-3.6.0-cpu");

	list_child(root, "n\\u00e9 \\u20ac.ttir");
	write_text(in(root, ADD, "n\xc3\xa9 \xe2\x82\xac.ttir"), "module");
	return root;
}

/* Emit the bundle `bytes` to `root`. */
static void emit(struct tkb_bytes bytes, const char *root)
{
	struct tkb_emit_report report = { SIZED(report) };

	BUNDLE(bundle) = open_bytes(bytes);
	OK(tkb_emit(bundle, root, NULL, &report, ERR));
	CHECK_INT(report.emitted_count, tkb_bundle_entry_count(bundle));
}

/*
 * One test for each thing that must make no difference
 */

TEST(determinism, holds_for_the_same_cache_twice)
{
	const char *root = make_cache();

	check_same_bytes(collected(root, NULL), collected(root, NULL));
}

TEST(determinism, holds_wherever_the_cache_lies)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);
	const char *far = "caf\xc3\xa9 \"q\" back\\slash/a/much/longer/path";

	shell("mkdir -p '%s'", far);
	copy_folder(root, text("%s/x", far));

	check_same_bytes(collected(text("%s/x", far), NULL), wanted);
	check_same_bytes(collected(text("%s/./x//", far), NULL), wanted);
	check_same_bytes(collected("unpacked/.triton/cache", NULL), wanted);
}

TEST(determinism, holds_for_a_cache_that_was_written_where_it_lies)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	emit(wanted, "caf\xc3\xa9 \"q\" back\\slash");
	check_same_bytes(collected("caf\xc3\xa9 \"q\" back\\slash", NULL),
	                 wanted);
	emit(wanted, "not utf-8 \xff");
	check_same_bytes(collected("not utf-8 \xff", NULL), wanted);
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

static void remove_whole(void *self)
{
	shell("rm -r %s", (const char *)self);
}

/* On tmpfs, which gives names in an order that tells how they were made. */
TEST(determinism, holds_for_any_order_of_a_folders_names)
{
	static const char *const orders[] = { "", "-r" };
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);
	static char shm[] = "/dev/shm/tkb-test-XXXXXX";
	const char *found[2];

	if (mkdtemp(shm) == NULL)
		skip();
	at_end(remove_whole, shm);
	EACH(i, orders) {
		const char *copy = text("%s/%zu", shm, i);

		shell("mkdir %s; cd %s; ls %s | while read -r key; do"
		      " mkdir %s/$key; ls %s $key | while read -r name; do"
		      " cp \"$key/$name\" %s/$key; done; done",
		      copy, root, orders[i], copy, orders[i], copy);
		found[i] = order_of(copy);
		check_same_bytes(collected(copy, NULL), wanted);
	}
	if (strcmp(found[0], found[1]) == 0) {
		print_message("/dev/shm gives names in one order only\n");
		skip();
	}
}

/* How the program may be called: $0, of the cache $1. */
static const char *const calls[] = {
	"umask 0; $0 collect $1",
	"umask 022; $0 collect $1",
	"umask 077; $0 collect $1",
	"TZ=UTC0 $0 collect $1",
	"TZ=XXX-14 $0 collect $1",
	"TZ=America/St_Johns $0 collect $1",
	"LANG=C LC_ALL=C $0 collect $1",
	"LANG=C.UTF-8 LC_ALL=C.UTF-8 $0 collect $1",
	"LANG=POSIX LC_ALL=POSIX $0 collect $1",
	"LANG=de_DE.ISO-8859-1 LC_ALL=de_DE.ISO-8859-1 $0 collect $1",
	"LANG=absent LC_ALL=absent $0 collect $1",
	"$0 collect $1 -j1",
	"$0 collect $1 -j2",
	"$0 collect $1 -j8",
};

TEST(determinism, holds_for_any_umask_time_zone_locale_and_j_of_the_program)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	EACH(i, calls) {
		test_name_row(calls[i]);
		const struct outcome outcome =
			run("sh", "-ec", text("%s -o b.tkb", calls[i]),
		            program(), root, NULL);
		if (outcome.status != 0)
			fail_msg("%s", outcome.err);
		check_same_bytes(read_file("b.tkb"), wanted);
		SYS(unlink("b.tkb"));
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
	const struct tkb_bytes wanted = collected(root, NULL);

	SYS(nftw(root, disguise_one, 16, FTW_PHYS));

	check_same_bytes(collected(root, NULL), wanted);
}

TEST(determinism, holds_for_any_locale_of_a_caller)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	/* Where there is no such locale, the one before stays. */
	(void)setlocale(LC_ALL, "C.UTF-8");
	struct tkb_bytes got = collected(root, NULL);
	(void)setlocale(LC_ALL, "C");

	check_same_bytes(got, wanted);
}

/* Two frames at least, or threads would have nothing to share. */
TEST(determinism, holds_for_any_number_of_threads)
{
	static const uint32_t threads[] = { 1, 2, 8 };

	unpack("inductor-2.11-llama4-h100", "unpacked");
	struct tkb_bytes wanted = collected(INDUCTOR, NULL);
	write_file("b.tkb", wanted);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK(tkb_bundle_frame_count(bundle) > 1);

	EACH(i, threads) {
		const struct tkb_collect_options options = {
			SIZED(options), .threads = threads[i]
		};

		check_same_bytes(collected(INDUCTOR, &options), wanted);
	}
}

TEST(determinism, holds_for_hard_links)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	shell("cp -al %s linked", root);
	SYS(link("linked/" ADD "/add_kernel.ptx", "more"));

	check_same_bytes(collected("linked", NULL), wanted);
}

TEST(determinism, holds_with_an_entry_beside_that_is_bad_at_first_sight)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	copy_folder(text("%s/" ADD, root), text("%s/" H100_MATMUL, root));

	check_same_bytes(collected(root, NULL), wanted);
}

TEST(determinism, holds_with_an_entry_beside_that_only_its_bytes_betray)
{
	const char *root = make_cache();

	SYS(rename(text("%s/" ADD, root), "away"));
	struct tkb_bytes wanted = collected(root, NULL);
	SYS(truncate("away/add_kernel.cubin", 1000));
	SYS(rename("away", text("%s/" ADD, root)));

	check_same_bytes(collected(root, NULL), wanted);
}

TEST(determinism, holds_with_a_bad_binary_in_a_frame_of_several)
{
	const char *root = INDUCTOR "/triton/0";

	unpack("inductor-2.11-llama4-h100", "unpacked");
	const char *key = list(root)[3];
	SYS(rename(text("%s/%s", root, key), "away"));
	struct tkb_bytes wanted = collected(INDUCTOR, NULL);

	SYS(rename("away", text("%s/%s", root, key)));
	shell("truncate -s 1000 %s/%s/*.cubin", root, key);

	check_same_bytes(collected(INDUCTOR, NULL), wanted);
}

TEST(determinism, holds_for_what_is_unfinished_or_stray)
{
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	write_text(text("%s/stray", root), "x");
	write_text(text("%s/" ADD "/stray.ttir", root), "x");
	SYS(mkdir(text("%s/" H100_MATMUL, root), 0777));
	SYS(mkdir(text("%s/" H100_MATMUL "/tmp.pid_1_2", root), 0777));

	check_same_bytes(collected(root, NULL), wanted);
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
			                 *first, &H100_MATMUL[1])));
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

	check_same_bytes(collected(root, &other), collected(root, &one));
}

TEST(determinism, holds_for_a_lean_bundle_of_a_lean_cache)
{
	static const struct tkb_collect_options lean = {
		SIZED(lean), .profile = TKB_PROFILE_LEAN
	};
	const char *root = make_cache();
	const struct tkb_bytes wanted = collected(root, &lean);

	emit(wanted, "lean");

	check_same_bytes(collected("lean", &lean), wanted);
}

static void check_round_trip(const char *root)
{
	/* A module is emitted only where it can be loaded. */
	static const struct tkb_collect_options is_kernels_only = {
		SIZED(is_kernels_only), .is_kernels_only = true
	};
	const struct tkb_bytes wanted = collected(root, &is_kernels_only);

	emit(wanted, "torchinductor_again");

	check_same_bytes(collected("torchinductor_again", &is_kernels_only),
	                 wanted);
	shell("rm -r torchinductor_again unpacked");
}

TEST(determinism, holds_from_emit_to_collect_for_every_triton)
{
	static const char *const fixtures[] = { EVERY_TRITON };

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
	struct tkb_bytes wanted = collected("ind", NULL);

	write_file("b.tkb", wanted);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	OK(tkb_emit(bundle, "again", NULL, NULL, ERR));

	check_same_bytes(collected("again", NULL), wanted);
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

	OK(tkb_collect(root, &dry, NULL, &report, ERR));

	CHECK_STR(hex_of(&report.id), wanted);
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

	emit(collected(root, NULL), text("%s/hidden", test_folder()));
	edit_file(metadata, "\"shared\": 0",
	          text("\"here\": \"%s/hidden/" ADD "/x\", \"shared\": 0",
	               test_folder()));

	write_file("b.tkb", collected("hidden", NULL));

	CHECK_INT(check_members("b.tkb", hidden), 2 + 33);
}

TEST(determinism, hides_the_path_of_a_moved_cache_and_tells_no_owner_or_time)
{
	const char *const hidden[] = { test_folder(), "/home/serve/.triton",
		                       NULL };
	const char *root = cache_of("triton-3.6.0-h100");

	SYS(nftw(root, disguise_one, 16, FTW_PHYS));

	write_file("b.tkb", collected(root, NULL));

	CHECK_INT(check_members("b.tkb", hidden), 2 + 108);
}

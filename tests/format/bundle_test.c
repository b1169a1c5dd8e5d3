/* SPDX-License-Identifier: Apache-2.0 */
#include "forge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

enum {
	SAMPLE = 61 /* one in so many; odd, so that each bit has its turn */
};

/* A sanitizer keeps several bytes for each one, but not a hundred. */
#define PEAK_SCALE (IS_SANITIZED ? 8 : 1)
#define GIB ((uint64_t)1024 * 1024 * 1024)

static const struct tkb_verify_options one_thread = { SIZED(one_thread),
	                                              .threads = 1 };
static const struct tkb_emit_options emit_alone = { SIZED(emit_alone),
	                                            .threads = 1 };

/* The same names, with the same bytes. */
static void check_same_files(const char *folder, const char *wanted)
{
	const char **names = list(folder);
	const char **wanted_names = list(wanted);
	size_t i = 0;

	for (; names[i] != NULL && wanted_names[i] != NULL; i++) {
		CHECK_STR(names[i], wanted_names[i]);
		CHECK(tkb_bytes_equal(
			read_file(text("%s/%s", folder, names[i])),
			read_file(text("%s/%s", wanted, names[i]))));
	}
	CHECK(names[i] == NULL && wanted_names[i] == NULL);
}

/*
 * What `root` shows must be entries of `good`, whole, and stages must be gone;
 * how many there are is returned. `good` was emitted to the same path.
 */
static size_t check_only_whole(const char *root, const char *good)
{
	size_t count = 0;

	if (!exists(root))
		return 0;
	const char **names = list(root);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], ".tkbundle") == 0)
			continue;
		check_same_files(text("%s/%s", root, names[i]),
		                 text("%s/%s", good, names[i]));
		count++;
	}
	names = exists(text("%s/.tkbundle", root))
	                ? list(text("%s/.tkbundle", root))
	                : list(root);
	for (size_t i = 0; names[i] != NULL; i++)
		CHECK(strncmp(names[i], "stage-", 6) != 0);
	return count;
}

static void remove_entries(const char *root)
{
	const char **keys = list(root);

	for (size_t i = 0; keys[i] != NULL; i++) {
		if (strcmp(keys[i], ".tkbundle") == 0)
			continue;
		const char **names = list(text("%s/%s", root, keys[i]));
		for (size_t j = 0; names[j] != NULL; j++)
			SYS(unlink(text("%s/%s/%s", root, keys[i], names[j])));
		SYS(rmdir(text("%s/%s", root, keys[i])));
	}
}

/* Emit the sound bundle `path` to `out`, and move what appears to `good`. */
static void emit_good(const char *path)
{
	struct tkb_bundle *bundle = test_bundle(path);

	OK(tkb_emit(bundle, "out", &emit_alone, NULL, ERR));
	SYS(rename("out", "good"));
}

/*
 * Bundle `path` must be found out, on opening or by verify; `part` is said.
 * Emit must say so too, and let nothing appear.
 */
static void check_refused(const char *path, const char *part)
{
	BUNDLE(bundle) = NULL;

	int rc = tkb_bundle_open(path, &bundle, ERR);
	if (rc != 0) {
		CHECK_FAILS(rc, TKB_ERR_CORRUPT, ERR, part);
		CHECK(bundle == NULL);
		return;
	}
	FAILS(tkb_bundle_verify(bundle, &one_thread, NULL, ERR),
	      TKB_ERR_CORRUPT, part);

	CHECK(exists("victim") || mkdir("victim", 0777) == 0);
	size_t names = count_names(".");
	FAILS(tkb_emit(bundle, "victim/root", &emit_alone, NULL, ERR),
	      TKB_ERR_CORRUPT, part);
	CHECK_INT(count_names("."), names);
	CHECK_INT(count_names("victim"), 1);
	CHECK_INT(check_only_whole("victim/root", "."), 0);
}

/* The bundle of one kernel, taken apart. */
static struct forge *single(void)
{
	if (!exists("a.tkb"))
		forge_single("a.tkb");
	return forge_open("a.tkb");
}

static void check_open_refused(const char *path, int status, const char *part)
{
	BUNDLE(bundle) = NULL;

	FAILS(tkb_bundle_open(path, &bundle, ERR), status, part);
	CHECK_CONTAINS(ERR->message, path);
	CHECK(bundle == NULL);
}

static void check_forge_refused(const struct forge *forge, const char *part)
{
	forge_write(forge, "hostile.tkb");
	check_refused("hostile.tkb", part);
}

TEST(bundle, tells_its_entries)
{
	forge_pair("pair.tkb");
	struct tkb_bundle *bundle = test_bundle("pair.tkb");

	CHECK_STR(tkb_bundle_profile(bundle), "lean");
	CHECK_INT(tkb_bundle_frame_count(bundle), 1);
	CHECK_INT(tkb_bundle_entry_count(bundle), 2);
	CHECK_INT(tkb_bundle_entry(bundle, 0)->kind, TKB_KIND_AUTOTUNE);
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, 1);
	CHECK_STR(entry->key, FORGE_KERNEL);
	CHECK_STR(entry->name, "add_kernel");
	CHECK_INT(entry->kind, TKB_KIND_KERNEL);
	CHECK_STR(entry->platform, "");
	CHECK_STR(entry->target.backend, "cuda");
	CHECK_STR(entry->target.arch, "90");
	CHECK_INT(entry->target.warp_size, 32);
	CHECK_STR(entry->producer, "triton");
	CHECK_STR(entry->producer_version, "3.6.0");
	CHECK_INT(entry->device_count, 1);
	CHECK_INT(entry->devices[0], 0);
	CHECK_INT(entry->file_count, 3);
	CHECK_STR(entry->files[0].name, "add_kernel.cubin");
	CHECK_INT(entry->files[0].size, 6936);
	CHECK_INT(entry->files[0].sentinels, 0);
	CHECK_STR(entry->files[1].name, "__grp__add_kernel.json");
	CHECK_INT(entry->files[1].sentinels, 2);
}

TEST(bundle, id_is_the_digest_of_its_manifest)
{
	forge_single("a.tkb");
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	CHECK_STR(hex_of(tkb_bundle_id(bundle)),
	          forge_digest(forge_open("a.tkb")->manifest));
}

TEST(bundle, gives_each_file_as_it_is_packed)
{
	const struct tkb_entry *entry;

	unpack("triton-3.6.0-cpu", "forged");
	forge_collect("forged/.triton/cache", NULL, false, "a.tkb");
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		entry = tkb_bundle_entry(bundle, i);
		for (size_t j = 0; j < entry->file_count; j++) {
			struct tkb_buf *got = test_buf(TKB_MIB);
			const struct tkb_sink sink = tkb_buf_sink(got);
			const struct tkb_bytes file = read_file(
				text("forged/.triton/cache/%s/%s", entry->key,
			             entry->files[j].name));

			OK(tkb_bundle_read(bundle, i, j, &sink, ERR));
			CHECK_INT(got->size, entry->files[j].size);
			if (entry->files[j].sentinels == 0)
				CHECK(tkb_bytes_equal(tkb_buf_bytes(got),
				                      file));
			else
				CHECK(memmem(got->data, got->size,
				             "\"[REPLACE]/", 11) != NULL);
		}
	}
}

static int refuse_bytes(void *self, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	(void)self;
	(void)bytes;
	(void)err;
	return TKB_ERR_IO;
}

TEST(bundle, read_returns_what_the_sink_returned)
{
	const struct tkb_sink sink = { refuse_bytes, NULL };

	forge_single("a.tkb");
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	CHECK_INT(tkb_bundle_read(bundle, 0, 0, &sink, ERR), TKB_ERR_IO);
}

TEST(bundle, finds_an_entry_by_a_unique_prefix)
{
	size_t index = 9;

	forge_pair("pair.tkb");
	struct forge *forge = forge_open("pair.tkb");
	forge_edit(forge, "OHLEC", "5DJEC");
	forge_write(forge, "alike.tkb");
	struct tkb_bundle *bundle = test_bundle("alike.tkb");

	OK(tkb_bundle_find(bundle, FORGE_KERNEL, &index, ERR));
	CHECK_INT(index, 1);
	OK(tkb_bundle_find(bundle, "5DJE", &index, ERR));
	CHECK_INT(index, 0);
	index = 9;
	FAILS(tkb_bundle_find(bundle, "5DJ", &index, ERR), TKB_ERR_INVALID,
	      "several keys begin with '5DJ'");
	FAILS(tkb_bundle_find(bundle, "", &index, ERR), TKB_ERR_INVALID,
	      "the key is empty");
	CHECK_INT(tkb_bundle_find(bundle, "OHL", &index, ERR), TKB_MISS);
	CHECK_INT(tkb_bundle_find(bundle, FORGE_KERNEL "A", &index, ERR),
	          TKB_MISS);
	CHECK_INT(index, 9);
}

TEST(bundle, of_every_fixture_is_intact)
{
	static const char *const fixtures[] = { EVERY_TRITON };

	for (size_t i = 0; i < TKB_COUNT_OF(fixtures) * 2; i++) {
		struct tkb_verify_report report = { SIZED(report) };
		const char *name = fixtures[i / 2];

		if (i % 2 == 0)
			unpack(name, name);
		forge_collect(text("%s/.triton/cache", name), NULL, i % 2 == 1,
		              "a.tkb");
		struct tkb_bundle *bundle = test_bundle("a.tkb");

		OK(tkb_bundle_verify(bundle, NULL, &report, ERR));
		CHECK_INT(report.failed_count, 0);
		CHECK_INT(report.verified_count,
		          tkb_bundle_entry_count(bundle));
		CHECK(report.verified_count >= 3);
	}
}

TEST(bundle, of_inductor_is_intact_and_has_many_frames)
{
	struct tkb_verify_report report = { SIZED(report) };

	unpack("inductor-2.11-llama4-h100", "ind");
	forge_collect("ind/.cache/torchinductor", NULL, false, "a.tkb");
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	OK(tkb_bundle_verify(bundle, NULL, &report, ERR));
	CHECK_INT(report.verified_count, 26);
	CHECK_INT(tkb_bundle_frame_count(bundle), 12);
}

/* What a thread reads, again and again. */
struct reading {
	const struct tkb_bundle *bundle;
	bool is_good;
};

static void *read_all(void *argument)
{
	struct reading *reading = argument;

	for (size_t i = 0; i < tkb_bundle_entry_count(reading->bundle); i++) {
		BUF(got, TKB_MIB);
		const struct tkb_sink sink = tkb_buf_sink(&got);

		if (tkb_bundle_read(reading->bundle, i, 0, &sink, NULL) != 0)
			return NULL;
	}
	reading->is_good =
		tkb_bundle_verify(reading->bundle, NULL, NULL, NULL) == 0;
	return NULL;
}

TEST(bundle, can_be_read_from_several_threads)
{
	struct reading readings[4] = { 0 };

	forge_pair("pair.tkb");
	struct tkb_bundle *bundle = test_bundle("pair.tkb");

	EACH(i, readings)
		readings[i].bundle = bundle;
	IN_THREADS(read_all, readings);
	EACH(i, readings)
		CHECK(readings[i].is_good);
}

TEST(bundle, can_come_out_of_a_pipe)
{
	BUNDLE(bundle) = NULL;
	struct tkb_verify_report report = { SIZED(report) };
	int ends[2];

	forge_single("a.tkb");
	struct tkb_bytes bytes = read_file("a.tkb");
	SYS(pipe(ends));
	CHECK_INT(write(ends[1], bytes.data, bytes.size), bytes.size);
	(void)close(ends[1]);

	OK(tkb_bundle_open_fd(ends[0], "the pipe", NULL, &bundle, ERR));
	(void)close(ends[0]);
	OK(tkb_bundle_verify(bundle, NULL, &report, ERR));
	CHECK_INT(report.verified_count, 1);
}

/* Writes `bytes`, then zeros; is it soon told to stop? */
static bool write_for_ever(int fd, struct tkb_bytes bytes)
{
	static const char zeros[64 * 1024];
	size_t count = 0;

	(void)signal(SIGPIPE, SIG_IGN);
	if (write(fd, bytes.data, bytes.size) != (ssize_t)bytes.size)
		return false;
	while (count < 64 * TKB_MIB) {
		const ssize_t size = write(fd, zeros, sizeof(zeros));

		if (size < 0)
			return errno == EPIPE && count < TKB_MIB;
		count += (size_t)size;
	}
	return false;
}

TEST(bundle, in_a_pipe_is_read_no_further_than_its_end)
{
	BUNDLE(bundle) = NULL;
	int ends[2];

	forge_single("a.tkb");
	SYS(pipe(ends));
	pid_t child = must_fork();
	if (child == 0) {
		(void)close(ends[0]);
		_exit(!write_for_ever(ends[1], read_file("a.tkb")));
	}
	(void)close(ends[1]);
	OK(tkb_bundle_open_fd(ends[0], "the pipe", NULL, &bundle, ERR));
	(void)close(ends[0]);
	FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR), TKB_ERR_CORRUPT,
	      "bytes behind its end");
	CHECK_INT(end_of(child), 0);
}

TEST(bundle, cut_short_in_a_pipe_is_refused_by_its_name)
{
	BUNDLE(bundle) = NULL;
	int ends[2];

	forge_single("a.tkb");
	SYS(pipe(ends));
	CHECK_INT(write(ends[1], read_file("a.tkb").data, 100), 100);
	(void)close(ends[1]);

	FAILS(tkb_bundle_open_fd(ends[0], "the pipe", NULL, &bundle, ERR),
	      TKB_ERR_CORRUPT, "'the pipe'");
	(void)close(ends[0]);
}

TEST(bundle, program_emits_what_comes_on_standard_input)
{
	forge_single("a.tkb");
	emit_good("a.tkb");

	struct outcome outcome = run(
		"sh", "-c", "cat a.tkb | \"$0\" emit - out", program(), NULL);
	CHECK_STR(outcome.err, "");
	CHECK_INT(outcome.status, 0);
	CHECK_INT(check_only_whole("out", "good"), 1);
}

TEST(bundle, that_is_not_there_is_a_miss)
{
	struct tkb_bundle *bundle = NULL;

	CHECK_INT(tkb_bundle_open("none.tkb", &bundle, ERR), TKB_MISS);
	CHECK_INT(tkb_bundle_open("none/none.tkb", &bundle, ERR), TKB_MISS);
	CHECK(bundle == NULL);
	CHECK_INT(run(program(), "verify", "none.tkb", NULL).status, 3);
}

TEST(bundle, that_is_a_folder_is_invalid)
{
	struct tkb_bundle *bundle = NULL;

	FAILS(tkb_bundle_open(".", &bundle, ERR), TKB_ERR_INVALID,
	      "is a folder");
}

TEST(bundle, that_is_something_else_is_refused)
{
	static const char *const paths[] = {
		"empty", "text", "gzip", "zstd", "tar", "/dev/null", "elf",
	};

	forge_single("a.tkb");
	write_text("empty", "");
	write_text("text", "a text, of a few words, and no bundle\n");
	write_file("zstd", forge_pack(tkb_text("{\"entries\":[]}")));
	CHECK_INT(run("sh", "-c", "gzip -c text >gzip; tar -cf tar text", NULL)
	                  .status,
	          0);
	write_file("elf", read_file("forged/.triton/cache/" FORGE_KERNEL
	                            "/add_kernel.cubin"));

	EACH(i, paths) {
		struct tkb_bundle *bundle = NULL;

		FAILS(tkb_bundle_open(paths[i], &bundle, ERR), TKB_ERR_CORRUPT,
		      text("'%s'", paths[i]));
		struct outcome outcome =
			run(program(), "emit", paths[i], "out", NULL);
		CHECK_INT(outcome.status, 5);
		CHECK_CONTAINS(outcome.err, paths[i]);
		CHECK(!exists("out"));
	}
}

/*
 * Open, verify and emit what `fd` holds: a damaged copy of what was emitted to
 * "good". Is the damage found? Whatever appears must be whole.
 */
static bool is_found_out(int fd, size_t *visible_out)
{
	BUNDLE(bundle) = NULL;
	struct tkb_error err = { 0 };

	*visible_out = 0;
	int rc = tkb_bundle_open_fd(fd, "damaged", NULL, &bundle, &err);
	if (rc != 0) {
		CHECK_INT(rc, TKB_ERR_CORRUPT);
		CHECK_CONTAINS(err.message, "'damaged'");
		return true;
	}
	rc = tkb_bundle_verify(bundle, &one_thread, NULL, &err);
	CHECK(rc == 0 || rc == TKB_ERR_CORRUPT);
	bool found = rc == TKB_ERR_CORRUPT;

	rc = tkb_emit(bundle, "out", &emit_alone, NULL, &err);
	CHECK(rc == 0 || rc == TKB_ERR_CORRUPT);
	*visible_out = check_only_whole("out", "good");
	if (*visible_out != 0)
		remove_entries("out");
	return found && rc == TKB_ERR_CORRUPT;
}

static bool verify_finds(int fd)
{
	BUNDLE(bundle) = NULL;

	if (tkb_bundle_open_fd(fd, "damaged", NULL, &bundle, NULL) != 0)
		return true;
	return tkb_bundle_verify(bundle, &one_thread, NULL, NULL) ==
	       TKB_ERR_CORRUPT;
}

/* Where the data frames of a sound bundle begin and end. */
struct span {
	off_t begin;
	off_t end;
	off_t size; /* of the bundle */
};

static struct span span_of(const char *path)
{
	struct tkb_bytes rest = read_file(path);
	struct tkb_bytes frame;
	struct span span = { .size = (off_t)rest.size };

	span.begin = (off_t)forge_take_frame(&rest).size;
	span.end = span.begin;
	for (frame = forge_take_frame(&rest); rest.size != 0;
	     frame = forge_take_frame(&rest))
		span.end += (off_t)frame.size;
	return span;
}

/*
 * Each length for verify. For emit too, outside of the data frame; in there a
 * sample will do, since one digest tells.
 */
TEST(bundle, cut_at_any_length_is_found_out)
{
	size_t visible = 0;
	size_t with_entry = 0;

	forge_single("a.tkb");
	emit_good("a.tkb");
	struct span span = span_of("a.tkb");
	int fd = open("a.tkb", O_RDWR | O_CLOEXEC);

	for (off_t size = span.size - 1; size >= 0; size--) {
		const bool is_data = size >= span.begin && size < span.end;
		bool found;

		SYS(ftruncate(fd, size));
		if (!is_data || size % SAMPLE == 0)
			found = is_found_out(fd, &visible);
		else
			found = verify_finds(fd);
		if (!found)
			fail_msg("cut at %lld", (long long)size);
		with_entry += visible;
		CHECK_INT(visible, size >= span.end);
		visible = 0;
	}
	(void)close(fd);

	CHECK_INT(with_entry, span.size - span.end);
}

/* Two entries in two frames, the autotune file first. */
static struct forge *split_pair(void)
{
	forge_pair("pair.tkb");
	struct forge *forge = forge_open("pair.tkb");
	forge_split(forge, FORGE_KERNEL);
	forge->frames[0].entries = "0";
	forge->frames[1].entries = "1";
	return forge;
}

TEST(bundle, of_two_frames_cut_at_a_length_shows_whole_frames)
{
	size_t with[3] = { 0 };
	size_t visible = 0;

	forge_write(split_pair(), "two.tkb");
	emit_good("two.tkb");
	struct span span = span_of("two.tkb");
	int fd = open("two.tkb", O_RDWR | O_CLOEXEC);

	for (off_t size = span.size - 1; size >= span.begin; size -= 13) {
		SYS(ftruncate(fd, size));
		if (!is_found_out(fd, &visible))
			fail_msg("cut at %lld", (long long)size);
		with[visible]++;
	}
	(void)close(fd);

	CHECK(with[0] > 0 && with[1] > 100 && with[2] > 0);
}

static void flip(int fd, off_t bit)
{
	unsigned char byte;

	CHECK_INT(pread(fd, &byte, 1, bit / 8), 1);
	byte ^= (unsigned char)(1u << bit % 8);
	CHECK_INT(pwrite(fd, &byte, 1, bit / 8), 1);
}

/*
 * Every bit for verify. For emit too, where it is outside of the data frame;
 * in there a sample will do, since all are under one digest.
 */
TEST(bundle, with_any_bit_flipped_is_found_out)
{
	size_t visible = 0;
	size_t unfound = 0;

	forge_single("a.tkb");
	emit_good("a.tkb");
	struct span span = span_of("a.tkb");
	int fd = open("a.tkb", O_RDWR | O_CLOEXEC);

	for (off_t bit = 0; bit < span.size * 8; bit++) {
		const off_t at = bit / 8;
		bool found;

		flip(fd, bit);
		if (bit % SAMPLE == 0 || at < span.begin || at >= span.end)
			found = is_found_out(fd, &visible);
		else
			found = verify_finds(fd);
		flip(fd, bit);
		if (!found)
			print_error("byte %lld, bit %lld\n", (long long)at,
			            (long long)bit % 8);
		unfound += !found;
	}
	(void)close(fd);

	CHECK_INT(unfound, 0);
}

TEST(bundle, of_a_newer_format_may_have_entries_that_look_wrong)
{
	struct forge *forge = single();
	forge_edit(forge, "\"kind\":\"kernel\"", "\"kind\":\"tree\"");
	forge_edit(forge, "\"requires\":[]", "\"requires\":[\"teleport\"]");
	forge_write(forge, "new.tkb");
	check_open_refused("new.tkb", TKB_ERR_UNSUPPORTED, "'teleport'");
	struct outcome outcome = run(program(), "emit", "new.tkb", "out", NULL);
	CHECK_INT(outcome.status, 1);
	CHECK_CONTAINS(outcome.err, "new.tkb");
	CHECK_CONTAINS(outcome.err, "'teleport'");
	CHECK(!exists("out"));
}

TEST(bundle, with_unknown_members_is_intact)
{
	forge_single("a.tkb");
	emit_good("a.tkb");
	struct forge *forge = forge_open("a.tkb");
	forge_edit(forge, "\"version\":1}",
	           "\"version\":1,\"z\":{\"a\":[1,null,\"b\"]}}");
	forge_edit(forge, "\"devices\":", "\"a\":[{}],\"devices\":");
	forge_write(forge, "more.tkb");
	struct tkb_bundle *bundle = test_bundle("more.tkb");

	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
	OK(tkb_emit(bundle, "out", NULL, NULL, ERR));
	CHECK_INT(check_only_whole("out", "good"), 1);
}

TEST(bundle, that_a_signature_goes_with_is_intact)
{
	struct forge *forge = single();
	forge->header[forge->header_count++] =
		(struct forge_member){ .path = "tkbundle.sig",
		                       .bytes = tkb_text("signed") };
	forge_write(forge, "signed.tkb");
	struct tkb_bundle *bundle = test_bundle("signed.tkb");

	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

/* How long the frame is shows only when all of it is there. */
TEST(bundle, whose_header_takes_several_reads_is_intact)
{
	enum {
		SIZE = 1024 * 1024
	};
	char *noise = test_alloc(SIZE);
	uint32_t number = 1;

	for (size_t i = 0; i + 1 < SIZE; i++) {
		number = number * 1664525u + 1013904223u;
		noise[i] = (char)('A' + number % 10007 % 26);
	}
	noise[SIZE - 1] = '\0';
	struct forge *forge = single();
	forge_edit(forge, "\"version\":1}",
	           text("\"version\":1,\"z\":\"%s\"}", noise));
	forge_write(forge, "long.tkb");
	struct tkb_bundle *bundle = test_bundle("long.tkb");

	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

TEST(bundle, that_lies_about_a_digest_is_found_by_verify_and_by_read)
{
	BUF(got, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_verify_report report = { SIZED(report) };

	struct forge *forge = single();
	forge_edit(forge, ",6936,\"70", ",6936,\"71");
	forge_write(forge, "lie.tkb");
	struct tkb_bundle *bundle = test_bundle("lie.tkb");

	FAILS(tkb_bundle_verify(bundle, NULL, &report, ERR), TKB_ERR_CORRUPT,
	      "'add_kernel.cubin'");
	CHECK_INT(report.failed_count, 1);
	CHECK_INT(report.verified_count, 0);
	FAILS(tkb_bundle_read(bundle, 0, 0, &sink, ERR), TKB_ERR_CORRUPT,
	      "'add_kernel.cubin'");
	CHECK_INT(got.size, 0);
}

static struct tkb_bytes edited(struct tkb_bytes bytes, const char *from,
                               const char *to)
{
	return tkb_text(forge_replace(
		text("%.*s", (int)bytes.size, (const char *)bytes.data), from,
		to));
}

TEST(bundle, whose_kernel_does_not_fit_is_found_by_verify)
{
	struct forge *forge[4];
	static const char *const parts[] = { "add_kernel.cubin", "hash",
		                             "target", "add_kernel.json" };

	forge_single("a.tkb");
	EACH(i, forge)
		forge[i] = forge_open("a.tkb");
	forge_put_file(forge[0], "add_kernel.cubin",
	               tkb_bytes_slice(forge_find(forge[0], 0, ".cubin")->bytes,
	                               0, 6000));
	forge_put_file(
		forge[1], "add_kernel.json",
		edited(forge_find(forge[1], 0, "/add_kernel.json")->bytes,
	               "\"hash\": \"e8", "\"hash\": \"e9"));
	forge_edit(forge[2], "\"cuda\",\"90\"", "\"cuda\",\"80\"");
	forge_put_file(forge[3], "add_kernel.json", tkb_text("{\"hash\": "));

	EACH(i, forge) {
		forge_write(forge[i], "lie.tkb");
		struct tkb_bundle *bundle = test_bundle("lie.tkb");
		FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR),
		      TKB_ERR_CORRUPT, parts[i]);
	}
}

TEST(bundle, whose_module_is_of_another_platform_is_found_by_verify)
{
	unpack("triton-3.6.0-h100", "h100");
	forge_collect("h100/.triton/cache", "XU5DT2AO", false, "a.tkb");
	struct forge *forge = forge_open("a.tkb");
	forge_edit(forge, "\"x86_64-", "\"riscv64-");
	forge_write(forge, "lie.tkb");
	struct tkb_bundle *bundle = test_bundle("lie.tkb");

	FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR), TKB_ERR_CORRUPT,
	      "riscv64-");
}

/* What a test does to a bundle, of which all else fits. */
struct fault {
	const char *name;
	const char *part;           /* what is said of it */
	const char *edits[3][2];    /* of the manifest: from, to */
	const char *entries;        /* the last field of a frame's line, */
	const char *second_entries; /* and of the second frame */
	const char *line;           /* of a frame: for a digest and a size */
	const char *first_line;     /* of the list of frames */
	struct forge_member header[2];
	size_t header_zeros; /* behind the last of these */
	size_t at;           /* where `member` goes: its fields that are set */
	struct forge_member member;
	struct tkb_bytes behind; /* the last member */
	void (*plant)(struct forge *forge);
	struct forge *(*base)(void); /* NULL: of one kernel, three members */
	int status;                  /* set: it is not even opened */
};

static void set_fields(struct forge_member *to, const struct forge_member *from)
{
	if (from->path != NULL)
		to->path = from->path;
	if (from->bytes.data != NULL)
		to->bytes = from->bytes;
	if (from->before.data != NULL)
		to->before = from->before;
	if (from->claimed != 0)
		to->claimed = from->claimed;
	if (from->type != 0)
		to->type = from->type;
	to->target = from->target;
	to->link = from->link;
	to->is_sparse = from->is_sparse;
	to->is_padded = from->is_padded;
}

static void remove_last(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];

	frame->member_count--;
}

static void remove_first(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];

	frame->member_count--;
	memmove(frame->members, frame->members + 1,
	        frame->member_count * sizeof(*frame->members));
}

static void repeat_first(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];

	frame->members[frame->member_count++] = frame->members[0];
}

static void double_first(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];

	frame->members[1] = frame->members[0];
}

static void swap_members(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];
	const struct forge_member first = frame->members[0];

	frame->members[0] = frame->members[1];
	frame->members[1] = first;
}

/* In a pax archive, a hard link may have bytes of its own. */
static void give_bytes(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];
	char *block = test_alloc(512);

	memcpy(block, frame->members[1].bytes.data,
	       frame->members[1].bytes.size);
	frame->members[1].claimed = frame->members[1].bytes.size;
	frame->members[2].before = (struct tkb_bytes){ block, 512 };
}

static void cut_last(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];

	frame->members[frame->member_count - 1].bytes.size--;
}

static void nest(struct forge *forge)
{
	char deep[10001] = "";

	memset(deep, '[', sizeof(deep) - 1);
	forge_edit(forge, "\"version\":1}",
	           text("\"version\":1,\"zzz\":%s}", deep));
}

static void repeat_entry(struct forge *forge)
{
	const char *entry = strstr(forge->manifest.data, "{\"devices\"");

	entry = text("%.*s,", (int)(strstr(entry, "],\"format\"") - entry),
	             entry);
	forge_edit(forge, "{\"devices\"", text("%s{\"devices\"", entry));
	forge->frames[0].entries = "0-1";
}

static void edit_group(struct forge *forge, const char *from, const char *to)
{
	static const char name[] = "__grp__add_kernel.json";

	forge_put_file(forge, name,
	               edited(forge_find(forge, 0, name)->bytes, from, to));
}

static void list_another(struct forge *forge)
{
	edit_group(forge, "add_kernel.cubin", "bad_kernel.cubin");
	edit_group(forge, "/add_kernel.cubin", "/bad_kernel.cubin");
}

static void list_above(struct forge *forge)
{
	edit_group(forge, "[REPLACE]/add_kernel.cubin",
	           "[REPLACE]/../add_kernel.cubin");
}

static void repeat_frame(struct forge *forge)
{
	forge->frames[1] = forge->frames[0];
}

static void drop_frame(struct forge *forge)
{
	forge->frame_count = 1;
}

static void give_another_digest(struct forge *forge)
{
	struct forge_frame *frame = &forge->frames[0];

	frame->packed = forge_pack(forge_tar(frame->members, 3));
	frame->line = text("%s %zu 10752 0\n", forge_digest(tkb_text("")),
	                   frame->packed.size);
}

static void list_no_entry(struct forge *forge)
{
	forge->manifest = tkb_text(
		"{\"entries\":[],\"format\":\"tkbundle\",\"launchers\":[],"
		"\"profile\":\"full\",\"requires\":[],\"trees\":[],"
		"\"version\":1}");
}

static const char skippable[] = "\x50\x2a\x4d\x18\x04\0\0\0abcd";

static void skip_first(struct forge *forge)
{
	forge->before = (struct tkb_bytes){ skippable, 12 };
}

static struct forge *pair(void)
{
	forge_pair("pair.tkb");
	return forge_open("pair.tkb");
}

static const char nothing[1024];

/* Of a header that is not the one that our writer makes. */
#define MISMADE "a member's header is not as it must be"
#define IN_KERNEL(name) "triton/" FORGE_KERNEL "/" name

/* A member that has no bytes leaves a gap, which padding fills. */
#define MEMBER(at_, ...) .at = (at_), .member = { __VA_ARGS__ }
#define OF_TYPE(type_) MEMBER(1, .type = (type_), .is_padded = true)
#define HARD_LINK                                                              \
	MEMBER(1, .type = S_IFREG, .is_padded = true,                          \
	       .link = IN_KERNEL("add_kernel.cubin"))

/* Changes of the manifest alone; in GROUP the sentinels are counted. */
#define EDIT(from, to) .edits = { { from, to } }
#define UNOPENED .status = TKB_ERR_CORRUPT
#define UNSUPPORTED .status = TKB_ERR_UNSUPPORTED
#define GROUP "__grp__add_kernel.json"
#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SIG(...) .header = { { .path = "tkbundle.sig", __VA_ARGS__ } }
#define LISTED(entries_)                                                       \
	{                                                                      \
		entries_, "tkbundle.frames", .entries = (entries_)             \
	}
#define SHARED(one, other)                                                     \
	{                                                                      \
		one " and " other, "", .entries = (one),                       \
				       .second_entries = (other),              \
				       .base = split_pair                      \
	}
#define LINE(line_)                                                            \
	{                                                                      \
		line_, "", .line = (line_)                                     \
	}
#define NAMED(name_)                                                           \
	{                                                                      \
		name_, "name is not allowed",                                  \
			EDIT("\"add_kernel.cubin\"", "\"" name_ "\""),         \
			MEMBER(0, .path = IN_KERNEL(name_))                    \
	}

static const struct fault faults[] = {
	/* The manifest; what else it may not hold is told by manifest_test.c. */
	{ "a space in it", "manifest", EDIT("{\"entries\"", "{ \"entries\""),
	  UNOPENED },
	{ "something behind it", "manifest",
	  EDIT("\"version\":1}", "\"version\":1}{}"), UNOPENED },
	{ "version 0", "no such version",
	  EDIT("\"version\":1", "\"version\":0"), UNOPENED },
	{ "no trees", "a member is missing", EDIT("\"trees\":[],", ""),
	  UNOPENED },
	{ "a name that goes up", "name",
	  EDIT("[\"add_kernel.cubin\"", "[\"../../evil.cubin\""), UNOPENED },
	{ "a file of 64 MiB and a byte", "a number is too large",
	  EDIT(",6936,", ",67108865,"), UNOPENED },
	{ "a name of 256 bytes", "name is not allowed",
	  EDIT("[\"add_kernel.cubin", "[\"" A64 A64 A64 A64), UNOPENED },
	{ "10000 levels", "manifest", .plant = nest },
	{ "an entry twice", "not in order", .plant = repeat_entry },
	{ "one key twice for one device", "twice for one device",
	  EDIT(FORGE_AUTOTUNE, FORGE_KERNEL), .base = pair },
	{ "entries in another order", "not in order",
	  .edits = { { "{\"entries\":[{\"devices\":[0]",
	               "{\"entries\":[{\"devices\":[1]" },
	             { "\"kind\":\"autotune\"", "\"kind\":\"module\"" } },
	  .base = pair },
	{ "version 2", "format version 2",
	  EDIT("\"version\":1", "\"version\":2"), UNSUPPORTED },
	{ "version 2^32", "format version 4294967296",
	  EDIT("\"version\":1", "\"version\":4294967296"), UNSUPPORTED },
	{ "requires teleport", "'teleport'",
	  EDIT("\"requires\":[]", "\"requires\":[\"teleport\"]"), UNSUPPORTED },
	{ "requires a and b", "'a'",
	  EDIT("\"requires\":[]", "\"requires\":[\"a\",\"b\"]"), UNSUPPORTED },
	{ "a smaller size", "the manifest says 6935",
	  EDIT(",6936,", ",6935,") },
	{ "a larger size", "the manifest says 6937", EDIT(",6936,", ",6937,") },
	{ "no size", "the manifest says 0", EDIT(",6936,", ",0,") },
	{ "the largest size", "tkbundle.frames", EDIT(",6936,", ",67108864,") },
	{ "one byte", "the manifest says 1", EDIT(",1108,", ",1,") },
	{ "1 sentinel", GROUP, EDIT("\",2]", "\",1]") },
	{ "3 sentinels", GROUP, EDIT("\",2]", "\",3]") },
	{ "2^32 - 1 sentinels", GROUP, EDIT("\",2]", "\",4294967295]") },
	{ "no sentinels", "", EDIT("\",2]", "\"]") },
	{ "sentinels where there are none", "add_kernel.json",
	  .edits = { { "\"add_kernel.json\",1108,\"",
	               "\"add_kernel.json\",1108,\"@" },
	             { "\"@", "\"" },
	             { "\"]],\"key\"", "\",1]],\"key\"" } } },
	{ "another file in the group file", "'bad_kernel.cubin'",
	  .plant = list_another },
	{ "a file above in the group file", "", .plant = list_above },
	/* Names on which manifest and members agree */
	NAMED(".."),
	NAMED("."),
	NAMED("a/b"),
	NAMED("../../evil"),
	NAMED("/tmp/evil"),
	/* The header */
	{ "a file in the header", "",
	  .header = { { .path = "tkbundle.evil" } } },
	{ "a file above", "", .header = { { .path = "../evil" } } },
	{ "a second manifest", "", .header = { { .path = "tkbundle.json" } } },
	{ "a link for the signature", "",
	  SIG(.type = S_IFLNK, .target = "/etc") },
	{ "a hard link for it", "", SIG(.link = "tkbundle.json") },
	{ "a fifo for it", "", SIG(.type = S_IFIFO) },
	{ "ten GiB of it", "", SIG(.claimed = 10 * GIB) },
	{ "a file behind it", "there are bytes after",
	  .header = { { .path = "tkbundle.sig" }, { .path = "evil" } } },
	{ "half an end", "header is not as it must be", .header_zeros = 512 },
	{ "an end", "header is not as it must be", .header_zeros = 1024 },
	{ "ten KiB", "header is not as it must be", .header_zeros = 10240 },
	{ "another kind of frames", "'frames 2 lz4'",
	  .first_line = "frames 2 lz4", UNSUPPORTED },
	{ "no first line", "frames", .first_line = "", UNSUPPORTED },
	{ "half a first line", "frames", .first_line = "frames", UNSUPPORTED },
	{ "an old first line", "frames", .first_line = "frames 1 zstd",
	  UNSUPPORTED },
	/* The list of frames: entries */
	LISTED(""),
	LISTED("1"),
	LISTED("0,0"),
	LISTED("0-0"),
	LISTED("0-1"),
	LISTED("00"),
	LISTED("0-"),
	LISTED("-0"),
	LISTED("0,"),
	LISTED("+0"),
	LISTED(" 0"),
	LISTED("0 "),
	LISTED("0\n0"),
	LISTED("0-99999999999999999999"),
	LISTED("4294967296"),
	LISTED("x"),
	SHARED("0", "0"),
	SHARED("0-1", "1"),
	SHARED("0", "0-1"),
	SHARED("1", "1"),
	SHARED("1", "0"),
	SHARED("0", "2"),
	{ "one entry in two frames", "line 3 of 'tkbundle.frames'",
	  .plant = repeat_frame, .base = split_pair },
	{ "an entry in no frame", "an entry is in no frame",
	  .plant = drop_frame, .base = split_pair },
	{ "a frame for no entry", "line 2 of 'tkbundle.frames'",
	  .plant = list_no_entry },
	/* Its lines */
	LINE(""),
	LINE("\n"),
	LINE("%s %zu 10752 0"),
	LINE("%s %zu 10752 0\r\n"),
	LINE("%s %zu 10752\n"),
	LINE("%s %zu 10752 0\n\n"),
	LINE("%s  %zu 10752 0\n"),
	LINE("0%s %zu 10752 0\n"),
	LINE("%s 0%zu 10752 0\n"),
	LINE("%s 1%zu 10752 0\n"),
	LINE("%s -%zu 10752 0\n"),
	LINE("%s %zu00000000000000000000 10752 0\n"),
	LINE("%s %zu 0 0\n"),
	LINE("%s %zu 8192 0\n"),
	LINE("%s %zu 10751 0\n"),
	LINE("%s %zu 10753 0\n"),
	LINE("%s %zu 10737418240 0\n"),
	LINE("%s %zu 18446744073709551615 0\n"),
	LINE("%s %zu 18446744073709562368 0\n"),
	LINE("%s %zu 10752 0\n"
	     "0123456789012345678901234567890123456789012345678901234567890"
	     "123 1 1 0\n"),
	{ "another digest",
	  "'hostile.tkb', frame 0: its bytes have another digest",
	  .plant = give_another_digest },
	/* Frames, and the members in them */
	{ "a skippable frame first", "", .plant = skip_first },
	{ "without its last member", "line 2 of 'tkbundle.frames'",
	  .plant = remove_last },
	{ "without its first member", "line 2 of 'tkbundle.frames'",
	  .plant = remove_first },
	{ "one more", "there are bytes after",
	  MEMBER(3, .path = IN_KERNEL("z.zz"), .bytes = { "more", 4 }) },
	{ "/etc/passwd", "there are bytes after",
	  MEMBER(3, .path = "/etc/passwd") },
	{ "the first again", "there are bytes after", .plant = repeat_first },
	{ "the first for the second", "stands where", .plant = double_first },
	{ "the second first", "stands where", .plant = swap_members },
	{ "a path that goes up", "stands where",
	  MEMBER(0, .path = IN_KERNEL("../../../evil.cubin")) },
	{ "an absolute path", "stands where",
	  MEMBER(0, .path = "/" IN_KERNEL("add_kernel.cubin")) },
	{ "a path with a dot", "stands where",
	  MEMBER(0, .path = "./" IN_KERNEL("add_kernel.cubin")) },
	{ "another key's path", "stands where",
	  MEMBER(0, .path = "triton/" FORGE_AUTOTUNE "/add_kernel.cubin") },
	{ "a symbolic link", MISMADE,
	  MEMBER(1, .type = S_IFLNK, .is_padded = true,
	         .target = "/etc/passwd") },
	{ "a hard link", MISMADE, HARD_LINK },
	{ "a hard link with bytes", MISMADE, HARD_LINK, .plant = give_bytes },
	{ "a character device", MISMADE, OF_TYPE(S_IFCHR) },
	{ "a block device", MISMADE, OF_TYPE(S_IFBLK) },
	{ "a fifo", MISMADE, OF_TYPE(S_IFIFO) },
	{ "a folder", MISMADE, OF_TYPE(S_IFDIR) },
	{ "a sparse file", MISMADE,
	  MEMBER(0, .is_sparse = true, .is_padded = true) },
	{ "ten GiB claimed at first", MISMADE, MEMBER(0, .claimed = 10 * GIB) },
	{ "ten GiB claimed at last", MISMADE, MEMBER(2, .claimed = 10 * GIB) },
	{ "a byte too many", "add_kernel.json' has 1109 bytes",
	  MEMBER(2, .claimed = 1109) },
	{ "a byte too few", "add_kernel.json' has 1107 bytes",
	  .plant = cut_last },
	{ "an end between two", MISMADE,
	  MEMBER(1, .before = { nothing, 1024 }) },
	{ "half an end between two", MISMADE,
	  MEMBER(1, .before = { nothing, 512 }) },
	{ "an end behind", "there are bytes after",
	  .behind = { nothing, 1024 } },
	{ "half an end behind", "there are bytes after",
	  .behind = { nothing, 512 } },
	{ "a byte behind", "there are bytes after", .behind = { nothing, 1 } },
	{ "a text behind", "there are bytes after",
	  .behind = { "something", 9 } },
};

static struct forge *planted(const struct fault *fault)
{
	struct forge *forge = fault->base == NULL ? single() : fault->base();
	struct forge_frame *frame = &forge->frames[0];

	for (size_t i = 0; i < 3 && fault->edits[i][0] != NULL; i++)
		forge_edit(forge, fault->edits[i][0], fault->edits[i][1]);
	for (; forge->header_count < 2 &&
	       fault->header[forge->header_count].path != NULL;
	     forge->header_count++)
		forge->header[forge->header_count] =
			fault->header[forge->header_count];
	forge->header_behind =
		(struct tkb_bytes){ test_alloc(fault->header_zeros),
		                    fault->header_zeros };
	if (fault->first_line != NULL)
		forge->first_line = fault->first_line;
	if (fault->entries != NULL)
		frame->entries = fault->entries;
	if (fault->second_entries != NULL)
		forge->frames[1].entries = fault->second_entries;
	if (fault->line != NULL) {
		frame->packed = forge_pack(
			forge_tar(frame->members, frame->member_count));
		frame->line = text(fault->line, forge_digest(frame->packed),
		                   frame->packed.size);
	}
	if (fault->at == 3)
		frame->member_count++;
	set_fields(&frame->members[fault->at], &fault->member);
	frame->behind = fault->behind;
	if (fault->plant != NULL)
		fault->plant(forge);
	return forge;
}

TEST(bundle, with_any_fault_is_refused)
{
	EACH(i, faults) {
		test_name_row(faults[i].name);
		forge_write(planted(&faults[i]), "hostile.tkb");
		if (faults[i].status != 0)
			check_open_refused("hostile.tkb", faults[i].status,
			                   faults[i].part);
		else
			check_refused("hostile.tkb", faults[i].part);
	}
}

/* A pax header, which says that `record` has `claimed` bytes; then `behind`. */
static struct tkb_bytes pax_header(const char *record, size_t claimed,
                                   size_t behind)
{
	const size_t size = 512 + (strlen(record) + 511) / 512 * 512 + behind;
	char *bytes = test_alloc(size);

	memset(bytes, 0, size);
	memcpy(bytes + 124, text("%011zo", claimed), 11);
	bytes[156] = 'x';
	memcpy(bytes + 512, record, strlen(record));
	return (struct tkb_bytes){ bytes, size };
}

TEST(bundle, with_half_a_pax_header_behind_its_header_is_refused)
{
	const char *const records[] = {
		"",
		"9 path=",
		"no equals sign",
		"3 =",
		text("1000 path=%0970d", 0), /* longer than any path */
	};

	EACH(i, records) {
		for (size_t more = 0; more < 4096; more += 512) {
			struct forge *forge = single();

			forge->header_behind = pax_header(
				records[i], strlen(records[i]) + more,
				more % 1024);
			check_forge_refused(forge,
			                    "header is not as it must be");
		}
	}
}

TEST(bundle, with_an_endless_first_line_of_frames_is_refused)
{
	struct forge *forge = single();

	forge->first_line = text("frames 1 zstd 1.5.4 3%0300d", 0);
	check_forge_refused(forge, "has no first line");
}

static struct tkb_bytes join(struct tkb_bytes one, struct tkb_bytes other)
{
	const size_t size = one.size + other.size;
	char *joined = test_alloc(size);

	memcpy(joined, one.data, one.size);
	memcpy(joined + one.size, other.data, other.size);
	return (struct tkb_bytes){ joined, size };
}

/* A frame whose header does not say how much is in it. */
static struct tkb_bytes pack_unsized(struct tkb_bytes bytes)
{
	const size_t bound = ZSTD_compressBound(bytes.size);
	char *packed = test_alloc(bound);
	ZSTD_CCtx *context = ZSTD_createCCtx();

	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
	size_t size =
		ZSTD_compress2(context, packed, bound, bytes.data, bytes.size);
	(void)ZSTD_freeCCtx(context);
	CHECK(!ZSTD_isError(size));
	return (struct tkb_bytes){ packed, size };
}

static void check_packed_refused(struct tkb_bytes packed, const char *part)
{
	struct forge *forge = forge_open("a.tkb");

	forge->frames[0].packed = packed;
	forge->frames[0].size = 10752;
	check_forge_refused(forge, text("'hostile.tkb', frame 0: %s", part));
}

TEST(bundle, whose_frame_is_not_one_zstd_frame_is_refused)
{
	const struct tkb_bytes skip = { skippable, 12 };

	forge_single("a.tkb");
	struct tkb_bytes tar =
		forge_tar(forge_open("a.tkb")->frames[0].members, 3);
	CHECK_INT(tar.size, 10752);
	struct tkb_bytes good = forge_pack(tar);

	check_packed_refused(tar, "it is not one zstd frame");
	check_packed_refused(skip, "it is not one zstd frame");
	check_packed_refused(tkb_bytes_slice(good, 0, good.size - 1),
	                     "it is not one zstd frame");
	check_packed_refused(pack_unsized(tar), "it is not one zstd frame");
	check_packed_refused(join(good, skip), "it is not one zstd frame");
	check_packed_refused(join(skip, good), "it is not one zstd frame");
	check_packed_refused(
		join(forge_pack(tkb_bytes_slice(tar, 0, 5120)),
	             forge_pack(tkb_bytes_slice(tar, 5120, tar.size))),
		"it is not one zstd frame");
	check_packed_refused(join(good, forge_pack(tkb_text(""))),
	                     "it is not one zstd frame");
	check_packed_refused(forge_bomb(10751, 10752), "cannot decompress");
	check_packed_refused(forge_bomb(10753, 10752), "cannot decompress");
}

/* A frame in slices of so many bytes, and of what is left. */
static struct tkb_bytes slice(struct tkb_bytes tar, size_t size)
{
	struct tkb_bytes packed = tkb_text("");

	for (size_t at = 0; at < tar.size; at += size) {
		const size_t end = at + size < tar.size ? at + size : tar.size;

		packed =
			join(packed, forge_pack(tkb_bytes_slice(tar, at, end)));
	}
	return packed;
}

static struct forge *forge_sliced(struct tkb_bytes packed)
{
	struct forge *forge = forge_open("a.tkb");

	forge->first_line = "frames 2 zstd 1.5.4 2";
	forge->frames[0].packed = packed;
	forge->frames[0].size = 10752;
	return forge;
}

TEST(bundle, whose_frame_is_in_slices_is_read_by_any_number_of_threads)
{
	static const size_t sizes[] = { 168, 169, 5376, 10751, 10752 };

	forge_single("a.tkb");
	const struct tkb_bytes tar =
		forge_tar(forge_open("a.tkb")->frames[0].members, 3);
	OK(tkb_emit(test_bundle("a.tkb"), "out", NULL, NULL, ERR));
	SYS(rename("out", "good"));
	EACH(i, sizes) {
		forge_write(forge_sliced(slice(tar, sizes[i])), "sliced.tkb");
		struct tkb_bundle *bundle = test_bundle("sliced.tkb");

		OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
		for (uint32_t threads = 1; threads <= 8; threads += 7) {
			const struct tkb_emit_options options = {
				SIZED(options), .threads = threads
			};

			shell("rm -rf out");
			OK(tkb_emit(bundle, "out", &options, NULL, ERR));
			CHECK_INT(check_only_whole("out", "good"), 1);
		}
	}
}

static void check_slices_refused(struct tkb_bytes packed, const char *part)
{
	check_forge_refused(forge_sliced(packed),
	                    text("'hostile.tkb', frame 0: %s", part));
}

TEST(bundle, whose_slices_are_not_the_frame_is_refused)
{
	const struct tkb_bytes skip = { skippable, 12 };

	forge_single("a.tkb");
	const struct tkb_bytes tar =
		forge_tar(forge_open("a.tkb")->frames[0].members, 3);
	const struct tkb_bytes most = tkb_bytes_slice(tar, 0, 10751);
	const struct tkb_bytes good = slice(tar, 5376);

	check_slices_refused(slice(tar, 167), "it is not 10752 bytes in zstd");
	check_slices_refused(tkb_bytes_slice(good, 0, good.size - 1),
	                     "it is not 10752 bytes in zstd");
	check_slices_refused(join(good, skip), "it is not 10752 bytes in zstd");
	check_slices_refused(join(skip, good), "it is not 10752 bytes in zstd");
	check_slices_refused(join(good, forge_pack(tkb_text("x"))),
	                     "it is not 10752 bytes in zstd");
	check_slices_refused(slice(most, 5376), "it has 10751 bytes in zstd");
	check_slices_refused(
		join(forge_pack(most), pack_unsized(tkb_text("x"))),
		"it is not 10752 bytes in zstd");
	check_slices_refused(
		join(forge_bomb(10000, 10750), forge_pack(tkb_text("xy"))),
		"cannot decompress");
}

/* Is the end found damaged, and the entry, which is whole, still emitted? */
static void check_bad_end(const struct forge *forge, const char *part)
{
	forge_write(forge, "hostile.tkb");
	struct tkb_bundle *bundle = test_bundle("hostile.tkb");
	CHECK_CONTAINS(tkb_bundle_fault(bundle)->message, part);
	FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR), TKB_ERR_CORRUPT,
	      part);
	CHECK_CONTAINS(ERR->message, "'hostile.tkb'");
	FAILS(tkb_emit(bundle, "out", NULL, NULL, ERR), TKB_ERR_CORRUPT, part);
	CHECK_INT(check_only_whole("out", "good"), 1);
}

TEST(bundle, with_bytes_behind_its_end_is_untrusted)
{
	forge_single("a.tkb");
	emit_good("a.tkb");
	struct forge *forge = forge_open("a.tkb");

	forge->behind = tkb_text("x");
	check_bad_end(forge, "behind its end");
	forge->behind = (struct tkb_bytes){ "\0", 1 };
	check_bad_end(forge, "behind its end");
	forge->behind = forge_pack(tkb_text(""));
	check_bad_end(forge, "behind its end");
	forge->behind = read_file("a.tkb");
	check_bad_end(forge, "behind its end");
}

/* The last frame of the bundle `path`. */
static struct tkb_bytes last_frame_of(const char *path)
{
	struct tkb_bytes rest = read_file(path);
	struct tkb_bytes frame;

	do {
		frame = forge_take_frame(&rest);
	} while (rest.size != 0);
	return frame;
}

TEST(bundle, with_another_end_is_untrusted)
{
	static const char zeros[1096];
	const char *fits = "its last frame does not fit its first";
	char content[1096];

	forge_pair("pair.tkb");
	forge_collect("forged/.triton/cache", FORGE_KERNEL, true, "a.tkb");
	emit_good("a.tkb");
	struct forge *forge = forge_open("a.tkb");
	struct tkb_bytes end = last_frame_of("a.tkb");
	CHECK_INT(ZSTD_decompress(content, sizeof(content), end.data, end.size),
	          sizeof(content));

	forge->end = last_frame_of("pair.tkb");
	check_bad_end(forge, fits);
	forge->end = forge_pack((struct tkb_bytes){ content, sizeof(content) });
	check_bad_end(forge, "it"); /* however well that packs */
	forge->end = forge_pack((struct tkb_bytes){ zeros, 1024 });
	check_bad_end(forge, "it is cut short");
	forge->end = (struct tkb_bytes){ zeros, end.size };
	check_bad_end(forge, fits);
	forge->end = tkb_bytes_slice(end, 0, end.size - 1);
	check_bad_end(forge, "it is cut short");
	forge->end = tkb_bytes_slice(end, 0, 0);
	check_bad_end(forge, "it is cut short");
}

TEST(bundle, with_another_header_is_untrusted)
{
	forge_single("a.tkb");
	emit_good("a.tkb");
	struct forge *forge = forge_open("a.tkb");
	forge->end = last_frame_of("a.tkb");
	forge_edit(forge, "\"version\":1}", "\"version\":1,\"z\":0}");

	check_bad_end(forge, "its last frame does not fit its first");
}

/* In a child: what is `work` worth, and how much memory does it take? */
struct cost {
	const char *path;
	int rc;
	struct tkb_error err;
	uint64_t peak; /* bytes more than before */
};

static uint64_t peak_now(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static int open_verify_emit(const char *path, struct tkb_error *err)
{
	BUNDLE(bundle) = NULL;

	int rc = tkb_bundle_open(path, &bundle, err);
	if (rc != 0)
		return rc;
	rc = tkb_emit(bundle, "bombed", &emit_alone, NULL, err);
	if (rc != TKB_ERR_CORRUPT)
		return rc;
	return tkb_bundle_verify(bundle, &one_thread, NULL, err);
}

/* Where no sanitizer needs the addresses, 2 GiB of them must do. */
static void pay(void *self)
{
	const struct rlimit limit = { 2 * GIB, 2 * GIB };
	struct cost *cost = self;
	const uint64_t before = peak_now();

	if (!IS_SANITIZED)
		(void)setrlimit(RLIMIT_AS, &limit);
	cost->rc = open_verify_emit(cost->path, &cost->err);
	cost->peak = peak_now() - before;
}

static struct cost cost_of(const char *path)
{
	struct cost cost = { .path = path };

	in_child(pay, &cost, sizeof(cost));
	return cost;
}

static void check_bomb(const struct forge *forge)
{
	forge_write(forge, "bomb.tkb");
	struct cost cost = cost_of("bomb.tkb");
	if (cost.rc != TKB_ERR_CORRUPT && cost.rc != TKB_ERR_TOO_LARGE)
		fail_msg("returned %d: %s", cost.rc, cost.err.message);
	CHECK(cost.peak <= PEAK_SCALE * 128 * TKB_MIB);
	if (exists("bombed"))
		CHECK_INT(check_only_whole("bombed", "."), 0);
}

TEST(bundle, with_a_frame_of_ten_gib_in_a_few_bytes_costs_no_memory)
{
	const uint64_t claims[] = { 0, 10752, 10 * GIB };

	EACH(i, claims) {
		struct forge *forge = single();

		forge->frames[0].packed = forge_bomb(10 * GIB, claims[i]);
		forge->frames[0].size = 10752;
		check_bomb(forge);
		forge->frames[0].size = 10 * GIB;
		check_bomb(forge);
	}
}

TEST(bundle, with_a_header_of_ten_gib_in_a_few_bytes_costs_little_memory)
{
	const uint64_t claims[] = { 0, 1024, 10 * GIB };
	struct cost cost;

	EACH(i, claims) {
		write_file("bomb.tkb", forge_bomb(10 * GIB, claims[i]));
		cost = cost_of("bomb.tkb");
		CHECK(cost.rc == TKB_ERR_CORRUPT ||
		      cost.rc == TKB_ERR_TOO_LARGE);
		CHECK_CONTAINS(cost.err.message, "'bomb.tkb'");
		CHECK(cost.peak <= PEAK_SCALE * 128 * TKB_MIB);
	}
}

TEST(bundle, with_an_end_of_ten_gib_in_a_few_bytes_costs_no_memory)
{
	struct tkb_bytes bomb = forge_bomb(10 * GIB, 0);
	BUF(out, GIB);

	forge_single("a.tkb");
	struct tkb_bytes whole = read_file("a.tkb");
	struct tkb_bytes rest = whole;
	(void)forge_take_frame(&rest);
	(void)forge_take_frame(&rest);
	tkb_buf_add(&out, tkb_bytes_slice(whole, 0, whole.size - rest.size));
	tkb_buf_add(&out, bomb);
	write_file("bomb.tkb", tkb_buf_bytes(&out));

	struct cost cost = cost_of("bomb.tkb");
	CHECK_INT(cost.rc, TKB_ERR_CORRUPT);
	CHECK_CONTAINS(cost.err.message, "its last frame does not fit");
	CHECK(cost.peak <= PEAK_SCALE * 64 * TKB_MIB);
}

TEST(bundle, with_a_member_that_claims_ten_gib_costs_no_memory)
{
	struct forge *forge = single();
	forge->frames[0].members[0].claimed = 10 * GIB;
	check_bomb(forge);

	forge = forge_open("a.tkb");
	forge->header[0] = (struct forge_member){ .path = "tkbundle.sig",
		                                  .claimed = 10 * GIB };
	forge->header_count = 1;
	check_bomb(forge);
}

TEST(bundle, with_a_long_list_of_frames_is_refused_at_once)
{
	static const struct {
		size_t size;
		const char *part;
	} cases[] = {
		{ 4 * 1024 * 1024, "line 2 of 'tkbundle.frames'" },
		{ 9 * 1024 * 1024, "'tkbundle.frames' is too large" },
	};

	EACH(i, cases) {
		struct forge *forge = single();
		char *lines = test_alloc(cases[i].size);

		memset(lines, '\n', cases[i].size);
		forge->frames[0].line = lines;
		check_forge_refused(forge, cases[i].part);
		check_bomb(forge);
	}
}

/* What was told of entries, by outcome. */
struct told {
	unsigned counts[TKB_OUTCOME_VERIFIED + 1];
	enum tkb_reason reason; /* of the last failure */
	char message[512];      /* likewise */
	uint64_t done;
	uint64_t total;
	bool went_wrong; /* it went back, or too far */
};

static void note_result(void *self, const struct tkb_result *result)
{
	struct told *told = self;

	told->counts[result->outcome]++;
	if (result->outcome == TKB_OUTCOME_FAILED) {
		told->reason = result->reason;
		(void)snprintf(told->message, sizeof(told->message), "%s",
		               result->message);
	}
}

static void note_progress(void *self, uint64_t done, uint64_t total)
{
	struct told *told = self;

	told->went_wrong |= done < told->done || done > total;
	told->done = done;
	told->total = total;
}

TEST(bundle, with_a_damaged_frame_gives_what_the_others_hold)
{
	struct told told = { 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = &told,
		                         .on_result = note_result };
	const struct tkb_verify_options verify = { SIZED(verify),
		                                   .watch = &watch };
	const struct tkb_emit_options emit = { SIZED(emit), .watch = &watch };
	struct tkb_verify_report verified = { SIZED(verified) };
	struct tkb_emit_report emitted = { SIZED(emitted) };

	forge_write(split_pair(), "two.tkb");
	emit_good("two.tkb");
	flip_bit("two.tkb", read_file("two.tkb").size - 1000);
	struct tkb_bundle *bundle = test_bundle("two.tkb");

	FAILS(tkb_bundle_verify(bundle, &verify, &verified, ERR),
	      TKB_ERR_CORRUPT, "'two.tkb', frame 1");
	CHECK_INT(verified.verified_count, 1);
	CHECK_INT(verified.failed_count, 1);
	CHECK_INT(told.counts[TKB_OUTCOME_VERIFIED], 1);
	CHECK_INT(told.counts[TKB_OUTCOME_FAILED], 1);
	CHECK_INT(told.reason, TKB_REASON_DAMAGED);

	FAILS(tkb_emit(bundle, "out", &emit, &emitted, ERR), TKB_ERR_CORRUPT,
	      "'two.tkb', frame 1");
	CHECK_INT(emitted.emitted_count, 1);
	CHECK_INT(emitted.damaged_count, 1);
	CHECK_INT(told.counts[TKB_OUTCOME_EMITTED], 1);
	CHECK_CONTAINS(told.message, "'two.tkb', frame 1");
	CHECK(exists("out/" FORGE_AUTOTUNE));
	CHECK_INT(check_only_whole("out", "good"), 1);
}

TEST(bundle, of_inductor_with_a_damaged_frame_gives_the_rest_and_exit_5)
{
	unpack("inductor-2.11-llama4-h100", "ind");
	forge_collect("ind/.cache/torchinductor", NULL, false, "a.tkb");
	emit_good("a.tkb");
	flip_bit("a.tkb", read_file("a.tkb").size - 1000);

	struct outcome outcome = run(program(), "emit", "a.tkb", "out", NULL);
	CHECK_INT(outcome.status, 5);
	CHECK_CONTAINS(outcome.err, "'a.tkb', frame 1");
	size_t appeared = check_only_whole("out/triton/0", "good/triton/0");
	CHECK(appeared > 0 && appeared < 26);
	outcome = run(program(), "verify", "a.tkb", NULL);
	CHECK_INT(outcome.status, 5);
	CHECK_CONTAINS(outcome.err, "'a.tkb', frame 1");
}

TEST(bundle, verify_tells_each_entry_and_how_far_it_is)
{
	struct told told = { 0 };
	const struct tkb_verify_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .self = &told,
		                 .on_result = note_result,
		                 .on_progress = note_progress),
	};
	struct tkb_verify_report report = { SIZED(report) };

	forge_pair("pair.tkb");
	struct tkb_bundle *bundle = test_bundle("pair.tkb");

	OK(tkb_bundle_verify(bundle, &options, &report, ERR));
	CHECK_INT(told.counts[TKB_OUTCOME_VERIFIED], 2);
	CHECK(!told.went_wrong);
	CHECK_INT(told.done, told.total);
	CHECK_INT(told.total, report.size);
	CHECK_INT(report.file_count, 4);
}

TEST(bundle, verify_ends_when_it_is_cancelled)
{
	const struct tkb_verify_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .is_cancelled = always),
	};

	forge_single("a.tkb");
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	CHECK_INT(tkb_bundle_verify(bundle, &options, NULL, ERR),
	          TKB_ERR_CANCELLED);
}

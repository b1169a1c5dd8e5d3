/* SPDX-License-Identifier: Apache-2.0 */
#include "forge.h"
#include "merging.h"

#include <sys/resource.h>
#include <sys/stat.h>

/*
 * Mixed frames: of what lies in them a part counts no more. Real ones are made
 * by a merge; hostile ones by taking such a one apart.
 */

/* Of "m.tkb", see arrange_mixed(). */
#define WHOLE 0 /* the frame of FORGE_KERNEL, which another holds too */
#define MIXED 1 /* the mixed one: FORGE_AUTOTUNE counts, the kernel does not */

#define GROUP "triton/" ADD "/__grp__add_kernel.json"
#define CUBIN "triton/" ADD "/add_kernel.cubin"
#define NESTED                                                                 \
	"launcher/"                                                            \
	"0000000000000000000000000000000000000000000000000000000000000000/x"
#define TIMINGS "triton/" AUTOTUNE "/gelu_kernel.autotune.json"

/* Two lean entries: of the second frame only one of them counts. */
static struct forge *arrange_mixed(void)
{
	if (!exists("m.tkb")) {
		forge_pair("pair.tkb");
		forge_collect("forged/.triton/cache", FORGE_KERNEL, true,
		              "one.tkb");
		merge("m.tkb", "one.tkb", "pair.tkb", NULL);
	}
	CHECK_STR(frames_of("m.tkb"), "1 | 0 +3");
	struct forge *forge = forge_open("m.tkb");
	forge->frames[MIXED].entries = "0 3";
	return forge;
}

static void add_member(struct forge *forge, struct forge_member member)
{
	struct forge_frame *frame = &forge->frames[MIXED];

	CHECK(frame->member_count < FORGE_MEMBERS);
	frame->members[frame->member_count++] = member;
}

static void remove_member(struct forge *forge, const char *ending)
{
	struct forge_frame *frame = &forge->frames[MIXED];
	struct forge_member *member = forge_find(forge, MIXED, ending);

	*member = frame->members[--frame->member_count];
}

/* Give it other bytes, as many. */
static void spoil(struct forge_member *member)
{
	char *other = test_alloc(member->bytes.size);

	memcpy(other, member->bytes.data, member->bytes.size);
	other[0] ^= 1;
	member->bytes.data = other;
}

static void reverse_members(struct forge *forge, size_t index)
{
	struct forge_frame *frame = &forge->frames[index];

	for (size_t i = 0; i < frame->member_count / 2; i++) {
		struct forge_member *other =
			&frame->members[frame->member_count - 1 - i];
		const struct forge_member member = frame->members[i];

		frame->members[i] = *other;
		*other = member;
	}
}

/* What was forged does no harm: all of it comes out as from "m.tkb". */
static void check_accepted(const struct forge *forge)
{
	forge_write(forge, "x.tkb");
	check_verifies("x.tkb");
	check_emit_same("x.tkb", "m.tkb");
}

/* Note that something was told. */
static int note(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)bytes;
	(void)err;
	*(bool *)self = true;
	return 0;
}

/* Nothing is given of the mixed frame, and all of the other. */
static void check_refused(const struct forge *forge, const char *part)
{
	struct tkb_verify_report verified = { SIZED(verified) };
	struct tkb_emit_report emitted = { SIZED(emitted) };
	bool is_told = false;
	const struct tkb_sink sink = { note, &is_told };
	const char *root = text("root%zu", count_names("."));

	forge_write(forge, "x.tkb");
	struct tkb_bundle *bundle = test_bundle("x.tkb");
	FAILS(tkb_bundle_read(bundle, 0, 0, &sink, ERR), TKB_ERR_CORRUPT, part);
	CHECK_CONTAINS(ERR->message, "'x.tkb', frame 1");
	CHECK(!is_told);
	FAILS(tkb_bundle_verify(bundle, NULL, &verified, ERR), TKB_ERR_CORRUPT,
	      part);
	CHECK_INT(verified.verified_count, 1);
	CHECK_INT(verified.failed_count, 1);
	FAILS(tkb_emit(bundle, root, NULL, &emitted, ERR), TKB_ERR_CORRUPT,
	      part);
	CHECK_INT(emitted.emitted_count, 1);
	CHECK_INT(emitted.damaged_count, 1);
	CHECK(exists(text("%s/" ADD, root)));
	CHECK(!exists(text("%s/" AUTOTUNE, root)));
}

/* The bundle is refused as a whole, because of the frame's line. */
static void check_line_refused(const char *behind_sizes)
{
	struct forge *forge = arrange_mixed();
	struct tkb_bundle *bundle = NULL;

	forge->frames[MIXED].entries = behind_sizes;
	forge_write(forge, "x.tkb");
	FAILS(tkb_bundle_open("x.tkb", &bundle, ERR), TKB_ERR_CORRUPT,
	      "line 3 of 'tkbundle.frames' is damaged");
}

TEST(mixed, frames_give_each_file_and_emit_as_others_do)
{
	(void)arrange_mixed();
	struct tkb_bundle *pair = test_bundle("pair.tkb");
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(file_for(bundle, AUTOTUNE, 0, ".json"),
	          file_for(pair, AUTOTUNE, 0, ".json"));
	CHECK_STR(file_for(bundle, ADD, 0, "add_kernel.json"),
	          file_for(pair, ADD, 0, "add_kernel.json"));
	check_verifies("m.tkb");
	check_emit_same("m.tkb", "pair.tkb");
}

static int count_file(void *self, size_t index, size_t file,
                      struct tkb_bytes bytes, struct tkb_error *err)
{
	size_t *counts = self;

	(void)file;
	(void)err;
	CHECK(bytes.size != 0);
	counts[index]++;
	return 0;
}

TEST(mixed, frames_tell_each_file_that_counts_once)
{
	size_t counts[2] = { 0 };
	const struct tkb_file_visitor visitor = { count_file, counts };

	(void)arrange_mixed();
	struct tkb_bundle *bundle = test_bundle("m.tkb");
	OK(tkb_bundle_read_all(bundle, &visitor, NULL, ERR));
	CHECK_INT(counts[0], 1);
	CHECK_INT(counts[1], LEAN_FILES);
	OK(tkb_bundle_read_entry(bundle, 0, &visitor, ERR));
	CHECK_INT(counts[0], 2);
	CHECK_INT(counts[1], LEAN_FILES);
}

TEST(mixed, frames_alone_may_hold_their_members_in_any_order)
{
	struct forge *forge = arrange_mixed();

	reverse_members(forge, WHOLE);
	forge_write(forge, "x.tkb");
	struct tkb_bundle *bundle = test_bundle("x.tkb");
	FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR), TKB_ERR_CORRUPT,
	      "stands where");
}

static void count_whole(struct forge *forge)
{
	forge->frames[WHOLE].entries = "1 0";
	reverse_members(forge, WHOLE);
}

static void repeat_timings(struct forge *forge)
{
	add_member(forge, *forge_find(forge, MIXED, ".autotune.json"));
}

static void rename_timings(struct forge *forge)
{
	forge_find(forge, MIXED, ".autotune.json")->path =
		"triton/" AUTOTUNE "/x.autotune.json";
}

static void spoil_timings(struct forge *forge)
{
	spoil(forge_find(forge, MIXED, ".autotune.json"));
}

static void add_zeros(struct forge *forge)
{
	static const char zeros[1024];

	forge->frames[MIXED].behind =
		(struct tkb_bytes){ zeros, sizeof(zeros) };
}

/* What becomes of the mixed frame, and what is said of that. */
struct change {
	const char *name;
	const char *part;
	struct forge_member member; /* one more, if it has a path, */
	const char *contents;       /* with this in it */
	const char *less;    /* how the path of the one that is gone ends */
	const char *edit[2]; /* of the manifest: from, to */
	bool is_reversed;
	void (*plant)(struct forge *forge);
	const char *entries; /* what is said to be in it; NULL: "0 3" */
};

#define MORE(contents_, ...) .member = { __VA_ARGS__ }, .contents = (contents_)
#define COUNTED(contents, ...) MORE(contents, __VA_ARGS__), .entries = "0 4"
#define IN_ADD(name) "triton/" ADD "/" name

static struct forge *changed(const struct change *change)
{
	struct forge *forge = arrange_mixed();
	struct forge_member member = change->member;

	if (member.path != NULL) {
		member.bytes = tkb_text(change->contents);
		add_member(forge, member);
	}
	if (change->less != NULL)
		remove_member(forge, change->less);
	if (change->edit[0] != NULL)
		forge_edit(forge, change->edit[0], change->edit[1]);
	if (change->is_reversed)
		reverse_members(forge, MIXED);
	if (change->plant != NULL)
		change->plant(forge);
	if (change->entries != NULL)
		forge->frames[MIXED].entries = change->entries;
	return forge;
}

/* One path, other bytes: the digest says which of them counts. */
static const struct change harmless[] = {
	{ "members in any order", .is_reversed = true },
	{ "a frame that counts whole", .plant = count_whole },
	{ "an old file before the one that counts",
	  COUNTED("{}", .path = TIMINGS), .is_reversed = true },
	{ "an old file behind the one that counts",
	  COUNTED("{}", .path = TIMINGS) },
	{ "a file twice", .plant = repeat_timings, .entries = "0 4" },
	{ "an empty file that does not count",
	  COUNTED("", .path = IN_ADD("empty.txt")) },
};

TEST(mixed, frames_may_hold_what_does_no_harm)
{
	EACH(i, harmless) {
		test_name_row(harmless[i].name);
		check_accepted(changed(&harmless[i]));
	}
}

#define MISMADE "header is not as it must be"
#define NOT_THOSE "some of its files are not those"
#define STRANGER(path_)                                                        \
	{                                                                      \
		path_, "a path is not allowed", COUNTED("x", .path = (path_))  \
	}
#define OF_TYPE(...) COUNTED("", .path = IN_ADD("x"), __VA_ARGS__)

static const struct change changes[] = {
	STRANGER("etc/passwd"),
	STRANGER("/etc/passwd"),
	STRANGER("x"),
	STRANGER("tkbundle.json"),
	STRANGER("triton"),
	STRANGER("triton/"),
	STRANGER("triton/" ADD),
	STRANGER("launchers/x"),
	STRANGER("triton2/" ADD "/x"),
	/* Nobody asks for these, but the usual tools would unpack them. */
	STRANGER(IN_ADD("../../../../../tmp/x")),
	STRANGER(IN_ADD("..")),
	STRANGER(IN_ADD(".")),
	STRANGER(IN_ADD("")),
	STRANGER(IN_ADD("/x")),
	STRANGER(IN_ADD("a/b")),
	STRANGER(IN_ADD("a\nb")),
	STRANGER("triton/../x"),
	STRANGER("triton/../../x/y"),
	STRANGER("triton/x/y"),
	STRANGER("triton//y"),
	STRANGER("launcher/../x"),
	STRANGER("launcher/x"),
	STRANGER("launcher/"),
	STRANGER(NESTED),
	{ "a symbolic link", MISMADE,
	  OF_TYPE(.type = S_IFLNK, .target = "/etc/passwd") },
	{ "a fifo", MISMADE, OF_TYPE(.type = S_IFIFO) },
	{ "a folder", MISMADE, OF_TYPE(.type = S_IFDIR) },
	{ "a device", MISMADE, OF_TYPE(.type = S_IFCHR) },
	{ "a hard link", MISMADE, OF_TYPE(.link = GROUP) },
	{ "one file less", "files are missing", .less = CUBIN },
	{ "no file that counts", "files are missing", .less = TIMINGS },
	{ "another file instead", NOT_THOSE, .plant = rename_timings },
	{ "other bytes in a file that counts", NOT_THOSE,
	  .plant = spoil_timings },
	{ "a file that the manifest calls longer",
	  "has 387 bytes, the manifest says 388",
	  .edit = { ".autotune.json\",387,", ".autotune.json\",388," } },
	{ "one file more", "", MORE("x", .path = IN_ADD("x")) },
	{ "bytes behind", "bytes after the last member", .plant = add_zeros },
	{ "a count that is one too many", "files are missing",
	  .entries = "0 4" },
	{ "a count that is one too few", "", .entries = "0 2" },
};

TEST(mixed, frames_with_any_fault_are_refused)
{
	EACH(i, changes) {
		test_name_row(changes[i].name);
		check_refused(changed(&changes[i]), changes[i].part);
	}
}

/* A number says how often to read on; it must not be taken on trust. */
TEST(mixed, frames_that_count_more_than_fits_are_refused_at_once)
{
	check_line_refused("0 6400000");
}

/* A file takes a block of 512 bytes at least; what counts takes two here. */
TEST(mixed, frames_may_count_as_many_as_their_size_has_room_for)
{
	struct forge *forge = arrange_mixed();
	uint64_t packed;
	uint64_t size;
	uint64_t count;

	tkb_bundle_frame_sizes(test_bundle("m.tkb"), MIXED, &packed, &size,
	                       &count);
	uint64_t room = size / 512 - 2;
	forge->frames[MIXED].entries = text("0 %llu", (unsigned long long)room);
	check_refused(forge, "files are missing");
	check_line_refused(text("0 %llu", (unsigned long long)room + 1));
}

TEST(mixed, frames_whose_count_is_no_number_are_refused)
{
	static const char *const fields[] = {
		"0 ",   "0 -1",      "0 03",
		"0 3 ", "0 3 3",     "0  3",
		"0 x",  "0 6400001", "0 18446744073709551619",
	};

	EACH(i, fields) {
		check_line_refused(fields[i]);
	}
}

/* The line of a frame that nobody packed, of so many bytes. */
static int open_with_size(uint64_t size, struct tkb_error *err)
{
	BUNDLE(bundle) = NULL;
	struct forge *forge = arrange_mixed();
	struct forge_frame *frame = &forge->frames[MIXED];

	frame->packed = forge_bomb(size, size);
	frame->size = size;
	forge_write(forge, "x.tkb");
	return tkb_bundle_open("x.tkb", &bundle, err);
}

TEST(mixed, frames_have_2112_mib_at_most)
{
	OK(open_with_size(2112 * (uint64_t)TKB_MIB, ERR));
	FAILS(open_with_size(2112 * (uint64_t)TKB_MIB + 1, ERR),
	      TKB_ERR_CORRUPT, "line 3 of 'tkbundle.frames'");
}

TEST(mixed, frames_are_not_smaller_than_their_files)
{
	/* A header, and 387 bytes of timings. */
	FAILS(open_with_size(1023, ERR), TKB_ERR_CORRUPT,
	      "line 3 of 'tkbundle.frames'");
}

/* Bombs of the right size, of the wrong one, and one that does not tell. */
TEST(mixed, frames_that_are_bombs_are_refused)
{
	const uint64_t size = 64 * (uint64_t)TKB_MIB;
	struct forge *forge = arrange_mixed();
	struct forge_frame *frame = &forge->frames[MIXED];

	frame->size = size;
	frame->packed = forge_bomb(size, size);
	check_refused(forge, "");
	frame->packed = forge_bomb(2 * size, 2 * size);
	check_refused(forge, "");
	frame->packed = forge_bomb(2 * size, 0);
	check_refused(forge, "");
}

/* In a child: how much memory do an emit and a verify take, on two threads? */
struct peaks {
	int rc[2];
	uint64_t kib[2];
};

static uint64_t peak_kib(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss;
}

static void look_at_bombs(void *self)
{
	const struct tkb_emit_options emit = { .struct_size = sizeof(emit),
		                               .threads = 2 };
	const struct tkb_verify_options verify = { .struct_size =
		                                           sizeof(verify),
		                                   .threads = 2 };
	const uint64_t before = peak_kib();
	struct peaks *peaks = self;
	BUNDLE(bundle) = NULL;

	OK(tkb_bundle_open("bombs.tkb", &bundle, ERR));
	peaks->rc[0] = tkb_emit(bundle, "bombed", &emit, NULL, NULL);
	peaks->kib[0] = peak_kib() - before;
	peaks->rc[1] = tkb_bundle_verify(bundle, &verify, NULL, NULL);
	peaks->kib[1] = peak_kib() - before;
}

TEST(mixed, frames_that_are_large_are_in_memory_one_at_a_time)
{
	const uint64_t size = 300 * (uint64_t)TKB_MIB;
	struct forge *forge = arrange_mixed();
	struct peaks peaks;

	forge->frames[WHOLE].entries = "1 0";
	for (size_t i = 0; i < forge->frame_count; i++) {
		forge->frames[i].size = size;
		forge->frames[i].packed = forge_bomb(size, size);
	}
	forge_write(forge, "bombs.tkb");
	in_child(look_at_bombs, &peaks, sizeof(peaks));
	EACH(i, peaks.rc) {
		CHECK_INT(peaks.rc[i], TKB_ERR_CORRUPT);
		CHECK(peaks.kib[i] >= size / TKB_KIB);
		if (!IS_SANITIZED)
			CHECK(peaks.kib[i] <= size / TKB_KIB * 3 / 2);
	}
}

/* Two entries of one key in one frame: their files share their paths. */
static struct forge *arrange_twins(void)
{
	const char *root = arrange_cache();
	const char *other = compile_elsewhere(root, ADD, "bob");

	CHECK_INT(run("mkdir", "-p", "torchinductor_x/triton/0",
	              "torchinductor_x/triton/1", NULL)
	                  .status,
	          0);
	copy_folder(text("%s/" ADD, root), "torchinductor_x/triton/0/" ADD);
	copy_folder(text("%s/" ADD, other), "torchinductor_x/triton/1/" ADD);
	collect_into("m.tkb", "torchinductor_x");
	CHECK_STR(frames_of("m.tkb"), "0-1");
	struct forge *forge = forge_open("m.tkb");
	forge->frames[0].entries = "0-1 0";
	return forge;
}

TEST(mixed, frames_tell_twins_by_their_digests)
{
	struct forge *forge = arrange_twins();

	reverse_members(forge, 0);
	check_accepted(forge);
	struct tkb_bundle *bundle = test_bundle("x.tkb");
	CHECK_STR(user_of(bundle, ADD, 0), "app");
	CHECK_STR(user_of(bundle, ADD, 1), "bob");
}

/* Of two equal files one is the first's and one the second's. */
TEST(mixed, frames_need_as_many_copies_as_twins_have)
{
	struct forge *forge = arrange_twins();

	forge_find(forge, 0, ".cubin")->path = "triton/" ADD "/x.cubin";
	forge_write(forge, "x.tkb");
	struct tkb_bundle *bundle = test_bundle("x.tkb");
	FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR), TKB_ERR_CORRUPT,
	      "some of its files are not those");
}

/* A payload among entries, in a frame of which a part counts. */
static struct forge *arrange_payload(void)
{
	pack_into("m.tkb", (struct packing){ .root = arrange_cache(),
	                                     .puts = { { ADD, 0 } },
	                                     .launchers = { launcher_of(
						     "fx", "a payload", ADD) },
	                                     .is_lean = true });
	struct forge *forge = forge_open("m.tkb");
	CHECK_INT(forge->frame_count, 2);
	forge->frames[0].members[forge->frames[0].member_count++] =
		forge->frames[1].members[0];
	forge->frame_count = 1;
	forge->frames[0].entries = "0-1 0";
	return forge;
}

TEST(mixed, frames_may_hold_payloads_among_entries)
{
	struct forge *forge = arrange_payload();

	reverse_members(forge, 0);
	check_accepted(forge);
	struct tkb_bundle *bundle = test_bundle("x.tkb");
	CHECK_STR(payload_of(bundle, "fx"), "a payload");
}

TEST(mixed, frames_with_other_bytes_in_a_payload_are_refused)
{
	struct forge *forge = arrange_payload();
	struct forge_frame *frame = &forge->frames[0];
	struct tkb_verify_report report = { SIZED(report) };

	frame->members[frame->member_count - 1].bytes = tkb_text("a playoad");
	forge_write(forge, "x.tkb");
	struct tkb_bundle *bundle = test_bundle("x.tkb");
	FAILS(tkb_bundle_verify(bundle, NULL, &report, ERR), TKB_ERR_CORRUPT,
	      "some of its files are not those");
	CHECK_INT(report.failed_launcher_count, 1);
	CHECK_INT(report.failed_count, 1);
}

/* What is wrong in a frame comes to light when it is used, not before. */
TEST(mixed, frames_that_are_hostile_can_be_merged_and_stay_refused)
{
	forge_write(changed(&changes[0]), "x.tkb");
	merge("y.tkb", "one.tkb", "x.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("y.tkb");
	FAILS(tkb_bundle_verify(bundle, NULL, NULL, ERR), TKB_ERR_CORRUPT,
	      "a path is not allowed");
}

/* A payload in a frame of its own, before that of the entry: both are wrong. */
TEST(payload, with_other_bytes_is_what_verify_names_first)
{
	const struct tkb_verify_options options = { SIZED(options),
		                                    .threads = 1 };

	(void)arrange_payload();
	struct forge *forge = forge_open("m.tkb");
	struct forge_frame frame = forge->frames[0];
	forge->frames[0] = forge->frames[1];
	forge->frames[1] = frame;
	forge->frames[0].members[0].bytes = tkb_text("a playoad");
	spoil(forge_find(forge, 1, "add_kernel.cubin"));
	forge_write(forge, "x.tkb");
	struct tkb_bundle *bundle = test_bundle("x.tkb");

	FAILS(tkb_bundle_verify(bundle, &options, NULL, ERR), TKB_ERR_CORRUPT,
	      "'x.tkb', payload '");
	CHECK(strstr(ERR->message, ADD) == NULL);
}

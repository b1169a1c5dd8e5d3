/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

/* What its block closes. */
#define USES(name) TKB_AUTO(close_at) struct tkb_uses *name

TKB_AUTO_POINTER(close_at, struct tkb_uses, tkb_uses_close)

static struct tkb_uses *open_uses(const char *root)
{
	struct tkb_uses *uses = NULL;

	OK(tkb_uses_open(root, NULL, &uses, ERR));
	return uses;
}

/* Most of what follows cannot be told below a folder that is mounted so. */
static struct tkb_uses *open_known(const char *root)
{
	struct tkb_uses *uses = open_uses(root);

	if (!tkb_uses_are_known(uses)) {
		tkb_uses_close(uses);
		print_message("no access times in '%s'\n", test_folder());
		skip();
	}
	return uses;
}

static size_t count_state(const struct tkb_uses *uses, enum tkb_use_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_uses_count(uses); i++)
		count += tkb_uses_at(uses, i)->state == state;
	return count;
}

static const struct tkb_use *use_of(const struct tkb_uses *uses,
                                    const char *key)
{
	for (size_t i = 0; i < tkb_uses_count(uses); i++) {
		if (strcmp(tkb_uses_at(uses, i)->entry->key, key) == 0)
			return tkb_uses_at(uses, i);
	}
	fail_msg("there is no '%s'", key);
	return NULL;
}

static const int64_t second = 1000000000;

TEST(uses, after_an_emit_are_none_of_its_kernels)
{
	arrange_emitted("triton-3.6.0-h100");
	USES(uses) = open_known("out");

	CHECK_INT(tkb_uses_count(uses), 17);
	CHECK_INT(count_state(uses, TKB_USE_STATE_UNUSED), 13);
	for (size_t i = 0; i < tkb_uses_count(uses); i++) {
		const struct tkb_use *use = tkb_uses_at(uses, i);

		CHECK_INT(use->used_ns, 0);
		CHECK_INT(use->state == TKB_USE_STATE_UNUSED,
		          use->entry->kind == TKB_KIND_KERNEL);
		CHECK_INT(use->written_ns / second,
		          stat_of(stamp_of(text("out/%s", use->entry->key)))
		                  .st_mtim.tv_sec);
	}
}

TEST(uses, begin_when_somebody_reads_the_group_file)
{
	arrange_emitted("triton-3.6.0-cpu");
	USES(before) = open_known("out");
	const char *key = use_of(before, keys("out")[0])->entry->key;
	(void)read_file(stamp_of(text("out/%s", key)));
	USES(after) = open_uses("out");

	CHECK_INT(count_state(before, TKB_USE_STATE_USED), 0);
	CHECK_INT(count_state(after, TKB_USE_STATE_USED), 1);
	const struct tkb_use *use = use_of(after, key);
	CHECK_INT(use->state, TKB_USE_STATE_USED);
	CHECK(use->used_ns > use->written_ns);
}

TEST(uses, are_not_what_we_read_ourselves)
{
	arrange_emitted("triton-3.6.0-cpu");
	USES(first) = open_known("out");
	CHECK_INT(count_state(first, TKB_USE_STATE_USED), 0);
	pack("out", "b.tkb");
	CHECK_INT(run(program(), "verify", "out", NULL).status, 0);
	CHECK_INT(run(program(), "relocate", "out", NULL).status, 0);
	CHECK_INT(run(program(), "gc", "--max-entries=4", "out", NULL).status,
	          0);
	USES(second_look) = open_uses("out");

	CHECK_INT(count_state(second_look, TKB_USE_STATE_USED), 0);
	CHECK(tkb_uses_count(second_look) == 4);
}

TEST(uses, come_first_in_their_order_and_the_rest_by_name)
{
	arrange_emitted("triton-3.6.0-h100");
	const char **all = keys("out");
	date(text("out/%s", all[5]), 2000, 1000);
	date(text("out/%s", all[9]), 1500, 1000);
	date(text("out/%s", all[2]), 3000, 1000);
	USES(uses) = open_known("out");

	size_t count = tkb_uses_count(uses);
	CHECK_STR(tkb_uses_at(uses, 0)->entry->key, all[9]);
	CHECK_STR(tkb_uses_at(uses, 1)->entry->key, all[5]);
	CHECK_STR(tkb_uses_at(uses, 2)->entry->key, all[2]);
	CHECK_INT(tkb_uses_at(uses, 1)->used_ns, 2000 * second);
	CHECK_INT(tkb_uses_at(uses, 1)->written_ns, 1000 * second);
	for (size_t i = 4; i < count; i++)
		CHECK(strcmp(tkb_uses_at(uses, i - 1)->entry->name,
		             tkb_uses_at(uses, i)->entry->name) <= 0);
}

TEST(uses, are_none_of_what_was_compiled_here_and_not_read_since)
{
	arrange_emitted("triton-3.6.0-cpu");
	const char **all = keys("out");
	date(text("out/%s", all[0]), 1000, 1000);
	date(text("out/%s", all[1]), 999, 1000);
	USES(uses) = open_known("out");

	CHECK_INT(use_of(uses, all[0])->state, TKB_USE_STATE_COMPILED);
	CHECK_INT(use_of(uses, all[1])->state, TKB_USE_STATE_COMPILED);
	CHECK_INT(use_of(uses, all[0])->used_ns, 0);
	CHECK_INT(use_of(uses, all[0])->written_ns, 1000 * second);
}

TEST(uses, of_a_module_are_those_of_its_file)
{
	static const char key[] =
		"O6ZVERE77WTI6NBFPFVTO32HKRPDJNUREFEQKHGAT76GC4K5FATA";

	arrange_emitted("triton-3.6.0-h100");
	date(text("out/%s", key), 2000, 1000);
	USES(uses) = open_known("out");

	CHECK_INT(use_of(uses, key)->entry->kind, TKB_KIND_MODULE);
	CHECK_INT(use_of(uses, key)->state, TKB_USE_STATE_USED);
	CHECK_INT(use_of(uses, key)->used_ns, 2000 * second);
}

TEST(uses, tell_the_sizes_of_files_as_they_lie_there)
{
	arrange_emitted("triton-3.6.0-h100");
	USES(uses) = open_uses("out");

	for (size_t i = 0; i < tkb_uses_count(uses); i++) {
		const struct tkb_use *use = tkb_uses_at(uses, i);
		const char *folder = text("out/%s", use->entry->key);
		const char **names = list(folder);
		uint64_t size = 0;

		for (size_t j = 0; names[j] != NULL; j++)
			size += (uint64_t)stat_of(
					text("%s/%s", folder, names[j]))
			                .st_size;
		CHECK_INT(use->size, size);
	}
}

TEST(uses, are_told_for_each_device)
{
	uint32_t seen = 0;

	unpack("inductor-2.11-llama4-h100", "unpacked");
	SYS(rename("unpacked/.cache/torchinductor", "ind"));
	copy_folder("ind/triton/0", "ind/triton/3");
	const char *key = keys("ind/triton/3")[0];
	date(text("ind/triton/3/%s", key), 2000, 1000);
	date(text("ind/triton/0/%s", key), 0, 1000);
	USES(uses) = open_known("ind");

	CHECK_INT(tkb_uses_count(uses), 52);
	for (size_t i = 0; i < tkb_uses_count(uses); i++) {
		const struct tkb_use *use = tkb_uses_at(uses, i);

		CHECK(use->device == 0 || use->device == 3);
		CHECK_STR(use->root, text("%s/ind/triton/%u", test_folder(),
		                          (unsigned)use->device));
		if (strcmp(use->entry->key, key) != 0)
			continue;
		seen |= 1u << use->device;
		CHECK_INT(use->used_ns, use->device == 3 ? 2000 * second : 0);
	}
	CHECK_INT(seen, 9);
}

TEST(uses, are_of_whole_entries_alone)
{
	arrange_emitted("triton-3.6.0-cpu");
	const char **all = keys("out");
	SYS(unlink(text("out/%s/add_kernel.cubin", all[0])));
	SYS(unlink(stamp_of(text("out/%s", all[1]))));
	USES(uses) = open_uses("out");

	CHECK_INT(tkb_uses_count(uses), 3);
}

TEST(uses, are_looked_at_without_writing_anything)
{
	unpack("triton-3.6.0-cpu", "unpacked");
	const char *before = tree("unpacked");
	USES(uses) = open_uses("unpacked/.triton/cache");

	CHECK(tkb_uses_count(uses) != 0);
	CHECK_STR(tree("unpacked"), before);
}

TEST(uses, of_a_year_beyond_all_clocks_are_told)
{
	const time_t year_2286 = 10000000000;

	arrange_emitted("triton-3.6.0-cpu");
	const char *key = keys("out")[0];
	date(text("out/%s", key), 2000, year_2286);
	if (stat_of(stamp_of(text("out/%s", key))).st_mtim.tv_sec != year_2286)
		skip();
	USES(uses) = open_known("out");

	CHECK_INT(use_of(uses, key)->state, TKB_USE_STATE_COMPILED);
	CHECK_INT(use_of(uses, key)->written_ns, INT64_MAX);
}

TEST(uses, of_what_is_no_cache_are_none)
{
	struct tkb_uses *uses = NULL;

	write_text("file", "");

	CHECK_INT(tkb_uses_open("absent", NULL, &uses, ERR), TKB_MISS);
	FAILS(tkb_uses_open("file", NULL, &uses, ERR), TKB_ERR_INVALID,
	      "is not a folder");
	CHECK(uses == NULL);
	tkb_uses_close(NULL);
}

TEST(uses, can_be_cancelled)
{
	const struct tkb_uses_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .is_cancelled = always),
	};
	struct tkb_uses *uses = NULL;

	arrange_emitted("triton-3.6.0-cpu");

	FAILS(tkb_uses_open("out", &options, &uses, ERR), TKB_ERR_CANCELLED,
	      "cancelled");
	CHECK(uses == NULL);
}

TEST(uses, tell_how_far_they_are)
{
	struct countdown seen = { 0 };
	struct tkb_uses *uses = NULL;

	arrange_emitted("triton-3.6.0-cpu");

	OK(tkb_uses_open("out",
	                 &CHOSEN(tkb_uses_options, .watch = look_on(&seen)),
	                 &uses, ERR));
	CHECK(!seen.went_wrong);
	CHECK_INT(seen.done, count_names("out") - 1);
	CHECK_INT(seen.total, seen.done);
	tkb_uses_close(uses);
}

TEST(uses, have_a_word_for_each_state)
{
	CHECK_STR(tkb_use_state_name(TKB_USE_STATE_UNKNOWN), "unknown");
	CHECK_STR(tkb_use_state_name(TKB_USE_STATE_UNUSED), "unused");
	CHECK_STR(tkb_use_state_name(TKB_USE_STATE_USED), "used");
	CHECK_STR(tkb_use_state_name(TKB_USE_STATE_COMPILED), "compiled");
	CHECK_STR(tkb_use_state_name((enum tkb_use_state)99), "");
}

/* What a child found in a place that only it can see. */
struct finding {
	unsigned long flags; /* of the first mount, and of a second */
	unsigned long later;
	bool is_mounted;
	bool are_known;
	size_t count;
	size_t unknown_count;
	bool gc_knows;
	int64_t used_ns;
};

static void write_line(const char *path, const char *line)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, line, strlen(line));
	(void)close(fd);
}

/* Become able to mount, for this process alone. */
static bool enter_namespace(void)
{
	const unsigned uid = geteuid();
	const unsigned gid = getegid();
	char line[64];

	if (uid == 0 && unshare(CLONE_NEWNS) == 0)
		return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	write_line("/proc/self/setgroups", "deny");
	(void)snprintf(line, sizeof(line), "0 %u 1", uid);
	write_line("/proc/self/uid_map", line);
	(void)snprintf(line, sizeof(line), "0 %u 1", gid);
	write_line("/proc/self/gid_map", line);
	return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static void look_where_mounted(void *self)
{
	struct finding *finding = self;
	const struct tkb_gc_options options = { SIZED(options),
		                                .has_max_entries = true,
		                                .is_dry_run = true };
	struct tkb_gc_report report = { SIZED(report), .has_uses = true };
	struct tkb_uses *uses = NULL;

	if (!enter_namespace() ||
	    mount("tmpfs", "mounted", "tmpfs", finding->flags, NULL) < 0 ||
	    run("cp", "-a", "out", "mounted", NULL).status != 0)
		return;
	if (finding->later != 0 && mount("tmpfs", "mounted", "tmpfs",
	                                 MS_REMOUNT | finding->later, NULL) < 0)
		return;
	finding->is_mounted = true;
	if (tkb_uses_open("mounted/out", NULL, &uses, NULL) != 0 ||
	    tkb_gc("mounted/out", &options, &report, NULL) != 0)
		return;
	finding->are_known = tkb_uses_are_known(uses);
	finding->count = tkb_uses_count(uses);
	finding->unknown_count = count_state(uses, TKB_USE_STATE_UNKNOWN);
	finding->gc_knows = report.has_uses;
	for (size_t i = 0; i < tkb_uses_count(uses); i++)
		finding->used_ns += tkb_uses_at(uses, i)->used_ns;
	tkb_uses_close(uses);
}

/* Look at a cache on a file system that is mounted so, and mounted so later. */
static struct finding look_where(unsigned long flags, unsigned long later)
{
	struct finding finding = { .flags = flags, .later = later };

	arrange_emitted("triton-3.6.0-cpu");
	date(text("out/%s", keys("out")[0]), 2000, 1000);
	SYS(mkdir("mounted", 0777));
	in_child(look_where_mounted, &finding, sizeof(finding));
	if (!finding.is_mounted) {
		print_message("nothing can be mounted here\n");
		skip();
	}
	return finding;
}

TEST(uses, are_unknown_where_no_access_times_are_kept)
{
	const struct finding finding = look_where(MS_NOATIME, 0);

	CHECK(!finding.are_known);
	CHECK(!finding.gc_knows);
	CHECK_INT(finding.count, 5);
	CHECK_INT(finding.unknown_count, 5);
	CHECK_INT(finding.used_ns, 0);
}

TEST(uses, are_unknown_where_nothing_can_be_written)
{
	const struct finding finding = look_where(0, MS_RDONLY);

	CHECK(!finding.are_known);
	CHECK(!finding.gc_knows);
	CHECK_INT(finding.unknown_count, 5);
}

TEST(uses, are_known_where_access_times_are_kept)
{
	const struct finding finding = look_where(MS_RELATIME, 0);

	CHECK(finding.are_known);
	CHECK(finding.gc_knows);
	CHECK_INT(finding.unknown_count, 0);
	CHECK_INT(finding.used_ns, 2000 * second);
}

static int use_states(struct tkb_error *err)
{
	struct tkb_uses *uses = NULL;
	int rc = tkb_uses_open("out", NULL, &uses, err);

	if (rc != 0)
		return rc;
	rc = tkb_uses_are_known(uses);
	tkb_uses_close(uses);
	return rc;
}

TEST(uses, in_a_folder_of_somebody_else_are_told_by_how_it_is_mounted)
{
	arrange_emitted("triton-3.6.0-cpu");
	USES(uses) = open_known("out");
	CHECK_INT(count_state(uses, TKB_USE_STATE_USED), 0);
	SYS(chmod("out", 0555));

	CHECK_INT(as_nobody("out", use_states).rc, 1);
}

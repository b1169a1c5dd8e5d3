/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdio.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an emit repairs, a pull repairs: the same cache ends the same. */

/* The end of a file's name, and what becomes of it. */
struct damage {
	const char *name;
	const char *ending;
	void (*harm)(const char *path);
};

static void remove_it(const char *path)
{
	SYS(unlink(path));
}

static void halve(const char *path)
{
	SYS(truncate(path, (off_t)(read_file(path).size / 2)));
}

static void empty(const char *path)
{
	SYS(truncate(path, 0));
}

static void zero(const char *path)
{
	const size_t size = read_file(path).size;

	write_file(path, (struct tkb_bytes){ test_alloc(size), size });
}

static void flip_middle(const char *path)
{
	flip(path, 8);
}

static void change_place(const char *path)
{
	edit_file(path, test_folder(), "/elsewhere");
}

static void link_it(const char *path)
{
	SYS(unlink(path));
	SYS(symlink("/dev/null", path));
}

static const struct damage damages[] = {
	{ "a binary that is not there", ".cubin", remove_it },
	{ "a binary that is cut short", ".cubin", halve },
	{ "a binary that is empty", ".cubin", empty },
	{ "a binary of zeros", ".cubin", zero },
	{ "a binary with a bit that is another", ".cubin", flip_middle },
	{ "a binary that is a link", ".cubin", link_it },
	{ "a text that is not there", ".ptx", remove_it },
	{ "a text that is cut short", ".ptx", halve },
	{ "a text that is empty", ".ptx", empty },
	{ "a text of zeros", ".ptx", zero },
	{ "a text with a bit that is another", ".ptx", flip_middle },
	{ "no group file", "__grp__", remove_it },
	{ "a group file that is cut short", "__grp__", halve },
	{ "a group file of zeros", "__grp__", zero },
	{ "a group file of another place", "__grp__", change_place },
	{ "metadata that is cut short", ".json", halve },
	{ "metadata that is not there", ".json", remove_it },
	{ "metadata with a bit that is another", ".json", flip_middle },
};

/* The damage's file, in the first kernel of the pool. */
static const char *find_file(const char *root, const struct damage *damage)
{
	const bool is_group = strcmp(damage->ending, "__grp__") == 0;

	for (const char **key = pool_keys(); *key != NULL; key++) {
		const char *folder = text("%s/%s", root, *key);

		if (!exists(folder))
			continue;
		for (const char **name = list(folder); *name != NULL; name++) {
			const size_t size = strlen(*name);
			const size_t length = strlen(damage->ending);
			const bool names_group =
				strncmp(*name, "__grp__", 7) == 0;

			if (is_group ? names_group
			             : !names_group && size > length &&
			                       strcmp(*name + size - length,
			                              damage->ending) == 0)
				return text("%s/%s", folder, *name);
		}
	}
	fail_msg("the pool has no '%s'", damage->ending);
	return NULL;
}

static void clear(const char *folder)
{
	CHECK_INT(run("rm", "-rf", folder, NULL).status, 0);
}

/* A whole cache, written since boot or, not trusted, some time before. */
static void arrange(const char *root, bool is_trusted)
{
	struct tkb_bundle *bundle = NULL;

	clear(root);
	OK(tkb_bundle_open("x.tkb", &bundle, ERR));
	OK(tkb_emit(bundle, root, NULL, NULL, ERR));
	tkb_bundle_close(bundle);
	if (!is_trusted)
		clear(text("%s/.tkbundle", root));
}

static void emit_again(const char *root)
{
	struct tkb_bundle *bundle = NULL;

	OK(tkb_bundle_open("x.tkb", &bundle, ERR));
	OK(tkb_emit(bundle, root, NULL, NULL, ERR));
	tkb_bundle_close(bundle);
}

static void compare(const char *what, const char *emitted, const char *pulled)
{
	const struct outcome outcome =
		run("diff", "-r", "--exclude=.tkbundle", emitted, pulled, NULL);

	if (outcome.status != 0)
		fail_msg("%s: %s", what, outcome.out);
}

static void check_ends_the_same(const struct damage *damage, bool is_trusted)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	arrange(root, is_trusted);
	damage->harm(find_file(root, damage));
	emit_again(root);
	clear("emitted");
	SYS(rename(root, "emitted"));
	arrange(root, is_trusted);
	damage->harm(find_file(root, damage));
	(void)pull_all(remote, root);
	clear("pulled");
	SYS(rename(root, "pulled"));
	compare(text("%s, %s", damage->name,
	             is_trusted ? "since boot" : "before"),
	        "emitted", "pulled");
}

static void push_some(void)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	/* A few will do: each is emitted many times. */
	const char *root = cache_of("some", (struct part){ 0, 4 });

	(void)push_all(remote, root);
	OK(tkb_collect_to_file(root, NULL, "x.tkb", NULL, ERR));
}

TEST(repair, of_what_a_power_failure_left_is_a_pulls_as_an_emits)
{
	push_some();
	for (size_t i = 0; i < TKB_COUNT_OF(damages); i++)
		check_ends_the_same(&damages[i], false);
}

TEST(repair, of_what_was_harmed_since_boot_is_a_pulls_as_an_emits)
{
	push_some();
	for (size_t i = 0; i < TKB_COUNT_OF(damages); i++)
		check_ends_the_same(&damages[i], true);
}

/* Nothing is known of what is in `root` since boot. */
static void forget(const char *root)
{
	clear(text("%s/.tkbundle", root));
	SYS(mkdir(text("%s/.tkbundle", root), 0777));
}

/* The trips of a pull behind the first, which lists the records. */
static size_t count_gets(const char *root)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_reset();
	(void)pull_all(remote, root);
	return spy_count(SPY_GET);
}

TEST(repair, asks_for_a_manifest_once_for_what_nobody_looked_at_since_boot)
{
	const char *root = text("%s/root", test_folder());

	push_some();
	arrange(root, true);
	forget(root);
	CHECK_INT(count_gets(root), 1);
	CHECK_INT(count_gets(root), 0);
}

TEST(repair, asks_once_also_where_each_device_has_entries_of_its_own)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const char *from = inductor_cache();
	const char *root = text("%s/root", test_folder());
	const char *folder = text("%s/triton/1", from);

	clear(text("%s/%s", folder, list(folder)[0]));
	(void)push_all(remote, from);
	(void)pull_all(remote, root);
	forget(text("%s/triton/0", root));
	forget(text("%s/triton/1", root));
	CHECK_INT(count_gets(root), 1);
	CHECK_INT(count_gets(root), 0);
}

static const char *sick; /* a digest */

static int fail_sick(const struct spy_event *event, struct tkb_error *err)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(&event->digest, hex);
	if (event->op != SPY_GET || strcmp(hex, sick) != 0)
		return 0;
	err->status = TKB_ERR_UNAVAILABLE;
	(void)snprintf(err->message, sizeof(err->message), "it is sick");
	return TKB_ERR_UNAVAILABLE;
}

TEST(repair, that_cannot_read_a_manifest_keeps_no_missing_entry_away)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const char *root = text("%s/root", test_folder());

	(void)push_part(remote, (struct part){ 0, 3 });
	sick = strrchr(blob_files("remote")[0], '/') + 1;
	(void)pull_all(remote, root);
	forget(root);
	(void)push_part(remote, (struct part){ 3, 5 });
	spy.before = fail_sick;
	struct tkb_pull_report report = pull_all(remote, root);
	spy.before = NULL;
	CHECK_INT(report.present_count, 3);
	CHECK_INT(report.emitted_count, 2);
}

TEST(repair, reads_of_what_is_no_bundle_the_start_alone)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const char *root = text("%s/root", test_folder());

	(void)push_all(remote, large_pool());
	(void)pull_all(remote, root);
	forget(root);
	const char *blob = blob_files("remote")[0];
	struct tkb_bytes bytes = read_file(blob);
	CHECK(bytes.size > 64 * 1024);
	void *zeros = test_alloc(bytes.size);
	memset(zeros, 0, bytes.size);
	write_file(blob, (struct tkb_bytes){ zeros, bytes.size });
	CHECK_INT(count_gets(root), 1);
}

/* A remote that gives nothing of a blob for `ms`, and all is in `root`. */
static struct tkb_remote *arrange_slow(const char *root, unsigned ms)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_part(remote, (struct part){ 0, 3 });
	(void)pull_all(remote, root);
	forget(root);
	spy_reset();
	spy.get_ms = ms;
	return remote;
}

TEST(repair, that_is_not_done_by_the_deadline_fails_no_pull)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = arrange_slow(root, 60000);
	struct tkb_emit_options emit = { SIZED(emit) };
	struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                            .connections = 1 };

	for (uint32_t ms = 1000; ms <= 4000; ms += 3000) {
		const uint64_t start = now_ms();

		emit.deadline_ms = ms;
		CHECK_INT(pull_with(remote, root, options).present_count, 3);
		CHECK(now_ms() - start < ms);
	}
	CHECK_INT(spy_count(SPY_GET), 2);
}

TEST(repair, waits_for_no_slow_remote_though_there_is_no_deadline)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = arrange_slow(root, 60000);
	const uint64_t start = now_ms();

	CHECK_INT(pull_all(remote, root).present_count, 3);
	CHECK(now_ms() - start < 30000);
}

static bool is_after_some_questions(void *self)
{
	unsigned *questions = self;

	return ++*questions > 20;
}

TEST(repair, ends_with_the_pull_where_the_caller_says_so)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = arrange_slow(root, 60000);
	unsigned questions = 0;
	const struct tkb_pull_options options = {
		SIZED(options),
		.emit = &CHOSEN(
			tkb_emit_options,
			.watch = &CHOSEN(tkb_watch, .self = &questions,
		                         .is_cancelled =
		                                 is_after_some_questions))
	};
	struct tkb_error err = { 0 };

	CHECK_INT(tkb_pull(remote, REF, root, &options, NULL, &err),
	          TKB_ERR_CANCELLED);
}

TEST(repair, of_what_one_record_lies_of_is_not_needed)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = arrange_slow(root, 0);

	for (size_t i = 0; i < 8; i++) {
		char *lie = (char *)(uintptr_t)text(
			"%s", (const char *)read_file(record_files("remote")[0])
				      .data);
		char *target = strstr(lie, "[\"cuda\"");
		char *tail = strchr(target, ']') + 1;
		char *bundle = strstr(lie, "\"bundle\":\"") + 10;

		/* Of a kernel as if it were timings; some come first. */
		bundle[0] = (char)('0' + i);
		OK(tkb_remote_add(
			remote, REF,
			tkb_text(text("%.*s[\"\",\"\",0]%s",
		                      (int)(target - lie), lie, tail)),
			ERR));
	}
	CHECK_INT(pull_all(remote, root).present_count, 3);
}

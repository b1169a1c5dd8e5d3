/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdio.h>
#include <sys/stat.h>

/* What an emit repairs, a pull repairs: the same cache ends the same. */

#define FLIPPED NULL /* a bit of its middle is another */

/* What becomes of a file of the first kernel of the pool that has one. */
static const struct {
	const char *name;
	const char *file;   /* its name, as the shell matches it */
	const char *script; /* $F is it, and $HERE the test's folder */
} damages[] = {
	{ "a binary that is not there", "*.cubin", "rm $F" },
	{ "a binary that is cut short", "*.cubin", HALVE_IT },
	{ "a binary that is empty", "*.cubin", ": >$F" },
	{ "a binary of zeros", "*.cubin", ZERO_IT },
	{ "a binary with a bit that is another", "*.cubin", FLIPPED },
	{ "a binary that is a link", "*.cubin", "ln -sf /dev/null $F" },
	{ "a text that is not there", "*.ptx", "rm $F" },
	{ "a text that is cut short", "*.ptx", HALVE_IT },
	{ "a text that is empty", "*.ptx", ": >$F" },
	{ "a text of zeros", "*.ptx", ZERO_IT },
	{ "a text with a bit that is another", "*.ptx", FLIPPED },
	{ "no group file", "__grp__*", "rm $F" },
	{ "a group file that is cut short", "__grp__*", HALVE_IT },
	{ "a group file of zeros", "__grp__*", ZERO_IT },
	{ "a group file of another place", "__grp__*",
	  "grep -q $HERE $F; sed -i s,$HERE,/elsewhere, $F" },
	{ "metadata that is cut short", "[!_]*.json", HALVE_IT },
	{ "metadata that is not there", "[!_]*.json", "rm $F" },
	{ "metadata with a bit that is another", "[!_]*.json", FLIPPED },
};

static void clear(const char *folder)
{
	shell("rm -rf %s", folder);
}

static void emit_to(const char *root)
{
	OK(tkb_emit(test_bundle("x.tkb"), root, NULL, NULL, ERR));
}

/* A whole cache, written since boot or, not trusted, some time before. */
static void arrange(const char *root, bool is_trusted)
{
	clear(root);
	emit_to(root);
	if (!is_trusted)
		clear(text("%s/.tkbundle", root));
}

static void check_ends_the_same(size_t index, bool is_trusted)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	for (int is_pulled = 0; is_pulled < 2; is_pulled++) {
		const char *kept = is_pulled ? "pulled" : "emitted";

		arrange(root, is_trusted);
		shell("set -- root/*/%s; F=$1; test -e $F; ln -sf $F harmed;"
		      "HERE=%s; %s",
		      damages[index].file, test_folder(),
		      damages[index].script != FLIPPED ? damages[index].script
		                                       : ":");
		if (damages[index].script == FLIPPED)
			flip("harmed", 8);
		if (is_pulled)
			(void)pull_all(remote, root);
		else
			emit_to(root);
		clear(kept);
		SYS(rename(root, kept));
	}
	shell("diff -r --exclude=.tkbundle emitted pulled >&2");
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
	EACH(i, damages) {
		test_name_row(damages[i].name);
		check_ends_the_same(i, false);
	}
}

TEST(repair, of_what_was_harmed_since_boot_is_a_pulls_as_an_emits)
{
	push_some();
	EACH(i, damages) {
		test_name_row(damages[i].name);
		check_ends_the_same(i, true);
	}
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
	return event->op == SPY_GET && strcmp(hex, sick) == 0
	               ? tkb_fail(err, TKB_ERR_UNAVAILABLE, "it is sick")
	               : 0;
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

TEST(repair, ends_with_the_pull_where_the_caller_says_so)
{
	const char *root = text("%s/root", test_folder());
	struct tkb_remote *remote = arrange_slow(root, 60000);
	struct countdown questions = { .left = 20 };
	const struct tkb_pull_options options = {
		SIZED(options), .emit = &CHOSEN(tkb_emit_options,
		                                .watch = count_down(&questions))
	};

	CHECK_INT(tkb_pull(remote, REF, root, &options, NULL, ERR),
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <string.h>

#include "cli/text.h"
#include "diff/diff.h"
#include "report/source_out.h"
#include "why/advice.h"
#include "why/operand.h"
#include "why/same_key.h"
#include "why/start_out.h"
#include "why/why_out.h"

static const struct option_spec options[] = {
	{ OPTION(SWITCH, "last", NULL, is_last,
	         "why the last run here compiled what it compiled") },
	ARGS_REMOTE,
	ARGS_DEADLINE,
	ARGS_JSON,
};

/* The operands. */
struct comparison {
	struct cli *cli;
	const char *name;
	bool is_one; /* A and B are the same */
	bool has_any;
	bool is_equal;
	struct operand a;
	struct operand b;
	struct diff diff;
	struct match_side a_side;
	struct match_side b_side;
};

static void release_comparison(struct comparison *comparison)
{
	match_side_close(&comparison->a_side);
	match_side_close(&comparison->b_side);
	diff_release(&comparison->diff);
	operand_close(&comparison->b);
	operand_close(&comparison->a);
}

/* Is `part` the whole of `path`, or a sequence of its parts? */
static bool has_part(const char *path, const char *part)
{
	const size_t length = strlen(part);

	for (const char *at = strstr(path, part); at != NULL;
	     at = strstr(at + 1, part)) {
		if ((at == path || at[-1] == '/') &&
		    (at[length] == '\0' || at[length] == '/'))
			return true;
	}
	return false;
}

static bool is_wanted_entry(const struct tkb_entry *entry, const char *name)
{
	if (strncmp(entry->key, name, strlen(name)) == 0 ||
	    strcmp(entry->name, name) == 0)
		return true;
	return entry->kind == TKB_KIND_UNIT && has_part(entry->name, name);
}

/*
 * Report two similar entries with different keys, or one without a counterpart.
 */
static void report_keys(struct comparison *comparison,
                        const struct tkb_entry *a, const struct tkb_entry *b,
                        const struct match *match)
{
	struct why_pair pair = { .a = a, .b = b, .detail = "", .advice = "" };
	struct advice_case where = { .engine = "", .there = "", .here = "" };
	char advice[2 * DIFFERENCE_TEXT_SIZE + 200] = "";

	pair.reason = REASON_NOT_IN_BUNDLE;
	if (match->is_found) {
		pair.differences = &match->differences;
		pair.reason = differences_reason(&match->differences);
	}
	if (match->is_found && match->differences.count != 0) {
		where.name = match->differences.items[0].name;
		where.there = match->differences.items[0].a;
		where.here = match->differences.items[0].b;
		advice_write(pair.reason, &where, advice, sizeof(advice));
		pair.advice = advice;
	}
	comparison->is_equal = false;
	why_out_pair(comparison->cli, &pair);
}

/* Report a key that both have, and which of its files differ. */
static int report_bytes(struct comparison *comparison,
                        const struct diff_pair *found, struct tkb_error *err)
{
	char detail[SAME_KEY_SIZE] = "";
	struct why_pair pair = {
		.a = found->a,
		.b = found->b,
		.is_equal = found->state == DIFF_EQUAL,
		.reason = REASON_BYTES,
		.detail = detail,
		.advice = "",
	};
	int rc = 0;

	if (!pair.is_equal)
		rc = same_key_compare(&comparison->a.source,
		                      &comparison->b.source, found,
		                      &pair.reason, detail, err);
	if (rc != 0)
		return rc;
	comparison->is_equal = comparison->is_equal && pair.is_equal;
	why_out_pair(comparison->cli, &pair);
	return 0;
}

/* Does A lack the key of this entry of B? */
static bool is_alone_in_b(void *self, size_t candidate)
{
	const struct comparison *const comparison = self;

	for (size_t i = 0; i < comparison->diff.count; i++) {
		const struct diff_pair *const pair = &comparison->diff.pairs[i];

		if (pair->b != NULL && pair->b_index == candidate)
			return pair->a == NULL;
	}
	return true;
}

/* Does B lack the key of entry `index` of A? Then report_of_a() reports it. */
static bool is_alone_in_a(const struct comparison *comparison, size_t index)
{
	for (size_t i = 0; i < comparison->diff.count; i++) {
		const struct diff_pair *const pair = &comparison->diff.pairs[i];

		if (pair->a != NULL && pair->a_index == index)
			return pair->b == NULL;
	}
	return false;
}

/*
 * Report an entry that one side has, if the other has its key, too, but not
 * whole.
 */
static bool report_damaged(struct comparison *comparison,
                           const struct diff_pair *found)
{
	const struct tkb_entry *const entry = diff_entry(found);
	const struct tkb_left_out *const left_out = source_left_out(
		found->a == NULL ? &comparison->a.source
				 : &comparison->b.source,
		entry->kind == TKB_KIND_UNIT ? entry->name : entry->key);
	const struct advice_case where = { .engine = "" };
	char advice[START_TEXT_SIZE] = "";
	const struct why_pair pair = { .a = found->a,
		                       .b = found->b,
		                       .reason = REASON_DAMAGED,
		                       .detail = "",
		                       .advice = advice };

	if (left_out == NULL)
		return false;
	advice_write(pair.reason, &where, advice, sizeof(advice));
	comparison->is_equal = false;
	why_out_pair(comparison->cli, &pair);
	return true;
}

/* Report an entry of A that B has under another key, or not at all. */
static int report_of_a(struct comparison *comparison,
                       const struct diff_pair *pair, struct tkb_error *err)
{
	TKB_AUTO(match_release) struct match match = { .is_found = false };
	const struct tkb_entry *b = NULL;
	int rc;

	rc = match_find(&comparison->a_side, pair->a_index, &comparison->b_side,
	                is_alone_in_b, comparison, &match, err);
	if (rc == 0 && !match.is_found)
		rc = match_find(&comparison->a_side, pair->a_index,
		                &comparison->b_side, NULL, NULL, &match, err);
	if (rc != 0)
		return rc;
	if (match.is_found) {
		b = source_entry(&comparison->b.source, match.index);
		/* Differences are reported from A to B. */
		differences_release(&match.differences);
		rc = differences_find(
			match_parts(&comparison->a_side, pair->a_index),
			match_parts(&comparison->b_side, match.index),
			&match.differences, err);
	}
	if (rc == 0)
		report_keys(comparison, pair->a, b, &match);
	return rc;
}

/*
 * Report an entry of B, unless report_of_a() reports it as the best match of
 * A's.
 */
static int report_of_b(struct comparison *comparison,
                       const struct diff_pair *pair, struct tkb_error *err)
{
	TKB_AUTO(match_release) struct match match = { .is_found = false };
	TKB_AUTO(match_release) struct match back = { .is_found = false };
	int rc;

	rc = match_find(&comparison->b_side, pair->b_index, &comparison->a_side,
	                NULL, NULL, &match, err);
	if (rc == 0 && match.is_found && is_alone_in_a(comparison, match.index))
		rc = match_find(&comparison->a_side, match.index,
		                &comparison->b_side, is_alone_in_b, comparison,
		                &back, err);
	if (rc != 0 || (back.is_found && back.index == pair->b_index))
		return rc;
	report_keys(comparison,
	            match.is_found
	                    ? source_entry(&comparison->a.source, match.index)
	                    : NULL,
	            pair->b, &match);
	return 0;
}

/* A and B are the same: report the most similar entry of the same name. */
static int report_variant(struct comparison *comparison,
                          const struct diff_pair *pair, struct tkb_error *err)
{
	TKB_AUTO(match_release) struct match match = { .is_found = false };
	TKB_AUTO(match_release) struct match back = { .is_found = false };
	int rc;

	rc = match_find(&comparison->a_side, pair->a_index, &comparison->a_side,
	                NULL, NULL, &match, err);
	if (rc == 0 && match.is_found)
		rc = match_find(&comparison->a_side, match.index,
		                &comparison->a_side, NULL, NULL, &back, err);
	if (rc != 0 || !match.is_found ||
	    (back.is_found && back.index == pair->a_index &&
	     match.index < pair->a_index))
		return rc;
	report_keys(comparison,
	            source_entry(&comparison->a.source, match.index), pair->a,
	            &match);
	return 0;
}

static int report_pair(struct comparison *comparison,
                       const struct diff_pair *pair, struct tkb_error *err)
{
	if (comparison->is_one)
		return report_variant(comparison, pair, err);
	if ((pair->a == NULL || pair->b == NULL) &&
	    report_damaged(comparison, pair))
		return 0;
	if (pair->state == DIFF_ONLY_A)
		return report_of_a(comparison, pair, err);
	if (pair->state == DIFF_ONLY_B)
		return report_of_b(comparison, pair, err);
	return report_bytes(comparison, pair, err);
}

static int compare_operands(struct comparison *comparison,
                            struct tkb_error *err)
{
	struct json_out *const json = &comparison->cli->json;
	int rc;

	rc = diff_sources(&comparison->a.source, &comparison->b.source,
	                  &comparison->diff, err);
	if (rc == 0)
		rc = match_side_open(&comparison->a_side, &comparison->a.source,
		                     operand_makers(&comparison->a), err);
	if (rc == 0)
		rc = match_side_open(&comparison->b_side, &comparison->b.source,
		                     operand_makers(&comparison->b), err);
	json_out_open_array(json, "pairs");
	for (size_t i = 0; i < comparison->diff.count && rc == 0; i++) {
		const struct diff_pair *const pair = &comparison->diff.pairs[i];

		if (!is_wanted_entry(diff_entry(pair), comparison->name))
			continue;
		comparison->has_any = true;
		rc = report_pair(comparison, pair, err);
	}
	json_out_close(json);
	return rc;
}

static enum status compare_sources(struct comparison *comparison)
{
	struct tkb_error err = { .status = 0 };
	const int rc = compare_operands(comparison, &err);

	if (rc != 0)
		return cli_failed(comparison->cli, rc, &err, comparison->name);
	if (!comparison->has_any) {
		(void)cli_error(&err, TKB_MISS,
		                "no entry of A or B is named '%.200s' or has a "
		                "key that begins with it",
		                comparison->name);
		return cli_failed(comparison->cli, TKB_MISS, &err,
		                  comparison->name);
	}
	if (comparison->is_one && comparison->is_equal &&
	    !comparison->cli->json.is_wanted)
		text_line(comparison->cli->out,
		          "%s: it exists under one key only", comparison->name);
	return comparison->is_equal ? STATUS_DONE : STATUS_PARTIAL;
}

/* For a bundle that is cut short, the entries in its list were compared. */
static enum status report_damage(const struct comparison *comparison,
                                 const struct operand *operand,
                                 enum status status)
{
	const struct tkb_error *const fault =
		operand->source.bundle != NULL
			? tkb_bundle_fault(operand->source.bundle)
			: NULL;
	struct tkb_error err = { .status = 0 };

	/* One sentence is enough. */
	if (fault == NULL ||
	    (status != STATUS_DONE && status != STATUS_PARTIAL))
		return status;
	return cli_failed(comparison->cli,
	                  cli_error(&err, fault->status,
	                            "%s; what it lists is compared, whether "
	                            "it is there or not",
	                            fault->message),
	                  &err, operand->name);
}

static enum status open_both(struct comparison *comparison,
                             const struct arguments *args,
                             struct remote_use *use)
{
	struct tkb_error err = { .status = 0 };
	int rc;

	rc = operand_open(args_operand(args, 1), comparison->cli, use,
	                  &comparison->a, &err);
	if (rc != 0)
		return cli_failed(comparison->cli, rc, &err,
		                  args_operand(args, 1));
	rc = operand_open(args_operand(args, 2), comparison->cli, use,
	                  &comparison->b, &err);
	return rc != 0 ? cli_failed(comparison->cli, rc, &err,
	                            args_operand(args, 2))
	               : STATUS_DONE;
}

static enum status compare_two(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	TKB_AUTO(release_comparison)
	struct comparison comparison = {
		.cli = cli,
		.name = args_operand(args, 0),
		.is_equal = true,
	};
	const char *const a = args_operand(args, 1);
	const char *const b = args_operand(args, 2);
	enum status status = STATUS_DONE;

	if (strcmp(a, "-") == 0 && strcmp(b, "-") == 0)
		return cli_misused(cli, "only one of A and B can be '-'");
	json_out_text(&cli->json, "name", comparison.name);
	json_out_text(&cli->json, "a", a);
	json_out_text(&cli->json, "b", b);
	if (args->remote != NULL)
		status = remote_use_begin(&use, args, true);
	if (status == STATUS_DONE)
		status = open_both(&comparison, args,
		                   args->remote != NULL ? &use : NULL);
	if (status != STATUS_DONE)
		return status;
	if (comparison.a.is_note != comparison.b.is_note)
		return cli_misused(cli, "only one of A and B is the note of a "
		                        "start");
	if (comparison.a.is_note)
		return start_out_two(cli, comparison.name, &comparison.a.start,
		                     &comparison.b.start)
		               ? STATUS_DONE
		               : STATUS_PARTIAL;
	comparison.is_one = strcmp(a, b) == 0;
	source_out_say_left_out(cli, &comparison.a.source,
	                        comparison.is_one ? "" : " of A");
	if (!comparison.is_one)
		source_out_say_left_out(cli, &comparison.b.source, " of B");
	status = compare_sources(&comparison);
	status = report_damage(&comparison, &comparison.a, status);
	return comparison.is_one
	               ? status
	               : report_damage(&comparison, &comparison.b, status);
}

static enum status report_last(struct cli *cli)
{
	TKB_AUTO(start_release) struct start start = { .made_count = 0 };
	struct tkb_error err = { .status = 0 };
	const int rc = start_read_last(&start, &err);

	if (rc == TKB_MISS)
		(void)cli_error(&err, rc,
		                "there is no note of a start: 'tkbundle run' "
		                "leaves one when its command ends");
	if (rc != 0)
		return cli_failed(cli, rc, &err, "the note of the last start");
	start_out_one(cli, &start);
	return STATUS_DONE;
}

static enum status cmd_why(struct cli *cli, const struct arguments *args)
{
	if (args->is_last && args->operands.count != 0)
		return cli_misused(cli, "'--last' takes no operand");
	if (cli_exclude(cli, args->is_last, "--last", args->remote != NULL,
	                "--remote") != STATUS_DONE)
		return STATUS_USAGE;
	if (args->deadline.is_set && args->remote == NULL)
		return cli_misused(cli, "'--deadline' needs '--remote'");
	if (!args->is_last && args->operands.count != 3)
		return cli_misused(cli, "NAME, A and B are missing, or "
		                        "'--last'");
	return args->is_last ? report_last(cli) : compare_two(cli, args);
}

const struct command command_why = {
	.name = "why",
	.operands = { "NAME|KEY", "A", "B" },
	.summary = "say why a kernel has two keys, or was compiled again",
	.details =
		"A and B are caches, bundles, with --remote refs, or notes of "
		"starts; '-' is a bundle on standard input. Entries called "
		"NAME, or whose key begins with KEY, are compared: it says "
		"which of the parts that decide their keys differ, or, if the "
		"key is the same, whether only debug lines differ. A unit of "
		"a tree is named by a part of its path. If A and B are the "
		"same, entries of the same name are compared. With --last, it "
		"says what the command of the last start of 'run' on this "
		"machine compiled anew, and why. The exit status is 4 if "
		"something differs.",
	COMMAND_OPTIONS(options),
	.run = cmd_why,
};

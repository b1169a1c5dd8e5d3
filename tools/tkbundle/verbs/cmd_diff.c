/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <string.h>

#include "diff/diff_json.h"
#include "diff/diff_launchers.h"
#include "diff/diff_out.h"
#include "diff/diff_trees.h"
#include "report/source_out.h"
#include "cli/text.h"

static const struct option_spec options[] = {
	ARGS_ENGINES,
	ARGS_TREES,
	ARGS_JSON,
};

/* The operands, and the result. */
struct comparison {
	struct root roots[2]; /* trees of A and B */
	struct source a;
	struct source b;
	struct diff diff;
	struct diff_cubins cubins;
	struct diff_launchers launchers;
};

static void release_diff(struct comparison *comparison)
{
	diff_launchers_release(&comparison->launchers);
	diff_cubins_release(&comparison->cubins);
	diff_release(&comparison->diff);
	source_close(&comparison->b);
	source_close(&comparison->a);
	root_release(&comparison->roots[1]);
	root_release(&comparison->roots[0]);
}

static size_t left_out_count(const struct source *source)
{
	return source->cache != NULL ? tkb_cache_left_out_count(source->cache)
	                             : 0;
}

/* A cache has no profile. */
static bool same_profile(const struct comparison *comparison)
{
	const struct tkb_bundle *const a = comparison->a.bundle;
	const struct tkb_bundle *const b = comparison->b.bundle;

	return a == NULL || b == NULL ||
	       strcmp(tkb_bundle_profile(a), tkb_bundle_profile(b)) == 0;
}

static bool is_equal(const struct comparison *comparison)
{
	const struct diff *const diff = &comparison->diff;
	const struct diff_launchers *const launchers = &comparison->launchers;

	return diff->counts[DIFF_EQUAL] == diff->count &&
	       launchers->counts[DIFF_EQUAL] == launchers->count &&
	       same_profile(comparison);
}

/* Add one side to the document, and report the entries that were left out. */
static void put_side(struct cli *cli, bool is_b, const char *path,
                     const struct source *source)
{
	json_out_open_object(&cli->json, is_b ? "b" : "a");
	source_out_head(&cli->json, source, path);
	json_out_number(&cli->json, "entry_count", source_entry_count(source));
	source_out_left_out(cli, source, is_b ? " of B" : " of A");
	json_out_close(&cli->json);
}

static void put_json(struct json_out *json, const struct comparison *comparison)
{
	const uint64_t *const counts = comparison->diff.counts;

	json_out_flag(json, "equal", is_equal(comparison));
	diff_json(json, &comparison->diff, &comparison->cubins);
	json_out_number(json, "equal_count", counts[DIFF_EQUAL]);
	json_out_number(json, "differ_count", counts[DIFF_DIFFERS]);
	json_out_number(json, "only_a_count", counts[DIFF_ONLY_A]);
	json_out_number(json, "only_b_count", counts[DIFF_ONLY_B]);
	diff_launchers_json(json, &comparison->launchers);
}

static void print_diff(const struct cli *cli,
                       const struct comparison *comparison)
{
	const uint64_t *const counts = comparison->diff.counts;
	const struct text_count others[] = {
		{ "different", counts[DIFF_DIFFERS] },
		{ "only in A", counts[DIFF_ONLY_A] },
		{ "only in B", counts[DIFF_ONLY_B] },
		{ "left out of A", left_out_count(&comparison->a) },
		{ "left out of B", left_out_count(&comparison->b) },
	};
	char rest[192];

	diff_out_print(cli->out, &comparison->diff, &comparison->cubins);
	diff_launchers_print(cli->out, &comparison->launchers);
	if (!same_profile(comparison))
		text_line(cli->out, "the profile is %s in A, %s in B",
		          tkb_bundle_profile(comparison->a.bundle),
		          tkb_bundle_profile(comparison->b.bundle));

	text_counts(others, TKB_COUNT_OF(others), rest, sizeof(rest));
	text_line(cli->out, "%" PRIu64 " %s equal%s", counts[DIFF_EQUAL],
	          text_plural(counts[DIFF_EQUAL], "entry", "entries"), rest);
}

/* Open A and B. @return as of source_open() */
static int open_both(struct comparison *comparison,
                     const struct arguments *args, const char **path_out,
                     struct tkb_error *err)
{
	struct source *const sources[] = { &comparison->a, &comparison->b };
	int rc = 0;

	for (size_t i = 0; i < 2 && rc == 0; i++) {
		struct root *const root = &comparison->roots[i];

		*path_out = args_operand(args, i);
		rc = diff_trees_choose(args, i, root, err);
		if (rc == 0)
			rc = source_open_root(root, true, sources[i], err);
	}
	return rc;
}

static enum status compare_both(struct cli *cli, const struct arguments *args,
                                struct comparison *comparison)
{
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	int rc = diff_sources(&comparison->a, &comparison->b, &comparison->diff,
	                      &err);

	if (rc == 0)
		rc = diff_launchers(&comparison->a, &comparison->b,
		                    &comparison->launchers, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, args_operand(args, 0));

	/* The manifest of a damaged bundle can still be compared. */
	rc = diff_cubins(&comparison->a, &comparison->b, &comparison->diff,
	                 &comparison->cubins, &err);
	if (rc != 0)
		status = cli_failed(cli, rc, &err, args_operand(args, 0));

	put_json(&cli->json, comparison);
	if (!args->is_json)
		print_diff(cli, comparison);
	if (!is_equal(comparison) || left_out_count(&comparison->a) > 0 ||
	    left_out_count(&comparison->b) > 0)
		status = status_merge(status, STATUS_PARTIAL);
	return status;
}

static enum status cmd_diff(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(release_diff)
	struct comparison comparison = { .a.cli = cli, .b.cli = cli };
	struct tkb_error err = { .status = 0 };
	const char *path;
	int rc;

	if (strcmp(args_operand(args, 0), "-") == 0 &&
	    strcmp(args_operand(args, 1), "-") == 0)
		return cli_misused(cli, "only one of A and B can be '-'");

	rc = open_both(&comparison, args, &path, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, path);

	put_side(cli, false, args_operand(args, 0), &comparison.a);
	put_side(cli, true, args_operand(args, 1), &comparison.b);
	return compare_both(cli, args, &comparison);
}

const struct command command_diff = {
	.name = "diff",
	.operands = { "A", "B" },
	.required_operands = 2,
	.summary = "compare two bundles or caches",
	.details =
		"A and B are bundles or cache roots; '-' is a bundle on "
		"standard input. '-' marks what only A has, '+' what only B "
		"has, '~' what differs. Cubins are compared by section; saved "
		"launchers of two bundles are compared, too. The path of a "
		"cache makes no difference. --engine and --tree name the trees "
		"of the one that is a cache; if both are, give each --tree "
		"twice, for A and then for B. The exit status is 0 if "
		"everything "
		"is equal, 4 if not, or if an entry of a cache was left out.",
	COMMAND_OPTIONS(options),
	.run = cmd_diff,
};

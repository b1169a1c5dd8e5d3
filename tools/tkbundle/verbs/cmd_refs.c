/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/remote_use.h"
#include "config/root.h"
#include "report/ref_out.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "trust/revoked_lists.h"

static const struct option_spec options[] = {
	ARGS_REMOTE,
	{ OPTION(TEXT, "delete", "REF", deleted,
	         "drop all records of this ref") },
	{ OPTION(SWITCH, "long", NULL, is_long,
	         "list the pushes that had labels, and who has signed"),
	  .letter = 'l' },
	ARGS_TRUST,
	ARGS_DEADLINE,
	ARGS_JSON,
};

enum {
	TRUST_SIZE = SIGNED_BRIEF_SIZE + 32
};

/* The refs of a remote. */
struct listing {
	const char *pattern; /* or NULL: all */
	struct ref {
		char *name;                    /* owned */
		struct tkb_holdings *holdings; /* owned; facts from its
		                                  records */
		struct tkb_ref_info info;
		uint64_t untrusted_count;
	} * items; /* owned */
	size_t count;
	const struct remote_library *library;
	const struct policy *policy;
};

static void drop_ref(struct listing *listing, struct ref *ref)
{
	free(ref->name);
	if (ref->holdings != NULL)
		listing->library->holdings_close(ref->holdings);
}

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		drop_ref(listing, &listing->items[i]);
	free(listing->items);
}

static int list_ref(void *self, const char *ref, struct tkb_error *err)
{
	struct listing *const listing = self;
	struct ref *items;
	char *name;

	if (listing->pattern != NULL && fnmatch(listing->pattern, ref, 0) != 0)
		return 0;
	items = table_grow(listing->items, listing->count, sizeof(*items));
	if (items == NULL)
		return cli_error_nomem(err);
	listing->items = items;
	name = strdup(ref);
	if (name == NULL)
		return cli_error_nomem(err);
	items[listing->count++] = (struct ref){ .name = name };
	return 0;
}

/* Find out who has signed the ref. A ref that is not trusted is listed, too. */
static int judge_ref(struct remote_use *use, struct ref *ref,
                     struct tkb_error *err)
{
	int rc;

	if (policy_trust(&use->policy) == NULL)
		return 0;
	rc = use->library.ref_judge(use->remote, ref->name,
	                            &ref->untrusted_count, err);
	return rc == TKB_MISS ? 0 : rc;
}

/* @return TKB_MISS: it was deleted meanwhile */
static int read_ref_row(struct remote_use *use, struct ref *ref,
                        struct tkb_error *err)
{
	const struct tkb_holdings_options brief = {
		.struct_size = sizeof(brief),
		.watch = &use->watch,
		.is_brief = true,
	};
	int rc;

	ref->info.struct_size = sizeof(ref->info);
	if (deadline_is_cancelled(&use->deadline))
		return cli_error(err, TKB_ERR_CANCELLED, "cancelled");
	rc = use->library.holdings_open(use->remote, ref->name, &brief,
	                                &ref->holdings, err);
	if (rc == 0)
		use->library.holdings_info(ref->holdings, &ref->info);
	return rc == 0 ? judge_ref(use, ref, err) : rc;
}

/* Read each ref; those deleted meanwhile are removed from the list. */
static int read_refs(struct remote_use *use, struct listing *listing,
                     struct tkb_error *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < listing->count; i++) {
		struct ref ref = listing->items[i];

		if (rc >= 0)
			rc = read_ref_row(use, &ref, err);
		if (rc == 0)
			listing->items[kept++] = ref;
		else
			drop_ref(listing, &ref);
	}
	listing->count = kept;
	return rc < 0 ? rc : 0;
}

static int read_listing(struct remote_use *use, struct listing *listing,
                        struct tkb_error *err)
{
	const struct tkb_ref_visitor visitor = { list_ref, listing };
	int rc;

	remote_use_wait(use);
	rc = use->library.refs(use->remote, &visitor, err);
	if (rc == 0)
		rc = read_refs(use, listing, err);
	remote_use_waited(use);
	return rc;
}

static void fill_refs_json(struct json_out *json, const struct listing *listing)
{
	json_out_open_array(json, "refs");
	for (size_t i = 0; i < listing->count; i++) {
		const struct ref *const ref = &listing->items[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "ref", ref->name);
		json_out_number(json, "records", ref->info.record_count);
		json_out_number(json, "unreadable", ref->info.unreadable_count);
		json_out_number(json, "entries", ref->info.entry_count);
		json_out_number(json, "size", ref->info.size);
		if (ref->info.age_s == UINT64_MAX)
			json_out_null(json, "age");
		else
			json_out_number(json, "age", ref->info.age_s);
		ref_out_json(json, listing->library, ref->holdings);
		if (policy_trust(listing->policy) != NULL) {
			json_out_number(json, "untrusted",
			                ref->untrusted_count);
			signed_list_json(&listing->policy->trusted, ref->name,
			                 json);
		}
		json_out_close(json);
	}
	json_out_close(json);
}

static int name_width(const struct listing *listing)
{
	size_t width = 0;

	for (size_t i = 0; i < listing->count; i++) {
		const size_t length = strlen(listing->items[i].name);

		width = length > width ? length : width;
	}
	return (int)width;
}

/*
 * Write who has signed the ref, and how many records the policy does not trust.
 */
static void write_trust(const struct listing *listing, const struct ref *ref,
                        char out[TRUST_SIZE])
{
	char brief[SIGNED_BRIEF_SIZE];

	signed_list_brief(&listing->policy->trusted, ref->name, brief);
	if (ref->untrusted_count > 0)
		(void)snprintf(out, TRUST_SIZE, "%s%suntrusted %" PRIu64, brief,
		               brief[0] != '\0' ? ", " : "",
		               ref->untrusted_count);
	else
		(void)snprintf(out, TRUST_SIZE, "%s", brief);
}

static void print_ref(const struct cli *cli, const struct listing *listing,
                      const struct ref *ref, int width)
{
	char size[TEXT_SIZE_SIZE];
	char age[TEXT_AGE_SIZE] = "-";
	char made[REF_OUT_SIZE];
	char trust[TRUST_SIZE];

	text_size(ref->info.size, size);
	if (ref->info.age_s != UINT64_MAX)
		text_age(ref->info.age_s, age);
	ref_out_made(listing->library, ref->holdings, made);
	write_trust(listing, ref, trust);
	text_line(cli->out,
	          "%-*s  %4" PRIu64 "  %6" PRIu64 "  %6s  %4s%s%s%s%s", width,
	          ref->name, ref->info.record_count, ref->info.entry_count,
	          size, age, made[0] != '\0' ? "  " : "", made,
	          trust[0] != '\0' ? "  " : "", trust);
}

static void print_refs(const struct cli *cli, const struct arguments *args,
                       const struct listing *listing)
{
	const int width = name_width(listing);
	struct text_count unreadable = { "unreadable records", 0 };
	char rest[64];

	for (size_t i = 0; i < listing->count; i++) {
		const struct ref *const ref = &listing->items[i];

		unreadable.count += ref->info.unreadable_count;
		signed_list_warn(&listing->policy->trusted, ref->name, cli);
		print_ref(cli, listing, ref, width);
		if (!args->is_long)
			continue;
		ref_out_pushes(cli->out, listing->library, ref->holdings);
		signed_list_print(&listing->policy->trusted, ref->name, cli,
		                  cli->out);
	}
	revoked_lists_warn(&listing->policy->lists, cli);
	revoked_lists_print(&listing->policy->lists, "", cli->out);
	text_counts(&unreadable, 1, rest, sizeof(rest));
	text_line(cli->out, "%zu %s%s", listing->count,
	          text_plural(listing->count, "ref", "refs"), rest);
}

static enum status list_refs(struct remote_use *use,
                             const struct arguments *args)
{
	TKB_AUTO(listing_release)
	struct listing listing = { .pattern = args_operand(args, 0),
		                   .library = &use->library,
		                   .policy = &use->policy };
	struct cli *const cli = use->cli;
	struct tkb_error err = { .status = 0 };
	int rc;

	use->policy.is_quiet = true;
	rc = read_listing(use, &listing, &err);
	if (rc != 0)
		return remote_use_failed(use, rc, &err, "the remote");
	fill_refs_json(&cli->json, &listing);
	if (policy_trust(&use->policy) != NULL)
		revoked_lists_json(&use->policy.lists, &cli->json);
	if (listing.count == 0 && listing.pattern != NULL) {
		(void)cli_error(&err, TKB_MISS, "there is no ref '%.200s'",
		                listing.pattern);
		return remote_use_failed(use, TKB_MISS, &err, "");
	}
	if (!args->is_json)
		print_refs(cli, args, &listing);
	return STATUS_DONE;
}

static enum status delete_ref(struct remote_use *use,
                              const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct cli *const cli = use->cli;
	struct tkb_error err = { .status = 0 };
	enum status status;
	uint64_t count = 0;
	int rc = root_choose(NULL, &root, &err);

	status = remote_use_ref(use, args->deleted, rc == 0 ? root.path : NULL);
	if (status != STATUS_DONE)
		return status;
	json_out_text(&cli->json, "ref", use->ref);
	rc = use->library.ref_delete(use->remote, use->ref, &count, &err);
	if (rc != 0)
		return remote_use_failed(use, rc, &err, use->ref);
	json_out_number(&cli->json, "deleted", count);
	cli_print(cli, "deleted %s: %" PRIu64 " %s", use->ref, count,
	          text_plural(count, "record", "records"));
	return STATUS_DONE;
}

static enum status cmd_refs(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	enum status status;

	if (args->deleted != NULL && args->operands.count > 0)
		return cli_misused(cli, "PATTERN and '--delete' exclude each "
		                        "other");
	if (cli_exclude(cli, args->deleted != NULL, "--delete", args->is_long,
	                "--long") != STATUS_DONE)
		return STATUS_USAGE;
	if (args->deleted != NULL && cli_is_disabled(cli))
		return STATUS_DONE;
	status = remote_use_begin(&use, args, false);
	if (status != STATUS_DONE)
		return status;
	signals_catch();
	remote_use_json(&use);
	return args->deleted != NULL ? delete_ref(&use, args)
	                             : list_refs(&use, args);
}

const struct command command_refs = {
	.name = "refs",
	.operands = { "PATTERN" },
	.summary = "list the refs of a remote, or delete one",
	.details =
		"Prints name, number of records, number of entries, size of "
		"the blobs, the time since the last push or pull, Triton's "
		"versions and targets, and the labels of the last push that "
		"had some; under a policy also who has signed, until when, "
		"how many records it does not trust, and until when the list "
		"of what is revoked counts. In "
		"PATTERN, '*', '?' and '[...]' match any bytes, also slashes. "
		"The blobs of a deleted ref are removed by the next gc.",
	COMMAND_OPTIONS(options),
	.run = cmd_refs,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "config/remote_use.h"
#include "report/sign_out.h"
#include "trust/key_file.h"

static const struct option_spec options[] = {
	ARGS_REMOTE,
	{ OPTION(TEXT, "ref", "REF", ref,
	         "revoke what this ref holds now, too") },
	ARGS_SIGN("sign with the private key in KEY_FILE"),
	ARGS_EXPIRES,
	ARGS_TRUST,
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	ARGS_DEADLINE,
	ARGS_JSON,
};

enum {
	SHORT_LIMIT = 8 /* least number of digits */
};

/* The digests to revoke. */
struct list {
	struct tkb_digest *items; /* owned */
	size_t count;
};

static void list_release(struct list *list)
{
	free(list->items);
}

static int append_digest(struct list *list, const struct tkb_digest *digest,
                         struct tkb_error *err)
{
	struct tkb_digest *const items =
		table_grow(list->items, list->count, sizeof(*items));

	if (items == NULL)
		return cli_error_nomem(err);
	list->items = items;
	list->items[list->count++] = *digest;
	return 0;
}

/* The digests that begin with a short one, while they are searched. */
struct search {
	struct remote_use *use;
	const char *text;
	struct tkb_digest found;
	size_t count; /* number of different digests */
};

static void match_digest(struct search *search, const struct tkb_digest *digest)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(digest, hex);
	if (strncmp(hex, search->text, strlen(search->text)) != 0 ||
	    (search->count > 0 &&
	     memcmp(&search->found, digest, sizeof(*digest)) == 0))
		return;
	search->found = *digest;
	search->count++;
}

static int look_at_keys(struct search *search, struct tkb_error *err)
{
	const struct tkb_trust *const trust =
		policy_trust(&search->use->policy);
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	int rc = 0;

	for (size_t i = 0; trust != NULL && i < trust->key_count && rc == 0;
	     i++) {
		rc = search->use->library.key_look(trust->keys[i].key, &info,
		                                   err);
		if (rc == 0)
			match_digest(search, &info.id);
	}
	return rc;
}

/* Call `visit` for each record that a ref holds. */
static int visit_records(struct remote_use *use, const char *ref,
                         int (*visit)(void *self,
                                      const struct tkb_holdings_record *record,
                                      struct tkb_error *err),
                         void *self, struct tkb_error *err)
{
	const struct tkb_holdings_options brief = { .struct_size =
		                                            sizeof(brief),
		                                    .is_brief = true };
	const struct remote_library *const library = &use->library;
	struct tkb_holdings *holdings = NULL;
	int rc;

	rc = library->holdings_open(use->remote, ref, &brief, &holdings, err);
	for (size_t i = 0;
	     rc == 0 && i < library->holdings_record_count(holdings); i++)
		rc = visit(self, library->holdings_record(holdings, i), err);
	library->holdings_close(holdings);
	return rc;
}

static int match_record(void *self, const struct tkb_holdings_record *record,
                        struct tkb_error *err)
{
	(void)err;
	match_digest(self, &record->digest);
	match_digest(self, &record->blob);
	return 0;
}

static int look_at_ref(void *self, const char *ref, struct tkb_error *err)
{
	const struct search *const search = self;
	const int rc = visit_records(search->use, ref, match_record, self, err);

	return rc < 0 ? rc : 0;
}

/* Search the remote's records and blobs, and the policy's keys. */
static int find_short(struct remote_use *use, const char *text,
                      struct tkb_digest *out, struct tkb_error *err)
{
	struct search search = { .use = use, .text = text };
	const struct tkb_ref_visitor visitor = { look_at_ref, &search };
	int rc;

	rc = use->library.refs(use->remote, &visitor, err);
	if (rc == 0)
		rc = look_at_keys(&search, err);
	if (rc < 0)
		return rc;
	if (search.count != 1)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.64s' begins %s of the remote's records "
		                 "and blobs%s",
		                 text,
		                 search.count == 0 ? "no digest"
		                                   : "several digests",
		                 policy_trust(&use->policy) != NULL
		                         ? ", and of the policy's keys"
		                         : "; keys are not searched, as no "
		                           "policy is configured: --trust");
	*out = search.found;
	return 0;
}

/* Read an operand: 64 digits, or the first digits of a known digest. */
static int add_operand(struct remote_use *use, struct list *list,
                       const char *text, struct tkb_error *err)
{
	const size_t length = strlen(text);
	struct tkb_digest digest;
	int rc = 0;

	if (length >= SHORT_LIMIT && length < TKB_DIGEST_HEX_SIZE - 1 &&
	    strspn(text, "0123456789abcdef") == length)
		rc = find_short(use, text, &digest, err);
	else if (!key_id_read(text, &digest))
		rc = cli_error(err, TKB_ERR_INVALID,
		               "'%.100s' is no digest of 64 digits, or its "
		               "first %d: of a bundle, a record, a blob or a "
		               "key",
		               text, SHORT_LIMIT);
	return rc == 0 ? append_digest(list, &digest, err) : rc;
}

/*
 * Add a record and its bundle, not the blob: whoever can write the remote can
 * compress the bundle otherwise, and its signature still counts.
 */
static int append_record(void *self, const struct tkb_holdings_record *record,
                         struct tkb_error *err)
{
	const int rc = append_digest(self, &record->digest, err);

	return rc == 0 ? append_digest(self, &record->bundle, err) : rc;
}

/* Which other refs hold something of a list? */
struct sharing {
	struct remote_use *use;
	const struct list *list;
	bool is_shared; /* the ref that is looked at does */
};

static int note_shared(void *self, const struct tkb_holdings_record *record,
                       struct tkb_error *err)
{
	struct sharing *const sharing = self;
	const struct list *const list = sharing->list;

	(void)err;
	for (size_t i = 0; i < list->count && !sharing->is_shared; i++)
		sharing->is_shared = memcmp(&list->items[i], &record->bundle,
		                            sizeof(record->bundle)) == 0;
	return 0;
}

static int warn_of_ref(void *self, const char *ref, struct tkb_error *err)
{
	struct sharing *const sharing = self;
	int rc;

	if (strcmp(ref, sharing->use->ref) == 0)
		return 0;
	sharing->is_shared = false;
	rc = visit_records(sharing->use, ref, note_shared, sharing, err);
	if (sharing->is_shared)
		cli_say(sharing->use->cli,
		        "ref '%s' has a bundle of '%s', too: revoked, it is "
		        "not used there either",
		        ref, sharing->use->ref);
	return rc < 0 ? rc : 0;
}

/*
 * A bundle is revoked wherever it is. Say so before: afterwards, the policy hides
 * such records.
 */
static int warn_of_others(struct remote_use *use, const struct list *list,
                          struct tkb_error *err)
{
	struct sharing sharing = { .use = use, .list = list };
	const struct tkb_ref_visitor visitor = { warn_of_ref, &sharing };

	return use->library.refs(use->remote, &visitor, err);
}

static void tell_revoked(const struct remote_use *use,
                         const struct tkb_revoke_report *report)
{
	struct json_out *const json = &use->cli->json;

	json_out_number(json, "added", report->added_count);
	json_out_number(json, "revoked", report->revoked_count);
	json_out_number(json, "sequence", report->sequence);
	json_out_flag(json, "is_new", report->is_new);
	if (report->is_new)
		cli_print(use->cli, "began a new list");
	cli_print(use->cli,
	          "revoked %" PRIu64 " more: %" PRIu64 " %s in the list",
	          report->added_count, report->revoked_count,
	          text_plural(report->revoked_count, "digest", "digests"));
}

static enum status revoke_digests(struct remote_use *use,
                                  const struct arguments *args,
                                  const struct tkb_signing *signing)
{
	TKB_AUTO(list_release) struct list list = { .count = 0 };
	struct tkb_revoke_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	int rc = 0;

	remote_use_json(use);
	if (args->ref != NULL)
		status = remote_use_ref(use, args->ref, NULL);
	if (status != STATUS_DONE)
		return status;
	for (size_t i = 0; i < args->operands.count && rc == 0; i++)
		rc = add_operand(use, &list, args_operand(args, i), &err);
	if (rc == 0 && args->ref != NULL)
		rc = visit_records(use, use->ref, append_record, &list, &err);
	if (rc == 0 && args->ref != NULL)
		rc = warn_of_others(use, &list, &err);
	if (rc == 0)
		rc = use->library.revoke(use->remote, list.items, list.count,
		                         signing, &report, &err);
	if (rc != 0)
		return remote_use_failed(use, rc, &err, "the list");
	tell_revoked(use, &report);
	return STATUS_DONE;
}

static enum status cmd_revoke(struct cli *cli, const struct arguments *args)
{
	if (args->trust.sign.count == 0)
		return cli_misused(cli, "'--sign' names the key that signs");
	return sign_run(cli, args, TKB_TRUST_STAGE_DEV, revoke_digests);
}

const struct command command_revoke = {
	.name = "revoke",
	.operands = { "DIGEST" },
	.repeats_operand = true,
	.summary = "say that a bundle or a key is not to be used any more",
	.details = "Adds digests of bundles, records, blobs or keys to the "
		   "remote's signed list of revoked digests. Every policy "
		   "that has a key with 'revoke' requires this list. For a "
		   "record or blob in the remote, and for a key of the "
		   "policy, the first 8 digits are enough if no other digest "
		   "begins with them. Without a digest, the list is signed "
		   "again, which must happen before it expires. What is "
		   "revoked stays revoked.",
	COMMAND_OPTIONS(options),
	.run = cmd_revoke,
};

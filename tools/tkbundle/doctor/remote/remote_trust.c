/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/remote/remote_trust.h"

#include <inttypes.h>

#include "cli/text.h"
#include "config/revoked.h"
#include "trust/revoked_lists.h"
#include "trust/signed.h"

int remote_trust_ask(struct remote_looking *looking, struct tkb_error *err)
{
	struct remote_use *const use = &looking->use;
	uint64_t count = 0;

	return policy_trust(&use->policy) == NULL
	               ? 0
	               : use->library.ref_judge(use->remote, use->ref, &count,
	                                        err);
}

void remote_trust_print(struct remote_looking *looking)
{
	struct remote_use *const use = &looking->use;
	const struct signed_list *const list = &use->policy.trusted;
	const struct revoked_lists *const lists = &use->policy.lists;
	struct findings *const findings = &looking->doctor->findings;
	char words[512];

	if (policy_trust(&use->policy) == NULL)
		return;
	signed_list_json(list, use->ref, &use->cli->json);
	revoked_lists_json(lists, &use->cli->json);
	if (!looking->doctor->args->is_json) {
		signed_list_print(list, use->ref, use->cli, use->cli->out);
		revoked_lists_print(lists, "  ", use->cli->out);
	}
	if (signed_list_ending(list, use->ref, words, sizeof(words)))
		findings_add(findings, FINDING_RISK, "trust",
		             "%s\t'tkbundle sign --all' renews it", words);
	if (revoked_lists_ending(lists, words, sizeof(words)))
		findings_add(findings, FINDING_RISK, "trust",
		             "%s\tlet somebody whose key may revoke renew it, "
		             "by 'tkbundle revoke'",
		             words);
}

/* Count these by a dry run of a gc, which may have to wait for some. */
void remote_trust_look_revoked(struct remote_looking *looking)
{
	TKB_AUTO(revoked_close) struct tkb_origins *revoked = NULL;
	struct doctor *const doctor = looking->doctor;
	const char *const root = doctor->root.path;
	struct tkb_gc_options options = { .struct_size = sizeof(options),
		                          .is_dry_run = true,
		                          .is_enabled = true,
		                          .watch = &looking->use.watch,
		                          .trees = doctor->root.trees.items,
		                          .tree_count =
		                                  doctor->root.trees.count };
	struct tkb_gc_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	char where[ROOT_WHERE_SIZE];
	uint64_t count;
	int rc;

	if (policy_trust(&looking->use.policy) == NULL || doctor->is_file ||
	    root == NULL)
		return;
	rc = revoked_find(&looking->use, root, &revoked, &err);
	if (rc == 0) {
		options.revoked = revoked;
		rc = tkb_gc(root, &options, &report, &err);
	}
	count = report.removed_count + report.busy_count;
	json_out_number(&looking->use.cli->json, "revoked", count);
	root_where(&doctor->root, where, sizeof(where));
	if (count > 0)
		findings_add(&doctor->findings, FINDING_FAULT, "revoked",
		             "%" PRIu64 " %s of '%s' %s from something that is "
		             "revoked\ttkbundle gc --revoked%s",
		             count, text_plural(count, "entry", "entries"),
		             root, text_plural(count, "comes", "come"), where);
	if (rc < 0 && rc != TKB_ERR_PARTIAL)
		remote_look_failed(looking, rc, &err);
}

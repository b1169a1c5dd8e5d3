/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/holdings.h>

#include "base/digest.h"
#include "base/struct.h"
#include "records/records.h"
#include "notes/starts.h"
#include "remote/remote.h"
#include "trust/envelopes.h"

int tkb_ref_look(struct tkb_remote *remote, const char *ref,
                 struct tkb_ref_info *out, struct tkb_error *err)
{
	const struct tkb_holdings_options brief = { .struct_size =
		                                            sizeof(brief),
		                                    .is_brief = true };
	struct tkb_holdings *holdings = NULL;
	int rc;

	rc = TKB_STRUCT_CHECK(tkb_ref_info, age_s, out, err);
	if (rc == 0)
		rc = tkb_holdings_open(remote, ref, &brief, &holdings, err);
	if (rc != 0)
		return rc;
	tkb_holdings_info(holdings, out);
	out->ref = ref;
	tkb_holdings_close(holdings);
	return 0;
}

static int keep_digest(void *self, const struct tkb_digest *digest,
                       struct tkb_bytes record, uint64_t age_s,
                       struct tkb_error *err)
{
	(void)record, (void)age_s;
	return tkb_digests_add(self, digest, err);
}

/* A record that cannot be read can still be dropped. */
static int keep_unread(void *self, const char *tier,
                       const struct tkb_digest *digest,
                       const struct tkb_error *why, struct tkb_error *err)
{
	(void)tier, (void)why;
	return tkb_digests_add(self, digest, err);
}

static int keep_damaged(void *self, const char *tier,
                        const struct tkb_digest *digest, struct tkb_error *err)
{
	(void)tier;
	return tkb_digests_add(self, digest, err);
}

int tkb_ref_delete(struct tkb_remote *remote, const char *ref,
                   uint64_t *dropped_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_digests_release) struct tkb_digests digests = { 0 };
	const struct tkb_record_visitor visitor = { .on_record = keep_digest,
		                                    .self = &digests };
	const struct tkb_damage_visitor damage = { keep_damaged, keep_unread,
		                                   &digests };
	uint64_t signed_count = 0;
	int rc;

	rc = tkb_remote_records_all(remote, ref, false, &visitor, &damage, err);
	if (rc == 0 && digests.count == 0)
		return TKB_MISS;
	for (size_t i = 0; i < digests.count && rc >= 0; i++)
		rc = tkb_remote_drop(remote, ref, &digests.items[i], err);
	/* Reports of starts may stay. */
	if (rc >= 0 && tkb_starts_drop(remote, ref, NULL) == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	/* So may signatures; a gc will drop them. */
	if (rc >= 0 &&
	    tkb_envelopes_prune(remote, ref, NULL, 0, 0, false, &signed_count,
	                        NULL) == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0)
		return rc;
	if (dropped_out != NULL)
		*dropped_out = digests.count;
	return 0;
}

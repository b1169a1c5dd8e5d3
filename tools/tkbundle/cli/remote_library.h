/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_LIBRARY_H
#define TKBUNDLE_REMOTE_LIBRARY_H

#include <tkbundle/fleet.h>
#include <tkbundle/holdings.h>
#include <tkbundle/image.h>
#include <tkbundle/remote.h>
#include <tkbundle/signatures.h>
#include <tkbundle/starts.h>
#include <tkbundle/trust.h>

/* The members of the struct below, each with the function that it points to. */
#define REMOTE_FUNCTIONS(X)                                                    \
	X(open, tkb_remote_open)                                               \
	X(close, tkb_remote_close)                                             \
	X(tier_count, tkb_remote_tier_count)                                   \
	X(tier_name, tkb_remote_tier_name)                                     \
	X(tier_folder, tkb_remote_tier_folder)                                 \
	X(tier_warning, tkb_remote_tier_warning)                               \
	X(tier_authorities, tkb_remote_tier_authorities)                       \
	X(put, tkb_remote_put)                                                 \
	X(get, tkb_remote_get)                                                 \
	X(remove, tkb_remote_remove)                                           \
	X(add, tkb_remote_add)                                                 \
	X(drop, tkb_remote_drop)                                               \
	X(records, tkb_remote_records)                                         \
	X(refs, tkb_remote_refs)                                               \
	X(gc, tkb_remote_gc)                                                   \
	X(verify, tkb_remote_verify)                                           \
	X(ref_expand, tkb_ref_expand)                                          \
	X(ref_is_valid, tkb_ref_is_valid)                                      \
	X(ref_look, tkb_ref_look)                                              \
	X(ref_delete, tkb_ref_delete)                                          \
	X(ref_judge, tkb_ref_judge)                                            \
	X(ref_sign, tkb_ref_sign)                                              \
	X(ref_promote, tkb_ref_promote)                                        \
	X(signatures_export, tkb_signatures_export)                            \
	X(signature_import, tkb_signature_import)                              \
	X(revoke, tkb_revoke)                                                  \
	X(revoked, tkb_revoked)                                                \
	X(image_digest, tkb_image_digest)                                      \
	X(image_put, tkb_image_put)                                            \
	X(image_get, tkb_image_get)                                            \
	X(image_sign, tkb_image_sign)                                          \
	X(image_judge, tkb_image_judge)                                        \
	X(image_referrers, tkb_image_referrers)                                \
	X(pull, tkb_pull)                                                      \
	X(pull_bundle, tkb_pull_bundle)                                        \
	X(push, tkb_push)                                                      \
	X(push_bundle, tkb_push_bundle)                                        \
	X(key_kind_name, tkb_key_kind_name)                                    \
	X(key_make, tkb_key_make)                                              \
	X(key_read, tkb_key_read)                                              \
	X(key_write, tkb_key_write)                                            \
	X(key_write_public, tkb_key_write_public)                              \
	X(key_look, tkb_key_look)                                              \
	X(trust_find_key, tkb_trust_find_key)                                  \
	X(trust_stage_of, tkb_trust_stage_of)                                  \
	X(trust_may_sign, tkb_trust_may_sign)                                  \
	X(key_close, tkb_key_close)                                            \
	X(check_file, tkb_trust_check_file)                                    \
	X(date_parse, tkb_date_parse)                                          \
	X(starts_add, tkb_starts_add)                                          \
	X(starts_read, tkb_starts_read)                                        \
	X(starts_refs, tkb_starts_refs)                                        \
	X(holdings_open, tkb_holdings_open)                                    \
	X(holdings_info, tkb_holdings_info)                                    \
	X(holdings_close, tkb_holdings_close)                                  \
	X(holdings_record_count, tkb_holdings_record_count)                    \
	X(holdings_record, tkb_holdings_record)                                \
	X(holdings_item_count, tkb_holdings_item_count)                        \
	X(holdings_item, tkb_holdings_item)                                    \
	X(holdings_makers, tkb_holdings_makers)

/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member has none */
#define REMOTE_MEMBER(member, function) __typeof__(function) *member;

/*
 * The functions of the library for remotes.
 *
 * That library needs others for HTTP, TLS and Redis, which take three times as
 * long to load as the rest of the program. So the program is not linked with
 * it; only verbs that use a remote load it.
 */
struct remote_library {
	REMOTE_FUNCTIONS(REMOTE_MEMBER)
};

/*
 * Load the library. It is loaded once, and stays until the program ends.
 *
 * @return 0 or TKB_ERR_IO
 */
TKB_NODISCARD int remote_library_load(struct remote_library *out,
                                      struct tkb_error *err);

#endif

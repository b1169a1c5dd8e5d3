/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/trust.h>

#include "base/buf.h"
#include "remote/net/base64.h"
#include "trust/date.h"
#include "trust/judge.h"

/*
 * A minisign signature file has four lines: an untrusted comment, a signature
 * of the contents, a trusted comment, and the global signature. The last signs
 * the first signature, without its algorithm and key id, and the trusted
 * comment.
 */

enum {
	SIGNATURE_SIZE = 74, /* algorithm, key id, Ed25519 signature */
	RAW_AT = 10,
	GLOBAL_SIZE = 64
};

#define TRUSTED "trusted comment: "

struct detached {
	struct tkb_buf signature;
	struct tkb_buf global;
	struct tkb_bytes comment; /* in the text */
};

static void detached_release(struct detached *detached)
{
	tkb_buf_release(&detached->signature);
	tkb_buf_release(&detached->global);
}

static bool read_detached(struct tkb_bytes text, struct detached *out)
{
	const struct tkb_bytes comment = tkb_minisign_take_line(&text);
	const struct tkb_bytes signature = tkb_minisign_take_line(&text);
	const struct tkb_bytes trusted = tkb_minisign_take_line(&text);
	const struct tkb_bytes global = tkb_minisign_take_line(&text);

	if (!tkb_bytes_begin_with(comment, tkb_text(TKB_MINISIGN_COMMENT)) ||
	    !tkb_bytes_begin_with(trusted, tkb_text(TRUSTED)) ||
	    text.size != 0 || !tkb_base64_read(signature, &out->signature) ||
	    !tkb_base64_read(global, &out->global))
		return false;
	out->comment = tkb_bytes_slice(trusted, strlen(TRUSTED), trusted.size);
	return out->signature.failure == 0 && out->global.failure == 0 &&
	       out->signature.size == SIGNATURE_SIZE &&
	       out->global.size == GLOBAL_SIZE;
}

/* The key of the policy that the signature names, or NULL. */
static const struct tkb_trust_key *find_key(const struct tkb_trust *trust,
                                            const struct detached *detached)
{
	for (size_t i = 0; i < trust->key_count; i++) {
		const struct tkb_trust_key *key = &trust->keys[i];

		if (key->key->kind == TKB_KEY_KIND_MINISIGN &&
		    memcmp(key->key->minisign_id, detached->signature.data + 2,
		           TKB_MINISIGN_ID_SIZE) == 0)
			return key;
	}
	return NULL;
}

/* Check the signature of the contents, and then the global signature. */
static int check_signature(const struct tkb_key *key,
                           const struct detached *detached,
                           struct tkb_bytes contents, bool *out,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf both =
		TKB_BUF_INIT(GLOBAL_SIZE + detached->comment.size + 1);
	const struct tkb_bytes signature = tkb_buf_bytes(&detached->signature);
	int rc;

	rc = tkb_minisign_check(key, contents, signature, out, err);
	if (rc < 0 || !*out)
		return rc;
	tkb_buf_add(&both, tkb_bytes_slice(signature, RAW_AT, signature.size));
	tkb_buf_add(&both, detached->comment);
	rc = tkb_buf_check(&both, err);
	return rc < 0 ? rc
	              : tkb_key_check_plain(key, tkb_buf_bytes(&both),
	                                    tkb_buf_bytes(&detached->global),
	                                    out, err);
}

static int refuse_file(const char *name, const char *what, const char *whose,
                       struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNTRUSTED, "'%.200s' is not trusted: %s%s",
	                name, what, whose);
}

static int judge_signature(const struct tkb_trust *trust,
                           const struct detached *detached,
                           struct tkb_bytes contents, const char *name,
                           const char **out, struct tkb_error *err)
{
	const struct tkb_trust_key *key = find_key(trust, detached);
	char when[TKB_TIME_TEXT_SIZE];
	bool is_good = false;
	int rc;

	if (key == NULL)
		return refuse_file(name, "no key of the policy has signed it",
		                   "", err);
	if (key->publish_count + key->promote_count == 0)
		return refuse_file(name,
		                   "it is signed by a key that may publish "
		                   "nothing: ",
		                   key->name, err);
	if (tkb_trust_is_past(key, tkb_time_now())) {
		tkb_time_text(key->not_after_s, when);
		return refuse_file(name,
		                   "it is signed by a key that counted until ",
		                   when, err);
	}
	rc = check_signature(key->key, detached, contents, &is_good, err);
	if (rc == 0 && !is_good)
		return refuse_file(name,
		                   "its signature or its trusted comment is "
		                   "not by ",
		                   key->name, err);
	if (rc == 0)
		*out = key->name;
	return rc;
}

int tkb_trust_check_file(const struct tkb_trust *trust,
                         struct tkb_bytes contents, struct tkb_bytes signature,
                         const char *name, const char **signer_out,
                         struct tkb_error *err)
{
	TKB_AUTO(detached_release)
	struct detached detached = {
		.signature = TKB_BUF_INIT(SIGNATURE_SIZE + 3),
		.global = TKB_BUF_INIT(GLOBAL_SIZE + 3),
	};
	struct tkb_trust own;
	int rc;

	rc = tkb_trust_read(&own, trust, err);
	if (rc < 0)
		return rc;
	if (!read_detached(signature, &detached))
		return refuse_file(name,
		                   "there is no minisign signature beside it",
		                   "", err);
	return judge_signature(&own, &detached, contents, name, signer_out,
	                       err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/acceptance.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trust/key_file.h"

enum {
	SHORT_ID = 12,
	WORDS_SIZE = TKB_REF_SIZE + 160
};

/* Find out whether a signature counts. */
struct question {
	const struct acceptance *of;
	enum tkb_trust_stage stage; /* that it is for */
	char words[WORDS_SIZE];     /* why it does not */
};

static bool is_same(const struct tkb_digest *a, const struct tkb_digest *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool matches_any(const char *const *patterns, size_t count,
                        const char *ref)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(patterns[i], ref, 0) == 0)
			return true;
	}
	return false;
}

static bool may_promote(const struct tkb_trust_key *key, const char *ref)
{
	return matches_any(key->promote, key->promote_count, ref);
}

/* The stage that the policy wants for the ref. */
static enum tkb_trust_stage wanted_stage(const struct acceptance *of)
{
	const struct tkb_trust *const trust = policy_trust(of->policy);

	for (size_t i = 0; i < trust->key_count; i++) {
		if (may_promote(&trust->keys[i], of->ref))
			return TKB_TRUST_STAGE_PROD;
	}
	return TKB_TRUST_STAGE_DEV;
}

/* Find the key in the policy; NULL: it has no such key. */
static const struct tkb_trust_key *find_key(const struct question *it,
                                            const struct tkb_digest *id)
{
	const struct tkb_trust *const trust = policy_trust(it->of->policy);

	for (size_t i = 0; i < trust->key_count; i++) {
		struct tkb_key_info info = { .struct_size = sizeof(info) };

		if (it->of->library->key_look(trust->keys[i].key, &info,
		                              NULL) == 0 &&
		    is_same(&info.id, id))
			return &trust->keys[i];
	}
	return NULL;
}

/* A digest to find among those that are revoked. */
struct revoked_search {
	const struct tkb_digest *digest;
	bool is_found;
};

static int on_revoked(void *self, const struct tkb_digest *digest,
                      struct tkb_error *err)
{
	struct revoked_search *const search = self;

	(void)err;
	search->is_found = search->is_found || is_same(search->digest, digest);
	return 0;
}

/* A list that is missing or cannot be read is named by whoever pulls. */
static bool is_revoked(const struct question *it, const struct tkb_digest *id)
{
	struct revoked_search search = { .digest = id };

	return it->of->library->revoked(it->of->remote, on_revoked, &search,
	                                NULL) == 0 &&
	       search.is_found;
}

static bool may_sign(const struct tkb_trust_key *key,
                     enum tkb_trust_stage stage, const char *ref)
{
	return stage == TKB_TRUST_STAGE_PROD
	               ? may_promote(key, ref)
	               : matches_any(key->publish, key->publish_count, ref);
}

/* Do this key's signatures count? If not, say why. */
static bool is_accepted(struct question *it, const struct tkb_digest *id)
{
	const char *const ref = it->of->ref;
	const struct tkb_trust_key *const key = find_key(it, id);
	char hex[KEY_ID_SIZE];

	key_id_text(id, hex);
	if (key == NULL && policy_trust(it->of->policy)->unsigned_records !=
	                           TKB_UNSIGNED_REFUSE)
		return true;
	if (key == NULL)
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy has no key %.*s", SHORT_ID, hex);
	else if (!may_sign(key, it->stage, ref))
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy does not let '%s' %s '%s'",
		               key->name,
		               it->stage == TKB_TRUST_STAGE_PROD ? "promote to"
		                                                 : "publish",
		               ref);
	else if (wanted_stage(it->of) != it->stage)
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy wants stage 'prod' for '%s', and "
		               "this is signed for stage 'dev'",
		               ref);
	else if (key->not_after_s != 0 &&
	         key->not_after_s < (uint64_t)time(NULL))
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy's 'not-after' of '%s' is past",
		               key->name);
	else if (is_revoked(it, id))
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy's key '%s' is revoked", key->name);
	else
		return true;
	return false;
}

void acceptance_warn(const struct acceptance *of,
                     const struct tkb_signing *signing)
{
	struct question it = { .of = of };

	if (policy_trust(of->policy) == NULL || signing == NULL)
		return;
	it.stage = of->is_image ? wanted_stage(of) : signing->stage;
	for (size_t i = 0; i < signing->key_count; i++) {
		struct tkb_key_info info = { .struct_size = sizeof(info) };

		if (of->library->key_look(signing->keys[i], &info, NULL) != 0 ||
		    is_accepted(&it, &info.id))
			return;
	}
	cli_say(of->policy->cli, "%s: no server that follows it uses this",
	        it.words);
}

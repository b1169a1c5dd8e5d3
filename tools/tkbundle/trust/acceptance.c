/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/acceptance.h"

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

/* Do this key's signatures count? If not, say why. */
static bool is_accepted(struct question *it, const struct tkb_digest *id)
{
	const struct remote_library *const library = it->of->library;
	const struct tkb_trust *const trust = policy_trust(it->of->policy);
	const char *const ref = it->of->ref;
	const struct tkb_trust_key *const key =
		library->trust_find_key(trust, id);
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(id, hex);
	if (key == NULL && trust->unsigned_records != TKB_UNSIGNED_REFUSE)
		return true;
	if (key == NULL)
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy has no key %.*s", SHORT_ID, hex);
	else if (!library->trust_may_sign(key, it->stage, ref))
		(void)snprintf(it->words, sizeof(it->words),
		               "the policy does not let '%s' %s '%s'",
		               key->name,
		               it->stage == TKB_TRUST_STAGE_PROD ? "promote to"
		                                                 : "publish",
		               ref);
	else if (library->trust_stage_of(trust, ref) != it->stage)
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
	const struct tkb_trust *const trust = policy_trust(of->policy);
	struct question it = { .of = of };

	if (trust == NULL || signing == NULL)
		return;
	it.stage = of->is_image ? of->library->trust_stage_of(trust, of->ref)
	                        : signing->stage;
	for (size_t i = 0; i < signing->key_count; i++) {
		struct tkb_key_info info = { .struct_size = sizeof(info) };

		if (of->library->key_look(signing->keys[i], &info, NULL) != 0 ||
		    is_accepted(&it, &info.id))
			return;
	}
	cli_say(of->policy->cli, "%s: no server that follows it uses this",
	        it.words);
}

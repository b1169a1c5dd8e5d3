/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/envelopes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "remote/remote.h"

/* "@signed/" and the name of a ref. */
struct name {
	char text[256];
};

static bool make_envelopes_ref(const char *ref, struct name *out)
{
	(void)snprintf(out->text, sizeof(out->text), TKB_SIGNED_PREFIX "%s",
	               ref);
	return tkb_ref_is_valid(ref) && !tkb_ref_is_reserved(ref) &&
	       tkb_ref_is_valid(out->text);
}

void tkb_envelopes_release(struct tkb_envelopes *envelopes)
{
	tkb_arena_release(&envelopes->arena);
	free(envelopes->items);
	*envelopes = (struct tkb_envelopes){ .count = 0 };
}

static int keep_envelope(void *self, const struct tkb_digest *digest,
                         struct tkb_bytes text, uint64_t age_s,
                         struct tkb_error *err)
{
	struct tkb_envelopes *envelopes = self;
	struct tkb_envelope envelope = { .is_known = false };
	int rc;

	rc = tkb_envelope_read(text, &envelopes->arena, &envelope, NULL);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	envelope.digest = *digest;
	envelope.age_s = age_s;
	return tkb_append(&envelopes->items, &envelopes->count,
	                  &envelopes->capacity, &envelope, sizeof(envelope),
	                  err);
}

/* Newest first; those that could not be read come last. */
static int compare_envelopes(const void *a, const void *b)
{
	const struct tkb_envelope *left = a;
	const struct tkb_envelope *right = b;

	if (left->is_known != right->is_known)
		return left->is_known ? -1 : 1;
	if (left->is_known &&
	    left->statement.sequence != right->statement.sequence)
		return left->statement.sequence > right->statement.sequence ? -1
		                                                            : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

int tkb_envelopes_read(struct tkb_remote *remote, const char *ref,
                       struct tkb_envelopes *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_envelopes_release)
	struct tkb_envelopes envelopes = { .count = 0 };
	const struct tkb_record_visitor visitor = {
		.on_record = keep_envelope,
		.self = &envelopes,
		.on_unread = tkb_record_ignore_unread
	};
	struct name name;
	int rc;

	/* The name is too long for a signed ref: it cannot have an envelope. */
	if (!make_envelopes_ref(ref, &name))
		return 0;
	rc = tkb_remote_records(remote, name.text, &visitor, err);
	if (rc < 0)
		return rc;
	tkb_sort(envelopes.items, envelopes.count, sizeof(*envelopes.items),
	         compare_envelopes);
	*out = envelopes;
	envelopes = (struct tkb_envelopes){ .count = 0 };
	return 0;
}

int tkb_envelopes_add(struct tkb_remote *remote, const char *ref,
                      struct tkb_bytes envelope, struct tkb_error *err)
{
	struct name name;

	if (!make_envelopes_ref(ref, &name))
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "ref '%.200s' has too long a name for "
		                "signatures",
		                ref);
	return tkb_remote_add(remote, name.text, envelope, err);
}

bool tkb_envelopes_have(const struct tkb_envelopes *envelopes,
                        const struct tkb_subject *subject)
{
	for (size_t i = 0; i < envelopes->count; i++) {
		if (tkb_envelope_is_of(&envelopes->items[i], subject))
			return true;
	}
	return false;
}

static bool is_living(const struct tkb_envelope *envelope,
                      const struct tkb_subject *living, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tkb_envelope_is_of(envelope, &living[i]))
			return true;
	}
	return false;
}

int tkb_envelopes_prune(struct tkb_remote *remote, const char *ref,
                        const struct tkb_subject *living, size_t living_count,
                        uint64_t grace_s, bool is_dry_run, uint64_t *count,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_envelopes_release)
	struct tkb_envelopes envelopes = { .count = 0 };
	struct name name;
	int rc;

	if (!make_envelopes_ref(ref, &name))
		return 0;
	rc = tkb_envelopes_read(remote, ref, &envelopes, err);
	for (size_t i = 0; i < envelopes.count && rc >= 0; i++) {
		const struct tkb_envelope *envelope = &envelopes.items[i];

		if (envelope->age_s < grace_s ||
		    is_living(envelope, living, living_count))
			continue;
		(*count)++;
		if (!is_dry_run)
			rc = tkb_remote_drop(remote, name.text,
			                     &envelope->digest, err);
	}
	return rc < 0 ? rc : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/remote/scratch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
	TEXT_SIZE = 64
};

/* One for all, as a folder may keep its name. */
static const char ref[] = "tkbundle-doctor/scratch";

/* The record of this call, among those of others. */
struct own_record {
	const struct tkb_digest *digest;
	struct scratch *scratch;
};

static int note_age(void *self, const struct tkb_digest *digest,
                    struct tkb_bytes record, uint64_t age_s,
                    struct tkb_error *err)
{
	const struct own_record *const own = self;

	(void)record;
	(void)err;
	if (memcmp(own->digest, digest, sizeof(*digest)) == 0)
		own->scratch->age_s = age_s;
	return 0;
}

static int ignore_unread(void *self, const struct tkb_digest *digest,
                         const struct tkb_error *why, struct tkb_error *err)
{
	(void)self;
	(void)digest;
	(void)why;
	(void)err;
	return 0;
}

/*
 * Remove the blob from all tiers: a tier that may not be written does not have
 * it.
 */
static bool remove_blob(struct remote_use *use, const struct tkb_digest *digest,
                        struct tkb_error *err)
{
	bool is_removed = false;

	for (size_t i = 0; i < use->library.tier_count(use->remote); i++)
		is_removed |=
			use->library.remove(use->remote, i, digest, err) == 0;
	return is_removed;
}

void scratch_try(struct remote_use *use, struct scratch *out)
{
	const struct remote_library *const library = &use->library;
	struct tkb_digest digest;
	struct own_record own = { &digest, out };
	const struct tkb_record_visitor visitor = {
		.on_record = note_age, .self = &own, .on_unread = ignore_unread
	};
	char text[TEXT_SIZE] = "";
	uint64_t number = 0;
	struct tkb_bytes bytes;
	struct tkb_blob blob;

	*out = (struct scratch){ .can_write = false };
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return;
	(void)snprintf(text, sizeof(text), "tkbundle doctor %016" PRIx64 "\n",
	               number);
	bytes = (struct tkb_bytes){ text, strlen(text) };
	blob = (struct tkb_blob){ bytes.size, tkb_memory_source(&bytes) };
	if (library->put(use->remote, &blob, &digest, &out->err) != 0)
		return;
	out->can_write = library->add(use->remote, ref, bytes, &out->err) == 0;
	out->can_remove = remove_blob(use, &digest, &out->err);
	if (!out->can_write)
		return;
	(void)(library->records(use->remote, ref, &visitor, NULL) == 0);
	out->can_remove &=
		library->drop(use->remote, ref, &digest, &out->err) == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/memory_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

void tkb_memory_store_release(struct tkb_memory_store *things)
{
	while (things->first != NULL) {
		struct tkb_memory_item *thing = things->first;

		things->first = thing->next;
		free(thing);
	}
}

/* The link to the thing, or to NULL at the end. */
static struct tkb_memory_item **link_of(struct tkb_memory_store *things,
                                        const char *ref,
                                        const struct tkb_digest *digest)
{
	struct tkb_memory_item **link = &things->first;

	while (*link != NULL && (strcmp((*link)->ref, ref) != 0 ||
	                         !tkb_digest_equal(&(*link)->digest, digest)))
		link = &(*link)->next;
	return link;
}

struct tkb_memory_item *tkb_memory_store_find(struct tkb_memory_store *things,
                                              const char *ref,
                                              const struct tkb_digest *digest)
{
	return *link_of(things, ref, digest);
}

struct tkb_memory_item *tkb_memory_store_first(
	const struct tkb_memory_store *things)
{
	return things->first;
}

int tkb_memory_store_add(struct tkb_memory_store *things, const char *ref,
                         const struct tkb_digest *digest,
                         const struct tkb_blob *blob, struct tkb_error *err)
{
	struct tkb_memory_item **end = link_of(things, ref, digest);
	const size_t length = strlen(ref) + 1;
	struct tkb_memory_item *thing;
	int rc;

	thing = calloc(1, sizeof(*thing) + length + (size_t)blob->size);
	if (thing == NULL)
		return tkb_fail_nomem(err);
	memcpy(thing->ref, ref, length);
	thing->digest = *digest;
	thing->bytes.data = thing->ref + length;
	rc = blob->source.read_at(blob->source.self, 0, thing->ref + length,
	                          (size_t)blob->size, &thing->bytes.size, err);
	if (rc == 0 && thing->bytes.size != blob->size)
		rc = tkb_fail(err, TKB_ERR_IO, "the blob is cut short");
	if (rc < 0) {
		free(thing);
		return rc;
	}
	if (*end != NULL) {
		thing->next = (*end)->next;
		free(*end);
	}
	*end = thing;
	return 0;
}

int tkb_memory_store_remove(struct tkb_memory_store *things, const char *ref,
                            const struct tkb_digest *digest)
{
	struct tkb_memory_item **link = link_of(things, ref, digest);
	struct tkb_memory_item *thing = *link;

	if (thing == NULL)
		return TKB_MISS;
	*link = thing->next;
	free(thing);
	return 0;
}

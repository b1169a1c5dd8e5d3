/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/oci/oci.h"

/*
 * Cache of seen manifests, so that only those that have changed are fetched
 * again.
 */

enum {
	SEEN_LIMIT = 4096, /* half a kilobyte each, and their data */
	DATA_LIMIT = 4 * 1024 * 1024
};

void tkb_oci_seen_release(struct tkb_oci_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		free(seen->items[i].data);
	free(seen->items);
	*seen = (struct tkb_oci_seen){ .count = 0 };
}

static int compare_tag(const void *tag, const void *item)
{
	return strcmp(tag, ((const struct tkb_oci_seen_item *)item)->tag);
}

/* The index of the tag, or where it would be inserted. */
static size_t find_place(const struct tkb_oci_seen *seen, const char *tag)
{
	return tkb_lower_bound(tag, seen->items, seen->count,
	                       sizeof(*seen->items), compare_tag);
}

static bool is_at(const struct tkb_oci_seen *seen, size_t at, const char *tag)
{
	return at < seen->count && strcmp(seen->items[at].tag, tag) == 0;
}

const struct tkb_oci_seen_item *tkb_oci_seen_find(
	const struct tkb_oci_seen *seen, const char *tag)
{
	const size_t at = find_place(seen, tag);

	return is_at(seen, at, tag) ? &seen->items[at] : NULL;
}

/* Insert a tag at index `at`. */
static bool insert(struct tkb_oci_seen *seen, size_t at, const char *tag)
{
	struct tkb_oci_seen_item *item;

	if (seen->count == SEEN_LIMIT ||
	    tkb_grow(&seen->items, &seen->capacity, seen->count, sizeof(*item),
	             NULL) < 0)
		return false;
	item = &seen->items[at];
	memmove(item + 1, item, (seen->count - at) * sizeof(*item));
	seen->count++;
	*item = (struct tkb_oci_seen_item){ .data = NULL };
	memcpy(item->tag, tag, strlen(tag) + 1);
	return true;
}

void tkb_oci_seen_note(struct tkb_oci_seen *seen, const char *tag,
                       const char *etag,
                       const struct tkb_oci_manifest *manifest)
{
	const size_t at = find_place(seen, tag);
	const struct tkb_bytes data = manifest->data;
	struct tkb_oci_seen_item *item;
	char *copy = NULL;

	/* Ignore a weak ETag: it does not mean identical bytes. */
	if (etag[0] != '"' || strlen(etag) >= sizeof(item->etag) ||
	    strlen(tag) >= sizeof(item->tag) ||
	    data.size > DATA_LIMIT - seen->data_size)
		return;
	if (data.size != 0)
		copy = malloc(data.size);
	if ((data.size != 0 && copy == NULL) ||
	    (!is_at(seen, at, tag) && !insert(seen, at, tag))) {
		free(copy);
		return;
	}
	if (data.size != 0)
		memcpy(copy, data.data, data.size);
	item = &seen->items[at];
	seen->data_size += data.size - item->manifest.data.size;
	free(item->data);
	item->data = copy;
	memcpy(item->etag, etag, strlen(etag) + 1);
	item->manifest = *manifest;
	item->manifest.data.data = copy;
}

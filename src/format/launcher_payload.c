/* SPDX-License-Identifier: Apache-2.0 */
#include "format/launcher_payload.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/utf8.h"
#include "text/ascii.h"

const char *tkb_need_name(enum tkb_need need)
{
	return need == TKB_NEED_ANY ? "any" : "all";
}

bool tkb_launcher_text_is_valid(const char *text, size_t limit)
{
	const struct tkb_bytes bytes = tkb_text(text);

	return bytes.size != 0 && bytes.size <= limit &&
	       tkb_utf8_is_valid(bytes) && !tkb_has_control(text, bytes.size) &&
	       strchr(text, 0x7f) == NULL;
}

/* Make the item for the payload with `digest` and `size`. */
static int make_item(const struct tkb_digest *digest, uint64_t size,
                     struct tkb_arena *arena, struct tkb_entry *out,
                     struct tkb_error *err)
{
	struct tkb_file *file = tkb_arena_alloc(arena, 1, sizeof(*file));
	uint32_t *device = tkb_arena_alloc(arena, 1, sizeof(*device));
	const char *name;

	name = tkb_arena_string(arena, tkb_text(tkb_digest_hex(digest).text));
	if (file == NULL || device == NULL || name == NULL)
		return tkb_fail_nomem(err);
	*file = (struct tkb_file){ .name = name,
		                   .size = size,
		                   .digest = *digest };
	*out = (struct tkb_entry){ .key = name,
		                   .name = name,
		                   .kind = TKB_KIND_PAYLOAD,
		                   .platform = "",
		                   .target = { .backend = "", .arch = "" },
		                   .producer = "",
		                   .producer_version = "",
		                   .devices = device,
		                   .device_count = 1,
		                   .files = file,
		                   .file_count = 1 };
	return 0;
}

static int compare_launcher_digests(const void *a, const void *b)
{
	const struct tkb_saved_launcher *const *left = a;
	const struct tkb_saved_launcher *const *right = b;

	return memcmp((*left)->digest.bytes, (*right)->digest.bytes,
	              sizeof((*left)->digest.bytes));
}

int tkb_payload_items(const struct tkb_saved_launcher *launchers, size_t count,
                      struct tkb_arena *arena, struct tkb_entry **out,
                      size_t *count_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	const struct tkb_saved_launcher **sorted =
		tkb_alloc_array(count, sizeof(*sorted));
	struct tkb_entry *items = tkb_arena_alloc(arena, count, sizeof(*items));
	size_t used = 0;
	int rc;

	if (sorted == NULL || items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &launchers[i];
	qsort(sorted, count, sizeof(*sorted), compare_launcher_digests);
	for (size_t i = 0; i < count; i++) {
		const struct tkb_saved_launcher *launcher = sorted[i];
		const bool is_known =
			i > 0 && compare_launcher_digests(&sorted[i - 1],
		                                          &sorted[i]) == 0;

		if (is_known && launcher->size != sorted[i - 1]->size)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "the manifest has one payload with two "
			                "sizes");
		if (is_known)
			continue;
		rc = make_item(&launcher->digest, launcher->size, arena,
		               &items[used++], err);
		if (rc < 0)
			return rc;
	}
	*out = items;
	*count_out = used;
	return 0;
}

static int compare_with_item(const void *digest, const void *item)
{
	const struct tkb_entry *entry = item;

	return tkb_compare_digests(digest, &entry->files[0].digest);
}

size_t tkb_payload_find(const struct tkb_entry *items, size_t count,
                        const struct tkb_digest *digest)
{
	const struct tkb_entry *found = NULL;

	if (count != 0)
		found = bsearch(digest, items, count, sizeof(*items),
		                compare_with_item);
	return found == NULL ? count : (size_t)(found - items);
}

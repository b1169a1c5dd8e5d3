/* SPDX-License-Identifier: Apache-2.0 */
#include "format/unit_version.h"

#include <stdlib.h>

#include "format/manifest_trees.h"
#include "tree/gpu.h"

enum {
	TEXT_LIMIT = 16 * 1024 * 1024
};

void tkb_versions_release(struct tkb_versions *versions)
{
	free(versions->items);
	*versions = (struct tkb_versions){ 0 };
}

int tkb_versions_add(struct tkb_versions *versions,
                     const struct tkb_version *version, struct tkb_error *err)
{
	return tkb_append(&versions->items, &versions->count,
	                  &versions->capacity, version, sizeof(*version), err);
}

const struct tkb_version *tkb_versions_find(const struct tkb_versions *versions,
                                            const struct tkb_digest *digest)
{
	for (size_t i = 0; versions != NULL && i < versions->count; i++) {
		if (tkb_digest_equal(&versions->items[i].digest, digest))
			return &versions->items[i];
	}
	return NULL;
}

int tkb_version_compare(const struct tkb_version *a,
                        const struct tkb_version *b)
{
	if (a->changed_ms != b->changed_ms)
		return a->changed_ms > b->changed_ms ? 1 : -1;
	return tkb_digest_compare(&a->digest, &b->digest);
}

bool tkb_version_is_none(const struct tkb_version *version)
{
	static const struct tkb_digest none = { 0 };

	return tkb_digest_equal(&version->digest, &none);
}

bool tkb_unit_is_tuned(const struct tkb_entry *entry)
{
	return entry->kind == TKB_KIND_UNIT &&
	       tkb_gpu_is_platform(entry->platform);
}

int tkb_unit_version_digest(const struct tkb_entry *unit,
                            struct tkb_digest *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TEXT_LIMIT);
	int rc;

	tkb_manifest_write_trees(&unit, 1, &text);
	rc = tkb_buf_check(&text, err);
	return rc < 0 ? rc : tkb_digest_of(tkb_buf_bytes(&text), out, err);
}

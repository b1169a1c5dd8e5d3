/* SPDX-License-Identifier: Apache-2.0 */
#include "parsing.h"

int parse(const char *json, struct tkb_manifest *out, struct tkb_error *err)
{
	return tkb_manifest_parse(tkb_text(json), out, err);
}

void must_accept(const char *json)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };

	OK(parse(json, &manifest, ERR));
}

void must_fail(const char *json, int status, const char *message)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	struct tkb_error err = { 0 };
	const int rc = parse(json, &manifest, &err);

	if (rc != status)
		fail_msg("<%.300s> gives %d: %s", json, rc, err.message);
	CHECK_CONTAINS(err.message, message);
	CHECK_INT(manifest.entry_count, 0);
	CHECK(manifest.entries == NULL);
}

void must_refuse(const char *json, const char *message)
{
	must_fail(json, TKB_ERR_CORRUPT, message);
}

struct tkb_bytes written(const struct tkb_manifest *manifest)
{
	const struct tkb_entry **entries =
		test_alloc((manifest->entry_count + 1) * sizeof(*entries));
	struct tkb_buf *out = test_buf(TKB_MANIFEST_SIZE_LIMIT);
	const struct tkb_contents contents = {
		.entries = entries,
		.entry_count = manifest->entry_count,
		.launchers = manifest->launchers,
		.launcher_count = manifest->launcher_count,
		.profile = manifest->profile,
		.layout = manifest->layout,
	};

	for (size_t i = 0; i < manifest->entry_count; i++)
		entries[i] = &manifest->entries[i];
	tkb_manifest_write(&contents, out);
	CHECK_INT(out->failure, 0);
	tkb_buf_add_byte(out, '\0');
	return tkb_bytes_slice(tkb_buf_bytes(out), 0, out->size - 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/tools_file.h"

#include <string.h>

#include "compile/pool/fields.h"
#include "compile/pool/file_identity.h"

void tkb_tool_file_add(struct tkb_buf *out, const char *path)
{
	const struct tkb_bytes name = tkb_text(path);
	unsigned char
		room[sizeof(struct tkb_file_identity) + TKB_FIELD_PATH_SIZE];
	struct tkb_file_identity identity;

	if (name.size >= TKB_FIELD_PATH_SIZE)
		return; /* no file can have such a path */
	if (!tkb_file_identify(path, &identity)) {
		tkb_field_add_text(out, TKB_FIELD_ABSENT_FILE, path);
		return;
	}
	memcpy(room, &identity, sizeof(identity));
	memcpy(room + sizeof(identity), name.data, name.size);
	tkb_field_add(out, TKB_FIELD_FILE,
	              (struct tkb_bytes){ room, sizeof(identity) + name.size });
}

static bool is_unchanged(struct tkb_bytes bytes)
{
	struct tkb_file_identity identity;
	char path[TKB_FIELD_PATH_SIZE];

	return bytes.size > sizeof(identity) &&
	       tkb_field_path(
		       tkb_bytes_slice(bytes, sizeof(identity), bytes.size),
		       path) &&
	       tkb_file_identify(path, &identity) &&
	       memcmp(&identity, bytes.data, sizeof(identity)) == 0;
}

static bool is_absent(struct tkb_bytes bytes)
{
	struct tkb_file_identity identity;
	char path[TKB_FIELD_PATH_SIZE];

	return tkb_field_path(bytes, path) &&
	       !tkb_file_identify(path, &identity);
}

bool tkb_tool_files_hold(struct tkb_bytes answer)
{
	struct tkb_fields fields = { .bytes = answer };
	unsigned field;
	struct tkb_bytes bytes;
	size_t count = 0;
	int rc;

	for (;;) {
		rc = tkb_fields_next(&fields, &field, &bytes, NULL);
		if (rc != 0)
			return rc == TKB_MISS && count != 0;
		if (field == TKB_FIELD_FILE && !is_unchanged(bytes))
			return false;
		if (field == TKB_FIELD_ABSENT_FILE && !is_absent(bytes))
			return false;
		count += field == TKB_FIELD_FILE;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/metadata.h"

#include <stdio.h>
#include <stdlib.h>

#include "text/ascii.h"
#include "text/schema.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cache/elf.h"
#include "cache/key.h"
#include "cache/names.h"

enum {
	TEXT_LIMIT = 1024 /* a manifest's limit is 4096, including escapes */
};

static const char *const cuda_binaries[] = { "cubin", NULL };
static const char *const hip_binaries[] = { "hsaco", NULL };
static const char *const xpu_binaries[] = { "spv", "zebin", NULL };
static const char *const all_binaries[] = { "cubin", "hsaco", "spv", "zebin",
	                                    NULL };

/* Can a manifest contain this text? */
static bool is_manifest_text(struct tkb_bytes text)
{
	return text.size <= TEXT_LIMIT &&
	       !tkb_has_control(text.data, text.size) &&
	       tkb_utf8_is_valid(text);
}

static int decode_string(const struct tkb_schema_reader *reader,
                         struct tkb_buf *out, struct tkb_error *err)
{
	const struct tkb_bytes raw =
		tkb_json_raw(&reader->json, &reader->token);

	out->limit = raw.size + 1;
	tkb_json_decode(raw, out);
	if (out->failure != 0)
		return tkb_fail_nomem(err);
	if (!is_manifest_text(tkb_buf_bytes(out)))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "%s is not metadata: it has a text that no "
		                "bundle can hold",
		                reader->document->name);
	return 0;
}

/* Read a string, or a number as its digits; any other value gives "". */
static int read_metadata_text(struct tkb_schema_reader *reader, void *out,
                              struct tkb_error *err)
{
	const struct tkb_json_token *token = &reader->token;
	const size_t size = token->end - token->start;
	TKB_AUTO(tkb_buf_release) struct tkb_buf decoded = TKB_BUF_INIT(0);
	struct tkb_bytes value = { "", 0 };
	int rc = 0;

	if (token->type == TKB_JSON_STRING) {
		rc = decode_string(reader, &decoded, err);
		value = tkb_buf_bytes(&decoded);
	} else if (token->type == TKB_JSON_NUMBER && size > TEXT_LIMIT) {
		rc = tkb_fail(err, TKB_ERR_CORRUPT,
		              "%s is not metadata: it has a number of %zu "
		              "digits",
		              reader->document->name, size);
	} else if (token->type == TKB_JSON_NUMBER) {
		value = tkb_bytes_slice(reader->json.text, token->start,
		                        token->end);
	}
	if (rc == 0)
		rc = tkb_arena_copy(reader->document->arena, value, out, err);
	if (rc < 0)
		return rc;
	return tkb_schema_skip(reader, err);
}

static int read_warp_size(struct tkb_schema_reader *reader, void *out,
                          struct tkb_error *err)
{
	uint32_t *warp_size = out;
	uint64_t number;

	if (tkb_json_number(&reader->json, &reader->token, &number) &&
	    number <= UINT32_MAX)
		*warp_size = (uint32_t)number;
	return tkb_schema_skip(reader, err);
}

static const struct tkb_schema_field target_fields[] = {
	TKB_FIELD_CUSTOM_AT("backend", struct tkb_target, backend,
	                    read_metadata_text),
	TKB_FIELD_CUSTOM_AT("arch", struct tkb_target, arch,
	                    read_metadata_text),
	TKB_FIELD_CUSTOM_AT("warp_size", struct tkb_target, warp_size,
	                    read_warp_size),
};

static const struct tkb_schema target_schema = TKB_SCHEMA_OF(target_fields);

static int read_target(struct tkb_schema_reader *reader, void *out,
                       struct tkb_error *err)
{
	static const struct tkb_schema_field target = {
		.kind = TKB_SCHEMA_OBJECT,
		.schema = &target_schema,
	};

	return reader->token.type == TKB_JSON_OBJECT
	               ? tkb_schema_value(reader, &target, out, err)
	               : tkb_schema_skip(reader, err);
}

static const struct tkb_schema_field metadata_fields[] = {
	TKB_FIELD_CUSTOM_AT("hash", struct tkb_metadata, hash,
	                    read_metadata_text),
	TKB_FIELD_CUSTOM_AT("name", struct tkb_metadata, symbol,
	                    read_metadata_text),
	TKB_FIELD_CUSTOM_AT("triton_version", struct tkb_metadata, version,
	                    read_metadata_text),
	TKB_FIELD_CUSTOM_AT("target", struct tkb_metadata, target, read_target),
};

int tkb_metadata_parse(struct tkb_bytes text, const char *name,
                       struct tkb_arena *arena, struct tkb_metadata *out,
                       struct tkb_error *err)
{
	static const struct tkb_schema schema = TKB_SCHEMA_OF(metadata_fields);
	char quoted[TKB_NAME_LIMIT + 3];
	const struct tkb_schema_document document = { .text = text,
		                                      .name = quoted,
		                                      .arena = arena };
	struct tkb_metadata metadata = { .hash = "",
		                         .symbol = "",
		                         .version = "",
		                         .target = { .backend = "",
		                                     .arch = "" } };
	struct tkb_error inner = { 0 };
	int rc;

	(void)snprintf(quoted, sizeof(quoted), "'%s'", name);
	rc = tkb_schema_read(&document, &schema, &metadata, &inner);
	if (rc == TKB_ERR_CORRUPT)
		return tkb_fail_entry(err, TKB_REASON_METADATA, "%s",
		                      inner.message);
	if (rc < 0)
		return tkb_fail_nomem(err);
	*out = metadata;
	return 0;
}

int tkb_metadata_check_key(const struct tkb_metadata *metadata, const char *key,
                           struct tkb_error *err)
{
	if (metadata->hash[0] == '\0' && strlen(key) == 32)
		return 0;
	if (!tkb_key_encodes(key, metadata->hash))
		return tkb_fail_entry(err, TKB_REASON_HASH,
		                      "the metadata's hash '%.64s' is not "
		                      "the key's",
		                      metadata->hash);
	return 0;
}

static const char *const *binaries_of(const char *backend)
{
	if (strcmp(backend, "cuda") == 0)
		return cuda_binaries;
	if (strcmp(backend, "hip") == 0)
		return hip_binaries;
	if (strcmp(backend, "xpu") == 0)
		return xpu_binaries;
	return all_binaries;
}

bool tkb_metadata_is_binary(const char *backend, const char *name)
{
	const char *const *binaries = binaries_of(backend);
	const char *extension = tkb_name_extension(name);

	while (*binaries != NULL && strcmp(extension, *binaries) != 0)
		binaries++;
	return *binaries != NULL;
}

const char *tkb_metadata_binary(const char *backend)
{
	return binaries_of(backend)[0];
}

int tkb_metadata_check_binary(const struct tkb_metadata *metadata,
                              const char *name, struct tkb_bytes bytes,
                              struct tkb_error *err)
{
	const char *extension = tkb_name_extension(name);
	const char *symbol = metadata->symbol;

	if (strcmp(extension, "cubin") == 0)
		return tkb_elf_check_cubin(
			bytes, name, strtoull(metadata->target.arch, NULL, 10),
			symbol[0] == '\0' ? NULL : symbol, err);
	if (strcmp(extension, "hsaco") == 0)
		return tkb_elf_check_hsaco(bytes, name, metadata->target.arch,
		                           symbol[0] == '\0' ? NULL : symbol,
		                           err);
	if (bytes.size == 0 &&
	    (strcmp(extension, "spv") == 0 || strcmp(extension, "zebin") == 0))
		return tkb_fail_entry(err, TKB_REASON_BINARY, "'%s' is empty",
		                      name);
	return 0;
}

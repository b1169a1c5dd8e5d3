/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/metadata.h"

#include <stdlib.h>

#include "text/json.h"
#include "base/utf8.h"
#include "cache/elf.h"
#include "cache/key.h"
#include "cache/names.h"

enum {
	TEXT_LIMIT = 1024 /* a manifest allows 4096, escapes and all */
};

static const char *const cuda_binaries[] = { "cubin", NULL };
static const char *const hip_binaries[] = { "hsaco", NULL };
static const char *const xpu_binaries[] = { "spv", "zebin", NULL };
static const char *const all_binaries[] = { "cubin", "hsaco", "spv", "zebin",
	                                    NULL };

struct parser {
	struct tkb_json json;
	struct tkb_arena *arena;
	struct tkb_metadata metadata;
};

/* Can a manifest hold this text? */
static bool is_plain(struct tkb_bytes text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (((const unsigned char *)text.data)[i] < 0x20)
			return false;
	}
	return text.size <= TEXT_LIMIT && tkb_utf8_is_valid(text);
}

static int keep_string(struct parser *parser, struct tkb_bytes raw,
                       const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf decoded = TKB_BUF_INIT(raw.size + 1);

	tkb_json_decode(raw, &decoded);
	if (decoded.failure != 0)
		return tkb_fail_nomem(err);
	if (!is_plain(tkb_buf_bytes(&decoded)))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "no metadata: it has a text that no bundle "
		                "can hold");
	*out = tkb_arena_string(parser->arena, tkb_buf_bytes(&decoded));
	return *out == NULL ? tkb_fail_nomem(err) : 0;
}

/* A string, or a number as its digits; of anything else, "". */
static int read_text(struct parser *parser, const struct tkb_json_token *token,
                     const char **out, struct tkb_error *err)
{
	const char *text;

	if (token->type == TKB_JSON_STRING)
		return keep_string(parser, tkb_json_raw(&parser->json, token),
		                   out, err);
	if (token->type == TKB_JSON_NUMBER &&
	    token->end - token->start > TEXT_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "no metadata: it has a number of %zu digits",
		                token->end - token->start);
	if (token->type == TKB_JSON_NUMBER)
		text = tkb_arena_string(parser->arena,
		                        tkb_bytes_slice(parser->json.text,
		                                        token->start,
		                                        token->end));
	else
		text = "";
	if (text == NULL)
		return tkb_fail_nomem(err);
	*out = text;
	return tkb_json_skip(&parser->json, token, err);
}

static bool is_key(const struct parser *parser,
                   const struct tkb_json_token *token, const char *name)
{
	return tkb_json_equals(tkb_json_raw(&parser->json, token),
	                       tkb_text(name));
}

static int read_target_member(struct parser *parser,
                              const struct tkb_json_token *key,
                              struct tkb_error *err)
{
	struct tkb_target *target = &parser->metadata.target;
	struct tkb_json_token value;
	uint64_t number;
	int rc;

	rc = tkb_json_next(&parser->json, &value, err);
	if (rc < 0)
		return rc;
	if (is_key(parser, key, "backend"))
		return read_text(parser, &value, &target->backend, err);
	if (is_key(parser, key, "arch"))
		return read_text(parser, &value, &target->arch, err);
	if (is_key(parser, key, "warp_size") &&
	    tkb_json_number(&parser->json, &value, &number) &&
	    number <= UINT32_MAX)
		target->warp_size = (uint32_t)number;
	return tkb_json_skip(&parser->json, &value, err);
}

static int read_target(struct parser *parser,
                       const struct tkb_json_token *token,
                       struct tkb_error *err)
{
	struct tkb_json_token key;
	int rc;

	if (token->type != TKB_JSON_OBJECT)
		return tkb_json_skip(&parser->json, token, err);
	for (;;) {
		rc = tkb_json_next(&parser->json, &key, err);
		if (rc < 0)
			return rc;
		if (key.type == TKB_JSON_OBJECT_END)
			return 0;
		rc = read_target_member(parser, &key, err);
		if (rc < 0)
			return rc;
	}
}

static int read_member(struct parser *parser, const struct tkb_json_token *key,
                       struct tkb_error *err)
{
	struct tkb_metadata *metadata = &parser->metadata;
	struct tkb_json_token value;
	int rc;

	rc = tkb_json_next(&parser->json, &value, err);
	if (rc < 0)
		return rc;
	if (is_key(parser, key, "hash"))
		return read_text(parser, &value, &metadata->hash, err);
	if (is_key(parser, key, "name"))
		return read_text(parser, &value, &metadata->symbol, err);
	if (is_key(parser, key, "triton_version"))
		return read_text(parser, &value, &metadata->version, err);
	if (is_key(parser, key, "target"))
		return read_target(parser, &value, err);
	return tkb_json_skip(&parser->json, &value, err);
}

static int parse(struct parser *parser, struct tkb_error *err)
{
	struct tkb_json_token token;
	int rc;

	rc = tkb_json_next(&parser->json, &token, err);
	if (rc < 0)
		return rc;
	if (token.type != TKB_JSON_OBJECT)
		return tkb_fail(err, TKB_ERR_CORRUPT, "not a JSON object");
	for (;;) {
		rc = tkb_json_next(&parser->json, &token, err);
		if (rc < 0)
			return rc;
		if (token.type == TKB_JSON_OBJECT_END)
			break;
		rc = read_member(parser, &token, err);
		if (rc < 0)
			return rc;
	}
	return tkb_json_next(&parser->json, &token, err); /* nothing behind */
}

int tkb_metadata_parse(struct tkb_bytes text, const char *name,
                       struct tkb_arena *arena, struct tkb_metadata *out,
                       struct tkb_error *err)
{
	struct parser parser = {
		.json = tkb_json_of(text, 0),
		.arena = arena,
		.metadata = { .hash = "",
		              .symbol = "",
		              .version = "",
		              .target = { .backend = "", .arch = "" } },
	};
	struct tkb_error inner = { 0 };
	int rc;

	rc = parse(&parser, &inner);
	if (rc == TKB_ERR_CORRUPT)
		return tkb_fail_entry(err, TKB_REASON_METADATA, "'%s' is %s",
		                      name, inner.message);
	if (rc < 0)
		return tkb_fail_nomem(err);
	*out = parser.metadata;
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

const char *const *tkb_metadata_binaries(const char *backend)
{
	if (strcmp(backend, "cuda") == 0)
		return cuda_binaries;
	if (strcmp(backend, "hip") == 0)
		return hip_binaries;
	if (strcmp(backend, "xpu") == 0)
		return xpu_binaries;
	return all_binaries;
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
		return tkb_elf_check_hsaco(bytes, name, err);
	if (bytes.size == 0 &&
	    (strcmp(extension, "spv") == 0 || strcmp(extension, "zebin") == 0))
		return tkb_fail_entry(err, TKB_REASON_BINARY, "'%s' is empty",
		                      name);
	return 0;
}

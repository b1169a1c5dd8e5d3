/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"
#include "compile/compiler/publish.h"

/* Members that Triton's launcher reads, and their defaults. */
static const struct {
	const char *name;
	const char *value;
} defaults[] = {
	{ "cluster_dims", "[1, 1, 1]" }, { "global_scratch_align", "1" },
	{ "global_scratch_size", "0" },  { "launch_cooperative_grid", "false" },
	{ "launch_pdl", "false" },       { "num_ctas", "1" },
	{ "num_stages", "3" },           { "profile_scratch_align", "1" },
	{ "profile_scratch_size", "0" }, { "shared", "0" },
	{ "tensordesc_meta", "[]" },     { "tmem_size", "0" },
	{ "warp_size", "32" },
};

/* Arguments that finalize has bound: a launch does not pass them. */
static const char bound_name[] = "tkbundle_bound";

struct writer {
	const struct tkb_metadata_request *request;
	struct tkb_buf *out;
	uint64_t has; /* bit i: defaults[i] was given */
	bool has_warps;
};

static void begin_member(struct writer *writer, const char *name)
{
	tkb_print(writer->out, "%s\"%s\": ", writer->out->size == 1 ? "" : ", ",
	          name);
}

static void write_own_members(struct writer *writer)
{
	const struct tkb_metadata_request *request = writer->request;

	tkb_buf_add_byte(writer->out, '{');
	begin_member(writer, "hash");
	tkb_json_quote(tkb_text(request->hash), writer->out);
	begin_member(writer, "target");
	tkb_print(writer->out,
	          "{\"backend\": \"cuda\", \"arch\": %s, \"warp_size\": 32}",
	          request->arch);
	begin_member(writer, "name");
	tkb_json_quote(tkb_text(request->kernel), writer->out);
	if (request->num_warps != 0) {
		begin_member(writer, "num_warps");
		tkb_buf_add_number(writer->out, request->num_warps);
	}
	if (request->bound != NULL) {
		begin_member(writer, bound_name);
		tkb_buf_add_text(writer->out, request->bound);
	}
}

/* Is it a member that this file writes itself, ignoring any given value? */
static bool is_own_member(const struct writer *writer, struct tkb_bytes name)
{
	return tkb_json_equals(name, tkb_text("hash")) ||
	       tkb_json_equals(name, tkb_text("target")) ||
	       tkb_json_equals(name, tkb_text("name")) ||
	       (writer->request->num_warps != 0 &&
	        tkb_json_equals(name, tkb_text("num_warps")));
}

static void mark_given(struct writer *writer, struct tkb_bytes name)
{
	writer->has_warps |= tkb_json_equals(name, tkb_text("num_warps"));
	for (size_t i = 0; i < TKB_COUNT_OF(defaults); i++) {
		if (tkb_json_equals(name, tkb_text(defaults[i].name)))
			writer->has |= (uint64_t)1 << i;
	}
}

static int expect_token(struct tkb_json *json, enum tkb_json_type type,
                        struct tkb_json_token *token, struct tkb_error *err)
{
	int rc;

	rc = tkb_json_next(json, token, err);
	if (rc < 0)
		return tkb_fail_while(err, TKB_ERR_INVALID, "the metadata");
	if (token->type != type)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the metadata is not a JSON object");
	return 0;
}

/*
 * Check a member that Triton's launcher reads as a number; a launch needs at
 * least one warp.
 */
static int check_number(struct tkb_json *json, struct tkb_bytes name,
                        const struct tkb_json_token *value,
                        struct tkb_error *err)
{
	static const struct {
		const char *name;
		uint64_t min;
		uint64_t max;
	} limits[] = {
		{ "num_ctas", 1, 16 },
		{ "num_stages", 0, INT32_MAX },
		{ "num_warps", 1, 64 },
		{ "shared", 0, INT32_MAX },
	};
	uint64_t number = 0;

	for (size_t i = 0; i < TKB_COUNT_OF(limits); i++) {
		if (!tkb_json_equals(name, tkb_text(limits[i].name)))
			continue;
		if (value->type != TKB_JSON_NUMBER ||
		    !tkb_json_number(json, value, &number) ||
		    number < limits[i].min || number > limits[i].max)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "the metadata's '%s' has a value that "
			                "no kernel can have",
			                limits[i].name);
	}
	return 0;
}

/* Copy a member verbatim, unless this file writes it itself. */
static int copy_member(struct writer *writer, struct tkb_json *json,
                       const struct tkb_json_token *key, struct tkb_error *err)
{
	const struct tkb_bytes name = tkb_json_raw(json, key);
	struct tkb_json_token value;
	int rc;

	rc = tkb_json_next(json, &value, err);
	if (rc == 0)
		rc = tkb_json_skip(json, &value, err);
	if (rc < 0)
		return tkb_fail_while(err, TKB_ERR_INVALID, "the metadata");
	/* Its names and positions are those of another kernel's arguments. */
	if (writer->request->bound != NULL &&
	    tkb_json_equals(name, tkb_text(bound_name)))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the metadata says that arguments were bound "
		                "before; bind all of them at once");
	if (is_own_member(writer, name))
		return 0;
	rc = check_number(json, name, &value, err);
	if (rc < 0)
		return rc;
	mark_given(writer, name);
	tkb_buf_add_text(writer->out, ", \"");
	tkb_buf_add(writer->out, name);
	tkb_buf_add_text(writer->out, "\": ");
	tkb_buf_add(writer->out,
	            tkb_bytes_slice(json->text, value.start, json->at));
	return 0;
}

static int copy_given(struct writer *writer, struct tkb_error *err)
{
	struct tkb_json json = tkb_json_of(writer->request->given, 0);
	struct tkb_json_token token;
	int rc;

	if (writer->request->given.size == 0)
		return 0;
	rc = expect_token(&json, TKB_JSON_OBJECT, &token, err);
	while (rc == 0) {
		rc = tkb_json_next(&json, &token, err);
		if (rc < 0)
			return tkb_fail_while(err, TKB_ERR_INVALID,
			                      "the metadata");
		if (token.type != TKB_JSON_KEY)
			break;
		rc = copy_member(writer, &json, &token, err);
	}
	return rc == 0 ? expect_token(&json, TKB_JSON_END, &token, err) : rc;
}

int tkb_metadata_write(const struct tkb_metadata_request *request,
                       struct tkb_buf *out, struct tkb_error *err)
{
	struct writer writer = { .request = request, .out = out };
	int rc;

	write_own_members(&writer);
	rc = copy_given(&writer, err);
	if (rc < 0)
		return rc;
	if (request->num_warps == 0 && !writer.has_warps) {
		begin_member(&writer, "num_warps");
		tkb_buf_add_number(out, request->default_warps == 0
		                                ? 4
		                                : request->default_warps);
	}
	for (size_t i = 0; i < TKB_COUNT_OF(defaults); i++) {
		if ((writer.has >> i & 1) != 0)
			continue;
		begin_member(&writer, defaults[i].name);
		tkb_buf_add_text(out, defaults[i].value);
	}
	tkb_buf_add_byte(out, '}');
	return tkb_buf_check(out, err);
}

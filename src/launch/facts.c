/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/facts.h"

#include <stddef.h>

#include "text/json.h"
#include "cache/metadata.h"

enum {
	WARP_SIZE = 32,
	WARP_LIMIT = 32, /* a block has at most 1,024 threads */
	CTA_LIMIT = 16,
	STAGE_LIMIT = 999,
	SHARED_LIMIT = 16 << 20
};

/* State of reading the metadata's members. */
struct reader {
	struct tkb_json json;
	struct tkb_facts facts;
	bool has_cluster;
	bool has_descriptors;
	bool has_work_stealing;
};

struct member {
	const char *name;
	int (*read)(struct reader *reader, const struct member *member,
	            const struct tkb_json_token *value, void *out,
	            struct tkb_error *err);
	size_t offset; /* of what is read, in struct reader */
	uint64_t limit;
};

static int fail_member(const char *name, struct tkb_error *err)
{
	return tkb_fail(
		err, TKB_ERR_CORRUPT,
		"the metadata's '%s' has a value that no kernel can have",
		name);
}

/* A number up to the member's limit; null leaves `out` unchanged. */
static int read_number(struct reader *reader, const struct member *member,
                       const struct tkb_json_token *value, void *out,
                       struct tkb_error *err)
{
	const struct tkb_bytes text =
		tkb_bytes_slice(reader->json.text, value->start, value->end);
	uint64_t number;

	if (tkb_bytes_equal(text, tkb_text("null")))
		return 0;
	if (value->type != TKB_JSON_NUMBER ||
	    !tkb_json_number(&reader->json, value, &number) ||
	    number > member->limit)
		return fail_member(member->name, err);
	*(uint64_t *)out = number;
	return 0;
}

static int read_small(struct reader *reader, const struct member *member,
                      const struct tkb_json_token *value, void *out,
                      struct tkb_error *err)
{
	uint64_t number = *(uint32_t *)out;
	int rc;

	rc = read_number(reader, member, value, &number, err);
	if (rc == 0)
		*(uint32_t *)out = (uint32_t)number;
	return rc;
}

/* A truth value; null is false. Python's 0 and 1 are accepted as well. */
static int read_flag(struct reader *reader, const struct member *member,
                     const struct tkb_json_token *value, void *out,
                     struct tkb_error *err)
{
	const struct tkb_bytes text =
		tkb_bytes_slice(reader->json.text, value->start, value->end);

	if (value->type != TKB_JSON_WORD && value->type != TKB_JSON_NUMBER)
		return fail_member(member->name, err);
	*(bool *)out = tkb_bytes_equal(text, tkb_text("true")) ||
	               tkb_bytes_equal(text, tkb_text("1"));
	return 0;
}

static int read_cluster(struct reader *reader, const struct member *member,
                        const struct tkb_json_token *value, void *out,
                        struct tkb_error *err)
{
	uint32_t *const cluster = out;
	struct tkb_json_token token;
	size_t count = 0;
	int rc;

	if (value->type != TKB_JSON_ARRAY)
		return fail_member(member->name, err);
	for (;;) {
		rc = tkb_json_next(&reader->json, &token, err);
		if (rc < 0)
			return rc;
		if (token.type == TKB_JSON_ARRAY_END)
			break;
		if (count == TKB_COUNT_OF(reader->facts.cluster))
			return fail_member(member->name, err);
		rc = read_small(reader, member, &token, &cluster[count], err);
		if (rc < 0)
			return rc;
		count++;
	}
	if (count != TKB_COUNT_OF(reader->facts.cluster))
		return fail_member(member->name, err);
	reader->has_cluster = true;
	return 0;
}

/* A list of anything: only whether it is empty matters. */
static int read_descriptors(struct reader *reader, const struct member *member,
                            const struct tkb_json_token *value, void *out,
                            struct tkb_error *err)
{
	const size_t start = reader->json.at;
	int rc;

	(void)member;
	rc = tkb_json_skip(&reader->json, value, err);
	if (rc < 0 || value->type != TKB_JSON_ARRAY)
		return rc;
	/* Between "[" and "]". */
	for (size_t i = start; i + 1 < reader->json.at; i++) {
		if (((const char *)reader->json.text.data)[i] != ' ')
			*(bool *)out = true;
	}
	return 0;
}

static int read_scratch_size(struct reader *reader, const struct member *member,
                             const struct tkb_json_token *value, void *out,
                             struct tkb_error *err)
{
	struct tkb_scratch *const scratch = out;

	scratch->is_parameter = true;
	return read_number(reader, member, value, &scratch->size, err);
}

static const struct member members[] = {
	{ "num_warps", read_small, offsetof(struct reader, facts.num_warps),
	  WARP_LIMIT },
	{ "num_stages", read_small, offsetof(struct reader, facts.num_stages),
	  STAGE_LIMIT },
	{ "num_ctas", read_small, offsetof(struct reader, facts.num_ctas),
	  CTA_LIMIT },
	{ "shared", read_small, offsetof(struct reader, facts.shared),
	  SHARED_LIMIT },
	{ "cluster_dims", read_cluster, offsetof(struct reader, facts.cluster),
	  CTA_LIMIT },
	{ "launch_cooperative_grid", read_flag,
	  offsetof(struct reader, facts.is_cooperative), 0 },
	{ "launch_pdl", read_flag,
	  offsetof(struct reader, facts.is_programmatic), 0 },
	{ "clc", read_flag, offsetof(struct reader, has_work_stealing), 0 },
	{ "tensordesc_meta", read_descriptors,
	  offsetof(struct reader, has_descriptors), 0 },
	{ "global_scratch_size", read_scratch_size,
	  offsetof(struct reader, facts.global), UINT32_MAX },
	{ "global_scratch_align", read_number,
	  offsetof(struct reader, facts.global.align), UINT32_MAX },
	{ "profile_scratch_size", read_scratch_size,
	  offsetof(struct reader, facts.profile), UINT32_MAX },
	{ "profile_scratch_align", read_number,
	  offsetof(struct reader, facts.profile.align), UINT32_MAX },
};

static int read_member(struct reader *reader, struct tkb_bytes key,
                       const struct tkb_json_token *value,
                       struct tkb_error *err)
{
	for (size_t i = 0; i < TKB_COUNT_OF(members); i++) {
		if (tkb_json_equals(key, tkb_text(members[i].name)))
			return members[i].read(
				reader, &members[i], value,
				(char *)reader + members[i].offset, err);
	}
	return tkb_json_skip(&reader->json, value, err);
}

static int read_members(struct reader *reader, struct tkb_error *err)
{
	struct tkb_json_token token;
	struct tkb_json_token value;
	struct tkb_bytes key;
	int rc;

	rc = tkb_json_next(&reader->json, &token,
	                   err); /* "{", as parsed before */
	for (;;) {
		if (rc == 0)
			rc = tkb_json_next(&reader->json, &token, err);
		if (rc < 0 || token.type != TKB_JSON_KEY)
			return rc;
		key = tkb_json_raw(&reader->json, &token);
		rc = tkb_json_next(&reader->json, &value, err);
		if (rc == 0)
			rc = read_member(reader, key, &value, err);
	}
}

static int check_target(const struct tkb_metadata *metadata,
                        struct tkb_error *err)
{
	const struct tkb_target *const target = &metadata->target;

	if (target->backend[0] != '\0' && strcmp(target->backend, "cuda") != 0)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the kernel is for '%s': a launcher is for "
		                "'cuda'",
		                target->backend);
	if (target->warp_size != 0 && target->warp_size != WARP_SIZE)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the kernel is for warps of %u threads",
		                target->warp_size);
	if (metadata->symbol[0] == '\0')
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the metadata does not name the kernel");
	return 0;
}

/* Up to Triton 3.5 both exist and must agree; later only num_ctas does. */
static int check_cluster(struct reader *reader, struct tkb_error *err)
{
	struct tkb_facts *const facts = &reader->facts;
	const uint32_t *const cluster = facts->cluster;
	const uint32_t product = cluster[0] * cluster[1] * cluster[2];

	if (facts->num_ctas == 0)
		return fail_member("num_ctas", err);
	if (reader->has_cluster && product != 1 && product != facts->num_ctas)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the metadata's 'num_ctas' is %u, but its "
		                "'cluster_dims' are [%u, %u, %u]",
		                facts->num_ctas, cluster[0], cluster[1],
		                cluster[2]);
	if (product != facts->num_ctas)
		facts->cluster[0] = facts->num_ctas;
	return 0;
}

/* Facts about a launch that C cannot do are errors. */
static int check_launch(struct reader *reader, struct tkb_error *err)
{
	if (reader->has_descriptors)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the kernel takes tensor descriptors "
		                "('tensordesc_meta'): they cannot be passed "
		                "from C");
	if (reader->has_work_stealing)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the kernel needs cluster launch control "
		                "('clc')");
	return check_cluster(reader, err);
}

static int read_facts(struct reader *reader, bool is_for_launch,
                      struct tkb_arena *arena, struct tkb_facts *out,
                      struct tkb_error *err)
{
	struct tkb_metadata known;
	int rc;

	rc = tkb_metadata_parse(reader->json.text, "the metadata", arena,
	                        &known, err);
	if (rc == 0 && is_for_launch)
		rc = check_target(&known, err);
	if (rc == 0)
		rc = read_members(reader, err);
	if (rc == 0 && is_for_launch)
		rc = check_launch(reader, err);
	if (rc < 0)
		return rc;
	reader->facts.symbol = known.symbol;
	reader->facts.arch = known.target.arch;
	reader->facts.version = known.version;
	*out = reader->facts;
	return 0;
}

int tkb_facts_read(struct tkb_bytes metadata, struct tkb_arena *arena,
                   struct tkb_facts *out, struct tkb_error *err)
{
	struct reader reader = { .json = tkb_json_of(metadata, 0) };

	return read_facts(&reader, false, arena, out, err);
}

int tkb_facts_read_for_launch(struct tkb_bytes metadata,
                              struct tkb_arena *arena, struct tkb_facts *out,
                              struct tkb_error *err)
{
	struct reader reader = { .json = tkb_json_of(metadata, 0),
		                 .facts = { .num_ctas = 1,
		                            .cluster = { 1, 1, 1 } } };

	return read_facts(&reader, true, arena, out, err);
}

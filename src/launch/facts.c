/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/facts.h"

#include "text/json.h"
#include "cache/metadata.h"

enum {
	WARP_SIZE = 32,
	WARP_LIMIT = 32, /* a block has at most 1,024 threads */
	CTA_LIMIT = 16,
	STAGE_LIMIT = 999,
	SHARED_LIMIT = 16 << 20
};

/* Members that are read while `json` goes over the document. */
struct reader {
	struct tkb_json json;
	struct tkb_facts *facts;
	bool has_cluster;
	bool has_descriptors;
	bool has_work_stealing;
};

static int bad_member(const char *name, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "the metadata's '%s' is nothing that a kernel can have",
	                name);
}

/* A number up to `limit`; null leaves `*out` alone. */
static int read_number(struct reader *reader,
                       const struct tkb_json_token *value, const char *name,
                       uint64_t limit, uint64_t *out, struct tkb_error *err)
{
	const struct tkb_bytes text =
		tkb_bytes_slice(reader->json.text, value->start, value->end);
	uint64_t number;

	if (tkb_bytes_equal(text, tkb_text("null")))
		return 0;
	if (value->type != TKB_JSON_NUMBER ||
	    !tkb_json_number(&reader->json, value, &number) || number > limit)
		return bad_member(name, err);
	*out = number;
	return 0;
}

static int read_small(struct reader *reader, const struct tkb_json_token *value,
                      const char *name, uint64_t limit, uint32_t *out,
                      struct tkb_error *err)
{
	uint64_t number = *out;
	int rc;

	rc = read_number(reader, value, name, limit, &number, err);
	if (rc == 0)
		*out = (uint32_t)number;
	return rc;
}

/* A switch; null is off. Python's 0 and 1 are taken, too. */
static int read_switch(struct reader *reader,
                       const struct tkb_json_token *value, const char *name,
                       bool *out, struct tkb_error *err)
{
	const struct tkb_bytes text =
		tkb_bytes_slice(reader->json.text, value->start, value->end);

	if (value->type != TKB_JSON_WORD && value->type != TKB_JSON_NUMBER)
		return bad_member(name, err);
	*out = tkb_bytes_equal(text, tkb_text("true")) ||
	       tkb_bytes_equal(text, tkb_text("1"));
	return 0;
}

static int read_cluster(struct reader *reader,
                        const struct tkb_json_token *value,
                        struct tkb_error *err)
{
	struct tkb_json_token token;
	size_t count = 0;
	int rc;

	if (value->type != TKB_JSON_ARRAY)
		return bad_member("cluster_dims", err);
	for (;;) {
		rc = tkb_json_next(&reader->json, &token, err);
		if (rc < 0)
			return rc;
		if (token.type == TKB_JSON_ARRAY_END)
			break;
		if (count == TKB_COUNT_OF(reader->facts->cluster))
			return bad_member("cluster_dims", err);
		rc = read_small(reader, &token, "cluster_dims", CTA_LIMIT,
		                &reader->facts->cluster[count], err);
		if (rc < 0)
			return rc;
		count++;
	}
	if (count != TKB_COUNT_OF(reader->facts->cluster))
		return bad_member("cluster_dims", err);
	reader->has_cluster = true;
	return 0;
}

/* A list of anything: is there something in it? */
static int read_descriptors(struct reader *reader,
                            const struct tkb_json_token *value,
                            struct tkb_error *err)
{
	const size_t start = reader->json.at;
	int rc;

	rc = tkb_json_skip(&reader->json, value, err);
	if (rc < 0)
		return rc;
	if (value->type != TKB_JSON_ARRAY)
		return 0;
	/* From behind "[" to before "]". */
	for (size_t i = start; i + 1 < reader->json.at; i++) {
		if (((const char *)reader->json.text.data)[i] != ' ')
			reader->has_descriptors = true;
	}
	return 0;
}

static bool is_name(struct tkb_bytes raw, const char *name)
{
	return tkb_json_equals(raw, tkb_text(name));
}

static int read_scratch_size(struct reader *reader,
                             const struct tkb_json_token *value,
                             const char *name, struct tkb_scratch *out,
                             struct tkb_error *err)
{
	out->is_parameter = true;
	return read_number(reader, value, name, UINT32_MAX, &out->size, err);
}

static int read_member(struct reader *reader, struct tkb_bytes key,
                       const struct tkb_json_token *value,
                       struct tkb_error *err)
{
	struct tkb_facts *const facts = reader->facts;

	if (is_name(key, "num_warps"))
		return read_small(reader, value, "num_warps", WARP_LIMIT,
		                  &facts->num_warps, err);
	if (is_name(key, "num_stages"))
		return read_small(reader, value, "num_stages", STAGE_LIMIT,
		                  &facts->num_stages, err);
	if (is_name(key, "num_ctas"))
		return read_small(reader, value, "num_ctas", CTA_LIMIT,
		                  &facts->num_ctas, err);
	if (is_name(key, "shared"))
		return read_small(reader, value, "shared", SHARED_LIMIT,
		                  &facts->shared, err);
	if (is_name(key, "cluster_dims"))
		return read_cluster(reader, value, err);
	if (is_name(key, "launch_cooperative_grid"))
		return read_switch(reader, value, "launch_cooperative_grid",
		                   &facts->is_cooperative, err);
	if (is_name(key, "launch_pdl"))
		return read_switch(reader, value, "launch_pdl",
		                   &facts->is_programmatic, err);
	if (is_name(key, "clc"))
		return read_switch(reader, value, "clc",
		                   &reader->has_work_stealing, err);
	if (is_name(key, "tensordesc_meta"))
		return read_descriptors(reader, value, err);
	if (is_name(key, "global_scratch_size"))
		return read_scratch_size(reader, value, "global_scratch_size",
		                         &facts->global, err);
	if (is_name(key, "global_scratch_align"))
		return read_number(reader, value, "global_scratch_align",
		                   UINT32_MAX, &facts->global.align, err);
	if (is_name(key, "profile_scratch_size"))
		return read_scratch_size(reader, value, "profile_scratch_size",
		                         &facts->profile, err);
	if (is_name(key, "profile_scratch_align"))
		return read_number(reader, value, "profile_scratch_align",
		                   UINT32_MAX, &facts->profile.align, err);
	return tkb_json_skip(&reader->json, value, err);
}

static int read_members(struct reader *reader, struct tkb_error *err)
{
	struct tkb_json_token token;
	struct tkb_json_token value;
	struct tkb_bytes key;
	int rc;

	rc = tkb_json_next(&reader->json, &token, err); /* "{": it was parsed */
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

/* Up to Triton 3.5 there are both, which must agree; later, num_ctas alone. */
static int settle_cluster(const struct reader *reader, struct tkb_error *err)
{
	struct tkb_facts *const facts = reader->facts;
	const uint32_t *const cluster = facts->cluster;
	const uint32_t product = cluster[0] * cluster[1] * cluster[2];

	if (facts->num_ctas == 0)
		return bad_member("num_ctas", err);
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

static int check_needs(const struct reader *reader, struct tkb_error *err)
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
	return settle_cluster(reader, err);
}

int tkb_facts_look(struct tkb_bytes metadata, struct tkb_arena *arena,
                   struct tkb_facts *out, struct tkb_error *err)
{
	struct tkb_facts facts = { .num_ctas = 0 };
	struct reader reader = { .json = tkb_json_of(metadata, 0),
		                 .facts = &facts };
	struct tkb_metadata known;
	int rc;

	rc = tkb_metadata_parse(metadata, "the metadata", arena, &known, err);
	if (rc == 0)
		rc = read_members(&reader, err);
	if (rc < 0)
		return rc;
	facts.symbol = known.symbol;
	facts.arch = known.target.arch;
	facts.version = known.version;
	*out = facts;
	return 0;
}

int tkb_facts_parse(struct tkb_bytes metadata, struct tkb_arena *arena,
                    struct tkb_facts *out, struct tkb_error *err)
{
	struct tkb_facts facts = { .num_ctas = 1, .cluster = { 1, 1, 1 } };
	struct reader reader = { .json = tkb_json_of(metadata, 0),
		                 .facts = &facts };
	struct tkb_metadata known;
	int rc;

	rc = tkb_metadata_parse(metadata, "the metadata", arena, &known, err);
	if (rc == 0)
		rc = check_target(&known, err);
	if (rc == 0)
		rc = read_members(&reader, err);
	if (rc == 0)
		rc = check_needs(&reader, err);
	if (rc < 0)
		return rc;
	facts.symbol = known.symbol;
	facts.arch = known.target.arch;
	facts.version = known.version;
	*out = facts;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/facts.h"

#include <stddef.h>
#include <stdlib.h>

#include "text/schema.h"
#include "cache/metadata.h"

enum {
	WARP_SIZE = 32,
	WARP_LIMIT = 32, /* a block has at most 1,024 threads */
	CTA_LIMIT = 16,
	STAGE_LIMIT = 999,
	SHARED_LIMIT = 16 << 20
};

/* Members of the metadata that are read to be checked or converted. */
struct reading {
	struct tkb_facts facts;
	const char *grid[3]; /* as it was bound; NULL: it was not */
	bool has_descriptors;
	bool has_work_stealing;
};

static int fail_member(const char *name, struct tkb_error *err)
{
	return tkb_fail(
		err, TKB_ERR_CORRUPT,
		"the metadata's '%s' has a value that no kernel can have",
		name);
}

static bool is_text(const struct tkb_schema_reader *reader, const char *text)
{
	return tkb_bytes_equal(tkb_bytes_slice(reader->json.text,
	                                       reader->token.start,
	                                       reader->token.end),
	                       tkb_text(text));
}

/* Read a number up to the field's limit; null leaves `out` unchanged. */
static int read_fact_number(struct tkb_schema_reader *reader, void *out,
                            struct tkb_error *err)
{
	const struct tkb_schema_field *field = reader->field;
	uint64_t number;

	if (is_text(reader, "null"))
		return 0;
	if (!tkb_json_number(&reader->json, &reader->token, &number) ||
	    number > field->limit)
		return fail_member(field->name, err);
	if (field->size == sizeof(number))
		*(uint64_t *)out = number;
	else
		*(uint32_t *)out = (uint32_t)number;
	return 0;
}

/* Read a truth value; null is false. Python's 0 and 1 are also accepted. */
static int read_flag(struct tkb_schema_reader *reader, void *out,
                     struct tkb_error *err)
{
	if (reader->token.type != TKB_JSON_WORD &&
	    reader->token.type != TKB_JSON_NUMBER)
		return fail_member(reader->field->name, err);
	*(bool *)out = is_text(reader, "true") || is_text(reader, "1");
	return 0;
}

static int read_cluster(struct tkb_schema_reader *reader, void *out,
                        struct tkb_error *err)
{
	uint32_t *const cluster = out;
	int rc;

	if (reader->token.type != TKB_JSON_ARRAY)
		return fail_member(reader->field->name, err);
	for (size_t i = 0; i < 3; i++) {
		rc = tkb_schema_next(reader, err);
		if (rc == 0)
			rc = read_fact_number(reader, &cluster[i], err);
		if (rc < 0)
			return rc;
	}
	rc = tkb_schema_next(reader, err);
	if (rc == 0 && reader->token.type != TKB_JSON_ARRAY_END)
		return fail_member(reader->field->name, err);
	return rc;
}

/* Read a list of anything: only whether it is empty matters. */
static int read_descriptors(struct tkb_schema_reader *reader, void *out,
                            struct tkb_error *err)
{
	struct tkb_json ahead = reader->json;
	struct tkb_json_token first;
	int rc;

	if (reader->token.type == TKB_JSON_ARRAY) {
		rc = tkb_json_next(&ahead, &first, err);
		if (rc < 0)
			return rc;
		*(bool *)out = first.type != TKB_JSON_ARRAY_END;
	}
	return tkb_schema_skip(reader, err);
}

static int read_scratch_size(struct tkb_schema_reader *reader, void *out,
                             struct tkb_error *err)
{
	struct tkb_scratch *const scratch = out;

	scratch->is_parameter = true;
	return read_fact_number(reader, &scratch->size, err);
}

static unsigned long blocks_of(const char *text)
{
	return strtoul(text, NULL, 0);
}

static bool is_block_count(const char *text)
{
	return blocks_of(text) > 0 && blocks_of(text) <= INT32_MAX;
}

#define GRID(name_, index_)                                                    \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_TEXT,                      \
		.offset = (index_) * sizeof(const char *),                     \
		.is_optional = true, .is_valid = is_block_count,               \
		.wrong = "a bound grid has an impossible size"                 \
	}

static const struct tkb_schema_field bound_fields[] = {
	GRID("nctaid.x", 0),
	GRID("nctaid.y", 1),
	GRID("nctaid.z", 2),
};

static const struct tkb_schema bound_schema = TKB_SCHEMA_OF(bound_fields);

#define FIELD(name_, member_, read_, limit_)                                   \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM,                    \
		.offset = offsetof(struct reading, member_),                   \
		.size = sizeof(((struct reading *)0)->member_),                \
		.limit = (limit_), .is_optional = true, .read = (read_)        \
	}
#define SCRATCH(name_, member_)                                                \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM,                    \
		.offset = offsetof(struct reading, member_),                   \
		.size = sizeof(uint64_t), .limit = UINT32_MAX,                 \
		.is_optional = true, .read = read_scratch_size                 \
	}

static const struct tkb_schema_field fields[] = {
	FIELD("num_warps", facts.num_warps, read_fact_number, WARP_LIMIT),
	FIELD("num_stages", facts.num_stages, read_fact_number, STAGE_LIMIT),
	FIELD("num_ctas", facts.num_ctas, read_fact_number, CTA_LIMIT),
	FIELD("shared", facts.shared, read_fact_number, SHARED_LIMIT),
	FIELD("cluster_dims", facts.cluster, read_cluster, CTA_LIMIT),
	FIELD("launch_cooperative_grid", facts.is_cooperative, read_flag, 0),
	FIELD("launch_pdl", facts.is_programmatic, read_flag, 0),
	FIELD("clc", has_work_stealing, read_flag, 0),
	FIELD("tensordesc_meta", has_descriptors, read_descriptors, 0),
	SCRATCH("global_scratch_size", facts.global),
	FIELD("global_scratch_align", facts.global.align, read_fact_number,
	      UINT32_MAX),
	SCRATCH("profile_scratch_size", facts.profile),
	FIELD("profile_scratch_align", facts.profile.align, read_fact_number,
	      UINT32_MAX),
	{ .name = "tkbundle_bound",
	  .kind = TKB_SCHEMA_OBJECT,
	  .offset = offsetof(struct reading, grid),
	  .is_optional = true,
	  .schema = &bound_schema },
};

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

/*
 * Up to Triton 3.5, both members exist and must agree; later versions have only
 * num_ctas.
 */
static int check_cluster(struct tkb_facts *facts, struct tkb_error *err)
{
	const uint32_t *const cluster = facts->cluster;
	const uint32_t product = cluster[0] * cluster[1] * cluster[2];

	if (facts->num_ctas == 0)
		return fail_member("num_ctas", err);
	if (product != 1 && product != facts->num_ctas)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the metadata's 'num_ctas' is %u, but its "
		                "'cluster_dims' are [%u, %u, %u]",
		                facts->num_ctas, cluster[0], cluster[1],
		                cluster[2]);
	if (product != facts->num_ctas)
		facts->cluster[0] = facts->num_ctas;
	return 0;
}

/* Refuse kernels with launch features that C cannot use. */
static int check_launch(struct reading *reading, struct tkb_error *err)
{
	if (reading->has_descriptors)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the kernel takes tensor descriptors "
		                "('tensordesc_meta'): they cannot be passed "
		                "from C");
	if (reading->has_work_stealing)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the kernel needs cluster launch control "
		                "('clc')");
	return check_cluster(&reading->facts, err);
}

static int read_facts(struct tkb_bytes metadata, struct reading *reading,
                      bool is_for_launch, struct tkb_arena *arena,
                      struct tkb_facts *out, struct tkb_error *err)
{
	static const struct tkb_schema schema = TKB_SCHEMA_OF(fields);
	const struct tkb_schema_document document = { .text = metadata,
		                                      .name = "the metadata",
		                                      .arena = arena };
	struct tkb_metadata known;
	int rc;

	rc = tkb_metadata_parse(metadata, document.name, arena, &known, err);
	if (rc == 0 && is_for_launch)
		rc = check_target(&known, err);
	if (rc == 0)
		rc = tkb_schema_read(&document, &schema, reading, err);
	if (rc == 0 && is_for_launch)
		rc = check_launch(reading, err);
	if (rc < 0)
		return rc;
	reading->facts.symbol = known.symbol;
	reading->facts.arch = known.target.arch;
	reading->facts.version = known.version;
	for (size_t i = 0; i < TKB_COUNT_OF(reading->grid); i++) {
		if (reading->grid[i] != NULL)
			reading->facts.grid[i] =
				(uint32_t)blocks_of(reading->grid[i]);
	}
	*out = reading->facts;
	return 0;
}

int tkb_facts_read(struct tkb_bytes metadata, struct tkb_arena *arena,
                   struct tkb_facts *out, struct tkb_error *err)
{
	struct reading reading = { .facts = { .num_ctas = 0 } };

	return read_facts(metadata, &reading, false, arena, out, err);
}

int tkb_facts_read_for_launch(struct tkb_bytes metadata,
                              struct tkb_arena *arena, struct tkb_facts *out,
                              struct tkb_error *err)
{
	struct reading reading = { .facts = { .num_ctas = 1,
		                              .cluster = { 1, 1, 1 } } };

	return read_facts(metadata, &reading, true, arena, out, err);
}

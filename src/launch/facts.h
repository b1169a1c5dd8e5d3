/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_FACTS_H
#define TKB_LAUNCH_FACTS_H

/* What `<name>.json` of a kernel says of its launch. */

#include "base/arena.h"
#include "base/base.h"

/* Memory that the caller of a kernel provides. */
struct tkb_scratch {
	bool is_parameter; /* the kernel has a parameter for it */
	uint64_t size;     /* bytes for each block of the grid; 0: none */
	uint64_t align;
};

struct tkb_facts {
	const char *symbol;
	const char *arch;
	const char *version; /* of Triton, or "" */
	uint32_t num_warps;  /* 0: not told */
	uint32_t num_stages; /* 0: not told */
	uint32_t num_ctas;
	uint32_t cluster[3]; /* blocks; their product is num_ctas */
	uint32_t shared;     /* bytes, dynamic */
	bool is_cooperative;
	bool is_programmatic;
	struct tkb_scratch global;
	struct tkb_scratch profile;
};

/*
 * What is told, whatever the backend, and whether C can start it or not.
 * Codes: 0, TKB_ERR_CORRUPT, TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_facts_look(struct tkb_bytes metadata,
                                 struct tkb_arena *arena, struct tkb_facts *out,
                                 struct tkb_error *err);

/*
 * What a launcher can be made of. Strings are put into `arena`.
 *
 * Codes: 0, TKB_ERR_CORRUPT (no metadata, or a number that cannot be),
 * TKB_ERR_UNSUPPORTED (a kernel that C cannot start), TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_facts_parse(struct tkb_bytes metadata,
                                  struct tkb_arena *arena,
                                  struct tkb_facts *out, struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_FACTS_H
#define TKB_LAUNCH_FACTS_H

/* Facts about the launch, from the kernel's `<name>.json`. */

#include "base/arena.h"
#include "base/base.h"

/* Scratch memory, which the caller of a kernel provides. */
struct tkb_scratch {
	bool is_parameter; /* the kernel has a parameter for it */
	uint64_t size;     /* bytes per block of the grid; 0: none */
	uint64_t align;
};

struct tkb_facts {
	const char *symbol;
	const char *arch;
	const char *version; /* of Triton, or "" */
	uint32_t num_warps;  /* 0: unknown */
	uint32_t num_stages; /* 0: unknown */
	uint32_t num_ctas;
	uint32_t cluster[3]; /* blocks; their product is num_ctas */
	uint32_t shared;     /* bytes, dynamic */
	uint32_t grid[3];    /* blocks, where they are bound; 0: any number */
	bool is_cooperative;
	bool is_programmatic;
	struct tkb_scratch global;
	struct tkb_scratch profile;
};

/*
 * Read the facts for any backend, whether C can launch the kernel or not.
 * Returns 0, TKB_ERR_CORRUPT or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_facts_read(struct tkb_bytes metadata,
                                 struct tkb_arena *arena, struct tkb_facts *out,
                                 struct tkb_error *err);

/*
 * Read and check the facts for a launcher. Strings are put into `arena`.
 * Returns 0, TKB_ERR_CORRUPT (bad metadata or an impossible number),
 * TKB_ERR_UNSUPPORTED (a kernel that C cannot launch) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_facts_read_for_launch(struct tkb_bytes metadata,
                                            struct tkb_arena *arena,
                                            struct tkb_facts *out,
                                            struct tkb_error *err);

#endif

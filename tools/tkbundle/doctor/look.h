/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LOOK_H
#define TKBUNDLE_LOOK_H

#include "report/source.h"

/* What the files of a kernel tell of how it was made. */
struct look {
	uint32_t ptx;    /* 87: of its PTX; 0: not told */
	bool has_binary; /* machine code, so that the driver need not make it */
	bool is_read;
	char *environment; /* owned: "NAME=value" lines, by name; NULL: none */
};

/*
 * Look into each kernel of the source.
 *
 * @param end_ms  of CLOCK_MONOTONIC: those that are left then are not read
 * @param out     an array for all entries, which the caller frees by looks_free()
 * @param damage  receives what is wrong with a bundle, or stays as it is
 * @return 0 or TKB_ERR_NOMEM; what cannot be read is not told
 */
TKB_NODISCARD int looks_take(const struct source *source, uint64_t end_ms,
                             struct look **out, struct tkb_error *damage,
                             struct tkb_error *err);
void looks_free(struct look *looks, size_t count);

/*
 * The variables of this environment that enter Triton's keys, as they stand there and
 * in a look: "NAME=value" lines, by name. The caller frees it; NULL where there is
 * none, or no memory.
 */
char *look_environment(void);

#endif

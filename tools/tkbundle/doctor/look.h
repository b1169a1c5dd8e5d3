/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LOOK_H
#define TKBUNDLE_LOOK_H

#include "report/source.h"

/* What the files of a kernel tell of how it was made. */
struct look {
	uint32_t ptx;    /* 87: of its PTX; 0: not told */
	bool has_binary; /* machine code, so that the driver need not make it */
	bool is_checked; /* of a bundle: it is known to be whole, or not */
	bool is_read;    /* its metadata was */
	char *environment; /* owned: "NAME=value" lines, by name; NULL: none */
	char *damage; /* owned; why it cannot be read from a bundle; or NULL */
};

struct looks {
	struct look *items; /* owned; of each entry */
	size_t count;
	size_t unread_count; /* entries of a bundle that time was too short for */
};

/*
 * Look into each kernel of the source, and of a bundle, which entries are whole.
 *
 * @param end_ms  of CLOCK_MONOTONIC: those that are left then are not read
 * @param out     released by the caller, as it is zeroed also after a failure
 * @return 0 or TKB_ERR_NOMEM; files of a cache that cannot be read are skipped
 */
TKB_NODISCARD int looks_take(const struct source *source, uint64_t end_ms,
                             struct looks *out, struct tkb_error *err);
void looks_release(struct looks *looks);

/*
 * The variables of this environment that are part of Triton's keys, in the form
 * of look.environment: "NAME=value" lines, sorted. The caller frees it. NULL:
 * none is set, or memory is short.
 */
char *look_environment(void);

#endif

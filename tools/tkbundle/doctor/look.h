/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LOOK_H
#define TKBUNDLE_LOOK_H

#include "report/source.h"

/* Facts from the files of a kernel about how it was made. */
struct look {
	uint32_t ptx;      /* version of its PTX, as 87; 0: unknown */
	bool has_binary;   /* it has machine code, so the driver need not make
	                    it */
	bool is_checked;   /* of a bundle: it is known whether it is whole */
	bool is_read;      /* its metadata was read */
	char *environment; /* owned: "NAME=value" lines, by name; NULL: none */
	char *damage; /* owned; why it cannot be read from a bundle; or NULL */
};

struct looks {
	struct look *items; /* owned; facts about each entry */
	size_t count;
	size_t unread_count; /* entries of a bundle that were not read in
	                        time */
};

/*
 * Examine each kernel of the source; for a bundle, also find out which entries
 * are whole.
 *
 * @param end_ms  of CLOCK_MONOTONIC: entries that are left then are not read
 * @param out     released by the caller; also set after a failure
 * @return 0 or TKB_ERR_NOMEM; files of a cache that cannot be read are skipped
 */
TKB_NODISCARD int looks_take(const struct source *source, uint64_t end_ms,
                             struct looks *out, struct tkb_error *err);
void looks_release(struct looks *looks);

/*
 * The variables of this environment that are part of Triton's keys, in the form
 * of look.environment: "NAME=value" lines, sorted. The caller frees it. NULL:
 * none is set, or out of memory.
 */
char *look_environment(void);

#endif

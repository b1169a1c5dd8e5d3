/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_LOOK_H
#define TKB_COMPILE_TRITON_TRITON_LOOK_H

/* The state of a path that an answer of triton_worker.py depends on. */

#include "base/base.h"
#include "base/digest.h"
#include "compile/pool/fields.h"
#include "compile/pool/file_identity.h"
#include "compile/triton/triton_fields.h"

enum tkb_look_kind {
	TKB_LOOK_ABSENT,
	TKB_LOOK_COMPARED, /* the digest is of the contents */
	TKB_LOOK_LARGE     /* only the identity counts */
};

struct tkb_look {
	struct tkb_file_identity identity; /* not set for a link */
	struct tkb_digest digest;
	uint32_t kind;
	uint32_t mode; /* kind of file and permissions; for files only */
};

/*
 * Look at a path in the way that `field` says: TKB_TRITON_READ, _SEARCHED, _LISTED
 * or _LINK. False if its state cannot be determined.
 *
 * @param newest_out  when it, or a link that leads to it, changed last: ns since
 *                    1970
 */
bool tkb_look(unsigned field, const char *path, struct tkb_look *out,
              int64_t *newest_out);

/* When the file changed last, in ns since 1970. */
int64_t tkb_look_changed_ns(const struct tkb_file_identity *identity);

#endif

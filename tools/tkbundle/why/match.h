/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MATCH_H
#define TKBUNDLE_MATCH_H

#include <tkbundle/makers.h>

#include "report/source.h"
#include "why/differences.h"

/*
 * Find the same kernel or unit under another key: the most similar entry of
 * that kind and name.
 */

/* A source, and the parts of its entries, which are read on demand. */
struct match_side {
	const struct source *source;
	const struct tkb_makers *makers; /* makers of its entries; NULL:
	                                    unknown */
	struct parts *parts;             /* owned; by index */
};

/* @return 0 or TKB_ERR_NOMEM */
TKB_NODISCARD int match_side_open(struct match_side *side,
                                  const struct source *source,
                                  const struct tkb_makers *makers,
                                  struct tkb_error *err);

/* For TKB_AUTO; a zeroed one is allowed. */
void match_side_close(struct match_side *side);

/* The parts of an entry; NULL: they cannot be read. */
const struct parts *match_parts(struct match_side *side, size_t index);

/* The most similar entry of another side. */
struct match {
	bool is_found;
	size_t index;                   /* its index in the other side */
	struct differences differences; /* differences from it to the entry */
};

/* For TKB_AUTO. */
void match_release(struct match *match);

/*
 * Find the entry of `other` that is most similar to entry `index` of `side`,
 * and has another key.
 *
 * @param may_be  decides whether a candidate is allowed; NULL: all are
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int match_find(struct match_side *side, size_t index,
                             struct match_side *other,
                             bool (*may_be)(void *self, size_t candidate),
                             void *self, struct match *out,
                             struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STARTS_READ_H
#define TKBUNDLE_STARTS_READ_H

#include "config/remote_use.h"

struct json_t;

struct starts_visitor {
	/*
	 * @param report  NULL: it is invalid, or from a newer tkbundle
	 * @param age_s   seconds since it was left
	 */
	void (*on_start)(void *self, const struct json_t *report,
	                 uint64_t age_s);
	void *self;
};

/*
 * Visit the report of each start of the ref, the newest first. If a start has
 * left several reports with its id, visit only the last: the one of its end, if
 * there is one.
 *
 * @return 0, TKB_MISS (there is none), a result of tkb_starts_read(), or
 *         TKB_ERR_NOMEM; on failure nothing was visited
 */
TKB_NODISCARD int starts_read(struct remote_use *use, const char *ref,
                              const struct starts_visitor *visitor,
                              struct tkb_error *err);

#endif

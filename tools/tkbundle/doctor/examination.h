/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_EXAMINATION_H
#define TKBUNDLE_EXAMINATION_H

#include "doctor/fit.h"
#include "doctor/remote/remote_look.h"
#include "doctor/machine/state.h"

/*
 * Examine a cache or bundle: which entries fit, and why the others do not.
 *
 *     TKB_AUTO(examination_end) struct examination it = { 0 };
 *
 *     rc = examination_open(doctor, &it.source, &err);     places have answered
 *     if (rc == 0)
 *             rc = examination_take(doctor, &it, &err);    the rest has, too
 *     examination_note(doctor, &it, rc, &remote, &err);
 */
struct examination {
	struct source source;
	struct fit_facts facts;
	struct looks looks;
	struct fits fits;
	char *environment;         /* owned */
	struct tkb_makers *makers; /* owned; NULL: unknown */
};

/*
 * Open the cache, or the bundle: the operand may be one, or be named like one.
 *
 * @return 0, TKB_MISS (nothing is there that can be read), or as of
 *         tkb_bundle_open() and tkb_cache_open()
 */
TKB_NODISCARD int examination_open(struct doctor *doctor, struct source *out,
                                   struct tkb_error *err);

/* Find out what fits, and print it. @return 0 or TKB_ERR_NOMEM */
TKB_NODISCARD int examination_take(struct doctor *doctor,
                                   struct examination *it,
                                   struct tkb_error *err);

/*
 * Note what is wrong. @param rc the result of the two functions above, with its
 * error
 */
void examination_note(struct doctor *doctor, const struct examination *it,
                      int rc, const struct remote_facts *remote,
                      const struct tkb_error *err);

/* For TKB_AUTO; a zeroed one is allowed. */
void examination_end(struct examination *it);

#endif

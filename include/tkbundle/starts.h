/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STARTS_H
#define TKBUNDLE_STARTS_H

#include <tkbundle/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/starts.h
 * Reports of starts, which servers leave with a ref. They say how warm the
 * starts were.
 *
 *     rc = tkb_starts_add(remote, "model/h100", report, &err);
 *     rc = tkb_starts_read(remote, "model/h100", &visitor, &err);
 *
 * A report is any text. Reports are kept as records of a ref whose name is
 * "@starts/" and the ref's name. tkb_remote_refs() does not list it, and no
 * other ref may begin so. If there are too many reports or they are too old,
 * tkb_remote_gc() removes them, and so does about one in 32 calls of
 * tkb_starts_add().
 */

enum {
	TKB_START_SIZE_LIMIT = 2048, /**< bytes of a report */
	TKB_STARTS_LIMIT = 1000, /**< the newest reports of a ref are kept, */
	TKB_STARTS_AGE_S = 30 * 24 * 60 * 60 /**< unless they are older */
};

/** Receives the reports of a ref. */
struct tkb_starts_visitor {
	/**
	 * @param age_s  seconds since the report was left, by the remote's clock
	 */
	int (*on_start)(void *self, struct tkb_bytes report, uint64_t age_s,
	                struct tkb_error *err);
	void *self;
};

/**
 * Leave a report, in every writable tier.
 *
 * @param before      digest of an earlier report of the same start. It is
 *                    dropped, so that a start counts once; if the remote does
 *                    not allow that, it stays. NULL: there is none
 * @param digest_out  receives the digest of this one
 * @return 0, TKB_ERR_TOO_LARGE (the report, or the ref's name, is), or what
 *         tkb_remote_add() returns
 */
TKB_API TKB_NODISCARD int tkb_starts_add(struct tkb_remote *remote,
                                         const char *ref,
                                         struct tkb_bytes report,
                                         const struct tkb_digest *before,
                                         struct tkb_digest *digest_out,
                                         struct tkb_error *err);

/**
 * Give the kept reports, the newest first. Their contents are not checked. A
 * report that is damaged or cannot be read is ignored.
 *
 * @return 0, TKB_MISS (there is no report), or what tkb_remote_records() or the
 *         visitor returns
 */
TKB_API TKB_NODISCARD int tkb_starts_read(
	struct tkb_remote *remote, const char *ref,
	const struct tkb_starts_visitor *visitor, struct tkb_error *err);

/** List the refs that have reports, each once, sorted by name. */
TKB_API TKB_NODISCARD int tkb_starts_refs(struct tkb_remote *remote,
                                          const struct tkb_ref_visitor *visitor,
                                          struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

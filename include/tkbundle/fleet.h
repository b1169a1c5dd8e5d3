/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FLEET_H
#define TKBUNDLE_FLEET_H

#include <tkbundle/collect.h>
#include <tkbundle/emit.h>
#include <tkbundle/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/fleet.h
 * Share kernels through a remote: push what a ref lacks, pull what is missing
 * here.
 *
 *     rc = tkb_remote_open("redis://cache/2", NULL, &remote, &err);
 *     rc = tkb_push(remote, "model/h100", root, NULL, &pushed, &err);
 *     rc = tkb_pull(remote, "model/h100", root, NULL, &pulled, &err);
 *     tkb_remote_close(remote);
 *
 * A ref is a set of immutable records, one for each pushed bundle. A push
 * uploads a blob, then adds a record; nothing is ever rewritten, so any number
 * may push to one ref at once and lose nothing. A blob that is gone (evicted)
 * makes a hole: a pull takes what is left, and the next push fills it.
 *
 * Threads: a remote belongs to one thread at a time.
 */

/** Choices for tkb_push(). Zero means the default. */
struct tkb_push_options {
	/** As of tkb_collect(). With dry_run it is told what would be pushed. */
	struct tkb_collect_options collect;
};

/** What a push did. */
struct tkb_push_report {
	uint64_t pushed_count;   /**< entries that the ref lacked */
	uint64_t present_count;  /**< entries that it had */
	uint64_t left_out_count; /**< entries that cannot be packed */
	uint64_t record_count;   /**< of the ref, before */
	uint64_t dropped_count;  /**< records whose blob was gone */
	uint64_t blob_count;     /**< blobs put */
	uint64_t size;           /**< of those, bytes */
};

/**
 * Push what of the cache at `cache_root` the ref lacks.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success; may be NULL
 * @return 0, also where there was nothing to do; what tkb_collect() and
 *         tkb_remote_put() return
 */
TKB_API TKB_NODISCARD int tkb_push(struct tkb_remote *remote, const char *ref,
                                   const char *cache_root,
                                   const struct tkb_push_options *options,
                                   struct tkb_push_report *report,
                                   struct tkb_error *err);

/** Choices for tkb_pull(). Zero means the default. */
struct tkb_pull_options {
	/** As of tkb_emit(). With dry_run nothing is fetched. */
	struct tkb_emit_options emit;
};

/** What a pull did. */
struct tkb_pull_report {
	struct tkb_emit_report emit; /**< of all bundles, added up */
	uint64_t record_count;       /**< of the ref */
	uint64_t unreadable_count;   /**< records of a newer tkbundle, or
	                                  damaged: passed over */
	uint64_t wanted_count;       /**< blobs with something missing here */
	uint64_t fetched_count;      /**< of those, fetched */
	uint64_t fetched_size;       /**< bytes */
	uint64_t gone_count;         /**< blobs that are not there any more */
	uint64_t failed_count;       /**< blobs that could not be had, or are
	                                  damaged */
};

/**
 * Fetch what of `ref` is missing in the cache at `cache_root`, and emit it.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success; may be NULL
 * @return 0, also where there was nothing to do, and where blobs are gone: see
 *         the report; TKB_MISS (the ref has no record);
 *         TKB_ERR_UNAVAILABLE or TKB_ERR_CORRUPT (some blobs could not be had;
 *         the rest was emitted), or what tkb_emit() returns
 */
TKB_API TKB_NODISCARD int tkb_pull(struct tkb_remote *remote, const char *ref,
                                   const char *cache_root,
                                   const struct tkb_pull_options *options,
                                   struct tkb_pull_report *report,
                                   struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

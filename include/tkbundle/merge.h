/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MERGE_H
#define TKBUNDLE_MERGE_H

#include <tkbundle/bundle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/merge.h
 * Make one bundle of several.
 *
 * The result has the union of their entries and launchers. Frames are copied,
 * not decoded and packed again. If several bundles have an entry for one
 * device, that of the first bundle is used; so is the first of units of a tree
 * that are inside one another. A frame is not copied if nothing in it is used;
 * if only a part is used, the rest stays in the frame, unused.
 *
 * Each frame is checked against its digest before it is sent. A damaged one
 * ends the merge, so the sink must not publish what it got until tkb_merge()
 * returns 0.
 *
 * Threads: one bundle may be merged by several threads at once.
 */

/** Choices for tkb_merge(). Zero means the default. */
struct tkb_merge_options {
	size_t struct_size;   /**< sizeof it, as the caller was built */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	const struct tkb_watch
		*watch; /**< a result for each entry: collected, or
	                             skipped if an earlier bundle has it */
};

/** What a merge did. */
struct tkb_merge_report {
	size_t struct_size;      /**< sizeof it, as the caller was built */
	struct tkb_digest id;    /**< of the bundle */
	uint64_t entry_count;    /**< in the bundle */
	uint64_t skipped_count;  /**< entries that an earlier bundle had */
	uint64_t launcher_count; /**< in the bundle */
	uint64_t frame_count;    /**< copied frames */
	uint64_t unused_size;    /**< bytes of unused files in the frames */
	uint64_t size;           /**< bytes of the entries' files */
	uint64_t bundle_size;    /**< bytes of the bundle */
};

/**
 * Merge `bundles` and send the result to `sink`. The profile of the result is
 * full if those of all bundles are; otherwise it is lean.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success; may be NULL
 * @return 0, TKB_ERR_INVALID (no bundle), TKB_ERR_CORRUPT (an input is
 *         damaged), TKB_ERR_TOO_LARGE, TKB_ERR_IO, TKB_ERR_NOMEM,
 *         TKB_ERR_CANCELLED, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_merge(const struct tkb_bundle *const *bundles,
                                    size_t count,
                                    const struct tkb_merge_options *options,
                                    const struct tkb_sink *sink,
                                    struct tkb_merge_report *report,
                                    struct tkb_error *err);

/**
 * As tkb_merge(), but into the file `path`, which appears whole, in one step.
 * It may be the file of one of `bundles`.
 */
TKB_API TKB_NODISCARD int tkb_merge_to_file(
	const struct tkb_bundle *const *bundles, size_t count,
	const struct tkb_merge_options *options, const char *path,
	struct tkb_merge_report *report, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

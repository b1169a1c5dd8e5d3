/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COLLECT_H
#define TKBUNDLE_COLLECT_H

#include <tkbundle/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/collect.h
 * Pack a cache into a bundle.
 *
 * An entry is packed only if it is whole: every file that its group file lists
 * exists and is complete, its metadata has the key's hash, and its binary fits
 * its metadata. Others are left out, and reported with a reason. The same
 * entries give the same bytes, wherever the cache is and whoever packs it.
 *
 * A compiler may be writing to the cache: an entry that changes while it is
 * read is left out as busy. Nothing in the cache is changed. If the system
 * allows it (O_NOATIME), even access times stay.
 *
 * Threads: any number of collects may run at once, even of the same cache. Each
 * starts its own threads, which end with it.
 */

/** How much of a kernel to pack. */
enum tkb_profile {
	TKB_PROFILE_FULL, /**< every file */
	TKB_PROFILE_LEAN  /**< what a launch needs: no IR, no PTX, no source */
};

/** Choices for tkb_collect(). Zero means the default. */
struct tkb_collect_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *const
		*keys;    /**< only these, or unique prefixes; not kept */
	size_t key_count; /**< 0: all */
	bool has_device;  /**< only `device`; in a Triton root, its number */
	uint32_t device;
	enum tkb_profile profile;
	bool is_kernels_only;
	/**
	 * Remove names of source files: in the IR, PTX, cubins and debug data
	 * of kernels, each letter of such a name becomes a dash. Line numbers,
	 * names of functions and everything that a launch reads stay. Modules
	 * and metadata are packed as they are. Strip all bundles of a ref or
	 * none: a stripped bundle that is emitted over original entries
	 * replaces each of them, and the other way round.
	 */
	bool is_stripped;
	bool is_strict;       /**< if anything is left out, return
	                           TKB_ERR_LEFT_OUT and write nothing */
	bool is_dry_run;      /**< check everything, write nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< packed as well; not kept */
	size_t tree_count;
	/**
	 * Leave out, as busy, units of trees with a file that was changed less
	 * than this long ago: the engine may still be writing. Kernels need no
	 * such time, since their group file is written last.
	 */
	uint32_t settle_ms;
	/**
	 * The level of zstd, from -50, the fastest, to 19, which takes a
	 * hundred times as long; 0: level 2. For the kernels of a single graph,
	 * level -3 saves a fifth of the time and makes the bundle 40 % larger.
	 * An emit takes up to a tenth less time at negative levels.
	 */
	int32_t level;
};

/** What a collect did. */
struct tkb_collect_report {
	size_t struct_size;       /**< sizeof it, as the caller was built */
	struct tkb_digest id;     /**< of the bundle */
	bool is_inductor;         /**< the cache was an Inductor cache folder */
	uint64_t collected_count; /**< entries in the bundle */
	uint64_t left_out_count;
	uint64_t unfinished_count; /**< folders without a finished entry */
	uint64_t stray_count;      /**< files that belong to no entry */
	uint64_t moved_count;      /**< entries that name another path */
	uint64_t launcher_count;   /**< saved launchers in the bundle */
	uint64_t dropped_count;    /**< launchers whose kernels are missing */
	uint64_t file_count;
	uint64_t size;        /**< bytes of the files packed */
	uint64_t bundle_size; /**< bytes; 0 in a dry run */
};

/**
 * Pack the cache at `cache_root` and send the bundle to `sink`, in order.
 * Nothing is sent before everything has been read.
 *
 * @param options  not kept; NULL means all defaults
 * @param sink     not kept; may be NULL in a dry run
 * @param report   filled in on success, TKB_ERR_PARTIAL and TKB_ERR_LEFT_OUT;
 *                 may be NULL. In a dry run it has the id that the bundle would
 *                 have
 * @return 0; TKB_ERR_PARTIAL (something is left out; the sink has the rest, a
 *         whole bundle); TKB_MISS (no such cache; or no such device or key: the
 *         watch receives which), TKB_ERR_INVALID, TKB_ERR_LEFT_OUT, TKB_ERR_IO,
 *         TKB_ERR_NOMEM, TKB_ERR_TOO_LARGE, TKB_ERR_CANCELLED, or what the sink
 *         returned
 */
TKB_API TKB_NODISCARD int tkb_collect(const char *cache_root,
                                      const struct tkb_collect_options *options,
                                      const struct tkb_sink *sink,
                                      struct tkb_collect_report *report,
                                      struct tkb_error *err);

/**
 * As tkb_collect(), but into the file `path`, which appears whole, in one step,
 * and replaces a file of that name. On failure nothing is written;
 * TKB_ERR_PARTIAL does not count as a failure. If `path` is a pipe, /dev/null
 * or another special file, the bundle is written to it.
 */
TKB_API TKB_NODISCARD int tkb_collect_to_file(
	const char *cache_root, const struct tkb_collect_options *options,
	const char *path, struct tkb_collect_report *report,
	struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MAINTAIN_H
#define TKBUNDLE_MAINTAIN_H

#include <tkbundle/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/maintain.h
 * Maintain a cache: make a moved cache work again, gather entries in the folder
 * where they are looked for, list which entries are used, and remove unused
 * ones. All of this may be done while compilers work in the cache, and by
 * several processes at once.
 */

/** Choices for tkb_relocate(). Zero means the default. */
struct tkb_relocate_options {
	size_t struct_size;   /**< sizeof it, as the caller was built */
	bool is_dry_run;      /**< only look, write nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< relocated as well; not kept */
	size_t tree_count;
};

/** What a relocate did. */
struct tkb_relocate_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_inductor;
	uint64_t relocated_count; /**< entries and units that were rewritten */
	uint64_t present_count;   /**< those that had the right path already */
	uint64_t left_out_count;  /**< those that are not whole */
	uint64_t failed_count;    /**< failed: the system refused */
};

/**
 * Rewrite the group file of each entry so that it names the entry's present
 * path: `cache_root`, made absolute, without resolving links. Without this, a
 * compiler compiles each kernel of a moved cache again.
 *
 * Each group file is replaced by one rename. Every file is read. Entries that
 * are not whole, as tkb_collect() defines it, are left alone. Results are
 * TKB_OUTCOME_REPAIRED, TKB_OUTCOME_PRESENT, TKB_OUTCOME_LEFT_OUT and
 * TKB_OUTCOME_FAILED.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry failed or was left out; the rest is
 *         done); TKB_MISS (neither the folder nor a tree exists),
 *         TKB_ERR_INVALID, TKB_ERR_IO (the root cannot be written),
 *         TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_relocate(
	const char *cache_root, const struct tkb_relocate_options *options,
	struct tkb_relocate_report *report, struct tkb_error *err);

/** Choices for tkb_gather_kernels(). */
struct tkb_gather_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/** Where to look for kernels; not kept. */
	const struct tkb_tree *trees;
	size_t tree_count;
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
};

/** What a gather did. */
struct tkb_gather_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/** Entries that the root lacked, or that were incomplete there. */
	uint64_t gathered_count;
	uint64_t present_count; /**< entries that the root had */
	/**
	 * Entries that are not whole, that a compiler is writing, or whose
	 * destination is something else.
	 */
	uint64_t left_out_count;
	uint64_t failed_count; /**< failed: the system refused */
};

/**
 * Put the kernels that are in folders of `trees` also into the root
 * `cache_root`, a folder of keys, which is made if necessary. A kernel has the
 * same key in every folder, and an engine may look for it in a folder other
 * than the one it wrote it to.
 *
 * Files become hard links if the file system supports them, else copies; the
 * group file is written anew, with the new path. Each entry appears as in an
 * emit. Existing entries are not read: an entry that has all its files stays.
 * Results are TKB_OUTCOME_EMITTED, TKB_OUTCOME_PRESENT, TKB_OUTCOME_REPAIRED,
 * TKB_OUTCOME_SKIPPED, TKB_OUTCOME_LEFT_OUT and TKB_OUTCOME_FAILED; an entry
 * that needed no inspection has none.
 *
 * @param options  not kept; NULL means all defaults, and no tree
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry failed or was left out; the rest is
 *         done); TKB_ERR_INVALID, TKB_ERR_IO (the root cannot be written),
 *         TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_gather_kernels(
	const char *cache_root, const struct tkb_gather_options *options,
	struct tkb_gather_report *report, struct tkb_error *err);

/** What the use stamp of an entry says. */
enum tkb_use_state {
	TKB_USE_STATE_UNKNOWN, /**< the file system keeps no access times */
	TKB_USE_STATE_UNUSED,  /**< not read since it was emitted */
	TKB_USE_STATE_USED,    /**< read since it was written; see `used_ns` */
	TKB_USE_STATE_COMPILED /**< written by a compiler here, or without
	                      a stamp, and not read since */
};

/** "unknown", "unused", "used" or "compiled". Static storage. */
TKB_API const char *tkb_use_state_name(enum tkb_use_state state);

/** One entry at one root, and when it was used. */
struct tkb_use {
	const struct tkb_entry *entry;
	const char *root;
	uint32_t device;
	enum tkb_use_state state;
	int64_t used_ns;    /**< last read, since 1970; 0: unknown */
	int64_t written_ns; /**< since 1970 */
	uint64_t size;      /**< bytes of its files on disk */
};

struct tkb_uses;

/** Choices for tkb_uses_open(). Zero means the default. */
struct tkb_uses_options {
	size_t struct_size;   /**< sizeof it, as the caller was built */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	/** Its progress counts folders; on_result() is not called. */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< their units as well; not kept */
	size_t tree_count;
};

/**
 * Find out which entries of the cache at `cache_root` were read since their
 * emit.
 *
 * An emit sets the access time of each kernel's group file to 0; the first read
 * changes it. tkbundle's own reads do not, if it owns the file or runs as root.
 * Modules and autotune files have no such stamp: the times of their first file
 * are used. All files of a unit have the stamp, and a unit is used if one of
 * its files is read. Whether the file system keeps access times is tried with
 * an unnamed file; if none can be made, the mount options decide. In the lower
 * layers of a container image, access times never change.
 *
 * @param cache_root  not kept; with trees, it may be NULL or name no folder
 * @param options     not kept; NULL means all defaults
 * @param out         receives a handle that the caller closes
 * @return 0, TKB_MISS (no such folder), TKB_ERR_INVALID, TKB_ERR_IO,
 *         TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_uses_open(const char *cache_root,
                                        const struct tkb_uses_options *options,
                                        struct tkb_uses **out,
                                        struct tkb_error *err);

/** Release the handle and all that it lent. Never fails; NULL is allowed. */
TKB_API void tkb_uses_close(struct tkb_uses *uses);

/** Does the file system keep access times? */
TKB_API bool tkb_uses_are_known(const struct tkb_uses *uses);

/** The number of entries; each counts once for each root. */
TKB_API size_t tkb_uses_count(const struct tkb_uses *uses);

/**
 * Entry `index`: used ones come first, in the order of their use, then the
 * others, by name.
 */
TKB_API const struct tkb_use *tkb_uses_at(const struct tkb_uses *uses,
                                          size_t index);

/**
 * The bundles from which the entries of a cache were pulled, and which of these
 * are revoked. Only pulls with a policy note this: see trust.h.
 */
struct tkb_origins;

/**
 * Read what pulls have noted beside a cache.
 *
 * @param revoked  digests that tkb_revoked() gave; not kept
 * @param out      receives a handle that the caller closes
 * @return 0, also if nothing is noted; TKB_ERR_CORRUPT (not a regular
 *         file, or over 16 MiB), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_origins_open(const char *cache_root,
                                           const struct tkb_digest *revoked,
                                           size_t count,
                                           struct tkb_origins **out,
                                           struct tkb_error *err);

/**
 * Was the entry with this key pulled from something that is revoked? False if a
 * gc has removed the entry since.
 */
TKB_API bool tkb_origins_is_revoked(const struct tkb_origins *origins,
                                    const char *key);

/** Release the handle. NULL is allowed. */
TKB_API void tkb_origins_close(struct tkb_origins *origins);

/** Choices for tkb_gc(). Zero means that there is no such bound. */
struct tkb_gc_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool has_max_size;
	uint64_t max_size; /**< bytes of entries that stay, of all devices */
	bool has_max_entries;
	uint64_t max_entries; /**< entries that stay, of all devices */
	bool has_max_age;
	uint64_t max_age_s;   /**< seconds since an entry was used or written */
	bool is_dry_run;      /**< report only, remove nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< their units too; not kept */
	size_t tree_count;
	/**
	 * For this cache root: also remove entries that were pulled from
	 * something revoked. Not kept; may be NULL.
	 */
	const struct tkb_origins *revoked;
};

/** What a gc did. */
struct tkb_gc_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_inductor;
	bool has_uses;          /**< access times are kept; else entries are
	                             sorted by age only */
	uint64_t removed_count; /**< removed entries */
	uint64_t removed_size;  /**< bytes of the removed entries */
	uint64_t kept_count;
	uint64_t kept_size;
	uint64_t busy_count;       /**< of the kept ones: in use by a process */
	uint64_t failed_count;     /**< of the kept ones: the system refused */
	uint64_t unfinished_count; /**< removed folders of stopped compiles */
};

/**
 * Remove entries until the bounds hold, the least recently used first; writing
 * an entry counts as a use. With relatime, the usual mount option, the system
 * records the first read after an entry was written, and then one a day.
 *
 * The group file of an entry is removed first, so that nobody finds an
 * incomplete entry; the other files follow a second later, for compilers that
 * have just read the group file. Entries that are being written or not whole
 * stay, and no younger entries are removed instead. Results are
 * TKB_OUTCOME_REMOVED, TKB_OUTCOME_SKIPPED (busy) and TKB_OUTCOME_FAILED, in
 * the order of last use.
 *
 * A cancelled gc finishes what it has begun, which takes a second or two. A
 * killed gc leaves whole entries, and folders without a group file, like those
 * of a stopped compile: for a compiler, these are misses. Such folders are
 * removed once they are unchanged for a day.
 *
 * Units of trees count like entries, and the bounds hold for both together. The
 * times of all files of a unit tell when it was used. A unit is removed by one
 * rename of its folder or one unlink of its file. On a full disk, a folder is
 * removed file by file; files that refer to others go first. A unit is busy,
 * and stays,
 *
 *   - if it was read or written in the last ten minutes;
 *   - if a process holds a lock on a file "*.lock" in its tree;
 *   - if there is a hold on its tree (see tkb_hold_open()), and it was read or
 *     written later than a day before the hold began, or that is unknown;
 *   - if a file of a unit that stays refers to it. A unit also counts as used
 *     when a unit that refers to it was used, so it is never removed before
 *     that unit.
 *
 * @param cache_root  NULL: only the trees
 * @param options  not kept; at least one bound must be set
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry to remove is busy or failed; the rest is
 *         done); TKB_MISS (no such folder), TKB_ERR_INVALID (no bound),
 *         TKB_ERR_IO, TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_gc(const char *cache_root,
                                 const struct tkb_gc_options *options,
                                 struct tkb_gc_report *report,
                                 struct tkb_error *err);

/** Keeps a gc from removing what an engine may read. */
struct tkb_hold;

/**
 * Declare that the cache or tree at `root` is in use: tkb_gc() then keeps units
 * of trees that may have been read since. This is for programs that start an
 * engine: an engine that has read an index fails if a file that the index names
 * is gone.
 *
 * The hold ends with the process, even if the process is killed. Kernels need
 * no hold.
 *
 * @param out  receives a hold that the caller closes
 * @return 0, TKB_MISS (no such folder), TKB_ERR_INVALID, TKB_ERR_IO (the root
 *         cannot be written) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_hold_open(const char *root, struct tkb_hold **out,
                                        struct tkb_error *err);

/** End the hold. Never fails; NULL is allowed. */
TKB_API void tkb_hold_close(struct tkb_hold *hold);

#ifdef __cplusplus
}
#endif

#endif

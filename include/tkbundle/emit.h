/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_EMIT_H
#define TKBUNDLE_EMIT_H

#include <tkbundle/bundle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/emit.h
 * Put a bundle's entries where a compiler looks for them.
 *
 * Each entry appears by one rename of a finished folder, so nobody ever sees
 * part of an entry, even if this process is killed. Existing whole entries are
 * kept. Incomplete ones are repaired, file by file, without disturbing a
 * compiler that works in the same folder. A frame is checked before it is
 * decoded: entries of a damaged frame are not emitted, all others are. Any
 * number of processes may emit to the same place at once.
 *
 * The folder `.tkbundle` in the cache root holds tkbundle's own files. If
 * another process holds its lock for more than 5 seconds, the emit goes on
 * without the lock, as it does on a file system without locks. Nothing is
 * synced to disk unless `is_synced` is set; instead, the first emit after a
 * boot hashes what it finds.
 *
 * Threads: any number of emits may run at once, even of the same bundle and to
 * the same place. Each starts its own threads, which end with it.
 *
 * Ownership of files
 * ------------------
 * A cache may be filled by one user and written by another, for instance by an
 * init container and a server. So everything that tkbundle makes for a cache
 * (its root, the folders above it, entries, `.tkbundle`) is shared with the
 * users of its parent folder. The umask is applied as usual. Then the following
 * is added, and nothing is taken away:
 *
 *   - the folder's owner, if tkbundle runs as root; its group, if tkbundle runs
 *     as root or the group may write to the folder;
 *   - the mode's rights for the group, if the group may write to the folder;
 *     and those for others, if others may write to it. In most folders neither
 *     may, and only the umask counts.
 *
 * There are two exceptions. In a sticky folder such as /tmp, tkbundle shares
 * only if it runs as root. Then its folders are sticky too, and its files are
 * not writable for others: they can add entries, but cannot replace any. (If
 * the cache root itself is sticky, everybody can use `.tkbundle`, and each
 * entry belongs to its writer.) If a folder has an access control list, the
 * list decides the group's rights.
 *
 * Existing files and folders keep their owners and modes. If an owner, group or
 * mode cannot be set, for instance because the user is not in the group, that
 * is not a failure.
 */

/** The layout of the destination. */
enum tkb_layout {
	TKB_LAYOUT_AUTO,    /**< Inductor if the destination has
	                         `triton/<device>/`; or if it has no entries
	                         yet, and the bundle was made from an
	                         Inductor cache, or the bundle or the caller
	                         names several devices. Otherwise Triton */
	TKB_LAYOUT_TRITON,  /**< keys are folders of the root */
	TKB_LAYOUT_INDUCTOR /**< `triton/<device>/` are such roots */
};

/** Choices for tkb_emit(). Zero means the default. */
struct tkb_emit_options {
	size_t struct_size;      /**< sizeof it, as the caller was built */
	const char *const *keys; /**< only these, or unique prefixes */
	size_t key_count;        /**< 0: all */
	const uint32_t *devices; /**< emit for these devices, not for the
	                              recorded ones; each below 1024 */
	size_t device_count;     /**< 0: the devices of each entry */
	const struct tkb_target *targets; /**< only kernels for these; an
	                                       empty arch or a warp size of 0
	                                       fits any */
	size_t target_count;              /**< 0: all */
	enum tkb_layout layout;
	bool is_synced;       /**< sync the file system, before and after */
	bool is_dry_run;      /**< inspect, write nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< where the bundle's trees go; units of
	                                   other trees are skipped; not kept */
	size_t tree_count;
	/**
	 * An absolute path with which all roots must begin. It is removed from
	 * the paths that are written into files. This is for folders that are
	 * filled here and moved afterwards, such as those of an archive. NULL:
	 * nothing is removed. Not kept.
	 */
	const char *staged_in;
	/** Ignore the layout that the bundle's cache had: the root is the one
	    that Triton itself uses. */
	bool is_layout_ignored;
};

/** What an emit did. An entry counts once for each root to which it goes. */
struct tkb_emit_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_inductor;   /**< the layout that was used */
	uint64_t emitted_count;
	uint64_t present_count;
	uint64_t repaired_count;
	uint64_t busy_count;    /**< skipped: a compiler is writing there */
	uint64_t skipped_count; /**< not wanted here, which is not a failure */
	uint64_t failed_count;  /**< failed: the system refused */
	uint64_t damaged_count; /**< failed: their frame is damaged */
	uint64_t unsafe_count;  /**< failed: a link or a file in the way */
	uint64_t size;          /**< bytes written */
};

/**
 * Emit `bundle` to the cache at `cache_root`, which is made if necessary.
 *
 * Paths written into files begin with `cache_root`, made absolute without
 * resolving links.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success, TKB_ERR_PARTIAL and TKB_ERR_CORRUPT;
 *                 may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry is busy, failed or unsafe; the rest was
 *         emitted); TKB_ERR_CORRUPT (a part of the bundle is damaged; the rest
 *         was emitted); TKB_MISS (no entry has a key that was asked for; the
 *         watch receives which), TKB_ERR_INVALID, TKB_ERR_IO (the root cannot
 *         be written), TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_emit(const struct tkb_bundle *bundle,
                                   const char *cache_root,
                                   const struct tkb_emit_options *options,
                                   struct tkb_emit_report *report,
                                   struct tkb_error *err);

/**
 * Make the folder `path` and missing folders above it, with the owners and
 * modes that an emit gives its cache root. This is for programs that fill the
 * folder by other means.
 *
 * @return 0, also if it exists; TKB_ERR_INVALID (an empty path), TKB_ERR_IO,
 *         TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_cache_root_make(const char *path,
                                              struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

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
 * Each entry appears by one rename of a finished folder, so that nobody ever
 * sees a part of one, whatever happens to this process. What is there
 * already and whole is kept; what is torn is repaired, file by file, in a
 * way that a compiler at work there does not notice. A frame is checked
 * before it is decoded: of a damaged one nothing appears, and the rest goes
 * on. Any number of processes may emit to one place at once.
 *
 * In the cache root, the folder `.tkbundle` holds what tkbundle needs there. If
 * somebody else holds the lock in it for more than 5 seconds, the emit goes on
 * without the lock, as on a file system that has none.
 * Nothing is synced to disk unless asked for: after a power failure, the
 * next emit hashes what it finds, once per boot.
 *
 * Threads: any number of emits may run at once, of one bundle and to one place
 * too; each uses threads of its own, which end with it.
 *
 * Whose it is
 * -----------
 * A cache may be filled by one user and written by another, as where an init
 * container pulls for a server. So whatever tkbundle makes for a cache (its
 * root, the folders above it, entries, `.tkbundle`) is for those whom the
 * folder is for that it is made in. The umask is applied as ever, then this is
 * added, and nothing is taken away:
 *
 *   - the folder's owner, if we are root; its group, if we are root, or if the
 *     group may write in the folder;
 *   - what its mode gives the group, if the group may write there; and what it
 *     gives all others, if they may write there. In a folder without such
 *     rights, as most are, the umask alone counts, 077 as well.
 *
 * Two exceptions. In a sticky folder, as /tmp is, each user's things are his
 * own: there we share only if we are root, and then our folders are sticky, too,
 * and our files get no right to be written: others can add entries, and replace
 * none. (Where the cache root itself is sticky, all can use `.tkbundle`, and each
 * entry is its writer's.) Where a folder has an access control list, the group's
 * rights are left to that.
 *
 * What is there already is changed in no way. What cannot be had, as a group
 * that the user is not in, is left, and is no failure.
 */

/** How the destination is laid out. */
enum tkb_layout {
	TKB_LAYOUT_AUTO,    /**< Inductor if it has `triton/<device>/`; where
	                         it has no entries yet, also if the bundle is
	                         of such a cache, or the bundle or the caller
	                         names several devices; else Triton */
	TKB_LAYOUT_TRITON,  /**< a folder of keys */
	TKB_LAYOUT_INDUCTOR /**< `triton/<device>/`, a folder of keys each */
};

/** Choices for tkb_emit(). Zero means the default. */
struct tkb_emit_options {
	size_t struct_size;      /**< sizeof it, as the caller was built */
	const char *const *keys; /**< only these, or unique prefixes */
	size_t key_count;        /**< 0: all */
	const uint32_t *devices; /**< emit for these, whatever was recorded */
	size_t device_count;     /**< 0: those that each entry names */
	const struct tkb_target *targets; /**< kernels for these alone; an
	                                       empty arch, or a warp size of
	                                       0, fits any */
	size_t target_count;              /**< 0: all */
	enum tkb_layout layout;
	bool is_synced;       /**< sync the file system, before and after */
	bool is_dry_run;      /**< look, write nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< though TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< where the bundle's trees go; units of
	                                   others are skipped; not kept */
	size_t tree_count;
	/**
	 * Texts name the roots without this absolute path, with which each
	 * of them must begin: for folders that are filled here and will lie
	 * elsewhere, as those of an archive. NULL: as they are. Not kept.
	 */
	const char *staged_in;
	/** Ignore the layout that the bundle's cache had: the root is the one
	    that Triton itself uses. */
	bool is_layout_ignored;
};

/** What an emit did. Each entry counts once at each place that it goes to. */
struct tkb_emit_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_inductor;   /**< the layout that was taken */
	uint64_t emitted_count;
	uint64_t present_count;
	uint64_t repaired_count;
	uint64_t busy_count;    /**< skipped: a compiler is writing there */
	uint64_t skipped_count; /**< skipped: not wanted here; no failure */
	uint64_t failed_count;  /**< the system refused */
	uint64_t damaged_count; /**< failed: their frame is damaged */
	uint64_t unsafe_count;  /**< failed: a link or a file in the way */
	uint64_t size;          /**< bytes written */
};

/**
 * Emit `bundle` to the cache at `cache_root`, which is made if need be.
 *
 * Paths in the entries' files become `cache_root` as it is given here, made
 * absolute, without resolving links.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success, TKB_ERR_PARTIAL and TKB_ERR_CORRUPT;
 *                 may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry is busy, failed or unsafe; the rest was
 *         emitted); TKB_ERR_CORRUPT (some part of the bundle is damaged; the
 *         rest was emitted); TKB_MISS (as the watch is told, no entry
 *         has a key asked for), TKB_ERR_INVALID, TKB_ERR_IO (the root cannot be written),
 *         TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_emit(const struct tkb_bundle *bundle,
                                   const char *cache_root,
                                   const struct tkb_emit_options *options,
                                   struct tkb_emit_report *report,
                                   struct tkb_error *err);

/**
 * Make the folder `path`, and those above it that are not there, as an emit
 * makes its cache root: for whoever fills it by other means.
 *
 * @return 0, also if it is there already; TKB_ERR_INVALID (it is empty),
 *         TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_cache_root_make(const char *path,
                                              struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

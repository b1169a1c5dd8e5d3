/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MAINTAIN_H
#define TKBUNDLE_MAINTAIN_H

#include <tkbundle/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/maintain.h
 * Maintain a cache: make a moved one work again, gather entries where they are
 * looked for, list which are used, and remove those that are not.
 *
 * All of it may be done while compilers work in the cache, and by several
 * processes at once.
 */

/** Choices for tkb_relocate(). Zero means the default. */
struct tkb_relocate_options {
	size_t struct_size;   /**< sizeof it, as the caller was built */
	bool is_dry_run;      /**< look, write nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< though TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< relocated as well; not kept */
	size_t tree_count;
};

/** What a relocate did. */
struct tkb_relocate_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_inductor;
	uint64_t relocated_count; /**< entries and units that were rewritten */
	uint64_t present_count;   /**< those that named their place already */
	uint64_t left_out_count;  /**< those that are not whole */
	uint64_t failed_count;    /**< the system refused */
};

/**
 * Let the group file of each entry name the path where it lies: `cache_root`,
 * made absolute, without resolving links. A compiler compiles each kernel of a
 * moved cache again; after this it finds them.
 *
 * Each group file is replaced by one rename. Every file is read, and entries that
 * are not whole, as tkb_collect() judges, are left as they are. Results are TKB_OUTCOME_REPAIRED, TKB_OUTCOME_PRESENT, TKB_OUTCOME_LEFT_OUT and
 * TKB_OUTCOME_FAILED.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry failed or was left out; the rest names
 *         its place); TKB_MISS (no such folder, and no tree is there),
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
	bool is_enabled; /**< though TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
};

/** What a gather did. */
struct tkb_gather_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/** Entries that the root lacked, or had torn. */
	uint64_t gathered_count;
	uint64_t present_count; /**< those that it has already */
	/** Those that are not whole, that a compiler is writing, or in whose
	    place something else stands. */
	uint64_t left_out_count;
	uint64_t failed_count; /**< the system refused */
};

/**
 * Put the kernels that lie in folders of `trees` into the root `cache_root` as
 * well, a folder of keys, which is made if need be. A kernel's key is the same
 * wherever it lies, and an engine may look for it in one folder today that it put
 * into another one yesterday.
 *
 * Files become hard links where the file system can, else copies; a group file
 * is written anew, and names the new place. Each entry appears as in an emit. What
 * is there is not read: an entry that has all files of the other one stays.
 * Results are TKB_OUTCOME_EMITTED, TKB_OUTCOME_PRESENT, TKB_OUTCOME_REPAIRED,
 * TKB_OUTCOME_SKIPPED, TKB_OUTCOME_LEFT_OUT and TKB_OUTCOME_FAILED; none is told of
 * an entry that needed no look.
 *
 * @param options  not kept; NULL means all defaults, and no tree
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry failed or was left out; the rest is there);
 *         TKB_ERR_INVALID, TKB_ERR_IO (the root cannot be written),
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
	TKB_USE_STATE_COMPILED /**< written here by a compiler, or without a stamp,
	                      and not read since */
};

/** "unknown", "unused", "used" or "compiled". Static storage. */
TKB_API const char *tkb_use_state_name(enum tkb_use_state state);

/** One entry at one root, and when it was used. */
struct tkb_use {
	const struct tkb_entry *entry;
	const char *root;
	uint32_t device;
	enum tkb_use_state state;
	int64_t used_ns;    /**< since 1970, of the last read; 0: none known */
	int64_t written_ns; /**< since 1970 */
	uint64_t size;      /**< bytes of its files as they lie there */
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
 * List which entries of the cache at `cache_root` were read since their emit.
 *
 * Emit sets the access time of each kernel's group file to 0; the first read
 * moves it. Our own reads do not, where the file is ours or we are root. Modules
 * and autotune files have no such stamp: the times of their first file are told.
 * All files of a unit have it, and one that is read makes the unit used. Whether the file system keeps access times is tried on a file
 * without a name, where one can be made, else told by how it is mounted. In an
 * image's layer below a container they never move.
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

/** Release it and all that it gave. Never fails; NULL is allowed. */
TKB_API void tkb_uses_close(struct tkb_uses *uses);

/** Does the file system tell? */
TKB_API bool tkb_uses_are_known(const struct tkb_uses *uses);

/** How many entries there are, each once for each root. */
TKB_API size_t tkb_uses_count(const struct tkb_uses *uses);

/** Number `index`: the used ones first, in order of use; then by name. */
TKB_API const struct tkb_use *tkb_uses_at(const struct tkb_uses *uses,
                                          size_t index);

/** Choices for tkb_gc(). Zero means: no such bound. */
struct tkb_gc_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool has_max_size;
	uint64_t max_size; /**< bytes that entries may take, on all devices */
	bool has_max_entries;
	uint64_t max_entries; /**< entries that may stay, on all devices */
	bool has_max_age;
	uint64_t max_age_s;   /**< seconds since an entry was used or written */
	bool is_dry_run;      /**< say what would go, remove nothing */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< though TKBUNDLE_DISABLE is set, see tkbundle.h */
	const struct tkb_watch *watch;
	const struct tkb_tree *trees; /**< their units as well; not kept */
	size_t tree_count;
};

/** What a gc did. */
struct tkb_gc_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_inductor;
	bool has_uses;          /**< else entries were ordered by age alone */
	uint64_t removed_count; /**< entries */
	uint64_t removed_size;  /**< bytes */
	uint64_t kept_count;
	uint64_t kept_size;
	uint64_t busy_count;   /**< of those kept: somebody is at work there */
	uint64_t failed_count; /**< of those kept: the system refused */
	uint64_t unfinished_count; /**< folders of stopped compiles that went */
};

/**
 * Remove entries until the bounds hold: the least recently used first, where
 * to be written counts as a use. With relatime, as most systems mount, a use
 * is told by the first read after the entry was written, and then once a day.
 *
 * An entry goes as its compiler would have it: the group file first, so that
 * nobody finds a part, and the rest a second later, for those who have just
 * read the group file. What is being written stays, and so does whatever is
 * no whole entry; younger entries do not make up for it. Results are
 * TKB_OUTCOME_REMOVED, TKB_OUTCOME_SKIPPED (busy) and TKB_OUTCOME_FAILED, in the order of last use.
 *
 * Cancelled, it brings what it has begun to its end, which takes a second or
 * two. Killed, it leaves whole entries, and folders without a group file, as a
 * compile does that is stopped: a miss. Such folders of kernels go once nobody
 * has touched them for a day.
 *
 * Units of trees count as entries do, and all bounds hold for both together. The
 * times of all files of a unit tell when it was used. A unit goes by one rename of
 * its folder, or by one unlink of its file; on a full disk file by file, those that
 * name others first. It is busy, and stays,
 *
 *   - if it was read or written in the last ten minutes;
 *   - if somebody holds a lock on a file "*.lock" in its tree;
 *   - if there is a hold on its tree (see tkb_hold_open()), and it was read or
 *     written since a day before the hold began, or that cannot be told;
 *   - if a text of a unit that stays names it. What a text names counts as used
 *     when that text's unit was, so it never goes before it.
 *
 * @param cache_root  NULL: only the trees
 * @param options  not kept; at least one bound must be set
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (an entry that had to go is busy or failed; the
 *         rest went); TKB_MISS (no such folder), TKB_ERR_INVALID (no bound), TKB_ERR_IO, TKB_ERR_NOMEM or
 *         TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_gc(const char *cache_root,
                                 const struct tkb_gc_options *options,
                                 struct tkb_gc_report *report,
                                 struct tkb_error *err);

/** Keeps a gc from removing what is read. */
struct tkb_hold;

/**
 * Say that the cache or tree at `root` is used from now on: tkb_gc() then leaves
 * units of trees alone that may have been read since. For whoever starts an
 * engine: one that has read an index fails if a file is gone that it names.
 *
 * It ends with the process, whatever that dies of. Entries of kernels need none.
 *
 * @param out  receives a hold that the caller closes
 * @return 0, TKB_MISS (no such folder), TKB_ERR_INVALID, TKB_ERR_IO (the root
 *         cannot be written) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_hold_open(const char *root, struct tkb_hold **out,
                                        struct tkb_error *err);

/** End it. Never fails; NULL is allowed. */
TKB_API void tkb_hold_close(struct tkb_hold *hold);

#ifdef __cplusplus
}
#endif

#endif

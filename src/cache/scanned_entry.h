/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_SCANNED_ENTRY_H
#define TKB_CACHE_SCANNED_ENTRY_H

/*
 * An entry as it is in a cache root. An entry is whole if these functions can
 * load its folder and read each of its files. Collect, push, emit, pull,
 * relocate and verify all use them to decide.
 *
 *   tkb_scanned_entry_load()      reads what decides what it is (the group file,
 *                                 other JSON files, modules), stats the rest;
 *   tkb_scanned_entry_read()      reads one of the rest, checks and hashes it;
 *   tkb_scanned_entry_hash()      does so, but keeps no bytes;
 *   tkb_scanned_entry_read_all()  does that for each;
 *   tkb_scanned_entry_check()     finds out whether a file has changed since.
 *
 * A compiler may write to the cache at any time.
 */

#include <sys/stat.h>

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "cache/metadata.h"
#include "cache/root.h"
#include "tree/gpu.h"
#include "tree/paths.h"
#include "tree/unit.h"

/* Identifies a file: tells it from another file of the same name. */
struct tkb_stamp {
	uint64_t inode;
	int64_t size;
	struct timespec modified;
	struct timespec changed;
};

struct tkb_scanned_entry_file {
	struct tkb_stamp stamp;
	/* The scrubbed contents, in the arena, if tkb_scanned_entry_load()
	   read the file; else NULL. */
	struct tkb_bytes bytes;
};

struct tkb_scanned_entry {
	struct tkb_entry entry; /* its pointers are into the loader's arena */
	struct tkb_file *files; /* the entry's files, to be completed */
	struct tkb_scanned_entry_file *loaded; /* one for each file */
	const struct tkb_root *root;
	struct tkb_metadata metadata;
	const char *group_name;         /* of a kernel; else NULL */
	struct tkb_digest group_digest; /* of the group file in the folder */
	size_t stray_count;             /* files in the folder that are not
	                                   the entry's */
	bool is_moved;                  /* it has paths of another root */
	bool is_unwanted; /* a module that is_kernels_only skips: the other
	                     members are not set */
};

/* What one thread needs to load entries. A zeroed loader is closed. */
struct tkb_loader {
	struct tkb_unit_parent parent;
	struct tkb_unit_parent staged;      /* the last folder of siblings */
	const struct tkb_named_root *named; /* by reference; names and paths
	                                       of the trees */
	size_t named_count;
	struct tkb_arena arena; /* owns what is loaded */
	struct tkb_hasher hasher;
	struct tkb_buf scratch;
	struct tkb_buf text;
	struct tkb_buf group; /* the group file of the entry being loaded */
	struct tkb_buf names;
	struct tkb_buf place;     /* the entry's path, escaped */
	struct tkb_gpu_here here; /* looked up at the first tuned unit */
	bool is_lean;
	bool is_kernels_only;
	bool strips;        /* drop source locations, see strip.h */
	uint32_t settle_ms; /* leave out a unit that changed within this time */
};

TKB_NODISCARD int tkb_loader_open(struct tkb_loader *loader, bool is_lean,
                                  bool is_kernels_only, struct tkb_error *err);
void tkb_loader_close(struct tkb_loader *loader);

/*
 * Load folder `key` of `root`.
 *
 * Returns 0; TKB_MISS if there is no finished entry; TKB_ERR_NOMEM; or another
 * failure, whose reason says why the entry must be left out.
 */
TKB_NODISCARD int tkb_scanned_entry_load(struct tkb_loader *loader,
                                         const struct tkb_root *root,
                                         const char *key,
                                         struct tkb_scanned_entry *out,
                                         struct tkb_error *err);

/*
 * Report that file `name` could not be looked up (errno). If it does not exist,
 * the reason is `absent` and the message "'<name>' <what>"; otherwise the
 * message is the system's.
 */
int tkb_fail_look(enum tkb_reason absent, const char *what, const char *name,
                  struct tkb_error *err);

struct tkb_stamp tkb_stamp_of(const struct stat *status);

/* Is it still this file? A new hard link, which changes ctime, is no matter. */
bool tkb_stamp_is_of(const struct tkb_stamp *stamp, const struct stat *status);

/* Read file `name`, of at most `limit` bytes, into `buf`, which is emptied first. */
TKB_NODISCARD int tkb_scanned_entry_read_into(struct tkb_buf *buf, int dir_fd,
                                              const char *name, uint64_t limit,
                                              struct tkb_stamp *stamp_out,
                                              struct tkb_error *err);

/*
 * Read, check and hash file `index`. `*out` is valid until the loader is used
 * again. The digest goes into the entry.
 */
TKB_NODISCARD int tkb_scanned_entry_read(struct tkb_loader *loader,
                                         const struct tkb_scanned_entry *found,
                                         size_t index, struct tkb_bytes *out,
                                         struct tkb_error *err);

/*
 * As tkb_scanned_entry_read(), for callers that need no bytes: a large file does not
 * take its size in memory.
 */
TKB_NODISCARD int tkb_scanned_entry_hash(struct tkb_loader *loader,
                                         const struct tkb_scanned_entry *found,
                                         size_t index, struct tkb_error *err);

/* Hash every file that was not read yet. */
TKB_NODISCARD int tkb_scanned_entry_read_all(
	struct tkb_loader *loader, const struct tkb_scanned_entry *found,
	struct tkb_error *err);

/*
 * Stat every file again, and read the group file again. If one has changed,
 * fail with the reason "busy" or "missing".
 */
TKB_NODISCARD int tkb_scanned_entry_check(struct tkb_loader *loader,
                                          const struct tkb_scanned_entry *found,
                                          struct tkb_error *err);

/* Does this failure concern only one entry, so that others can go on? */
bool tkb_failure_is_of_entry(int rc, const struct tkb_error *err);

#endif

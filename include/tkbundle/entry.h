/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENTRY_H
#define TKBUNDLE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/entry.h
 * Entries, which caches and bundles hold, and how calls report about them.
 *
 * An entry is one folder of a cache root; its name is the key. A unit is an
 * entry of a tree. Trees hold what engines cache besides kernels: see tree.h.
 * Entries are read-only and belong to the bundle or cache that gave them.
 */

/** The text that stands for an entry's own absolute path. */
#define TKB_SENTINEL "[REPLACE]"

/** Bytes, borrowed from somebody else. */
struct tkb_bytes {
	const void *data; /**< may be NULL if size is 0 */
	size_t size;      /**< bytes */
};

/** A receiver of bytes. */
struct tkb_sink {
	/**
	 * Take the next bytes, all of them. They are valid during the call.
	 * @return 0, or a negative enum tkb_status, which ends the transfer
	 */
	int (*write)(void *self, struct tkb_bytes bytes, struct tkb_error *err);
	void *self; /**< given to write() */
};

/** A SHA-256. */
struct tkb_digest {
	unsigned char bytes[32];
};

/** Room for a digest in hexadecimal, with its terminating zero. */
#define TKB_DIGEST_HEX_SIZE 65

/** Write `digest` as 64 lower-case hexadecimal digits and a zero. */
TKB_API void tkb_digest_to_hex(const struct tkb_digest *digest,
                               char out[TKB_DIGEST_HEX_SIZE]);

/** The kinds of entries. A bundle is sorted in this order. */
enum tkb_kind {
	TKB_KIND_AUTOTUNE, /**< timings: `*.autotune.json` */
	TKB_KIND_KERNEL,   /**< a compiled kernel: it has a group file */
	TKB_KIND_MODULE,   /**< a shared object that Python loads */
	TKB_KIND_UNIT      /**< a part of a tree: see tree.h */
};

/** "autotune", "kernel", "module" or "unit". Static storage. */
TKB_API const char *tkb_kind_name(enum tkb_kind kind);

/** How a file of a tree writes paths. */
enum tkb_path_style {
	TKB_PATH_STYLE_NONE,   /**< it has no paths to rewrite */
	TKB_PATH_STYLE_JSON,   /**< in strings of JSON */
	TKB_PATH_STYLE_PYTHON, /**< in string literals of Python */
	TKB_PATH_STYLE_NINJA,  /**< as build.ninja does */
	TKB_PATH_STYLE_TEXT,   /**< byte for byte */
	TKB_PATH_STYLE_BUILD   /**< the same, in the record of a ninja build */
};

/** One file of an entry. */
struct tkb_file {
	const char *name;          /**< UTF-8, no slash, at most 255 bytes;
	                                of a unit, a path relative to its
	                                folder */
	uint64_t size;             /**< bytes; in a bundle, with sentinels */
	struct tkb_digest digest;  /**< of the same bytes; zeros if unknown, see
	                                cache.h */
	uint32_t sentinels;        /**< number of sentinels: paths to restore */
	enum tkb_path_style style; /**< of a unit: how paths are written */
	bool is_executable;        /**< of a unit */
	bool is_last;              /**< of a unit: it refers to other files, and
	                                appears after them */
};

/** The GPU that a kernel was compiled for. */
struct tkb_target {
	const char *backend; /**< "cuda", "hip", ...; "" if unknown */
	const char *arch;    /**< "90", "gfx942", ...; "" if unknown */
	uint32_t warp_size;  /**< threads; 0 if unknown */
};

/** One entry of a cache or a bundle. Strings are never NULL. */
struct tkb_entry {
	const char *key;  /**< the folder's name; of a unit, a digest of `tree`
	                       and `name` */
	const char *name; /**< of kernel, module or function; of a unit, its
	                       path relative to the tree's root */
	enum tkb_kind kind;
	const char *platform;         /**< of a module, or of a unit tuned on
	                                   a GPU; else "" */
	struct tkb_target target;     /**< of a kernel */
	const char *producer;         /**< "triton" */
	const char *producer_version; /**< "3.6.0"; "" if unknown */
	const uint32_t *devices;      /**< GPU indices, ascending */
	size_t device_count;          /**< at least 1 */
	const struct tkb_file *files; /**< by extension, then name */
	size_t file_count;            /**< at least 1 */
	const char *tree;   /**< of a unit: the tree's name; else NULL */
	const char *folder; /**< of a unit: `name`, or "." if the unit is a
	                         single file, which is called `name`; else
	                         NULL */
};

/** The sum of the sizes of an entry's files, in bytes. */
TKB_API uint64_t tkb_entry_size(const struct tkb_entry *entry);

/** What happened to one entry in one root. */
enum tkb_outcome {
	TKB_OUTCOME_COLLECTED, /**< it was packed */
	TKB_OUTCOME_LEFT_OUT,  /**< it was not packed, for the reason given */
	TKB_OUTCOME_EMITTED,   /**< it did not exist and does now */
	TKB_OUTCOME_PRESENT,   /**< it existed and was whole */
	TKB_OUTCOME_REPAIRED,  /**< it existed, but was not usable; it is now */
	TKB_OUTCOME_SKIPPED,   /**< not wanted, or not to be changed */
	TKB_OUTCOME_FAILED,    /**< it failed, for the reason given */
	TKB_OUTCOME_VERIFIED,  /**< every byte is as the manifest says */
	TKB_OUTCOME_REMOVED,   /**< a gc removed it */
	TKB_OUTCOME_MISSING,   /**< a key or device that was asked for does not
	                            exist: the call returns TKB_MISS */
	TKB_OUTCOME_UNFINISHED /**< collect: a unit without its index; the
	                            engine is writing it, or was stopped */
};

/** The name of an outcome, as in --json. Static storage. */
TKB_API const char *tkb_outcome_name(enum tkb_outcome outcome);

/**
 * What happened to one entry, or to one saved launcher. Pointers are valid
 * until on_result() returns.
 */
struct tkb_result {
	const char *root; /**< the cache root; "" for a bundle or a launcher */
	const char *key;  /**< of a launcher: its cache key; of a unit that is
	                       left out or unfinished: its path; of a missing
	                       key: as it was asked for; of a missing device: "" */
	const char *name; /**< "" if unknown */
	bool is_launcher;
	enum tkb_outcome outcome;
	enum tkb_reason reason;
	const char *message; /**< one sentence, or ""; of a collected unit:
	                          that it was moved */
};

/**
 * How a caller follows a long call. Any function may be NULL. Each is called
 * with `self`, from the library's threads, whose stacks have 2 MiB, one at a
 * time.
 *
 * The options of a call that have a watch also have a deadline_ms: after this
 * time the call ends as if is_cancelled() had returned true. The watch of a
 * remote, a pool or a compiler serves all calls of that handle, which have
 * their own limits.
 */
struct tkb_watch {
	size_t struct_size; /**< sizeof it, as the caller was built */
	void *self;
	void (*on_result)(void *self, const struct tkb_result *result);
	/** Bytes done, and bytes to do in all; `done` never decreases. */
	void (*on_progress)(void *self, uint64_t done, uint64_t total);
	/** Called between pieces of work: true ends the call cleanly. */
	bool (*is_cancelled)(void *self);
	/**
	 * `done` of `total` folders and entries were examined to find out what
	 * there is to do. on_progress() is called after that.
	 */
	void (*on_look)(void *self, uint64_t done, uint64_t total);
};

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_BUNDLE_H
#define TKBUNDLE_BUNDLE_H

#include <tkbundle/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/bundle.h
 * Read a bundle: its manifest, single files, and whether it is intact.
 *
 *     struct tkb_bundle *bundle;
 *
 *     rc = tkb_bundle_open("kernels.tkb", &bundle, &err);
 *     for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
 *             puts(tkb_bundle_entry(bundle, i)->name);
 *     tkb_bundle_close(bundle);
 *
 * Trust: a bundle is untrusted input. Opening it only reads and checks the
 * manifest. Each frame is checked against its digest before it is decoded, and
 * each file against the manifest before it is handed out.
 * Threads: after it is open, a bundle may be read from several threads.
 */
struct tkb_bundle;

/**
 * Open the bundle in file `path`.
 *
 * @param path  not kept
 * @param out   receives a bundle that the caller closes
 * @return 0, TKB_MISS (no such file), TKB_ERR_CORRUPT (not a bundle, or its
 *         manifest is damaged), TKB_ERR_UNSUPPORTED (a newer format),
 *         TKB_ERR_TOO_LARGE, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_bundle_open(const char *path,
                                          struct tkb_bundle **out,
                                          struct tkb_error *err);

/**
 * Open the bundle that can be read from `fd`. A pipe, or anything else that
 * cannot seek, is first copied into an unlinked file in $TMPDIR or /tmp. It
 * copies as many bytes as the bundle's header announces, and one more to find
 * out whether anything follows.
 *
 * @param fd     not closed; must stay open until tkb_bundle_close()
 * @param name   for messages; not kept
 * @param watch  its is_cancelled() is asked while waiting for a pipe; NULL:
 *               cannot be cancelled
 * @return as tkb_bundle_open(), or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_bundle_open_fd(int fd, const char *name,
                                             const struct tkb_watch *watch,
                                             struct tkb_bundle **out,
                                             struct tkb_error *err);

/**
 * Open the bundle in `bytes`.
 *
 * @param bytes  borrowed until tkb_bundle_close()
 * @param name   for messages; not kept
 */
TKB_API TKB_NODISCARD int tkb_bundle_open_memory(struct tkb_bytes bytes,
                                                 const char *name,
                                                 struct tkb_bundle **out,
                                                 struct tkb_error *err);

/** Where a bundle's bytes come from, if not from a file or memory. */
struct tkb_source {
	/**
	 * Read the `size` bytes at `offset` into `data`; fewer only at the end
	 * of the bundle. Several threads may call this at once, also those of
	 * the library, whose stacks have 2 MiB.
	 * @return 0, or a negative enum tkb_status
	 */
	int (*read_at)(void *self, uint64_t offset, void *data, size_t size,
	               size_t *got_out, struct tkb_error *err);
	void *self; /**< given to read_at() */
};

/**
 * Open the bundle that `source` reads. Only what is needed is read: the
 * manifest now, and a frame when something in it is asked for.
 *
 * @param source  copied; what it points to must live until
 *                tkb_bundle_close()
 * @param name    for messages; not kept
 */
TKB_API TKB_NODISCARD int tkb_bundle_open_source(
	const struct tkb_source *source, const char *name,
	struct tkb_bundle **out, struct tkb_error *err);

/** Release a bundle and all that it lent. Never fails; NULL is allowed. */
TKB_API void tkb_bundle_close(struct tkb_bundle *bundle);

/** The bundle's id: the SHA-256 of the manifest. Borrowed. */
TKB_API const struct tkb_digest *tkb_bundle_id(const struct tkb_bundle *bundle);

/**
 * What is wrong with the bundle's end, for instance that it is cut short; or
 * NULL. This is found out when the bundle is opened. Entries of whole frames
 * can still be read. Borrowed.
 */
TKB_API const struct tkb_error *tkb_bundle_fault(
	const struct tkb_bundle *bundle);

/** "full" or "lean". Borrowed. */
TKB_API const char *tkb_bundle_profile(const struct tkb_bundle *bundle);

/**
 * Was the bundle made from an Inductor cache, with a folder of keys for each
 * GPU? False if this is unknown.
 */
TKB_API bool tkb_bundle_is_inductor(const struct tkb_bundle *bundle);

/** The number of independently compressed frames that hold the entries. */
TKB_API size_t tkb_bundle_frame_count(const struct tkb_bundle *bundle);

/**
 * The sizes of frame `index`, which must be below the count: bytes in the file,
 * bytes unpacked, and the number of items in it. No argument may be NULL.
 */
TKB_API void tkb_bundle_frame_sizes(const struct tkb_bundle *bundle,
                                    size_t index, uint64_t *packed_out,
                                    uint64_t *size_out,
                                    uint64_t *item_count_out);

/** The number of entries. */
TKB_API size_t tkb_bundle_entry_count(const struct tkb_bundle *bundle);

/** Entry `index`, which must be below the count. Borrowed. */
TKB_API const struct tkb_entry *tkb_bundle_entry(
	const struct tkb_bundle *bundle, size_t index);

/**
 * Find the entry whose key is `prefix` or begins with it. If several entries
 * have that key, the first.
 *
 * @return 0, TKB_MISS, or TKB_ERR_INVALID (several keys begin with it)
 */
TKB_API TKB_NODISCARD int tkb_bundle_find(const struct tkb_bundle *bundle,
                                          const char *prefix, size_t *index_out,
                                          struct tkb_error *err);

/**
 * Send file `file` of entry `index` to `sink`, as packed, with sentinels.
 * Checks and decodes only the frame that holds it.
 *
 * @return 0, TKB_ERR_CORRUPT, TKB_ERR_IO, TKB_ERR_NOMEM, or what the sink
 *         returned
 */
TKB_API TKB_NODISCARD int tkb_bundle_read(const struct tkb_bundle *bundle,
                                          size_t index, size_t file,
                                          const struct tkb_sink *sink,
                                          struct tkb_error *err);

/** Receives the files of entries. */
struct tkb_file_visitor {
	/**
	 * `bytes` are the contents of file `file` of entry `index`, with
	 * sentinels; valid during the call.
	 * @return 0, or a negative enum tkb_status, which stops the reading
	 */
	int (*on_file)(void *self, size_t index, size_t file,
	               struct tkb_bytes bytes, struct tkb_error *err);
	void *self; /**< given to on_file() */
};

/**
 * Give every file of entry `index` to the visitor, in order. Decodes the frame
 * that holds them once.
 *
 * @return as tkb_bundle_read(), or what the visitor returned
 */
TKB_API TKB_NODISCARD int tkb_bundle_read_entry(
	const struct tkb_bundle *bundle, size_t index,
	const struct tkb_file_visitor *visitor, struct tkb_error *err);

/**
 * Give every file of every entry to the visitor, decoding each frame once.
 * Entries come frame by frame, which may not be their order.
 *
 * @param watch  its progress counts bytes of files, and it may cancel; may be
 *               NULL
 * @return as tkb_bundle_read_entry(), or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_bundle_read_all(
	const struct tkb_bundle *bundle, const struct tkb_file_visitor *visitor,
	const struct tkb_watch *watch, struct tkb_error *err);

/** Choices for tkb_bundle_verify(). Zero means the default. */
struct tkb_verify_options {
	size_t struct_size;   /**< sizeof it, as the caller was built */
	uint32_t threads;     /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	const struct tkb_watch *watch;
};

/** What tkb_bundle_verify() found. */
struct tkb_verify_report {
	size_t struct_size;      /**< sizeof it, as the caller was built */
	uint64_t verified_count; /**< entries without any fault */
	uint64_t failed_count;   /**< entries */
	uint64_t launcher_count; /**< launchers with an intact payload */
	uint64_t failed_launcher_count;
	uint64_t file_count; /**< files verified */
	uint64_t size;       /**< bytes of the files verified */
};

/**
 * Check everything: each frame, the digest of each file, the sentinels, that
 * the metadata and the binary of each kernel fit its key, and that the frames
 * hold nothing else, except what a merge left unused.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in whether it is intact or not; may be NULL
 * @return 0, TKB_ERR_CORRUPT (the message names the first fault; options->watch
 *         receives each entry's), TKB_ERR_CANCELLED, TKB_ERR_IO, TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_bundle_verify(
	const struct tkb_bundle *bundle,
	const struct tkb_verify_options *options,
	struct tkb_verify_report *report, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

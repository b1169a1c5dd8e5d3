/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_BACKEND_H
#define TKBUNDLE_REMOTE_BACKEND_H

#include <tkbundle/bundle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/remote_backend.h
 * How to add a kind of remote to tkbundle.
 *
 * A backend only moves bytes. remote.h's functions check arguments, enforce
 * limits, compute digests, retry, and handle deadlines, secrets and tiers for
 * all backends. A backend must not hash, retry or log.
 *
 * A remote keeps blobs under their SHA-256, and refs: names, each with a set of
 * small records under their SHA-256. Blobs and records never change. Every
 * reader sees a whole blob or record, or none. If the remote survives a loss of
 * power, what was stored is safe when the call returns.
 *
 * Something that cannot be read is not absent. A gc removes blobs that no
 * record names. So if a backend skips a record, a folder or a page of a
 * listing, others lose their blobs. Return TKB_MISS only if the remote itself
 * says that a thing does not exist.
 *
 * Every backend passes tests/remote/remote_contract.c. src/remote/memory.c is
 * the smallest complete backend: read it first.
 */

/** Incremented whenever struct tkb_remote_backend changes. */
#define TKB_REMOTE_BACKEND_ABI 3

/** One `name=value` of a URL's query, decoded. */
struct tkb_param {
	const char *name;
	const char *value;
};

/** The parts of a URL. Strings are decoded, and never NULL. */
struct tkb_remote_url {
	const char *scheme; /**< lower case */
	bool has_user;
	const char *user;
	bool has_password;
	const char *password;
	const char *host; /**< without brackets; "" if there is none */
	uint32_t port;    /**< 0: not given */
	const char *path; /**< "", or begins with a slash */
	const char *name; /**< the URL without secrets: for messages */
	const struct tkb_param *params;
	size_t param_count;
	const char
		*fallback_cafile; /**< of struct tkb_remote_options, or NULL */
};

/**
 * Parse a URL: scheme://[user[:password]@][host[:port]][/path][?query], RFC
 * 3986; or a path, which becomes a file URL.
 *
 * @param out  receives the URL, which the caller frees with
 *             tkb_remote_url_free()
 * @return 0, TKB_ERR_INVALID or TKB_ERR_NOMEM. Messages never contain what may
 *         be a password.
 */
TKB_API TKB_NODISCARD int tkb_remote_url_parse(const char *text,
                                               struct tkb_remote_url **out,
                                               struct tkb_error *err);

/** Release what tkb_remote_url_parse() made. NULL is allowed. */
TKB_API void tkb_remote_url_free(struct tkb_remote_url *url);

/** The value of parameter `name`, or NULL. */
TKB_API const char *tkb_remote_url_param(const struct tkb_remote_url *url,
                                         const char *name);

/**
 * A warning, in one sentence, that users must see before the URL is used: TLS
 * without verification (`verify=false`). NULL if there is none.
 */
TKB_API const char *tkb_remote_url_warning(const struct tkb_remote_url *url);

/** The limits of one operation. A backend must obey all of them. */
struct tkb_op_limits {
	uint64_t deadline_ns; /**< on CLOCK_MONOTONIC: then give up */
	uint32_t connect_ms;  /**< time to connect */
	uint32_t stall_ms;    /**< give up after this time without a byte */
	const struct tkb_watch *watch; /**< its is_cancelled() may be called */
	/**
	 * If the remote said when to retry (Retry-After), a backend that
	 * returns TKB_ERR_UNAVAILABLE stores it here. May be NULL.
	 */
	uint32_t *retry_after_ms;
	/** the setting that set the deadline, for messages; NULL: timeout */
	const char *deadline_name;
	/**
	 * TKB_ERR_UNAVAILABLE will not be retried. So a call for many records
	 * should give those that it can read: some are better than none.
	 */
	bool is_last_attempt;
};

/** Bytes to store, which can be read several times. */
struct tkb_blob {
	uint64_t size;
	struct tkb_source source;
};

/** Receives the blobs of a remote. */
struct tkb_blob_visitor {
	/** @param age_s  seconds since the put, by the remote's clock */
	int (*on_blob)(void *self, const struct tkb_digest *digest,
	               uint64_t size, uint64_t age_s, struct tkb_error *err);
	void *self;
};

/** Receives the records of a ref. */
struct tkb_record_visitor {
	/** @param age_s  seconds since the record was added or touched */
	int (*on_record)(void *self, const struct tkb_digest *digest,
	                 struct tkb_bytes record, uint64_t age_s,
	                 struct tkb_error *err);
	void *self;
	/**
	 * Receives a record that exists, but cannot be read or is too large.
	 * Never NULL in calls of a backend.
	 *
	 * @param why  TKB_ERR_DENIED, TKB_ERR_UNAVAILABLE or TKB_ERR_TOO_LARGE,
	 *             and a message; or TKB_MISS: it has been dropped since it
	 *             was listed, so the list may lack what took its place
	 */
	int (*on_unread)(void *self, const struct tkb_digest *digest,
	                 const struct tkb_error *why, struct tkb_error *err);
	/**
	 * Called before a record is fetched, by remotes that know its age at
	 * that point. If it returns false, the record is skipped. NULL: all
	 * records are wanted.
	 */
	bool (*wants)(void *self, const struct tkb_digest *digest,
	              uint64_t age_s);
};

/** Stands for a size that a remote does not tell. */
#define TKB_SIZE_UNKNOWN UINT64_MAX

/** Receives the refs of a remote. */
struct tkb_ref_visitor {
	int (*on_ref)(void *self, const char *ref, struct tkb_error *err);
	void *self;
};

/** Bytes with a name. */
struct tkb_named {
	const char *name;
	struct tkb_bytes bytes;
};

/** A manifest of an image, and blobs that it names. */
struct tkb_image_manifest {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *name;   /**< a tag, or "sha256:" and 64 digits */
	const char *media_type;
	struct tkb_bytes text;
	const struct tkb_digest *digests; /**< of the blobs */
	const struct tkb_blob *blobs;
	size_t blob_count;
};

/**
 * One kind of remote: a constant, shared by all remotes of that kind.
 *
 * Functions return 0, TKB_MISS, or a negative status: TKB_ERR_UNAVAILABLE if
 * another try may help, TKB_ERR_DENIED if credentials or rights are missing,
 * TKB_ERR_INVALID if the URL is bad, TKB_ERR_NOMEM, TKB_ERR_CANCELLED; or what
 * a sink, source or visitor returned. After a failure other than TKB_ERR_DENIED
 * and TKB_ERR_INVALID the caller closes `self` and opens another. Messages do
 * not name the remote: the caller does.
 *
 * One thread at a time uses a `self`; several may be open at once.
 */
struct tkb_remote_backend {
	uint32_t abi;               /**< TKB_REMOTE_BACKEND_ABI */
	bool is_shared;             /**< all handles of one URL see the same
	                                 data, so several threads may have
	                                 one each */
	const char *const *schemes; /**< ends with NULL */
	const char *const *params;  /**< parameters that a URL may have,
	                                 besides those that every URL may
	                                 have; ends with NULL */

	/** Connect. `url` is valid until close(). */
	int (*open)(const struct tkb_remote_url *url,
	            const struct tkb_op_limits *limits, void **self_out,
	            struct tkb_error *err);

	/** Release `self`. Called once; cannot fail. */
	void (*close)(void *self);

	/**
	 * Send all of the blob's bytes from `offset` on to `sink`. If it does
	 * not exist, return TKB_MISS and do not call the sink. A transfer that
	 * ends early is TKB_ERR_UNAVAILABLE: the caller resumes it. If that
	 * cannot be told, the caller asks has() for the size.
	 */
	int (*get)(void *self, const struct tkb_op_limits *limits,
	           const struct tkb_digest *digest, uint64_t offset,
	           const struct tkb_sink *sink, struct tkb_error *err);

	/** Store a blob. Replace one with this name: it may be damaged. */
	int (*put)(void *self, const struct tkb_op_limits *limits,
	           const struct tkb_digest *digest, const struct tkb_blob *blob,
	           struct tkb_error *err);

	/**
	 * Find out which of `count` blobs exist, and their sizes, in as few
	 * round trips as possible. `count` is at most 512.
	 *
	 * @param sizes  receives those of existing blobs, or TKB_SIZE_UNKNOWN;
	 *               may be NULL
	 */
	int (*has)(void *self, const struct tkb_op_limits *limits,
	           const struct tkb_digest *digests, size_t count, bool *out,
	           uint64_t *sizes, struct tkb_error *err);

	/** Remove a blob; TKB_MISS if it does not exist. */
	int (*remove)(void *self, const struct tkb_op_limits *limits,
	              const struct tkb_digest *digest, struct tkb_error *err);

	/** List all blobs, in any order. */
	int (*list)(void *self, const struct tkb_op_limits *limits,
	            const struct tkb_blob_visitor *visitor,
	            struct tkb_error *err);

	/** Add a record to a ref, which need not exist. */
	int (*add)(void *self, const struct tkb_op_limits *limits,
	           const char *ref, const struct tkb_digest *digest,
	           struct tkb_bytes record, struct tkb_error *err);

	/**
	 * Give all records of a ref; none if there is no such ref. If a record
	 * cannot be read, but others still can, it is given to on_unread().
	 */
	int (*records)(void *self, const struct tkb_op_limits *limits,
	               const char *ref,
	               const struct tkb_record_visitor *visitor,
	               struct tkb_error *err);

	/** Drop a record; TKB_MISS if it does not exist. */
	int (*drop)(void *self, const struct tkb_op_limits *limits,
	            const char *ref, const struct tkb_digest *digest,
	            struct tkb_error *err);

	/** Reset a record's age; TKB_MISS if it does not exist. */
	int (*touch)(void *self, const struct tkb_op_limits *limits,
	             const char *ref, const struct tkb_digest *digest,
	             struct tkb_error *err);

	/**
	 * Give all refs that have a record, in any order; duplicates do no
	 * harm. If a ref cannot be listed, it may have a record: give it too.
	 */
	int (*refs)(void *self, const struct tkb_op_limits *limits,
	            const struct tkb_ref_visitor *visitor,
	            struct tkb_error *err);

	/**
	 * Become the one process on this node that fetches a blob. Others wait
	 * until the blob exists, the claim is released, its owner is dead, or
	 * the owner makes no progress: so names that derive from the blob's are
	 * claimed, too. NULL if the remote does not belong to a node.
	 *
	 * @param claim_out  receives what unclaim() releases; NULL if claims do
	 *                   not work here
	 * @return 0, or TKB_MISS (another process has the claim: try again
	 *         soon)
	 */
	int (*claim)(void *self, const struct tkb_op_limits *limits,
	             const struct tkb_digest *digest, void **claim_out,
	             struct tkb_error *err);

	/**
	 * Release a claim; may be called after close(). Cannot fail. NULL if
	 * claim() is NULL.
	 */
	void (*unclaim)(void *claim);

	/**
	 * Store values under names that another program reads, exactly as
	 * given, without a prefix. All appear at the same time: nobody sees
	 * some new values and some old ones. NULL if the remote has no such
	 * names.
	 */
	int (*put_named)(void *self, const struct tkb_op_limits *limits,
	                 const struct tkb_named *items, size_t count,
	                 struct tkb_error *err);

	/**
	 * Store the blobs of an image that the remote lacks, and then its
	 * manifest, which replaces the one with this tag. NULL, like the
	 * functions below, if the remote keeps no images.
	 *
	 * @param is_listed_out  receives whether the remote itself lists the
	 *                       manifest among those with the same subject
	 */
	int (*put_image)(void *self, const struct tkb_op_limits *limits,
	                 const struct tkb_image_manifest *manifest,
	                 bool *is_listed_out, struct tkb_error *err);

	/** Send the manifest with this tag, or "sha256:...", to `sink`. */
	int (*get_image)(void *self, const struct tkb_op_limits *limits,
	                 const char *name, const struct tkb_sink *sink,
	                 struct tkb_error *err);

	/**
	 * Send the index of the manifests with this subject to `sink`; TKB_MISS
	 * if the remote keeps no such lists.
	 */
	int (*get_referrers)(void *self, const struct tkb_op_limits *limits,
	                     const struct tkb_digest *subject,
	                     const struct tkb_sink *sink,
	                     struct tkb_error *err);
};

/**
 * The built-in backend for `scheme`, or NULL. A backend of your own that counts
 * calls, or fails in a test, can forward to it:
 *
 *     static int get(void *self, ...)
 *     {
 *             struct counter *counter = self;
 *
 *             counter->gets++;
 *             return counter->backend->get(counter->self, ...);
 *     }
 *
 * Pass it to tkb_remote_open() in struct tkb_remote_options.
 * tests/support/spy.c is a complete example.
 */
TKB_API const struct tkb_remote_backend *tkb_remote_backend_find(
	const char *scheme);

#ifdef __cplusplus
}
#endif

#endif

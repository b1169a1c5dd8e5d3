/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_BACKEND_H
#define TKBUNDLE_REMOTE_BACKEND_H

#include <tkbundle/bundle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/remote_backend.h
 * For those who teach tkbundle a new kind of remote.
 *
 * A backend only moves bytes. Checking arguments, limits, digests, retries,
 * deadlines, secrets and tiers are done once, in remote.h's functions, for
 * all backends; a backend need not hash, retry or log, and must not.
 *
 * A remote keeps blobs under their SHA-256, and refs: names, each with a set
 * of small records under their SHA-256. Blobs and records never change. What
 * is put is there whole or not at all, for every reader, and where the place
 * keeps it through a loss of power, it is kept when the call returns.
 *
 * What cannot be read is not absent. Whoever cleans up removes what nobody
 * names: a record, a folder or a page of a listing that is passed over costs
 * others their blobs. Only what the place itself says is not there is a miss.
 *
 * Every backend passes tests/remote/remote_contract.c. src/remote/memory.c is
 * the smallest complete one: read it first.
 */

/** Grows by one whenever struct tkb_remote_backend changes. */
#define TKB_REMOTE_BACKEND_ABI 2

/** One `name=value` of a URL's query. Decoded. */
struct tkb_param {
	const char *name;
	const char *value;
};

/** A URL, taken apart. Texts of it are decoded, and never NULL. */
struct tkb_remote_url {
	const char *scheme; /**< lower case */
	bool has_user;
	const char *user;
	bool has_password;
	const char *password;
	const char *host; /**< without brackets; "" where there is none */
	uint32_t port;    /**< 0: not given */
	const char *path; /**< "" or with a slash first */
	const char *name; /**< the URL without secrets: for messages */
	const struct tkb_param *params;
	size_t param_count;
	const char
		*fallback_cafile; /**< of struct tkb_remote_options, or NULL */
};

/**
 * Take a URL apart: scheme://[user[:password]@][host[:port]][/path][?query], RFC
 * 3986; or a path, which is a file URL.
 *
 * @param out  receives it; the caller frees it with tkb_remote_url_free()
 * @return 0, TKB_ERR_INVALID or TKB_ERR_NOMEM. No message holds what may be a
 *         password.
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
 * What a program must say aloud about it before it is used, in one sentence:
 * TLS that checks nothing (`verify=false`). NULL where there is nothing.
 */
TKB_API const char *tkb_remote_url_warning(const struct tkb_remote_url *url);

/** What bounds one operation. A backend must keep to all of it. */
struct tkb_op_limits {
	uint64_t deadline_ns; /**< of CLOCK_MONOTONIC: give up then */
	uint32_t connect_ms;  /**< a connection takes at most so long */
	uint32_t stall_ms;    /**< give up when no byte moves for so long */
	const struct tkb_watch *watch; /**< is_cancelled() may be asked */
	/**
	 * Where a remote said when to come back (Retry-After), a backend that
	 * returns TKB_ERR_UNAVAILABLE puts it here. May be NULL.
	 */
	uint32_t *retry_after_ms;
	/** The setting that the deadline is of, for messages; NULL: timeout */
	const char *deadline_name;
	/**
	 * What fails with TKB_ERR_UNAVAILABLE is not tried again: what a remote
	 * has of many records is better than nothing.
	 */
	bool is_last_attempt;
};

/** Bytes to be put, which can be read again and again. */
struct tkb_blob {
	uint64_t size;
	struct tkb_source source;
};

/** Where the blobs of a remote are told. */
struct tkb_blob_visitor {
	/** @param age_s  seconds since it was put, by the remote's clock */
	int (*on_blob)(void *self, const struct tkb_digest *digest,
	               uint64_t size, uint64_t age_s, struct tkb_error *err);
	void *self;
};

/** Where the records of a ref are told. */
struct tkb_record_visitor {
	/** @param age_s  seconds since it was added or touched */
	int (*on_record)(void *self, const struct tkb_digest *digest,
	                 struct tkb_bytes record, uint64_t age_s,
	                 struct tkb_error *err);
	void *self;
	/**
	 * Told of one that is there, and cannot be read, or is larger than a
	 * record may be. Never NULL where a backend is called.
	 *
	 * @param why  what hinders: TKB_ERR_DENIED, TKB_ERR_UNAVAILABLE or
	 *             TKB_ERR_TOO_LARGE, and a sentence
	 */
	int (*on_unread)(void *self, const struct tkb_digest *digest,
	                 const struct tkb_error *why, struct tkb_error *err);
};

/** A size that a remote does not tell. */
#define TKB_SIZE_UNKNOWN UINT64_MAX

/** Where the refs of a remote are told. */
struct tkb_ref_visitor {
	int (*on_ref)(void *self, const char *ref, struct tkb_error *err);
	void *self;
};

/** Bytes under a name. */
struct tkb_named {
	const char *name;
	struct tkb_bytes bytes;
};

/**
 * One kind of remote: a constant, shared by all remotes of that kind.
 *
 * Functions return 0, TKB_MISS, or a negative status: TKB_ERR_UNAVAILABLE
 * where another try may help, TKB_ERR_DENIED where credentials or rights are
 * missing, TKB_ERR_INVALID where the URL makes no sense, TKB_ERR_NOMEM,
 * TKB_ERR_CANCELLED; or what a sink, source or visitor returned. After a
 * failure other than TKB_ERR_DENIED and TKB_ERR_INVALID the caller closes
 * `self` and opens another. Messages do not name the remote: the caller does.
 *
 * A `self` is used by one thread at a time; several may be open at once.
 */
struct tkb_remote_backend {
	uint32_t abi;               /**< TKB_REMOTE_BACKEND_ABI */
	bool is_shared;             /**< all handles of one URL see the same,
	                                 so several threads may have one each */
	const char *const *schemes; /**< ends with NULL */
	const char *const *params;  /**< that a URL may have; ends with NULL.
	                                 Those of remote.h are not among them */

	/** Connect. `place` holds until close(). */
	int (*open)(const struct tkb_remote_url *url,
	            const struct tkb_op_limits *limits, void **self_out,
	            struct tkb_error *err);

	/** Release `self`. Called once; cannot fail. */
	void (*close)(void *self);

	/**
	 * Send the blob's bytes from `offset` on to `sink`, all of them; if it
	 * is not there, TKB_MISS without a call. A transfer that ends early is
	 * TKB_ERR_UNAVAILABLE: the caller goes on from where it broke.
	 */
	int (*get)(void *self, const struct tkb_op_limits *limits,
	           const struct tkb_digest *digest, uint64_t offset,
	           const struct tkb_sink *sink, struct tkb_error *err);

	/**
	 * Store a blob, over whatever is there under its name: that may be
	 * damaged.
	 */
	int (*put)(void *self, const struct tkb_op_limits *limits,
	           const struct tkb_digest *digest, const struct tkb_blob *blob,
	           struct tkb_error *err);

	/**
	 * Which of `count` blobs, at most 512, are there, and how many bytes
	 * have those? In as few rounds as can be.
	 *
	 * @param sizes  of those that are there, or TKB_SIZE_UNKNOWN; NULL
	 *               where nobody asks
	 */
	int (*has)(void *self, const struct tkb_op_limits *limits,
	           const struct tkb_digest *digests, size_t count, bool *out,
	           uint64_t *sizes, struct tkb_error *err);

	/** Remove a blob; TKB_MISS where it is not there. */
	int (*remove)(void *self, const struct tkb_op_limits *limits,
	              const struct tkb_digest *digest, struct tkb_error *err);

	/** Tell all blobs, in any order. */
	int (*list)(void *self, const struct tkb_op_limits *limits,
	            const struct tkb_blob_visitor *visitor,
	            struct tkb_error *err);

	/** Add a record to a ref, which is made if need be. */
	int (*add)(void *self, const struct tkb_op_limits *limits,
	           const char *ref, const struct tkb_digest *digest,
	           struct tkb_bytes record, struct tkb_error *err);

	/**
	 * Tell all records of a ref; none where there is no such ref. One that
	 * cannot be read is told as such, where that hinders no other.
	 */
	int (*records)(void *self, const struct tkb_op_limits *limits,
	               const char *ref,
	               const struct tkb_record_visitor *visitor,
	               struct tkb_error *err);

	/** Drop a record; TKB_MISS where it is not there. */
	int (*drop)(void *self, const struct tkb_op_limits *limits,
	            const char *ref, const struct tkb_digest *digest,
	            struct tkb_error *err);

	/** Let a record's age begin anew; TKB_MISS where it is not there. */
	int (*touch)(void *self, const struct tkb_op_limits *limits,
	             const char *ref, const struct tkb_digest *digest,
	             struct tkb_error *err);

	/**
	 * Tell all refs that have a record, in any order; to tell one twice
	 * does no harm. One that cannot be listed may have a record: tell it.
	 */
	int (*refs)(void *self, const struct tkb_op_limits *limits,
	            const struct tkb_ref_visitor *visitor,
	            struct tkb_error *err);

	/**
	 * Be the one process of this node that fetches a blob: the others wait
	 * until it is here, or the claim is released or its owner dead. NULL
	 * where the place is not a node's own.
	 *
	 * @param claim_out  to be released; NULL where claims do not work here
	 * @return 0, or TKB_MISS (another has it: ask again a little later)
	 */
	int (*claim)(void *self, const struct tkb_op_limits *limits,
	             const struct tkb_digest *digest, void **claim_out,
	             struct tkb_error *err);

	/**
	 * Release a claim, also after close(); cannot fail. NULL where claim()
	 * is.
	 */
	void (*unclaim)(void *claim);

	/**
	 * Store bytes under names that somebody else's program reads, as they
	 * stand, without a prefix of ours. They appear together: nobody reads
	 * some of them new and others old. NULL where there are no such names.
	 */
	int (*put_named)(void *self, const struct tkb_op_limits *limits,
	                 const struct tkb_named *items, size_t count,
	                 struct tkb_error *err);
};

/**
 * The built-in backend for `scheme`, or NULL. One that counts what is asked, or
 * fails where a test wants it, hands on to it:
 *
 *     static int get(void *self, ...)
 *     {
 *             struct counter *counter = self;
 *
 *             counter->gets++;
 *             return counter->backend->get(counter->self, ...);
 *     }
 *
 * struct tkb_remote_options names it to tkb_remote_open(). tests/support/spy.c is
 * a whole one.
 */
TKB_API const struct tkb_remote_backend *tkb_remote_backend_find(
	const char *scheme);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_H
#define TKBUNDLE_REMOTE_H

#include <tkbundle/remote_backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/remote.h
 * A remote is a shared place that keeps blobs under their SHA-256, and refs:
 * names, each with a set of small records.
 *
 *     struct tkb_remote *remote;
 *
 *     rc = tkb_remote_open("redis://cache:6379/2?ttl=30d", NULL, &remote, &err);
 *     rc = tkb_remote_get(remote, &digest, &sink, &err);
 *     tkb_remote_close(remote);
 *
 * Several URLs, separated by commas, are tiers: what is asked for is looked for
 * in their order, and the tiers before the one that has it are filled.
 *
 * | scheme | what |
 * |---|---|
 * | `file:///dir`, or a path | a folder; on NFS too |
 * | `memory://name` | for tests: gone with the handle |
 * | `redis://[user[:password]@]host[:port][/db]` | Redis |
 * | `rediss://...` | the same under TLS |
 * | `redis+unix://[user[:password]@]/path/to.sock` | the same by a socket |
 * | `http://[user[:password]@]host[:port][/path]` | any server that takes PUT |
 * | `https://...` | the same under TLS |
 * | `s3://bucket/prefix` | S3, and what speaks its protocol |
 *
 * Parameters that every URL may have (`?timeout=5s&mode=ro`):
 * `mode=ro|rw`; `on-error=fail|ignore`; `timeout`, `connect-timeout`,
 * `stall-timeout` (times: 500ms, 5s, 2m), `retries`. A folder: `sync=true|false`
 * (what is put is on the disk before the call returns; default true). Redis: `prefix` (of its
 * keys; default tkbundle), `db`, `ttl` (30d: what nobody used for so long goes),
 * `triton-key-format` (of TKB_PUSH_LAYOUT_TRITON; default triton:{key}:{filename}, the
 * braces written %7B and %7D where a shell would take them).
 * HTTP: `bearer-file` (a file with a token) or `bearer`, `netrc` (true, or a
 * file), `header` (`Name: value`; several), `connections` (at once; default 8),
 * `listing` (auto, index, dav, document, none: how the server tells what it
 * has), `single-writer=1` (nobody else writes; for servers that neither list
 * nor honour If-Match).
 * S3: `endpoint` (https://host:9000; default Amazon's), `region`, `profile`,
 * `path-style=true|false`, `anonymous=true`; credentials as AWS' own programs
 * find them in the environment and in ~/.aws/credentials, never in the URL.
 * TLS: `cafile`, `cert`, `key` (PEM files), `server-name`, `verify=true|false`.
 * It trusts the authorities of the first of these that is there: `cafile`; the
 * variables `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE` (a file, or a folder with
 * names by hash); `SSL_CERT_FILE` and `SSL_CERT_DIR` (either, or both); the
 * system's, where libcurl was built to look or where Debian, Red Hat, SUSE or
 * Alpine has them; struct tkb_remote_options' `fallback_cafile`. Variables are
 * read with getenv() for each connection.
 *
 * Life: to open a remote connects to nothing. An operation connects, tries
 * again what may be tried again, with growing random pauses, and gives up at
 * its deadline. A remote that could not be reached is not asked again by the
 * same handle: every later operation fails at once.
 * Threads: a remote belongs to one thread at a time; open one per worker.
 * Trust: bytes from a remote are untrusted. They are hashed on their way, and
 * the sink must not publish what it was given until the call returns 0.
 * Secrets: no message, name or listing holds the URL's user or password.
 */
struct tkb_remote;

/** Choices for tkb_remote_open(). Zero means the default. */
struct tkb_remote_options {
	size_t struct_size;          /**< sizeof it, as the caller was built */
	uint32_t timeout_ms;         /**< of one operation; default 30000 */
	uint32_t connect_timeout_ms; /**< default 1000 */
	uint32_t stall_timeout_ms;   /**< no byte for so long; default 5000 */
	uint64_t max_blob_size;      /**< bytes; default 256 MiB */
	uint64_t max_record_size;    /**< bytes; default 16 MiB */
	/** Its progress counts the bytes of a tkb_remote_get(), which asks for
	    the blob's size first, and of a tkb_remote_put(), once for each tier
	    that may be written; on_result() is not called. Copied. */
	const struct tkb_watch *watch;
	const struct tkb_remote_backend *const
		*backends; /**< besides the built-in ones; kept */
	size_t backend_count;
	/** A PEM file of authorities that TLS trusts where neither the URL, nor
	    a variable, nor the machine names any; NULL: none. Copied. */
	const char *fallback_cafile;
};

/**
 * Prepare the remotes named by `urls`. What the URLs say of timeouts counts
 * more than `options`.
 *
 * @param urls     one URL, or several with commas between; not kept
 * @param options  not kept; NULL means all defaults
 * @param out      receives a handle that the caller closes
 * @return 0, TKB_ERR_INVALID (not a URL, or a parameter makes no sense),
 *         TKB_ERR_UNSUPPORTED (no backend for its scheme) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_remote_open(
	const char *urls, const struct tkb_remote_options *options,
	struct tkb_remote **out, struct tkb_error *err);

/** Release a remote. Never fails; NULL is allowed. */
TKB_API void tkb_remote_close(struct tkb_remote *remote);

/** How many tiers it has: at least 1. */
TKB_API size_t tkb_remote_tier_count(const struct tkb_remote *remote);

/** Tier `index` as it may be shown: without secrets. Borrowed. */
TKB_API const char *tkb_remote_tier_name(const struct tkb_remote *remote,
                                         size_t index);

/** The folder that tier `index` is; NULL: it is none. Borrowed. */
TKB_API const char *tkb_remote_tier_folder(const struct tkb_remote *remote,
                                           size_t index);

/** What must be said aloud about tier `index`, one sentence, or NULL. */
TKB_API const char *tkb_remote_tier_warning(const struct tkb_remote *remote,
                                            size_t index);

/** Bytes for what tkb_remote_tier_authorities() says. */
#define TKB_AUTHORITIES_SIZE 512

/**
 * Whose certificates does TLS trust for tier `index`, and who says so? As in
 * "'/etc/ssl/certs/ca-certificates.crt' (the system's)".
 *
 * @return whether it is asked: false, and `out` is untouched, for what has no
 *         TLS, verifies nothing, or has a backend of the caller's
 */
TKB_API bool tkb_remote_tier_authorities(const struct tkb_remote *remote,
                                         size_t index,
                                         char out[TKB_AUTHORITIES_SIZE]);

/**
 * Send the blob named `digest` to `sink`, from the first tier that has it. A
 * transfer that breaks goes on where it broke.
 *
 * @return 0, TKB_MISS (no tier has it; the sink was not called),
 *         TKB_ERR_CORRUPT (it has another digest), TKB_ERR_TOO_LARGE,
 *         TKB_ERR_UNAVAILABLE, TKB_ERR_DENIED, TKB_ERR_NOMEM,
 *         TKB_ERR_CANCELLED, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_remote_get(struct tkb_remote *remote,
                                         const struct tkb_digest *digest,
                                         const struct tkb_sink *sink,
                                         struct tkb_error *err);

/**
 * Store `blob` in every tier that may be written. Its bytes are hashed first.
 *
 * @param digest  receives its digest; may be NULL
 * @return 0, TKB_ERR_TOO_LARGE, TKB_ERR_DENIED (no tier may be written),
 *         TKB_ERR_UNAVAILABLE, TKB_ERR_NOMEM, TKB_ERR_CANCELLED, or what the
 *         source returned
 */
TKB_API TKB_NODISCARD int tkb_remote_put(struct tkb_remote *remote,
                                         const struct tkb_blob *blob,
                                         struct tkb_digest *digest_out,
                                         struct tkb_error *err);

/**
 * Which of `count` blobs are there, in any tier?
 *
 * @param out  receives an answer for each
 */
TKB_API TKB_NODISCARD int tkb_remote_has(struct tkb_remote *remote,
                                         const struct tkb_digest *digests,
                                         size_t count, bool *out,
                                         struct tkb_error *err);

/** Remove a blob from tier `tier`. @return 0, TKB_MISS, or a failure */
TKB_API TKB_NODISCARD int tkb_remote_remove(struct tkb_remote *remote,
                                            size_t tier,
                                            const struct tkb_digest *digest,
                                            struct tkb_error *err);

/** Tell the blobs of tier `tier`, in any order. */
TKB_API TKB_NODISCARD int tkb_remote_list(
	struct tkb_remote *remote, size_t tier,
	const struct tkb_blob_visitor *visitor, struct tkb_error *err);

/**
 * May `ref` be a ref's name? Letters, digits, and `._-+@=`; slashes between
 * parts, none of which begins with a dot; at most 200 bytes.
 */
TKB_API bool tkb_ref_is_valid(const char *ref);

/** Add a record to `ref`, in every tier that may be written. */
TKB_API TKB_NODISCARD int tkb_remote_add(struct tkb_remote *remote,
                                         const char *ref,
                                         struct tkb_bytes record,
                                         struct tkb_error *err);

/**
 * Tell the records of `ref`: the union of all tiers that answer, each once.
 * One whose bytes have another digest than its name is passed over; one that
 * cannot be read is told to on_unread(), and where that is NULL ends the call.
 *
 * @return 0, also where there is no such ref; TKB_ERR_UNAVAILABLE where no
 *         tier answers, or one whose errors are not to be ignored
 */
TKB_API TKB_NODISCARD int tkb_remote_records(
	struct tkb_remote *remote, const char *ref,
	const struct tkb_record_visitor *visitor, struct tkb_error *err);

/** Drop a record from every tier that may be written. */
TKB_API TKB_NODISCARD int tkb_remote_drop(struct tkb_remote *remote,
                                          const char *ref,
                                          const struct tkb_digest *digest,
                                          struct tkb_error *err);

/** Let a record's age begin anew, where tiers may be written. */
TKB_API TKB_NODISCARD int tkb_remote_touch(struct tkb_remote *remote,
                                           const char *ref,
                                           const struct tkb_digest *digest,
                                           struct tkb_error *err);

/** Tell the refs of all tiers, each once, by name. */
TKB_API TKB_NODISCARD int tkb_remote_refs(struct tkb_remote *remote,
                                          const struct tkb_ref_visitor *visitor,
                                          struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

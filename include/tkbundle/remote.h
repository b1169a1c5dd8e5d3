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
 *     rc = tkb_remote_open("redis://cache:6379/2", NULL, &remote, &err);
 *     rc = tkb_remote_get(remote, &digest, &sink, &err);
 *     tkb_remote_close(remote);
 *
 * Several URLs, separated by commas, are tiers. They are searched in this
 * order, and what a tier has is copied to the tiers before it.
 *
 * | scheme | what |
 * |---|---|
 * | `file:///dir`, or a path | a folder; on NFS too |
 * | `memory://name` | for tests: exists as long as the handle |
 * | `redis://[user[:password]@]host[:port][/db]` | Redis |
 * | `rediss://...` | the same under TLS |
 * | `redis+unix://[user[:password]@]/path/to.sock` | by a Unix socket |
 * | `http://[user[:password]@]host[:port][/path]` | a server that takes PUT |
 * | `https://...` | the same under TLS |
 * | `s3://bucket/prefix` | S3, and servers with its protocol |
 * | `oci://host[:port]/name` | a repository of a container registry |
 * | `oci+http://...` | the same without TLS |
 *
 * Parameters that every URL may have (`?timeout=5s&mode=ro`):
 * `mode=ro|rw`; `on-error=fail|ignore`; `timeout`, `connect-timeout`,
 * `stall-timeout` (times: 500ms, 5s, 2m), `retries`.
 *
 * A folder: `sync=true|false` (sync files to disk before the call returns;
 * default true).
 *
 * Redis: `prefix` (of its keys; default tkbundle), `db`, `ttl` (30d: what is
 * not used for this time expires), `triton-key-format` (for
 * TKB_PUSH_LAYOUT_TRITON; default triton:{key}:{filename}; braces may be
 * written %7B and %7D).
 *
 * HTTP: `bearer-file` (a file with a token) or `bearer`, `netrc` (true, or a
 * file), `header` (`Name: value`; several), `connections` (at once; default 8),
 * `listing` (auto, index, dav, document, none: how the server lists its
 * objects), `single-writer=1` (nobody else writes; for servers that neither
 * list objects nor honour If-Match).
 *
 * S3: `endpoint` (https://host:9000; default Amazon's), `region`, `profile`,
 * `path-style=true|false`, `anonymous=true`. Credentials come from the
 * environment and ~/.aws/credentials, as for AWS' own programs, never from the
 * URL.
 *
 * A registry: credentials come from the URL, or from Docker's and Podman's
 * files and their credential helpers. A registry on this machine is accessed
 * over HTTP, any other over TLS.
 *
 * TLS: `cafile`, `cert`, `key` (PEM files), `server-name`, `verify=true|false`.
 * Trusted authorities come from the first of these that exists: `cafile`; the
 * variables `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE` (a file, or a folder with
 * names by hash); `SSL_CERT_FILE` and `SSL_CERT_DIR` (either, or both); the
 * system's, where libcurl was built to look or where Debian, Red Hat, SUSE or
 * Alpine has them; struct tkb_remote_options' `fallback_cafile`. Variables are
 * read with getenv() for each connection.
 *
 * Life: opening a remote makes no connection. An operation connects, retries
 * what may be retried, with growing random pauses, and gives up at its
 * deadline. If a remote could not be reached, all later operations of the same
 * handle fail immediately.
 * Threads: a remote belongs to one thread at a time; open one per worker.
 * Trust: bytes from a remote are untrusted. They are hashed as they arrive, and
 * the sink must not publish them until the call returns 0.
 * Secrets: no message, name or listing holds the URL's user or password.
 */
struct tkb_remote;
struct tkb_trust;

/** Choices for tkb_remote_open(). Zero means the default. */
struct tkb_remote_options {
	size_t struct_size;          /**< sizeof it, as the caller was built */
	uint32_t timeout_ms;         /**< of one operation; default 30000 */
	uint32_t connect_timeout_ms; /**< default 1000 */
	uint32_t stall_timeout_ms;   /**< without a byte; default 5000 */
	uint64_t max_blob_size;      /**< bytes; default 2 GiB */
	uint64_t max_record_size;    /**< bytes; default 16 MiB */
	/** Its progress counts the bytes of a tkb_remote_get(), which asks for
	    the blob's size first, and of a tkb_remote_put(), once for each
	    writable tier; on_result() is not called. Copied. */
	const struct tkb_watch *watch;
	const struct tkb_remote_backend *const
		*backends; /**< besides the built-in ones; kept by reference */
	size_t backend_count;
	/**
	 * A PEM file of authorities for TLS, or NULL. It is used if neither the
	 * URL nor a variable nor the system names any. Copied.
	 */
	const char *fallback_cafile;
	/**
	 * The policy: what must be signed, and by whom. Kept by reference.
	 * NULL: signatures are not checked. See trust.h.
	 */
	const struct tkb_trust *trust;
};

/**
 * Prepare the remotes named by `urls`. Timeouts in a URL override those in
 * `options`.
 *
 * @param urls     one URL, or several separated by commas; not kept
 * @param options  not kept; NULL means all defaults
 * @param out      receives a handle that the caller closes
 * @return 0, TKB_ERR_INVALID (not a URL, or a bad parameter),
 *         TKB_ERR_UNSUPPORTED (no backend for its scheme) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_remote_open(
	const char *urls, const struct tkb_remote_options *options,
	struct tkb_remote **out, struct tkb_error *err);

/** Release a remote. Never fails; NULL is allowed. */
TKB_API void tkb_remote_close(struct tkb_remote *remote);

/** The number of tiers: at least 1. */
TKB_API size_t tkb_remote_tier_count(const struct tkb_remote *remote);

/** The URL of tier `index` without secrets, for messages. Borrowed. */
TKB_API const char *tkb_remote_tier_name(const struct tkb_remote *remote,
                                         size_t index);

/** The folder of tier `index`, if the tier is one; otherwise NULL. Borrowed. */
TKB_API const char *tkb_remote_tier_folder(const struct tkb_remote *remote,
                                           size_t index);

/** A warning that users must see about tier `index`, one sentence; or NULL. */
TKB_API const char *tkb_remote_tier_warning(const struct tkb_remote *remote,
                                            size_t index);

/** Size of the text of tkb_remote_tier_authorities(). */
#define TKB_AUTHORITIES_SIZE 512

/**
 * Which certificates does TLS trust for tier `index`, and why? For example
 * "'/etc/ssl/certs/ca-certificates.crt' (the system's)".
 *
 * @return false, with `out` unchanged, for a tier that has no TLS, does not
 *         verify, or uses the caller's own backend
 */
TKB_API bool tkb_remote_tier_authorities(const struct tkb_remote *remote,
                                         size_t index,
                                         char out[TKB_AUTHORITIES_SIZE]);

/**
 * Send the blob named `digest` to `sink`, from the first tier that has it. An
 * interrupted transfer is resumed.
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
 * Store `blob` in every writable tier. Its bytes are hashed first.
 *
 * @param digest_out receives its digest; may be NULL
 * @return 0, TKB_ERR_TOO_LARGE, TKB_ERR_DENIED (no tier is writable),
 *         TKB_ERR_UNAVAILABLE, TKB_ERR_NOMEM, TKB_ERR_CANCELLED, or what the
 *         source returned
 */
TKB_API TKB_NODISCARD int tkb_remote_put(struct tkb_remote *remote,
                                         const struct tkb_blob *blob,
                                         struct tkb_digest *digest_out,
                                         struct tkb_error *err);

/**
 * Find out which of `count` blobs exist in any tier.
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

/** List the blobs of tier `tier`, in any order. */
TKB_API TKB_NODISCARD int tkb_remote_list(
	struct tkb_remote *remote, size_t tier,
	const struct tkb_blob_visitor *visitor, struct tkb_error *err);

/**
 * Is `ref` a valid name of a ref? A name has letters, digits, `._-+@=`, and
 * slashes between its parts. No part begins with a dot. It has at most 200
 * bytes.
 */
TKB_API bool tkb_ref_is_valid(const char *ref);

/** Add a record to `ref`, in every writable tier. */
TKB_API TKB_NODISCARD int tkb_remote_add(struct tkb_remote *remote,
                                         const char *ref,
                                         struct tkb_bytes record,
                                         struct tkb_error *err);

/**
 * List the records of `ref` in all tiers that answer, each once. A record whose
 * digest is not its name is ignored. A record that cannot be read is passed to
 * on_unread() or, if that is NULL, ends the call.
 *
 * @return 0, also if there is no such ref; TKB_ERR_UNAVAILABLE if no tier
 *         answers, or if one without on-error=ignore does not answer
 */
TKB_API TKB_NODISCARD int tkb_remote_records(
	struct tkb_remote *remote, const char *ref,
	const struct tkb_record_visitor *visitor, struct tkb_error *err);

/** Drop a record from every writable tier. */
TKB_API TKB_NODISCARD int tkb_remote_drop(struct tkb_remote *remote,
                                          const char *ref,
                                          const struct tkb_digest *digest,
                                          struct tkb_error *err);

/** Reset a record's age, in every writable tier. */
TKB_API TKB_NODISCARD int tkb_remote_touch(struct tkb_remote *remote,
                                           const char *ref,
                                           const struct tkb_digest *digest,
                                           struct tkb_error *err);

/** List the refs of all tiers, each once, sorted by name. */
TKB_API TKB_NODISCARD int tkb_remote_refs(struct tkb_remote *remote,
                                          const struct tkb_ref_visitor *visitor,
                                          struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

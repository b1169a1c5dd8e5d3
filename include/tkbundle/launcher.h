/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LAUNCHER_H
#define TKBUNDLE_LAUNCHER_H

#include <tkbundle/bundle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/launcher.h
 * After an emit, give a framework back what it saved with its kernels.
 *
 * A launcher is a payload that only the framework understands, such as a
 * pickled autotuner. It is saved under a cache key of the framework, with the
 * kernels that it needs: all of them, or any one. It is given back only if
 * these are in the cache root, whole and with their binary.
 *
 *     struct tkb_launchers *launchers;
 *     const struct tkb_launcher *launcher;
 *
 *     rc = tkb_emit(bundle, root, NULL, NULL, &err);
 *     rc = tkb_launchers_open(bundle, root, NULL, &launchers, &err);
 *     launcher = tkb_launchers_find(launchers, "cache key", 0);
 *     if (launcher != NULL)
 *             load(launcher->payload, launcher->kernels[0].binary);
 *     tkb_launchers_close(launchers);
 *
 * Another process may have emitted the kernels: only the contents of the root
 * matter.
 *
 * Threads: after they are open, launchers may be read from several threads.
 */
struct tkb_launchers;

/** Which of its kernels a launcher needs. */
enum tkb_need {
	TKB_NEED_ALL, /**< every one */
	TKB_NEED_ANY  /**< one is enough */
};

/** "all" or "any". Static storage. */
TKB_API const char *tkb_need_name(enum tkb_need need);

/** A launcher in a bundle. Strings are never NULL. */
struct tkb_saved_launcher {
	const char *cache_key; /**< the framework's key; unique in a bundle */
	const char *name;      /**< the name of the kernel that it launches */
	enum tkb_need need;
	const char *const *needs; /**< keys of entries, in the order given */
	size_t need_count;        /**< at least 1 */
	struct tkb_digest digest; /**< of the payload */
	uint64_t size;            /**< bytes of the payload */
};

/** The number of launchers in `bundle`. They are sorted by cache key. */
TKB_API size_t tkb_bundle_launcher_count(const struct tkb_bundle *bundle);

/** Launcher `index`, which must be below the count. Borrowed. */
TKB_API const struct tkb_saved_launcher *tkb_bundle_launcher(
	const struct tkb_bundle *bundle, size_t index);

/**
 * Send the payload of launcher `index` to `sink`. Checks and decodes only the
 * frame that holds it.
 *
 * @return 0, TKB_ERR_CORRUPT, TKB_ERR_IO, TKB_ERR_NOMEM, or what the sink
 *         returned
 */
TKB_API TKB_NODISCARD int tkb_bundle_read_launcher(
	const struct tkb_bundle *bundle, size_t index,
	const struct tkb_sink *sink, struct tkb_error *err);

/** A kernel that a launcher needs, in its cache root. */
struct tkb_launcher_kernel {
	const char *key;
	const char *binary; /**< absolute path of its cubin, hsaco, ... */
};

/**
 * A launcher that can be used. Pointers are valid until tkb_launchers_close().
 */
struct tkb_launcher {
	const char *cache_key;
	const char *name;
	const char *root; /**< the cache root that has its kernels */
	uint32_t device;  /**< the device of that root; 0 in a Triton root */
	struct tkb_bytes payload;
	const struct tkb_launcher_kernel *kernels; /**< those in place */
	size_t kernel_count;                       /**< at least 1 */
};

/** A launcher that is not given back, and why. */
struct tkb_dropped_launcher {
	const char *cache_key;
	const char *name;
	enum tkb_reason reason;
	const char *message; /**< one sentence */
};

/** Choices for tkb_launchers_open(). Zero means the default. */
struct tkb_launchers_options {
	size_t struct_size;      /**< sizeof it, as the caller was built */
	const uint32_t *devices; /**< only for these; not kept */
	size_t device_count;     /**< 0: all devices that have a root */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	/** Its progress counts launchers, then frames. May be NULL. */
	const struct tkb_watch *watch;
};

/**
 * Find the launchers of `bundle` that can be used in the cache at `cache_root`,
 * and read their payloads. In an Inductor cache a launcher is given once for
 * each device whose root has what it needs, and dropped if none has. A kernel
 * that cannot be read counts as missing.
 *
 * @param bundle      not needed afterwards
 * @param cache_root  not kept; if it does not exist, all are dropped
 * @param options     not kept; NULL means all defaults
 * @param out         receives a handle that the caller closes
 * @return 0, also if launchers were dropped or a payload is damaged;
 *         TKB_ERR_INVALID (not a folder), TKB_ERR_IO, TKB_ERR_NOMEM or
 *         TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_launchers_open(
	const struct tkb_bundle *bundle, const char *cache_root,
	const struct tkb_launchers_options *options, struct tkb_launchers **out,
	struct tkb_error *err);

/** Release them and all that they lent. Never fails; NULL is allowed. */
TKB_API void tkb_launchers_close(struct tkb_launchers *launchers);

/** The launcher saved under `cache_key`, for `device`, or NULL. */
TKB_API const struct tkb_launcher *tkb_launchers_find(
	const struct tkb_launchers *launchers, const char *cache_key,
	uint32_t device);

/** The number of launchers that can be used. */
TKB_API size_t tkb_launchers_count(const struct tkb_launchers *launchers);

/** Usable launcher `index`, sorted by cache key, then device. Borrowed. */
TKB_API const struct tkb_launcher *tkb_launchers_at(
	const struct tkb_launchers *launchers, size_t index);

/** The number of dropped launchers. */
TKB_API size_t
tkb_launchers_dropped_count(const struct tkb_launchers *launchers);

/** Dropped launcher `index`, sorted by cache key. Borrowed. */
TKB_API const struct tkb_dropped_launcher *tkb_launchers_dropped(
	const struct tkb_launchers *launchers, size_t index);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RECORDER_H
#define TKBUNDLE_RECORDER_H

#include <tkbundle/collect.h>
#include <tkbundle/launcher.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/recorder.h
 * Note what a framework compiles, and pack exactly that.
 *
 *     struct tkb_recorder *recorder;
 *
 *     rc = tkb_recorder_new(NULL, &recorder, &err);
 *     rc = tkb_recorder_begin_compile(recorder, &err);
 *     rc = tkb_recorder_put(recorder, key, device, &err);      // each kernel
 *     rc = tkb_recorder_put_winner(recorder, key, &err);       // perhaps
 *     rc = tkb_recorder_put_launcher(recorder, &launcher, &err);
 *     rc = tkb_recorder_collect_to_file(recorder, root, NULL, "k.tkb",
 *                                       &report, &err);
 *     tkb_recorder_end_compile(recorder);
 *     tkb_recorder_free(recorder);
 *
 * A compile begins, kernels are put, everything is collected once, the compile
 * ends. tkb_recorder_collect() finalises: nothing can be put after it.
 * tkb_recorder_end_compile() may be called at any time, also twice; it discards
 * what was not collected, and another compile may begin. Any other order is
 * TKB_ERR_INVALID, and changes nothing.
 *
 * Disabled, by the option or by TKBUNDLE_DISABLE in the environment (set, and
 * neither empty nor "0", when the recorder is made), a recorder notes nothing,
 * and what it collects is an empty bundle. `is_enabled` overrides the
 * environment. The order of calls is checked all the same.
 *
 * Threads: all functions except tkb_recorder_free() may be called at once, for
 * the same recorder or for different ones. After fork() each process has a
 * recorder of its own with what was put before, even if other threads were
 * using it.
 */
struct tkb_recorder;

/** Choices for tkb_recorder_new(). Zero means the default. */
struct tkb_recorder_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_disabled;   /**< note nothing */
	bool is_enabled; /**< though TKBUNDLE_DISABLE is set, see tkbundle.h */
};

/**
 * Make a recorder.
 *
 * @param options  not kept; NULL means all defaults
 * @param out      receives a recorder that the caller frees
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_recorder_new(
	const struct tkb_recorder_options *options, struct tkb_recorder **out,
	struct tkb_error *err);

/** Free a recorder and what it notes. Never fails; NULL is allowed. */
TKB_API void tkb_recorder_free(struct tkb_recorder *recorder);

/** Is it disabled? */
TKB_API bool tkb_recorder_is_disabled(const struct tkb_recorder *recorder);

/**
 * A compile begins.
 *
 * @return 0 or TKB_ERR_INVALID (one has begun, and not ended)
 */
TKB_API TKB_NODISCARD int tkb_recorder_begin_compile(
	struct tkb_recorder *recorder, struct tkb_error *err);

/**
 * Note that kernel `key` was compiled for GPU `device`. Each pair counts once.
 *
 * @param key     the folder's name in the cache root; not kept
 * @param device  the GPU's index, below 1024
 * @return 0, TKB_ERR_INVALID (no compile has begun or it is collected; not a
 *         key; no such device), TKB_ERR_TOO_LARGE (100,000 pairs) or
 *         TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_recorder_put(struct tkb_recorder *recorder,
                                           const char *key, uint32_t device,
                                           struct tkb_error *err);

/**
 * Note that autotuning chose kernel `key`. Once any kernel is chosen, only
 * chosen ones, and those that a saved launcher needs, are collected. The kernel
 * is collected for the devices that it was put for, or, if it was never put,
 * for all that have it.
 *
 * @param key  not kept
 * @return as tkb_recorder_put()
 */
TKB_API TKB_NODISCARD int tkb_recorder_put_winner(struct tkb_recorder *recorder,
                                                  const char *key,
                                                  struct tkb_error *err);

/** A launcher to save. Nothing of it is kept by reference. */
struct tkb_launcher_spec {
	size_t struct_size;    /**< sizeof it, as the caller was built */
	const char *cache_key; /**< UTF-8, 1 to 1024 bytes, no control
	                            characters */
	const char *name;      /**< of the kernel; 1 to 255 bytes, likewise */
	struct tkb_bytes payload; /**< at most 64 MiB; may be empty */
	enum tkb_need need;
	const char *const *needs; /**< keys of entries, none twice */
	size_t need_count;        /**< 1 to 1024 */
};

/**
 * Save a launcher with the kernels that it needs, which need not be put. It
 * replaces one of the same cache key. The collect leaves it out if its kernels
 * are missing.
 *
 * @return 0, TKB_ERR_INVALID (wrong order; a malformed member),
 *         TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_recorder_put_launcher(
	struct tkb_recorder *recorder, const struct tkb_launcher_spec *launcher,
	struct tkb_error *err);

/**
 * Pack what was put from the cache at `cache_root`, as tkb_collect() does, and
 * finalise. A kernel that was put but does not exist is left out as missing:
 * TKB_ERR_PARTIAL, which finalises, too. On other failures nothing is
 * finalised, and the call may be repeated. During the call puts are refused,
 * except in a dry run, which packs what was put before it; if the call fails,
 * they may be repeated.
 *
 * In a Triton root, an entry is packed for the devices that it was put for.
 *
 * @param cache_root  not kept; not read if nothing was put
 * @param options     not kept; NULL means all defaults. `keys` and
 *                    `has_device` must not be set: the recorder chooses
 * @param sink        not kept; may be NULL in a dry run, which does not
 *                    finalise
 * @param report      as for tkb_collect()
 * @return what tkb_collect() returns; TKB_ERR_INVALID in the wrong order
 */
TKB_API TKB_NODISCARD int tkb_recorder_collect(
	struct tkb_recorder *recorder, const char *cache_root,
	const struct tkb_collect_options *options, const struct tkb_sink *sink,
	struct tkb_collect_report *report, struct tkb_error *err);

/** The same, into the file `path`, as tkb_collect_to_file() writes it. */
TKB_API TKB_NODISCARD int tkb_recorder_collect_to_file(
	struct tkb_recorder *recorder, const char *cache_root,
	const struct tkb_collect_options *options, const char *path,
	struct tkb_collect_report *report, struct tkb_error *err);

/** The compile ends; what was not collected is discarded. */
TKB_API void tkb_recorder_end_compile(struct tkb_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif

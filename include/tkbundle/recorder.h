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
 * A recorder is disabled by the option, or if TKBUNDLE_DISABLE is in the
 * environment when it is made, and neither empty nor "0". `is_enabled`
 * overrides the environment. A disabled recorder notes nothing, and collects an
 * empty bundle, which replaces no file. The order of calls is still checked.
 *
 * Threads: all functions except tkb_recorder_free() may be called at once, for
 * the same recorder or for different ones. After fork() each process has its
 * own recorder with what was put before, even if other threads were using it.
 */
struct tkb_recorder;

/** Choices for tkb_recorder_new(). Zero means the default. */
struct tkb_recorder_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool is_disabled;   /**< note nothing */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
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
 * @return 0 or TKB_ERR_INVALID (another has begun, and not ended)
 */
TKB_API TKB_NODISCARD int tkb_recorder_begin_compile(
	struct tkb_recorder *recorder, struct tkb_error *err);

/**
 * Note that kernel `key` was compiled for GPU `device`. Each pair of key and
 * device counts once.
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
 * Note that autotuning chose kernel `key`. Once a kernel was chosen, a collect
 * packs only chosen kernels, and those that a saved launcher needs. The kernel
 * is collected for the devices for which it was put or, if it was never put,
 * for all devices that have it.
 *
 * @param key  not kept
 * @return as tkb_recorder_put()
 */
TKB_API TKB_NODISCARD int tkb_recorder_put_winner(struct tkb_recorder *recorder,
                                                  const char *key,
                                                  struct tkb_error *err);

/** A launcher to save. The struct and what it points to are copied. */
struct tkb_launcher_spec {
	size_t struct_size;       /**< sizeof it, as the caller was built */
	const char *cache_key;    /**< UTF-8, 1 to 1024 bytes, no control
	                            characters */
	const char *name;         /**< of the kernel; 1 to 255 bytes, also
	                            without control characters */
	struct tkb_bytes payload; /**< at most 64 MiB; may be empty */
	enum tkb_need need;
	const char *const *needs; /**< keys of entries, without duplicates */
	size_t need_count;        /**< 1 to 1024 */
};

/**
 * Save a launcher with the keys of the kernels that it needs. These kernels
 * need not be put. The launcher replaces an earlier one with the same cache
 * key. The collect leaves it out if its kernels are missing.
 *
 * @return 0, TKB_ERR_INVALID (wrong order; a malformed member),
 *         TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_recorder_put_launcher(
	struct tkb_recorder *recorder, const struct tkb_launcher_spec *launcher,
	struct tkb_error *err);

/**
 * Pack what was put from the cache at `cache_root`, as tkb_collect() does, and
 * finalise. A kernel that was put but does not exist is left out as missing,
 * and the call returns TKB_ERR_PARTIAL, which finalises too. On other failures
 * nothing is finalised, and the call may be repeated. During the call puts are
 * refused; if the call fails, they may be repeated. A dry run does not refuse
 * puts; it packs what was put before it.
 *
 * In a Triton root, an entry is packed for the devices for which it was put.
 *
 * @param cache_root  not kept; not read if nothing was put
 * @param options     not kept; NULL means all defaults. `keys` and
 *                    `has_device` must not be set: the recorder chooses.
 *                    Kernels that were put are also looked for in `trees`,
 *                    but no unit of these is packed
 * @param sink        not kept; may be NULL in a dry run, which does not
 *                    finalise
 * @param report      as for tkb_collect()
 * @return what tkb_collect() returns; TKB_ERR_INVALID in the wrong order
 */
TKB_API TKB_NODISCARD int tkb_recorder_collect(
	struct tkb_recorder *recorder, const char *cache_root,
	const struct tkb_collect_options *options, const struct tkb_sink *sink,
	struct tkb_collect_report *report, struct tkb_error *err);

/**
 * As tkb_recorder_collect(), but into the file `path`, as tkb_collect_to_file()
 * writes it.
 */
TKB_API TKB_NODISCARD int tkb_recorder_collect_to_file(
	struct tkb_recorder *recorder, const char *cache_root,
	const struct tkb_collect_options *options, const char *path,
	struct tkb_collect_report *report, struct tkb_error *err);

/** End the compile; what was not collected is discarded. */
TKB_API void tkb_recorder_end_compile(struct tkb_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TKBUNDLE_H
#define TKBUNDLE_TKBUNDLE_H

/**
 * @file tkbundle/tkbundle.h
 * Includes all headers of libtkbundle and libtkbundle-remote. The latter has
 * remote.h, fleet.h, holdings.h, image.h, trust.h, signatures.h, starts.h and
 * remote_backend.h.
 *
 *   error.h    how functions say what went wrong
 *   entry.h    what caches and bundles hold
 *   cache.h    look into a compiler's cache
 *   collect.h  pack a cache into a bundle
 *   bundle.h   read and verify a bundle
 *   emit.h     put a bundle's entries into a cache
 *   tree.h     what engines cache beside Triton's kernels
 *   engine.h   profiles of engines: where their trees are
 *   launcher.h what a framework saved beside its kernels, given back
 *   recorder.h note what a framework compiles, and pack exactly that
 *   merge.h    make one bundle of several
 *   machine.h  which entries fit this machine
 *   maintain.h relocate a cache, list what is used, remove the rest
 *   memory.h   bytes in memory as a sink and a source
 *   draft.h    a file that appears whole at once, as a sink
 *   amount.h   sizes and times as people write them
 *   results.h  collect the results of a long call in a list
 *   times.h    how long entries took to compile
 *   makers.h   what made them
 *   cubin.h    the parts of a cubin
 *   remote.h   a shared place that keeps blobs and refs
 *   fleet.h    push to it, and pull from it
 *   holdings.h list what a ref holds, without fetching it
 *   image.h    store and fetch images of a registry
 *   trust.h    keys that sign, and a policy of whose signatures count
 *   signatures.h sign what a ref holds, and promote it
 *   starts.h   reports of starts that servers leave beside a ref
 *   remote_backend.h  add a kind of remote
 *   pool.h     jobs for worker processes
 *   compile.h  compile IR, PTX and CUDA C to entries, without a GPU
 *   triton_compile.h  the same for Triton kernels, with the user's Triton
 *   finalize.h optimize a whole module of IR
 *   c_launcher.h  start a kernel from C, without Python
 *
 * tkbundle can be disabled from outside: if TKBUNDLE_DISABLE is in the
 * environment, and neither empty nor "0", tkb_emit(), tkb_pull(), tkb_push(),
 * tkb_push_bundle(), tkb_collect(), tkb_collect_to_file(), tkb_relocate(),
 * tkb_gather_kernels(), tkb_gc() and tkb_remote_gc() do nothing: they return 0
 * and a report of zeros, make no folder or file, send nothing and contact no
 * remote. tkb_launchers_open() and tkb_pull_launchers() give no launchers, a
 * recorder notes nothing and pushes nothing, and tkb_remote_verify() drops
 * nothing. The variable is read with getenv() in each of these calls.
 * `is_enabled` in the options overrides it, for programs with a setting of
 * their own. Functions that only read a bundle or a cache, and compilers, work
 * as usual.
 *
 * A unit that was tuned for a GPU is packed with the GPU's name and the major
 * version of the driver, and emitted only where both are the same. They come
 * from NVIDIA's driver, or from TKBUNDLE_GPU in the environment, as in "NVIDIA
 * H200,580"; if that is empty, they are unknown. The variable is read with
 * getenv() when a function finds such an entry; a malformed value is
 * TKB_ERR_INVALID.
 *
 * The libraries never print, exit or abort, keep no state outside their
 * handles, and change no signal dispositions.
 */

#include <tkbundle/amount.h>
#include <tkbundle/bundle.h>
#include <tkbundle/c_launcher.h>
#include <tkbundle/cache.h>
#include <tkbundle/collect.h>
#include <tkbundle/compile.h>
#include <tkbundle/cubin.h>
#include <tkbundle/draft.h>
#include <tkbundle/emit.h>
#include <tkbundle/engine.h>
#include <tkbundle/entry.h>
#include <tkbundle/error.h>
#include <tkbundle/finalize.h>
#include <tkbundle/fleet.h>
#include <tkbundle/holdings.h>
#include <tkbundle/image.h>
#include <tkbundle/launcher.h>
#include <tkbundle/machine.h>
#include <tkbundle/maintain.h>
#include <tkbundle/makers.h>
#include <tkbundle/memory.h>
#include <tkbundle/merge.h>
#include <tkbundle/pool.h>
#include <tkbundle/recorder.h>
#include <tkbundle/remote.h>
#include <tkbundle/remote_backend.h>
#include <tkbundle/results.h>
#include <tkbundle/signatures.h>
#include <tkbundle/starts.h>
#include <tkbundle/times.h>
#include <tkbundle/tree.h>
#include <tkbundle/triton_compile.h>
#include <tkbundle/trust.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TKB_VERSION_MAJOR 0
#define TKB_VERSION_MINOR 1
#define TKB_VERSION_PATCH 0

/** The library's version, "0.1.0". Static storage. */
TKB_API const char *tkb_version(void);

/**
 * The versions of the libraries that both were built with: "libzstd 1.5.4,
 * ...". Static storage.
 */
TKB_API const char *tkb_version_libraries(void);

#ifdef __cplusplus
}
#endif

#endif

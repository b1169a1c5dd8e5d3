/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TKBUNDLE_H
#define TKBUNDLE_TKBUNDLE_H

/**
 * @file tkbundle/tkbundle.h
 * All of libtkbundle, and of libtkbundle-remote, which has remote.h, fleet.h,
 * holdings.h, starts.h and remote_backend.h.
 *
 *   error.h    how functions say what went wrong
 *   entry.h    what caches and bundles hold
 *   cache.h    look into a compiler's cache
 *   collect.h  pack a cache into a bundle
 *   bundle.h   read and verify a bundle
 *   emit.h     put a bundle's entries into a cache
 *   launcher.h what a framework saved beside its kernels, given back
 *   recorder.h note what a framework compiles, and pack exactly that
 *   merge.h    make one bundle of several
 *   machine.h  which entries fit this machine
 *   maintain.h relocate a cache, see what of it is used, remove the rest
 *   memory.h   bytes in memory as a sink and a source
 *   draft.h    a file that appears whole at once, as a sink
 *   amount.h   sizes and times as people write them
 *   results.h  keep what long work tells of each entry
 *   times.h    how long entries took to compile
 *   makers.h   what made them
 *   cubin.h    the parts of a cubin
 *   remote.h   a shared place that keeps blobs and refs
 *   fleet.h    push to it, and pull from it
 *   holdings.h what a ref of it holds, without fetching that
 *   starts.h   reports of starts, which servers leave beside a ref
 *   remote_backend.h  for those who add a kind of remote
 *   pool.h     jobs for worker processes
 *   compile.h  compile IR, PTX and CUDA C to entries, without a GPU
 *   triton_compile.h  the same for kernels of Triton, by the user's own
 *   finalize.h use what can be known of a whole module
 *   c_launcher.h  start a kernel from C, without Python
 *
 * Whoever starts a process can take tkbundle out of its way: where
 * TKBUNDLE_DISABLE is in the environment, and neither empty nor "0",
 * tkb_emit(), tkb_pull(), tkb_push(), tkb_push_bundle(), tkb_collect(),
 * tkb_collect_to_file(), tkb_relocate(), tkb_gc() and tkb_remote_gc() do
 * nothing: they return 0 and a report of zeros, make no folder or file, send
 * nothing and ask no remote; tkb_launchers_open() and tkb_pull_launchers() give
 * none, a recorder notes nothing and pushes nothing, and tkb_remote_verify()
 * reads as ever, and drops nothing. It is read with getenv() when such a
 * function is called. A caller that was told otherwise, by a setting of its own,
 * says so by `is_enabled` in the options. What only reads a bundle or a cache, and
 * compiles, are as ever.
 *
 * What was tuned for a GPU is packed with the GPU's name and the major version of
 * the driver, and emitted where both are the same. NVIDIA's driver tells them, or
 * TKBUNDLE_GPU in the environment, as in "NVIDIA H200,580"; where that is empty they
 * are not known. It is read with getenv() when a function meets such an entry, which
 * returns TKB_ERR_INVALID if it makes no sense.
 *
 * The libraries never print, exit or abort, keep no state outside the
 * handles that they give, and change no signal dispositions.
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

/** What both libraries were built with: "libzstd 1.5.4, ...". Static storage. */
TKB_API const char *tkb_version_libraries(void);

#ifdef __cplusplus
}
#endif

#endif

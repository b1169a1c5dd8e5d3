/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_LAYOUT_TRITON_H
#define TKB_FLEET_LAYOUT_TRITON_H

/*
 * Pushing entries so that stock Triton reads them from Redis, if its
 * environment has:
 *
 *     TRITON_CACHE_MANAGER=triton.runtime.cache:RemoteCacheManager
 *     TRITON_REMOTE_CACHE_BACKEND=triton.runtime.cache:RedisRemoteCacheBackend
 *     TRITON_REDIS_HOST, TRITON_REDIS_PORT, TRITON_REDIS_KEY_FORMAT
 *
 * Each file is a value under "triton:{key}:{filename}", or the URL's
 * `triton-key-format`, in database 0. The files of a kernel appear together.
 *
 * The group file is written as a dict, although Triton's own remote manager
 * writes a list. That manager accepts both, but keeps what it read in the local
 * cache, and Triton's file manager fails on a list there. The paths in it,
 * "/<key>/<name>", do not exist: the file manager takes that for a miss, and
 * tkbundle for a cache that was moved.
 */

#include <tkbundle/fleet.h>

#include "remote/remote.h"

/* tkb_push() with TKB_PUSH_LAYOUT_TRITON. */
TKB_NODISCARD int tkb_push_triton(struct tkb_remote *remote,
                                  const char *cache_root,
                                  const struct tkb_push_options *options,
                                  struct tkb_push_report *report,
                                  struct tkb_error *err);

#endif

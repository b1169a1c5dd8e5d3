/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_LAYOUT_TRITON_H
#define TKB_FLEET_LAYOUT_TRITON_H

/*
 * What stock Triton reads from Redis, where it is told to:
 *
 *     TRITON_CACHE_MANAGER=triton.runtime.cache:RemoteCacheManager
 *     TRITON_REMOTE_CACHE_BACKEND=triton.runtime.cache:RedisRemoteCacheBackend
 *     TRITON_REDIS_HOST, TRITON_REDIS_PORT, TRITON_REDIS_KEY_FORMAT
 *
 * Each file is a value under "triton:{key}:{filename}", or what the URL's
 * `triton-key-format` says, in database 0. A kernel's files appear together.
 *
 * The group file is a dict, although Triton's own remote manager writes a
 * list: it takes both, and leaves what it read in its local cache, where its
 * file manager dies of a list. The paths in it, "/<key>/<name>", are nowhere:
 * to the file manager that is a miss, and to tkbundle a cache that was moved.
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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_BACKENDS_H
#define TKB_REMOTE_BACKENDS_H

/* The built-in backends. Each is a constant, defined in its own file. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/blob_buffer.h"

extern const struct tkb_remote_backend tkb_backend_dir;
extern const struct tkb_remote_backend tkb_backend_http;
extern const struct tkb_remote_backend tkb_backend_memory;
extern const struct tkb_remote_backend tkb_backend_oci;
extern const struct tkb_remote_backend tkb_backend_redis;
extern const struct tkb_remote_backend tkb_backend_s3;

#endif

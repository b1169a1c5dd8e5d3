/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_FACTS_H
#define TKBUNDLE_IMAGE_FACTS_H

#include <tkbundle/tkbundle.h>

#include "archive/archive_stage.h"

/*
 * The description of an image of caches: labels for MCV, KServe and tkbundle,
 * and lists of entries beside the caches.
 *
 *     cache.triton.image/{entry-count,summary,cache-size-bytes}
 *     cache.vllm.image/{entry-count,summary,cache-size-bytes,format}
 *     io.kserve.km/{framework,cache-type,cache-hash,cache-mount-subpath,
 *                   cache-root-env,cache-mounts}
 *     dev.tkbundle.{bundle,mount}
 */

struct json_t; /* jansson's */

/*
 * Write the lists into the stage, which has the caches, and make the labels.
 *
 * @param labels_out  receives an object, which the caller releases
 * @return 0, TKB_ERR_IO, TKB_ERR_TOO_LARGE (a label that KServe would refuse)
 *         or TKB_ERR_NOMEM
 */
TKB_NODISCARD int image_facts_write(const struct tkb_bundle *bundle,
                                    const struct archive_stage *stage,
                                    struct json_t **labels_out,
                                    struct tkb_error *err);

#endif

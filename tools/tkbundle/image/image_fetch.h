/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_FETCH_H
#define TKBUNDLE_IMAGE_FETCH_H

#include "archive/archive_folder.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/deadline.h"

/*
 * Fetch the layer of the image `text`, "oci://host/name:tag" or
 * "oci://host/name@sha256:...", into a file of the folder. From an index, use
 * the image for this machine, or else the first one.
 *
 * @param args      --trust names a policy that must trust the image
 * @param path_out  receives the file's path, which the caller frees
 * @return 0; TKB_ERR_UNTRUSTED; TKB_MISS (there is no such image);
 *         TKB_ERR_INVALID (no name of one, or it has credentials);
 *         TKB_ERR_CORRUPT (what is there is no image, or one of several
 *         layers), or a failure of the remote
 */
TKB_NODISCARD int image_fetch(struct cli *cli, const char *text,
                              const struct arguments *args,
                              const struct deadline *deadline,
                              const struct archive_folder *folder,
                              char **path_out, struct tkb_error *err);

/*
 * If the unpacked files in the folder are an image in OCI's layout, or in that
 * of `docker save`, find its layer.
 *
 * @param path_out  receives its path, which the caller frees, or NULL: it is
 *                  not an image
 * @return 0, TKB_ERR_CORRUPT or TKB_ERR_NOMEM
 */
TKB_NODISCARD int image_layer_of_folder(const char *folder, char **path_out,
                                        struct tkb_error *err);

#endif

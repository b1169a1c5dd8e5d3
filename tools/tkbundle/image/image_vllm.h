/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_VLLM_H
#define TKBUNDLE_IMAGE_VLLM_H

#include <stdbool.h>

struct json_t; /* jansson's */

/*
 * MCV's list for vLLM's cache: an object for each folder in torch_compile_cache
 * that is named by a hash, sorted by name.
 *
 * Graphs of an older vLLM keep Triton's kernels in a folder beside them, which MCV
 * lists with them. In an image, all kernels are in one root: each such graph gets
 * them all.
 *
 * @param path        VLLM_CACHE_ROOT
 * @param kernels     an array of the image's kernels, which the result may keep
 * @param is_aot_out  receives whether the first is of torch_aot_compile
 * @return an array, or NULL: out of memory
 */
struct json_t *image_vllm_entries(const char *path, struct json_t *kernels,
                                  bool *is_aot_out);

/* The label `format` of the entries: "binary", "triton", "binary,triton"; "unpacked" if
   there is none. */
const char *image_vllm_format(const struct json_t *entries);

#endif

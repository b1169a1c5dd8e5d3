/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_VLLM_H
#define TKBUNDLE_IMAGE_VLLM_H

#include <stdbool.h>

struct json_t; /* jansson's */

/*
 * MCV's list for vLLM's cache: an object for each folder in torch_compile_cache
 * that is named by a hash, sorted by name.
 *
 * @param path        VLLM_CACHE_ROOT
 * @param is_aot_out  receives whether the first is of torch_aot_compile
 * @return an array, or NULL: out of memory
 */
struct json_t *image_vllm_entries(const char *path, bool *is_aot_out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_SECRETS_H
#define TKB_TREE_SECRETS_H

/*
 * Hide the values of secret names in a text that goes to others: vLLM writes
 * VLLM_API_KEY, as it is, into cache_key_factors.json.
 *
 * A value becomes the word "hidden", and not a digest of it. Who reads a bundle
 * could try passwords on a digest, and a salt would make two bundles of one tree
 * differ; with one word for all, machines with different keys have equal files.
 *
 * In JSON, texts and numbers are hidden in whatever a secret name stands for; true,
 * false, null and "" stay. In any text, JSON that is damaged and strings within
 * JSON included, values are hidden that stand so:
 *
 *     NAME=value                  to white space, or the quote that ends it
 *     NAME = value, name: value   to the end of the line; not in Python
 *     name: |, or name: alone     and lines below that are indented more, in a text
 *     "NAME": "value"             in quotes of any kind, also escaped ones, and
 *     NAME = "value"              in brackets
 *     ("NAME", "value")
 *     --name value
 *
 * In Python, a value without quotes is code unless its name is written in
 * capitals or is an option, and nothing stands between it and the name but "=".
 * And the password of a URL, "scheme://user:password@host", up to the last "@" in
 * front of the host.
 *
 * A text of UTF-16 is read as one of UTF-8, and stays one of UTF-16.
 *
 * All else stays as it is, byte for byte. Where it cannot be told where a value
 * ends, rather more is hidden than less. No other value is known by its looks:
 * what has no name stays.
 */

#include "tree/path_style.h"
#include "tree/secret_name.h"

/*
 * Append `text` without its secrets; of TKB_PATH_STYLE_NONE, as it is.
 * `*count_out` is how many values were hidden.
 */
TKB_NODISCARD int tkb_secrets_hide(struct tkb_bytes text,
                                   enum tkb_path_style style,
                                   struct tkb_buf *out, size_t *count_out,
                                   struct tkb_error *err);

#endif

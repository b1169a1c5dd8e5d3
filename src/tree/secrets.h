/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_SECRETS_H
#define TKB_TREE_SECRETS_H

/*
 * Hide the values of secret names in a text that others will get. For example,
 * vLLM writes the value of VLLM_API_KEY into cache_key_factors.json.
 *
 * A value is replaced by the word "hidden", not by a digest. A reader of the
 * bundle could try passwords on a digest, and with a salt two bundles of one
 * tree would differ. With one word for all values, machines with different keys
 * have equal files.
 *
 * In JSON, all texts and numbers in the value of a secret name are hidden;
 * true, false, null and "" stay. In any text, including damaged JSON and
 * strings inside JSON, values are hidden in these forms:
 *
 *     NAME=value                  to white space, or the quote that ends it
 *     NAME = value, name: value   to the end of the line; not in Python
 *     name: anything              in a text also the lines below that are
 *                                 indented more, as in YAML
 *     "NAME": "value"             in quotes of any kind, also escaped ones, and
 *     NAME = "value"              in brackets, there also without quotes
 *     ("NAME", "value")
 *     --name value
 *
 * In Python, a value without quotes counts as code, unless its name is in
 * capitals or is an option, and only "=" stands between the two. The password
 * of a URL, "scheme://user:password@host", is hidden up to the last "@" before
 * the host.
 *
 * A UTF-16 text is converted to UTF-8 and back.
 *
 * Everything else stays the same, byte for byte. If it is not clear where a
 * value ends, more is hidden rather than less. A value without a name is not
 * recognised as a secret, and stays.
 */

#include "tree/path_style.h"
#include "tree/secret_name.h"

/*
 * Append `text` without its secrets. With TKB_PATH_STYLE_NONE, nothing is
 * hidden. `*count_out` is the number of hidden values.
 */
TKB_NODISCARD int tkb_secrets_hide(struct tkb_bytes text,
                                   enum tkb_path_style style,
                                   struct tkb_buf *out, size_t *count_out,
                                   struct tkb_error *err);

#endif

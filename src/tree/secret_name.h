/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_SECRET_NAME_H
#define TKB_TREE_SECRET_NAME_H

/*
 * Which names have secrets as their values.
 *
 * A name that contains a word such as PASSWORD, SECRET or APIKEY (`plain` in
 * secret_name.c) has a secret, and one of several words that ends with PWD. Caches use the words KEY, TOKEN and
 * AUTH for other things too, so these count only as whole words, between
 * underscores and the like:
 *
 *   in capitals, as environment variables are written: HF_TOKEN, MY_KEY_2; but
 *   not CACHE_KEY, KEY, KEY_TAG or TOKEN_THRESHOLD, where the word beside it
 *   says what kind it is, or what of it;
 *   otherwise only behind a word that makes them secret, at the end: api_key,
 *   accessToken, --hf-token; but not cache_key, eos_token or num_key_value_heads.
 */

#include <tkbundle/tree.h>

#include "base/base.h"
#include "base/buf.h"

/* As tkb_name_is_secret(), for a name without a zero at its end. */
bool tkb_secret_name_bytes(struct tkb_bytes name);

#endif

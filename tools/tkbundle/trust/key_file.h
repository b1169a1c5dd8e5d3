/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_KEY_FILE_H
#define TKBUNDLE_KEY_FILE_H

#include <tkbundle/trust.h>

#include "cli/remote_library.h"
#include "trust/passphrase.h"

/* Keys in files. */

/* Read an id, or another digest: 64 lower-case digits. */
bool key_id_read(const char *text, struct tkb_digest *out);

/*
 * Read the key in the file `path`, and ask for its passphrase if it is
 * encrypted. Warn if a private key is not encrypted and everybody may read it.
 *
 * @param passphrase  NULL: read a public key
 * @param out         receives a key that the caller closes
 * @return 0, TKB_MISS (no such file), TKB_ERR_IO, or a result of tkb_key_read()
 *         or passphrase_ask()
 */
TKB_NODISCARD int key_file_read(const struct cli *cli,
                                const struct remote_library *library,
                                const char *path,
                                const struct passphrase *passphrase,
                                struct tkb_key **out, struct tkb_error *err);

/*
 * Write a new key to `path`, which only its owner may read, and its public key
 * to `path`.pub. Neither file may exist.
 *
 * @param passphrase  NULL: do not encrypt the key
 */
TKB_NODISCARD int key_file_write(const struct remote_library *library,
                                 const struct tkb_key *key, const char *path,
                                 const struct passphrase *passphrase,
                                 struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGSTORE_H
#define TKBUNDLE_SIGSTORE_H

#include "config/remote_use.h"

/* Signatures as files for other programs: Sigstore bundles. */

/*
 * Write each signature of the ref that one of the keys has made into the
 * folder, as RECORD-KEY-SEQUENCE.sigstore.json. The folder is created if
 * needed.
 */
enum status sigstore_export(struct remote_use *use,
                            const struct tkb_signing *keys, const char *folder);

/* Add the signatures in these files, which one of the keys must have made. */
enum status sigstore_import(struct remote_use *use,
                            const struct tkb_signing *keys,
                            const struct texts *files);

#endif

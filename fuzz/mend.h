/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FUZZ_MEND_H
#define TKB_FUZZ_MEND_H

/* Mutations spoil a tar's checksums before anything else. */

#include "base/base.h"
#include "base/buf.h"

/* Append the tar `contents`, its headers' checksums made right. */
void fuzz_mend_tar(struct tkb_bytes contents, struct tkb_buf *out);

#endif

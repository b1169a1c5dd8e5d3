/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_MEMORY_H
#define TKB_TRUST_MEMORY_H

/*
 * What a machine has seen of signed refs: a file with the first line
 *
 *     tkbundle-seen 1
 *
 * and a line for each ref of a remote: a digest of ref and remote, and the newest
 * sequence. The last line is the one that changed last. Several processes may
 * write the file: they lock the file "*.lock" beside it.
 */

#include <tkbundle/trust.h>

#include "base/base.h"
#include "remote/remote.h"

enum {
	TKB_MEMORY_REFS = 4096 /* if there are more, the oldest are dropped */
};

/*
 * The digest that stands in the memory for a ref, or a reserved name, of a remote.
 * It covers the URL of the remote's last tier, which the fleet shares.
 */
TKB_NODISCARD int tkb_memory_name(const struct tkb_remote *remote,
                                  const char *ref, struct tkb_digest *out,
                                  struct tkb_error *err);

/*
 * Remember that `sequence` was seen, unless a newer one was seen before.
 *
 * @param newest_out  receives the newest that was ever seen, this one included
 * @return 0; TKB_ERR_UNTRUSTED (the file is damaged), TKB_ERR_IO, TKB_ERR_NOMEM
 */
TKB_NODISCARD int tkb_memory_note(const char *path,
                                  const struct tkb_digest *name,
                                  uint64_t sequence, uint64_t *newest_out,
                                  struct tkb_error *err);

/*
 * Tell the newest sequence that was seen, and remember nothing.
 *
 * @return 0, TKB_MISS (nothing was seen), or as tkb_memory_note()
 */
TKB_NODISCARD int tkb_memory_recall(const char *path,
                                    const struct tkb_digest *name,
                                    uint64_t *newest_out,
                                    struct tkb_error *err);

#endif

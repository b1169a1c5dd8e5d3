/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DRAFT_H
#define TKBUNDLE_DRAFT_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/draft.h
 * A file that appears whole at once, and replaces one of the same name.
 *
 *     struct tkb_draft *draft = NULL;
 *     struct tkb_sink sink;
 *
 *     rc = tkb_draft_open("kernels.tkb", &draft, &err);
 *     if (rc == 0) {
 *             sink = tkb_draft_sink(draft);
 *             rc = tkb_collect(root, NULL, &sink, NULL, &err);
 *     }
 *     if (rc == 0)
 *             rc = tkb_draft_publish(draft, &err);
 *     tkb_draft_close(draft);
 *
 * Until it is published it has no name, if the file system supports that, else
 * a temporary one beside the destination. It is locked while its writer lives.
 * Opening a draft removes what dead writers of the same file left behind.
 *
 * If the destination is a pipe, /dev/null or another special file, the draft
 * writes to it directly and does not replace it.
 *
 * Threads: a draft belongs to one thread at a time.
 */

/** A file that is being written. */
struct tkb_draft;

/**
 * Begin a file that will appear at `path`.
 *
 * @param path  not kept
 * @param out   receives a draft that the caller closes
 * @return 0, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_draft_open(const char *path,
                                         struct tkb_draft **out,
                                         struct tkb_error *err);

/** A sink that writes to the draft, which must outlive it. */
TKB_API struct tkb_sink tkb_draft_sink(struct tkb_draft *draft);

/**
 * Its file descriptor, to change its mode or owner; owned by the draft. -1 if
 * the destination is a special file, whose mode must stay.
 */
TKB_API int tkb_draft_fd(const struct tkb_draft *draft);

/**
 * Move it to its destination in one step, replacing what is there. Afterwards
 * it can only be closed.
 *
 * @return 0, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_draft_publish(struct tkb_draft *draft,
                                            struct tkb_error *err);

/** Remove it, unless it is published. Never fails; NULL is allowed. */
TKB_API void tkb_draft_close(struct tkb_draft *draft);

#ifdef __cplusplus
}
#endif

#endif

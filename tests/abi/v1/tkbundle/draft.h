/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DRAFT_H
#define TKBUNDLE_DRAFT_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/draft.h
 * A file that appears whole at once, and replaces one of its name.
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
 * Until it is published it has no name, where the file system can do that, else
 * a private one beside the destination. It is locked while its writer lives; to
 * open a draft removes what dead writers of the same file left.
 *
 * A destination that is there and is no regular file (a pipe, /dev/null) is
 * written to as it is: to replace it would destroy it.
 *
 * Threads: a draft belongs to one thread at a time.
 */

/** A file that nobody can see yet. */
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
 * The descriptor behind it, to give it another mode or owner; the draft keeps
 * it. -1 where the destination is no regular file, whose mode is not ours.
 */
TKB_API int tkb_draft_fd(const struct tkb_draft *draft);

/**
 * Move it to its destination, in one step, over what is there. It can only be
 * closed afterwards.
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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DRAFT_H
#define TKBUNDLE_DRAFT_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/draft.h
 * A file that appears whole, in one step, and replaces one of the same name.
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
 * Until it is published, it has no name if the file system supports that, or
 * else a temporary name in the destination's folder. It is locked while its
 * writer lives. Opening a draft removes what dead writers of the same file left
 * behind.
 *
 * If the destination is a pipe, /dev/null or another special file, the draft
 * writes to it directly and does not replace it. It also appends to an open file
 * to which a link leads, as /dev/stdout may, or which is named as /dev/fd/3, unless
 * that is close-on-exec.
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
 * The draft's file descriptor, for changing mode or owner. The draft owns it.
 * -1 if the destination is a special file, whose mode must stay.
 */
TKB_API int tkb_draft_fd(const struct tkb_draft *draft);

/**
 * Move the draft to its destination in one step, and replace a file that is
 * there. Afterwards the draft can only be closed.
 *
 * @return 0, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_draft_publish(struct tkb_draft *draft,
                                            struct tkb_error *err);

/**
 * Release the draft; unless it was published, its file is removed. Never fails;
 * NULL is allowed.
 */
TKB_API void tkb_draft_close(struct tkb_draft *draft);

#ifdef __cplusplus
}
#endif

#endif

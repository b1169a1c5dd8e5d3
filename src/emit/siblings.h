/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_SIBLINGS_H
#define TKB_EMIT_SIBLINGS_H

/*
 * Units whose parent folder does not exist yet and that follow each other in a
 * frame, share a folder of the stage. One rename makes it their parent folder,
 * where each unit for itself would need one.
 */

#include "emit/emitter.h"

#define TKB_NO_SIBLING SIZE_MAX

/*
 * Decide where job `index` is written. `*last` is the last job of the frame
 * with siblings, or TKB_NO_SIBLING; it becomes `index` if the job is another.
 */
void tkb_siblings_join(struct tkb_emitter *emitter, struct tkb_loader *loader,
                       size_t index, size_t *last);

/*
 * Publish job `first` and its siblings by one rename, and finish their jobs.
 * Returns false if each must be committed for itself: not all are written, or
 * the parent folder exists by now.
 */
bool tkb_siblings_publish(struct tkb_emitter *emitter,
                          struct tkb_loader *loader, size_t first);

#endif

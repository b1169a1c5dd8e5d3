/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/siblings.h"

#include <errno.h>

#include "base/path.h"
#include "emit/unit.h"
#include "tree/unit.h"

/* Not if ninja built the unit, or if its name depends on its contents. */
static bool can_have_siblings(const struct tkb_emitter *emitter, size_t index)
{
	const struct tkb_job *job = &emitter->batch.jobs[index];
	const struct tkb_stage *stage = &emitter->batch.stages[job->root];

	return emitter->progress[index].state == TKB_ENTRY_STATE_ABSENT &&
	       job->entry->kind == TKB_KIND_UNIT && job->renamed == NULL &&
	       tkb_path_parent_length(job->entry->name) != 0 &&
	       tkb_unit_record(job->entry) == NULL &&
	       !atomic_load(&stage->lacks_noreplace);
}

static bool lacks_parent(const struct tkb_emitter *emitter,
                         struct tkb_loader *loader, const struct tkb_job *job)
{
	const int root = emitter->roots.items[job->root].fd;
	const char *name;

	return tkb_unit_find_parent(&loader->parent, root, NULL,
	                            job->entry->name, &name) < 0 &&
	       errno == ENOENT;
}

void tkb_siblings_join(struct tkb_emitter *emitter, struct tkb_loader *loader,
                       size_t index, size_t *last)
{
	const struct tkb_job *jobs = emitter->batch.jobs;
	struct tkb_progress *progress = &emitter->progress[index];
	struct tkb_destination to;

	if (!can_have_siblings(emitter, index))
		return;
	if (*last != TKB_NO_SIBLING && jobs[*last].root == jobs[index].root &&
	    tkb_path_has_same_parent(jobs[*last].entry->name,
	                             jobs[index].entry->name)) {
		progress->first_sibling =
			emitter->progress[*last].first_sibling;
		emitter->progress[*last].next_sibling = index;
	} else {
		to = tkb_emit_destination(emitter, index);
		if (!lacks_parent(emitter, loader, &jobs[index]) ||
		    !tkb_unit_begin_siblings(&to, loader))
			return;
		progress->first_sibling = index;
	}
	progress->has_siblings = true;
	progress->next_sibling = index;
	*last = index;
}

/* Are job `first` and its siblings all written? */
static bool are_written(const struct tkb_emitter *emitter, size_t first)
{
	const struct tkb_progress *progress = &emitter->progress[first];
	size_t index = first;

	while (progress->is_written && progress->next_sibling != index) {
		index = progress->next_sibling;
		progress = &emitter->progress[index];
	}
	return progress->is_written;
}

bool tkb_siblings_publish(struct tkb_emitter *emitter,
                          struct tkb_loader *loader, size_t first)
{
	const struct tkb_destination to = tkb_emit_destination(emitter, first);
	struct tkb_batch *batch = &emitter->batch;
	size_t next = first;
	size_t index;

	if (!are_written(emitter, first) ||
	    !tkb_unit_commit_siblings(&to, loader))
		return false;
	do {
		index = next;
		next = emitter->progress[index].next_sibling;
		tkb_batch_done(batch, &batch->jobs[index], TKB_OUTCOME_EMITTED);
	} while (next != index);
	return true;
}

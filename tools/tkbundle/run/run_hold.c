/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_hold.h"

#include <unistd.h>

#include <tkbundle/maintain.h>

#include "run/run.h"
#include "run/run_engine.h"

void run_hold(void *self)
{
	const struct run *const run = self;
	struct trees trees = { .engines = NULL };
	struct tkb_error err = { .status = 0 };

	/* Bad choices were reported when the plan was made. */
	if (run_engine_trees(run->args, &run->shared->plan, &trees, &err) != 0)
		return;
	for (size_t i = 0; i < trees.count; i++) {
		struct tkb_hold *hold = NULL;

		/*
		 * The hold ends with this process. A tree that is read-only for
		 * us cannot be held.
		 */
		if (tkb_hold_open(trees.items[i].path, &hold, &err) != 0)
			err.status = 0;
	}
	for (;;)
		(void)pause();
}

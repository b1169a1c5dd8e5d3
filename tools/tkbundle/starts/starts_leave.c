/* SPDX-License-Identifier: Apache-2.0 */
#include "starts/starts_leave.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "config/remote_use.h"
#include "run/run.h"
#include "run/run_child.h"
#include "run/run_figures.h"
#include "starts/start_report.h"

enum {
	NS_PER_MS = 1000000
};

/* Is the newest note the one of this start? */
static bool is_ours(const struct run *run, const struct start *note)
{
	return note->time_ms != START_UNKNOWN && note->root != NULL &&
	       note->time_ms + 1 >= (uint64_t)run->command_ns / NS_PER_MS &&
	       strcmp(note->root, run->shared->plan.root) == 0;
}

static void add_failure(struct start *start, const struct run *run,
                        enum run_role role, const char *of)
{
	const struct run_child *const child = &run->children[role];
	char reason[RUN_REASON_SIZE];
	int status = 0;

	if (!child->has_begun || (run_child_has_exited(child, &status) &&
	                          (status == 0 || status == STATUS_PARTIAL)))
		return;
	run_child_reason(child, reason);
	start_add_failure(start, of, reason);
}

/* What the figures of this start tell, where it has no note. */
static void fill(const struct run *run, struct start *out)
{
	struct run_figures figures;

	run_figures_take(run, &figures);
	out->time_ms = (uint64_t)run->command_ns / NS_PER_MS;
	out->delay_ms = run->delay_ms;
	out->pushed = figures.pushed;
	if (WIFEXITED(run->command_state))
		out->status = (uint64_t)WEXITSTATUS(run->command_state);
	if (figures.is_emitted_known)
		out->emitted = figures.emitted;
	if (figures.is_used_known) {
		out->used = figures.used;
		out->saved_ms = figures.saved_ms;
	}
	if (figures.is_ready_known)
		out->ready_ms = figures.ready_ms;
	if (figures.is_compiled_known) {
		out->compiled = figures.compiled;
		out->reasons[REASON_UNKNOWN] = figures.compiled;
	}
	add_failure(out, run, RUN_PULL, "pull");
	add_failure(out, run, RUN_PUSH, "push");
}

/* Facts that a note has, and without one are asked of the ref's words. */
static void find_facts(const struct remote_use *use, const char *root,
                       struct facts *out)
{
	static const char *const words[][2] = { { "gpu", "{gpu}" },
		                                { "driver", "{driver}" },
		                                { "triton", "{triton}" } };
	const struct tkb_ref_facts asked = { .struct_size = sizeof(asked),
		                             .cache_root = root };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char text[TKB_REF_SIZE];

		if (facts_find(out, words[i][0]) == NULL &&
		    use->library.ref_expand(words[i][1], &asked, text, NULL) ==
		            0)
			facts_set(out, words[i][0], text);
	}
}

static void leave(const struct run *run, struct remote_use *use,
                  struct start *start)
{
	const struct start_report_more more = {
		.node = run->args->node,
		.idle = run->shared->counts.idle,
	};
	char text[TKB_START_SIZE_LIMIT];
	struct tkb_error err = { .status = 0 };

	find_facts(use, run->shared->plan.root, &start->facts);
	const size_t size = start_report_write(start, &more, text);

	/* It is as good without. */
	if (size != 0 &&
	    use->library.starts_add(use->remote, use->ref,
	                            (struct tkb_bytes){ text, size }, &err) < 0)
		return;
}

void starts_leave(void *self)
{
	struct run *const run = self;
	struct cli quiet = *run->cli;
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = &quiet };
	TKB_AUTO(start_release) struct start start;

	quiet.log = fopen("/dev/null", "we");
	if (quiet.log == NULL)
		return;
	start_init(&start);
	if (start_read_last(&start, NULL) != 0 || !is_ours(run, &start)) {
		start_release(&start);
		fill(run, &start);
	}
	if (remote_use_begin(&use, run->args, true) == STATUS_DONE &&
	    remote_use_ref(&use, run->args->ref, run->shared->plan.root) ==
	            STATUS_DONE)
		leave(run, &use, &start);
	(void)fclose(quiet.log);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "starts/starts_leave.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/remote_use.h"
#include "run/run.h"
#include "run/run_child.h"
#include "run/run_note.h"
#include "starts/start_report.h"

enum {
	NS_PER_MS = 1000000
};

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

/* Fill in a start from its figures, if it has no note. */
static void fill_start(const struct run *run, struct start *out)
{
	run_note_figures(run, out);
	if (out->compiled != START_UNKNOWN)
		out->reasons[REASON_UNKNOWN] = out->compiled;
	add_failure(out, run, RUN_PULL, "pull");
	add_failure(out, run, RUN_PUSH, "push");
}

/*
 * Add the facts of the note. Without a note, find them out as for a ref's
 * placeholders.
 */
static void find_facts(const struct remote_use *use, const char *root,
                       struct facts *out)
{
	static const char *const words[][2] = { { "gpu", "{gpu}" },
		                                { "driver", "{driver}" },
		                                { "triton", "{triton}" } };
	const struct tkb_ref_facts asked = { .struct_size = sizeof(asked),
		                             .cache_root = root };

	for (size_t i = 0; i < TKB_COUNT_OF(words); i++) {
		char text[TKB_REF_SIZE];

		if (facts_find(out, words[i][0]) == NULL &&
		    use->library.ref_expand(words[i][1], &asked, text, NULL) ==
		            0)
			facts_set(out, words[i][0], text);
	}
}

static int leave_report(const struct run *run, struct remote_use *use,
                        struct start *start, struct tkb_error *err)
{
	struct run_shared *const shared = run->shared;
	const struct start_report_more more = {
		.id = run->id,
		.node = run->args->node,
		.idle = shared->counts.idle,
		/* Nobody had published anything under the ref: no failure. */
		.is_first = run_child_found_nothing(&run->children[RUN_PULL]),
	};
	struct tkb_digest digest;
	char text[TKB_START_SIZE_LIMIT];
	size_t size;
	int rc;

	find_facts(use, shared->plan.root, &start->facts);
	size = start_report_write(start, &more, text);
	if (size == 0)
		return cli_error_nomem(err);
	rc = use->library.starts_add(
		use->remote, use->ref, (struct tkb_bytes){ text, size },
		shared->has_left ? &shared->left : NULL, &digest, err);
	if (rc == 0) {
		shared->left = digest;
		shared->has_left = true;
	}
	return rc;
}

/* The reason of the failure: the last line of the log, without our name. */
static void store_error(struct run_shared *shared, char *words)
{
	static const char name[] = "tkbundle: ";
	const char *line;
	size_t length = strlen(words);

	while (length > 0 && words[length - 1] == '\n')
		words[--length] = '\0';
	line = strrchr(words, '\n');
	line = line != NULL ? line + 1 : words;
	if (strncmp(line, name, strlen(name)) == 0)
		line += strlen(name);
	(void)snprintf(shared->leave_error, sizeof(shared->leave_error), "%s",
	               line);
}

void starts_leave(void *self)
{
	struct run *const run = self;
	struct run_shared *const shared = run->shared;
	char words[sizeof(shared->leave_error)] = "";
	struct cli quiet = *run->cli;
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = &quiet };
	TKB_AUTO(start_release) struct start start = { .made_count = 0 };
	struct tkb_error err = { .status = 0 };
	bool is_left = false;

	start_init(&start);
	quiet.log = fmemopen(words, sizeof(words) - 1, "w");
	if (quiet.log == NULL)
		return;
	/* The note was written by another child of the same parent. */
	if (start_read_own((uint64_t)run->command_ns / NS_PER_MS,
	                   (uint64_t)getppid(), &start, NULL) != 0) {
		start_release(&start);
		fill_start(run, &start);
	}
	if (remote_use_begin(&use, run->args, true) == STATUS_DONE &&
	    remote_use_ref(&use, run->args->ref, shared->plan.root) ==
	            STATUS_DONE) {
		is_left = leave_report(run, &use, &start, &err) == 0;
		if (!is_left)
			cli_say(&quiet, "%s", err.message);
	}
	(void)fclose(quiet.log);
	if (is_left)
		shared->leave_error[0] = '\0';
	else
		store_error(shared, words);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/auto.h"
#include "cli/deadline.h"
#include "cli/text.h"

#define PUSH_NICENESS 10

#define WORDS_LIMIT 32 /* all but --engine, --tree and --again */

static const char remote_variable[] = "TKBUNDLE_REMOTE";

/* Our environment, with the command line's remote. */
struct environment {
	char **items;
	char *remote;
};

static void release_environment(struct environment *environment)
{
	free(environment->items);
	free(environment->remote);
}

static bool is_remote(const char *item)
{
	const size_t length = strlen(remote_variable);

	return strncmp(item, remote_variable, length) == 0 &&
	       item[length] == '=';
}

static bool make_environment(const char *remote, struct environment *out)
{
	size_t count = 0;

	while (environ != NULL && environ[count] != NULL)
		count++;
	out->items = calloc(count + 2, sizeof(*out->items));
	if (out->items == NULL)
		return false;

	count = 0;
	for (size_t i = 0; environ != NULL && environ[i] != NULL; i++) {
		if (remote == NULL || !is_remote(environ[i]))
			out->items[count++] = environ[i];
	}
	if (remote == NULL)
		return true;

	out->remote = text_format("%s=%s", remote_variable, remote);
	out->items[count] = out->remote;
	return out->remote != NULL;
}

/* Room for a verb's words, and for a zero after them; NULL: out of memory. */
static const char **make_words(const struct run *run,
                               const struct run_again *again)
{
	const size_t options = run->shared->plan.engines_size +
	                       run->args->trees.count + again->count;

	return calloc(WORDS_LIMIT + 2 * options, sizeof(const char *));
}

/* Add an option for each name, which ends with a zero; returns the new count. */
static size_t add_options(const char **argv, size_t count, const char *option,
                          const char *names, size_t size)
{
	for (size_t at = 0; at < size; at += strlen(names + at) + 1) {
		argv[count++] = option;
		argv[count++] = names + at;
	}
	return count;
}

/* Start the child with `words`, which end with NULL, and then ref and root. */
static bool start_verb(struct run *run, enum run_role role, const char *verb,
                       const char *const *words, uint64_t end_ms)
{
	TKB_AUTO(release_environment)
	struct environment environment = { .items = NULL };
	const struct run_again *const again =
		&run->shared->again[run->shared->again_index];
	TKB_AUTO(auto_free) const char **argv = make_words(run, again);
	struct run_child *const child = &run->children[role];
	const uint64_t now = deadline_now_ms();
	const struct run_plan *const plan = &run->shared->plan;
	size_t count = 0;
	char time[32];

	if (argv == NULL ||
	    !make_environment(run->args->remote, &environment)) {
		*child = (struct run_child){ .name = verb,
			                     .has_begun = true,
			                     .error = ENOMEM,
			                     .out_fd = -1,
			                     .err_fd = -1 };
		return false;
	}

	(void)snprintf(time, sizeof(time), "%" PRIu64 "ms",
	               end_ms > now ? end_ms - now : 1);
	argv[count++] = "tkbundle";
	argv[count++] = verb;
	argv[count++] = "--json";
	argv[count++] = "--deadline";
	argv[count++] = time;
	for (size_t i = 0; words[i] != NULL; i++)
		argv[count++] = words[i];
	count = add_options(argv, count, "--engine", plan->engines,
	                    plan->engines_size);
	for (size_t i = 0; i < run->args->trees.count; i++) {
		argv[count++] = "--tree";
		argv[count++] = run->args->trees.items[i];
	}
	if (role == RUN_PUSH)
		count = add_options(argv, count, "--again", again->names,
		                    again->size);
	argv[count++] = "--";
	argv[count++] = run->args->ref != NULL ? run->args->ref : "-";
	argv[count] = run->shared->plan.root;
	return run_child_spawn(child, verb, (char *const *)argv,
	                       environment.items, end_ms);
}

bool run_verbs_pull(struct run *run, uint64_t end_ms)
{
	const char *const policy = run->args->trust.policy;
	const char *const words[] = { "--layout",
		                      run->shared->plan.is_inductor ? "inductor"
		                                                    : "triton",
		                      policy != NULL ? "--trust" : NULL, policy,
		                      NULL };

	return start_verb(run, RUN_PULL, "pull", words, end_ms);
}

bool run_verbs_push(struct run *run, uint64_t settle_ms, uint64_t end_ms)
{
	const char *const policy = run->args->trust.policy;
	char settle[32];
	const char *words[8] = { "--jobs", "1", "--no-compaction" };
	size_t count = 3;

	if (policy != NULL) {
		words[count++] = "--trust";
		words[count++] = policy;
	}
	if (settle_ms != 0) {
		words[count++] = "--settle";
		words[count++] = settle;
	}
	(void)snprintf(settle, sizeof(settle), "%" PRIu64 "ms", settle_ms);
	run_child_release(&run->children[RUN_PUSH]);
	if (!start_verb(run, RUN_PUSH, "push", words, end_ms))
		return false;
	(void)setpriority(PRIO_PROCESS, (id_t)run->children[RUN_PUSH].pid,
	                  PUSH_NICENESS);
	return true;
}

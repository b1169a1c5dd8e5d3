/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"

#define VARIABLE "env."

/* Facts that are not variables; those that are part of most keys come first. */
struct known {
	const char *fact;
	const char *name;
	enum reason reason;
};

static const struct known makers[] = {
	{ "triton", "Triton", REASON_TRITON },
	{ "libtriton", "libtriton", REASON_LIBTRITON },
	{ "ptxas", "ptxas", REASON_PTXAS },
	{ "ptxas.torch", "PyTorch's ptxas", REASON_PTXAS },
	{ "torch", "PyTorch", REASON_TORCH },
	{ "engine", "engine", REASON_ENGINE },
};

static const struct known machine[] = {
	{ "python", "python", REASON_PATH },
	{ "home", "HOME", REASON_HOME },
	{ "gpu", "gpu", REASON_GPU },
	{ "driver", "driver", REASON_DRIVER },
};

/* If TRITON_PTXAS_PATH is set, it applies to all processes. */
static const char *find_known(const struct facts *facts, const char *fact)
{
	const char *const for_all = facts_find(facts, "ptxas");

	if (strcmp(fact, "ptxas") == 0 && for_all == NULL)
		return facts_find(facts, "ptxas.triton");
	if (strcmp(fact, "ptxas.torch") == 0 && for_all != NULL)
		return NULL;
	return facts_find(facts, fact);
}

/* "13.0.88 /opt/venv/..." */
static bool is_same_ptxas(const char *one, const char *other)
{
	const size_t length = strcspn(one, " ");

	return length == strcspn(other, " ") &&
	       strncmp(one, other, length) == 0 &&
	       strncmp(one, "unknown ", strlen("unknown ")) != 0;
}

static bool is_same(enum reason reason, const char *one, const char *other)
{
	return strcmp(one, other) == 0 ||
	       (reason == REASON_PTXAS && is_same_ptxas(one, other));
}

static int add_change(const struct known *known, const char *before,
                      const char *here, struct differences *out,
                      struct tkb_error *err)
{
	struct difference *const items =
		table_grow(out->items, out->count, sizeof(*items));
	struct difference *added;

	if (items == NULL)
		return cli_error_nomem(err);
	out->items = items;
	added = &items[out->count++];
	added->reason = known->reason;
	added->name = known->name;
	(void)snprintf(added->a, sizeof(added->a), "%s", before);
	(void)snprintf(added->b, sizeof(added->b), "%s", here);
	return 0;
}

static int add_known(const struct known *known, size_t count,
                     const struct facts *before, const struct facts *here,
                     struct differences *out, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		const char *const a = find_known(before, known[i].fact);
		const char *const b = find_known(here, known[i].fact);

		if (a != NULL && b != NULL && !is_same(known[i].reason, a, b))
			rc = add_change(&known[i], a, b, out, err);
	}
	return rc;
}

/* Skip variables that other facts cover, or that are not part of keys. */
static bool is_variable(const char *name)
{
	return strncmp(name, VARIABLE, strlen(VARIABLE)) == 0 &&
	       strcmp(name, VARIABLE "CUDA_VISIBLE_DEVICES") != 0 &&
	       strcmp(name, VARIABLE "TRITON_PTXAS_PATH") != 0;
}

static int add_changed_variable(const char *name, const char *before,
                                const char *here, struct differences *out,
                                struct tkb_error *err)
{
	const struct known variable = {
		.name = name + strlen(VARIABLE),
		.reason = difference_reason_of_variable(before, here),
	};

	return strcmp(before, here) == 0
	               ? 0
	               : add_change(&variable, before, here, out, err);
}

static int add_variables(const struct facts *before, const struct facts *here,
                         struct differences *out, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < before->count && rc == 0; i++) {
		const struct fact *const at = &before->items[i];

		if (is_variable(at->name))
			rc = add_changed_variable(
				at->name, at->value,
				text_or_empty(facts_find(here, at->name)), out,
				err);
	}
	for (size_t i = 0; i < here->count && rc == 0; i++) {
		const struct fact *const at = &here->items[i];

		if (is_variable(at->name) &&
		    facts_find(before, at->name) == NULL)
			rc = add_changed_variable(at->name, "", at->value, out,
			                          err);
	}
	return rc;
}

int start_changes_find(const struct facts *before, const struct facts *here,
                       struct differences *out, struct tkb_error *err)
{
	int rc =
		add_known(makers, TKB_COUNT_OF(makers), before, here, out, err);

	if (rc == 0)
		rc = add_variables(before, here, out, err);
	return rc != 0 ? rc
	               : add_known(machine, TKB_COUNT_OF(machine), before, here,
	                           out, err);
}

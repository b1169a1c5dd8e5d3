/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/auto.h"

void start_number(uint64_t number, char out[START_NUMBER_SIZE])
{
	if (number == START_UNKNOWN)
		(void)snprintf(out, START_NUMBER_SIZE, "unknown");
	else
		(void)snprintf(out, START_NUMBER_SIZE, "%" PRIu64, number);
}

static void release_made(struct start_made *made)
{
	free(made->kind);
	free(made->key);
	free(made->name);
	free(made->detail);
	free(made->advice);
}

void start_release(struct start *start)
{
	for (size_t i = 0; i < start->made_count; i++)
		release_made(&start->made[i]);
	for (size_t i = 0; i < start->failure_count; i++) {
		free(start->failures[i].of);
		free(start->failures[i].message);
	}
	free(start->made);
	free(start->command);
	free(start->ref);
	free(start->root);
	facts_release(&start->facts);
	start_init(start);
}

void start_init(struct start *start)
{
	*start = (struct start){
		.emitted = START_UNKNOWN,
		.used = START_UNKNOWN,
		.compiled = START_UNKNOWN,
		.pushed = START_UNKNOWN,
		.saved_ms = START_UNKNOWN,
		.delay_ms = START_UNKNOWN,
		.ready_ms = START_UNKNOWN,
		.status = START_UNKNOWN,
		.run_count = 1,
	};
}

static char *copy_of(const char *text)
{
	return strndup(text != NULL ? text : "", START_TEXT_SIZE - 1);
}

void start_add_made(struct start *start, const struct start_made *made)
{
	struct start_made copy = { .reason = made->reason };
	struct start_made *items;

	start->reasons[made->reason]++;
	if (start->made_count == START_MADE_LIMIT)
		return;
	items = table_grow(start->made, start->made_count, sizeof(*items));
	if (items == NULL)
		return;
	start->made = items;
	copy.kind = copy_of(made->kind);
	copy.key = copy_of(made->key);
	copy.name = copy_of(made->name);
	copy.detail = copy_of(made->detail);
	copy.advice = copy_of(made->advice);
	if (copy.kind == NULL || copy.key == NULL || copy.name == NULL ||
	    copy.detail == NULL || copy.advice == NULL)
		release_made(&copy);
	else
		start->made[start->made_count++] = copy;
}

void start_add_failure(struct start *start, const char *of, const char *message)
{
	const struct start_failure failure = { copy_of(of), copy_of(message) };

	if (start->failure_count == START_FAILURES_LIMIT ||
	    failure.of == NULL || failure.message == NULL) {
		free(failure.of);
		free(failure.message);
		return;
	}
	start->failures[start->failure_count++] = failure;
}

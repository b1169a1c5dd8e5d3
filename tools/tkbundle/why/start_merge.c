/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start.h"

#include <string.h>

static uint64_t sum(uint64_t one, uint64_t other)
{
	if (one == START_UNKNOWN || other == START_UNKNOWN)
		return one == START_UNKNOWN ? other : one;
	return one + other;
}

static uint64_t most(uint64_t one, uint64_t other)
{
	if (one == START_UNKNOWN || other == START_UNKNOWN)
		return one == START_UNKNOWN ? other : one;
	return one > other ? one : other;
}

bool start_has_made(const struct start *start, const struct start_made *made)
{
	for (size_t i = 0; i < start->made_count; i++) {
		const struct start_made *const at = &start->made[i];

		if (strcmp(at->kind, made->kind) == 0 &&
		    strcmp(at->key, made->key) == 0 &&
		    strcmp(at->name, made->name) == 0)
			return true;
	}
	return false;
}

static bool is_same_text(const char *one, const char *other)
{
	return one == NULL || other == NULL ? one == other
	                                    : strcmp(one, other) == 0;
}

bool start_is_same_command(const struct start *one, const struct start *other)
{
	return is_same_text(one->command, other->command) &&
	       is_same_text(one->root, other->root);
}

bool start_is_one(const struct start *one, const struct start *other)
{
	return start_is_same_command(one, other) &&
	       is_same_text(one->ref, other->ref);
}

/*
 * Processes of one start share a cache, so each may list what another one
 * compiled.
 */
void start_merge(struct start *into, const struct start *other)
{
	uint64_t added = 0;

	for (size_t i = 0; i < other->made_count; i++) {
		if (start_has_made(into, &other->made[i]))
			continue;
		start_add_made(into, &other->made[i]);
		added++;
	}
	into->compiled = into->compiled == START_UNKNOWN
	                         ? other->compiled
	                         : most(into->compiled + added,
	                                other->compiled == START_UNKNOWN
	                                        ? 0
	                                        : other->compiled);
	into->emitted = sum(into->emitted, other->emitted);
	into->pushed = sum(into->pushed, other->pushed);
	into->used = most(into->used, other->used);
	into->saved_ms = most(into->saved_ms, other->saved_ms);
	into->delay_ms = most(into->delay_ms, other->delay_ms);
	into->ready_ms = most(into->ready_ms, other->ready_ms);
	into->status = most(into->status, other->status);
	for (size_t i = 0; i < other->failure_count; i++)
		start_add_failure(into, other->failures[i].of,
		                  other->failures[i].message);
	into->run_count++;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/facts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/auto.h"

void facts_release(struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		free(facts->items[i].name);
		free(facts->items[i].value);
	}
	free(facts->items);
	*facts = (struct facts){ .count = 0 };
}

/* The index of `name`, or the index where it must be inserted. */
static size_t index_of(const struct facts *facts, const char *name)
{
	size_t at = 0;

	while (at < facts->count && strcmp(facts->items[at].name, name) < 0)
		at++;
	return at;
}

static bool is_at(const struct facts *facts, size_t at, const char *name)
{
	return at < facts->count && strcmp(facts->items[at].name, name) == 0;
}

static void insert(struct facts *facts, size_t at, const char *name,
                   const char *value)
{
	struct fact *items;
	struct fact fact;

	if (facts->count == FACTS_LIMIT)
		return;
	items = table_grow(facts->items, facts->count, sizeof(*items));
	if (items == NULL)
		return;
	facts->items = items;
	fact.name = strdup(name);
	fact.value = strndup(value, FACT_SIZE - 1);
	if (fact.name == NULL || fact.value == NULL) {
		free(fact.name);
		free(fact.value);
		return;
	}
	(void)memmove(facts->items + at + 1, facts->items + at,
	              (facts->count - at) * sizeof(*facts->items));
	facts->items[at] = fact;
	facts->count++;
}

void facts_set(struct facts *facts, const char *name, const char *value)
{
	const size_t at = index_of(facts, name);
	char *copy;

	if (value == NULL || value[0] == '\0')
		return;
	if (!is_at(facts, at, name)) {
		insert(facts, at, name, value);
		return;
	}
	copy = strndup(value, FACT_SIZE - 1);
	if (copy == NULL)
		return;
	free(facts->items[at].value);
	facts->items[at].value = copy;
}

const char *facts_find(const struct facts *facts, const char *name)
{
	const size_t at = index_of(facts, name);

	return is_at(facts, at, name) ? facts->items[at].value : NULL;
}

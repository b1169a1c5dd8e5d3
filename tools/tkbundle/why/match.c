/* SPDX-License-Identifier: Apache-2.0 */
#include "why/match.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "why/maker.h"

int match_side_open(struct match_side *side, const struct source *source,
                    const struct tkb_makers *makers, struct tkb_error *err)
{
	*side = (struct match_side){
		.source = source,
		.makers = makers,
		.parts = calloc(source_entry_count(source) + 1,
		                sizeof(*side->parts)),
	};
	return side->parts != NULL ? 0 : cli_error_nomem(err);
}

void match_side_close(struct match_side *side)
{
	for (size_t i = 0;
	     side->parts != NULL && i < source_entry_count(side->source); i++)
		parts_release(&side->parts[i]);
	free(side->parts);
	side->parts = NULL;
}

/* Use the parts of a damaged entry that could be read. */
static void read_parts(const struct match_side *side, size_t index,
                       struct parts *out)
{
	const struct tkb_entry *const entry = source_entry(side->source, index);
	const bool is_unit = entry->kind == TKB_KIND_UNIT;

	if (parts_read(side->source, index, out, NULL) != 0 ||
	    maker_add(tkb_makers_find(side->makers,
	                              is_unit ? entry->tree : NULL,
	                              is_unit ? entry->name : entry->key),
	              entry->kind, out, NULL) != 0)
		out->is_read = true;
}

const struct parts *match_parts(struct match_side *side, size_t index)
{
	struct parts *const parts = &side->parts[index];

	if (!parts->is_read)
		read_parts(side, index, parts);
	return parts;
}

/* Is this part of a path, of `size` bytes, a hash? */
static bool is_hash(const char *part, size_t size)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	bool has_number = false;

	if (size < 10)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (part[i] == '.' && i >= 10)
			break;
		if (strchr(digits, part[i]) == NULL)
			return false;
		has_number = has_number || (part[i] >= '0' && part[i] <= '9');
	}
	return has_number;
}

/* Is this part the folder of two characters before a hash? */
static bool is_prefix(const char *part, size_t size)
{
	return size == 2 && part[2] == '/' &&
	       is_hash(part + 3, strcspn(part + 3, "/"));
}

static bool same_units(const char *one, const char *other)
{
	for (;;) {
		const size_t size = strcspn(one, "/");
		const size_t other_size = strcspn(other, "/");
		const bool is_free =
			(is_hash(one, size) && is_hash(other, other_size)) ||
			(is_prefix(one, size) && is_prefix(other, other_size));

		if (!is_free &&
		    (size != other_size || strncmp(one, other, size) != 0))
			return false;
		one += size;
		other += other_size;
		if (*one == '\0' || *other == '\0')
			return *one == *other;
		one++;
		other++;
	}
}

/*
 * Can both be the same kernel or unit, under different keys? Then kernels have
 * the same name, and units the same name except for hashes in it.
 */
static bool is_candidate(const struct tkb_entry *one,
                         const struct tkb_entry *other)
{
	if (one->kind != other->kind || strcmp(one->key, other->key) == 0)
		return false;
	if (one->kind != TKB_KIND_UNIT)
		return strcmp(one->name, other->name) == 0;
	return strcmp(one->tree, other->tree) == 0 &&
	       same_units(one->name, other->name);
}

void match_release(struct match *match)
{
	differences_release(&match->differences);
	*match = (struct match){ .is_found = false };
}

int match_find(struct match_side *side, size_t index, struct match_side *other,
               bool (*may_be)(void *self, size_t candidate), void *self,
               struct match *out, struct tkb_error *err)
{
	const struct tkb_entry *const entry = source_entry(side->source, index);
	struct match best = { .is_found = false };

	for (size_t i = 0; i < source_entry_count(other->source); i++) {
		struct differences found;
		int rc;

		if (!is_candidate(entry, source_entry(other->source, i)) ||
		    (may_be != NULL && !may_be(self, i)))
			continue;
		rc = differences_find(match_parts(other, i),
		                      match_parts(side, index), &found, err);
		if (rc != 0) {
			match_release(&best);
			return rc;
		}
		if (found.cost >= DIFFERENCES_OTHER_GRAPH ||
		    (best.is_found && found.cost >= best.differences.cost)) {
			differences_release(&found);
			continue;
		}
		match_release(&best);
		best = (struct match){ true, i, found };
	}
	*out = best;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "why/start_out.h"

#include <inttypes.h>
#include <string.h>

#include "cli/text.h"
#include "why/start_file.h"

#define KEY_WIDTH 12

static bool same_words(const struct start_made *one,
                       const struct start_made *other)
{
	return one->reason == other->reason &&
	       strcmp(one->advice, other->advice) == 0;
}

/* Was the reason printed with an earlier entry? */
static bool is_told(const struct start *start, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (same_words(&start->made[i], &start->made[index]))
			return true;
	}
	return false;
}

static void print_made(const struct cli *cli, const struct start_made *made)
{
	const bool has_detail = made->detail[0] != '\0';

	if (made->key[0] != '\0')
		text_line(cli->out, "  %.*s  %s%s%s", KEY_WIDTH, made->key,
		          made->name, has_detail ? "  " : "", made->detail);
	else
		text_line(cli->out, "  %s: %s%s%s", made->kind, made->name,
		          has_detail ? "  " : "", made->detail);
}

/* Print all entries that have the reason and the advice of entry `index`. */
static void print_group(const struct cli *cli, const struct start *start,
                        size_t index)
{
	const struct start_made *const first = &start->made[index];
	uint64_t count = 0;

	for (size_t i = index; i < start->made_count; i++)
		count += same_words(first, &start->made[i]) ? 1 : 0;
	text_line(cli->out, "%" PRIu64 " %s: %s", count,
	          reason_word(first->reason), reason_text(first->reason));
	for (size_t i = index; i < start->made_count; i++) {
		if (same_words(first, &start->made[i]))
			print_made(cli, &start->made[i]);
	}
	if (first->advice[0] != '\0')
		text_line(cli->out, "  do: %s", first->advice);
}

static void print_start(const struct cli *cli, const struct start *start)
{
	char emitted[START_NUMBER_SIZE];
	char used[START_NUMBER_SIZE];
	char compiled[START_NUMBER_SIZE];
	char runs[40] = "";
	uint64_t listed = start->made_count;

	start_number(start->emitted, emitted);
	start_number(start->used, used);
	start_number(start->compiled, compiled);
	if (start->run_count > 1)
		(void)snprintf(runs, sizeof(runs), ", %" PRIu64 " runs",
		               start->run_count);
	text_line(cli->out, "%s%s%s%s: emitted %s, used %s, compiled anew %s",
	          text_or_empty(start->command),
	          start->ref != NULL ? " of " : "", text_or_empty(start->ref),
	          runs, emitted, used, compiled);
	for (size_t i = 0; i < start->failure_count; i++)
		text_line(cli->out, "failed: %s%s%s", start->failures[i].of,
		          start->failures[i].of[0] != '\0' ? ": " : "",
		          start->failures[i].message);
	for (size_t i = 0; i < start->made_count; i++) {
		if (!is_told(start, i))
			print_group(cli, start, i);
	}
	if (start->compiled != START_UNKNOWN && start->compiled > listed)
		text_line(cli->out, "and %" PRIu64 " more that are not listed",
		          start->compiled - listed);
	if (start->compiled == 0)
		text_line(cli->out, "it was warm: nothing was compiled");
}

void start_out_one(struct cli *cli, const struct start *start)
{
	start_json(&cli->json, start);
	if (!cli->json.is_wanted)
		print_start(cli, start);
}

/*
 * Two starts
 */

/* @return whether it is the same in both, and so not printed */
static bool print_fact(struct cli *cli, const char *name, const char *a,
                       const char *b)
{
	if (a != NULL && b != NULL && strcmp(a, b) == 0)
		return true;
	json_out_open_object(&cli->json, NULL);
	json_out_text(&cli->json, "fact", name);
	json_out_text(&cli->json, "a", a);
	json_out_text(&cli->json, "b", b);
	json_out_close(&cli->json);
	cli_print(cli, "%s: %s in A, %s in B", name,
	          a != NULL ? a : "not known", b != NULL ? b : "not known");
	return false;
}

static bool print_facts(struct cli *cli, const struct facts *a,
                        const struct facts *b)
{
	bool is_equal = true;

	json_out_open_array(&cli->json, "facts");
	for (size_t i = 0; i < a->count; i++)
		is_equal &= print_fact(cli, a->items[i].name, a->items[i].value,
		                       facts_find(b, a->items[i].name));
	for (size_t i = 0; i < b->count; i++) {
		if (facts_find(a, b->items[i].name) == NULL)
			is_equal = print_fact(cli, b->items[i].name, NULL,
			                      b->items[i].value);
	}
	json_out_close(&cli->json);
	return is_equal;
}

/* @return whether the other start compiled all of these, too */
static bool print_made_of(struct cli *cli, const char *side, const char *name,
                          const struct start *start, const struct start *other)
{
	bool is_equal = true;

	json_out_open_array(&cli->json, side);
	for (size_t i = 0; i < start->made_count; i++) {
		const struct start_made *const made = &start->made[i];

		if (strcmp(made->name, name) != 0 &&
		    strncmp(made->key, name, strlen(name)) != 0)
			continue;
		is_equal &= start_has_made(other, made);
		json_out_open_object(&cli->json, NULL);
		json_out_text(&cli->json, "key", made->key);
		json_out_text(&cli->json, "name", made->name);
		json_out_text(&cli->json, "reason", reason_word(made->reason));
		json_out_text(&cli->json, "detail", made->detail);
		json_out_close(&cli->json);
		cli_print(cli, "%s was compiled in %s: %s%s%s", made->name,
		          side, reason_text(made->reason),
		          made->detail[0] != '\0' ? ": " : "", made->detail);
	}
	json_out_close(&cli->json);
	return is_equal;
}

bool start_out_two(struct cli *cli, const char *name, const struct start *a,
                   const struct start *b)
{
	bool is_equal = print_facts(cli, &a->facts, &b->facts);

	is_equal &= print_made_of(cli, "A", name, a, b);
	is_equal &= print_made_of(cli, "B", name, b, a);
	return is_equal;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "attest/attest_compare.h"

#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "diff/diff.h"
#include "diff/diff_facts.h"
#include "report/entry_out.h"
#include "report/kernel_facts.h"

/*
 * Do not compare an entry's other facts: they are its place, or follow from its
 * files.
 */
#define FACTS (DIFF_KIND | DIFF_NAME | DIFF_TARGET)

static void say_difference(struct attest_verdict *verdict,
                           const struct tkb_entry *entry, const char *file,
                           const char *what)
{
	struct json_out *const json = &verdict->cli->json;

	cli_say(verdict->cli, "record %.12s: %s (%.12s): %s%s%s",
	        verdict->record, entry->name, entry->key, file,
	        file[0] == '\0' ? "" : " ", what);
	json_out_open_object(json, NULL);
	json_out_text(json, "key", entry->key);
	json_out_text(json, "name", entry->name);
	json_out_text(json, "file", file);
	json_out_text(json, "message", what);
	json_out_close(json);
}

/* Files that only the compiler made here are left out of a lean bundle. */
static bool is_same(struct attest_verdict *verdict,
                    const struct diff_pair *pair)
{
	struct diff_file file;
	bool is_good = true;
	size_t at = 0;

	if ((pair->facts & FACTS) != 0) {
		say_difference(verdict, pair->a, "", "is another kernel");
		is_good = false;
	}
	while (diff_next_file(pair, &at, &file)) {
		if (file.a == NULL)
			continue;
		say_difference(verdict, pair->a, file.name,
		               file.b == NULL ? "is not made here" : "differs");
		is_good = false;
	}
	return is_good;
}

/* Is it "KEY.json" of a kernel of the record, which is compared anyway? */
static bool is_told_of(const struct diff *diff, const struct tkb_entry *unit)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct tkb_entry *const entry = diff->pairs[i].a;

		if (entry != NULL && entry->kind == TKB_KIND_KERNEL &&
		    kernel_file_is(unit->name, entry->key, ".json"))
			return true;
	}
	return false;
}

/* Why it was not compiled again, if that is known. */
static void say_missing(struct attest_verdict *verdict,
                        const struct tkb_entry *entry)
{
	char what[sizeof(((struct tkb_error *)0)->message) + 32];
	const char *why = NULL;

	for (size_t i = 0; i < verdict->reason_count; i++) {
		if (strcmp(verdict->reasons[i].key, entry->key) == 0)
			why = verdict->reasons[i].text;
	}
	(void)snprintf(what, sizeof(what), "was not compiled again%s%s",
	               why != NULL ? ": " : "", why != NULL ? why : "");
	say_difference(verdict, entry, "", what);
}

static void judge_kernels(struct attest_verdict *verdict,
                          const struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_pair *const pair = &diff->pairs[i];

		if (pair->a == NULL || pair->a->kind != TKB_KIND_KERNEL)
			continue;
		if (pair->b == NULL) {
			say_missing(verdict, pair->a);
			verdict->other++;
			continue;
		}
		if (is_same(verdict, pair))
			verdict->same++;
		else
			verdict->different++;
	}
}

static void judge_rest(struct attest_verdict *verdict, const struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct tkb_entry *const entry = diff->pairs[i].a;

		if (entry == NULL || entry->kind == TKB_KIND_KERNEL)
			continue;
		if (entry->kind == TKB_KIND_UNIT &&
		    strcmp(entry->tree, "specialisations") == 0 &&
		    is_told_of(diff, entry))
			continue;
		say_difference(verdict, entry, "",
		               "is no kernel that can be compiled again");
		verdict->other++;
	}
}

int attest_compare(const struct source *recorded, const struct source *made,
                   struct attest_verdict *verdict, struct tkb_error *err)
{
	TKB_AUTO(diff_release) struct diff diff = { 0 };
	const size_t launchers = tkb_bundle_launcher_count(recorded->bundle);
	int rc;

	rc = diff_sources(recorded, made, &diff, err);
	if (rc != 0)
		return rc;
	json_out_open_array(&verdict->cli->json, "faults");
	judge_kernels(verdict, &diff);
	judge_rest(verdict, &diff);
	if (launchers > 0) {
		cli_say(verdict->cli,
		        "record %.12s: it has launchers, which are not "
		        "compiled again",
		        verdict->record);
		verdict->other += launchers;
	}
	json_out_close(&verdict->cli->json);
	return 0;
}

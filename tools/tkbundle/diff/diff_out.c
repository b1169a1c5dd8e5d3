/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff_out.h"

#include <inttypes.h>
#include <string.h>

#include "diff/diff_facts.h"
#include "report/entry_out.h"
#include "cli/text.h"

#define KEY_WIDTH 12  /* 60 bits of a key's hash */
#define NAME_WIDTH 40 /* longer names move the rest of their line */

static void print_part(FILE *to, const struct cubin_diff_part *part, int width)
{
	if (part->state == CUBIN_ONLY_A)
		text_line(to, "      %-*s  only in A, %" PRIu64 " bytes", width,
		          part->name, part->a_size);
	else if (part->state == CUBIN_ONLY_B)
		text_line(to, "      %-*s  only in B, %" PRIu64 " bytes", width,
		          part->name, part->b_size);
	else if (part->a_size == part->b_size)
		text_line(to,
		          "      %-*s  %" PRIu64 " of %" PRIu64
		          " bytes, first at 0x%" PRIx64,
		          width, part->name, part->different, part->a_size,
		          part->first);
	else
		text_line(to,
		          "      %-*s  %" PRIu64 " -> %" PRIu64
		          " bytes, %" PRIu64 " differ, first at 0x%" PRIx64,
		          width, part->name, part->a_size, part->b_size,
		          part->different, part->first);
}

static void print_cubin(FILE *to, const struct diff_cubin *cubin)
{
	int width = 0;

	if (cubin->failure != NULL)
		text_line(to, "      %s", cubin->failure);

	for (size_t i = 0; i < cubin->diff.count; i++) {
		const size_t length = strlen(cubin->diff.parts[i].name);

		if ((int)length > width && length <= NAME_WIDTH)
			width = (int)length;
	}

	for (size_t i = 0; i < cubin->diff.count; i++)
		print_part(to, &cubin->diff.parts[i], width);
}

static void print_file(FILE *to, const struct diff_file *file, int width)
{
	if (file->b == NULL)
		text_line(to, "    %-*s  only in A, %" PRIu64 " bytes", width,
		          file->name, file->a->size);
	else if (file->a == NULL)
		text_line(to, "    %-*s  only in B, %" PRIu64 " bytes", width,
		          file->name, file->b->size);
	else if (file->a->size != file->b->size)
		text_line(to, "    %-*s  %" PRIu64 " -> %" PRIu64 " bytes",
		          width, file->name, file->a->size, file->b->size);
	else if (file->a->is_executable != file->b->is_executable)
		text_line(to, "    %-*s  executable only in %s", width,
		          file->name, file->a->is_executable ? "A" : "B");
	else
		text_line(to, "    %-*s  %" PRIu64 " bytes, not the same",
		          width, file->name, file->a->size);
}

/* The width of the widest text in a pair's first column. */
static int detail_width(const struct diff_pair *pair)
{
	struct diff_file file;
	size_t width = 0;
	size_t at = 0;

	for (size_t i = 0; i < DIFF_FACT_COUNT; i++) {
		if ((pair->facts & diff_facts[i].flag) != 0 &&
		    strlen(diff_facts[i].name) > width)
			width = strlen(diff_facts[i].name);
	}

	while (diff_next_file(pair, &at, &file)) {
		const size_t length = strlen(file.name);

		if (length > width && length <= NAME_WIDTH)
			width = length;
	}

	return (int)width;
}

static void print_details(FILE *to, const struct diff_pair *pair,
                          const struct diff_cubins *cubins)
{
	const int width = detail_width(pair);
	struct diff_file file;
	size_t at = 0;

	for (size_t i = 0; i < DIFF_FACT_COUNT; i++) {
		char a[DIFF_FACT_SIZE];
		char b[DIFF_FACT_SIZE];

		if ((pair->facts & diff_facts[i].flag) == 0)
			continue;
		diff_facts[i].write(pair->a, a, sizeof(a));
		diff_facts[i].write(pair->b, b, sizeof(b));
		text_line(to, "    %-*s  %s -> %s", width, diff_facts[i].name,
		          a, b);
	}

	while (diff_next_file(pair, &at, &file)) {
		const struct diff_cubin *const cubin =
			diff_cubins_find(cubins, pair, &file);

		print_file(to, &file, width);
		if (cubin != NULL)
			print_cubin(to, cubin);
	}
}

/* Print the platform: modules with the same key differ in it. */
static void print_head(FILE *to, const struct diff_pair *pair, int width)
{
	static const char signs[] = {
		[DIFF_DIFFERS] = '~', [DIFF_ONLY_A] = '-', [DIFF_ONLY_B] = '+'
	};
	const struct tkb_entry *const entry = diff_entry(pair);
	char size[TEXT_SIZE_SIZE];
	char target[64];
	char devices[24];

	text_size(tkb_entry_size(entry), size);
	entry_out_target(entry, target, sizeof(target));
	entry_out_devices(entry, devices, sizeof(devices));
	text_line(to, "%c %-*.*s  %-8s  %-*s  %-9s  %-3s  %2zu  %6s",
	          signs[pair->state], KEY_WIDTH, KEY_WIDTH, entry->key,
	          tkb_kind_name(entry->kind), width, entry->name,
	          entry->platform[0] != '\0' ? entry->platform : target,
	          devices, entry->file_count, size);
}

void diff_out_print(FILE *to, const struct diff *diff,
                    const struct diff_cubins *cubins)
{
	size_t width = 0;

	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_pair *const pair = &diff->pairs[i];
		const size_t length = strlen(diff_entry(pair)->name);

		if (pair->state != DIFF_EQUAL && length > width &&
		    length <= NAME_WIDTH)
			width = length;
	}

	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_pair *const pair = &diff->pairs[i];

		if (pair->state == DIFF_EQUAL)
			continue;
		print_head(to, pair, (int)width);
		if (pair->state == DIFF_DIFFERS)
			print_details(to, pair, cubins);
	}
}

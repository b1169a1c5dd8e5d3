/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

void compile_matrix_release(struct compile_matrix *matrix)
{
	for (size_t i = 0; i < matrix->count; i++) {
		free(matrix->cells[i].python);
		free(matrix->cells[i].version);
	}
	free(matrix->cells);
}

/* Find the cell, or add it; NULL: out of memory. */
static struct compile_matrix_cell *find_or_add_cell(
	struct compile_matrix *matrix, const char *python, const char *target)
{
	struct compile_matrix_cell *cell;

	for (size_t i = 0; i < matrix->count; i++) {
		cell = &matrix->cells[i];
		if (strcmp(cell->python, python) == 0 &&
		    strcmp(cell->target, target) == 0)
			return cell;
	}
	cell = table_grow(matrix->cells, matrix->count, sizeof(*cell));
	if (cell == NULL)
		return NULL;
	matrix->cells = cell;
	cell += matrix->count;
	*cell = (struct compile_matrix_cell){ .python = strdup(python) };
	if (cell->python == NULL)
		return NULL;
	(void)snprintf(cell->target, sizeof(cell->target), "%s", target);
	matrix->count++;
	return cell;
}

bool compile_matrix_count(struct compile_matrix *matrix, const char *python,
                          const char *target, const char *outcome,
                          const char *version)
{
	struct compile_matrix_cell *const cell =
		find_or_add_cell(matrix, python, target);

	if (cell == NULL)
		return false;
	cell->compiled += strcmp(outcome, "compiled") == 0;
	cell->hit += strcmp(outcome, "hit") == 0;
	cell->failed += strcmp(outcome, "failed") == 0;
	cell->left += strcmp(outcome, "left") == 0;
	if (cell->version == NULL && version != NULL)
		cell->version = strdup(version);
	return version == NULL || cell->version != NULL;
}

static void print_line(struct cli *cli, const struct compile_matrix_cell *cell)
{
	const struct text_count rest[] = { { "left", cell->left } };
	char more[64];

	text_counts(rest, 1, more, sizeof(more));
	text_line(cli->out,
	          "%s%s%s for %s: compiled %" PRIu64 ", hits %" PRIu64
	          ", failed %" PRIu64 "%s",
	          cell->python, cell->version == NULL ? "" : " with Triton ",
	          cell->version == NULL ? "" : cell->version, cell->target,
	          cell->compiled, cell->hit, cell->failed, more);
}

void compile_matrix_print(struct cli *cli, const struct compile_matrix *matrix,
                          bool has_lines)
{
	struct json_out *const json = &cli->json;
	bool is_one = true;

	if (matrix->count == 0)
		return;
	for (size_t i = 1; i < matrix->count && is_one; i++)
		is_one = strcmp(matrix->cells[i].python,
		                matrix->cells[0].python) == 0;
	json_out_open_array(json, "matrix");
	for (size_t i = 0; i < matrix->count; i++) {
		const struct compile_matrix_cell *const cell =
			&matrix->cells[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "python", cell->python);
		json_out_text(json, "triton", cell->version);
		json_out_text(json, "target", cell->target);
		json_out_number(json, "compiled", cell->compiled);
		json_out_number(json, "hits", cell->hit);
		json_out_number(json, "failed", cell->failed);
		json_out_number(json, "left", cell->left);
		json_out_close(json);
		if (!is_one && has_lines)
			print_line(cli, cell);
	}
	json_out_close(json);
}

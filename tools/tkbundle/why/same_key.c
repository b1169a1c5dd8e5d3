/* SPDX-License-Identifier: Apache-2.0 */
#include "why/same_key.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/text.h"
#include "diff/cubin_diff.h"
#include "why/differences.h"
#include "keys/ir.h"

static bool same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool same_ir(struct tkb_bytes a, struct tkb_bytes b)
{
	size_t size;
	TKB_AUTO(text_free) char *one = ir_without_places(a, &size);
	TKB_AUTO(text_free) char *other = ir_without_places(b, &size);

	return same_text(one, other);
}

/* Lines of LLVM IR and PTX that only a debugger reads. */
static bool is_debug_line(const char *line)
{
	static const char *const begins[] = { "!",    ".loc",           ".file",
		                              "//",   "$L__",           ".b8",
		                              ".b16", ".b32",           ".b64",
		                              "; ",   "source_filename" };

	line += strspn(line, " \t");
	for (size_t i = 0; i < TKB_COUNT_OF(begins); i++) {
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Text at the end of a line that only debuggers read: ", !dbg !7", "//
 * model.py:9".
 */
static size_t size_of_code(const char *line)
{
	const size_t length = strcspn(line, "\n");
	const char *const ends[] = { strstr(line, ", !dbg !"),
		                     strstr(line, " !dbg !"),
		                     strstr(line, "//") };
	size_t size = length;

	for (size_t i = 0; i < 3; i++) {
		if (ends[i] != NULL && (size_t)(ends[i] - line) < size)
			size = (size_t)(ends[i] - line);
	}
	return size;
}

/* The next line that is code, and its size; NULL: there is none. */
static const char *next_code(const char **at, size_t *size)
{
	while (**at != '\0') {
		const char *const line = *at;
		const size_t length = strcspn(line, "\n");

		*at = line + length + (line[length] == '\n');
		if (!is_debug_line(line)) {
			*size = size_of_code(line);
			return line;
		}
	}
	return NULL;
}

static bool same_assembly(struct tkb_bytes a_bytes, struct tkb_bytes b_bytes)
{
	TKB_AUTO(text_free) char *a = strndup(a_bytes.data, a_bytes.size);
	TKB_AUTO(text_free) char *b = strndup(b_bytes.data, b_bytes.size);
	const char *a_at = a;
	const char *b_at = b;

	if (a == NULL || b == NULL)
		return false;
	for (;;) {
		size_t a_size = 0;
		size_t b_size = 0;
		const char *const one = next_code(&a_at, &a_size);
		const char *const other = next_code(&b_at, &b_size);

		if (one == NULL || other == NULL)
			return one == other;
		if (a_size != b_size || memcmp(one, other, a_size) != 0)
			return false;
	}
}

static bool same_cubin(struct tkb_bytes a, struct tkb_bytes b)
{
	TKB_AUTO(cubin_diff_release) struct cubin_diff diff = { .count = 0 };

	if (cubin_diff_compare(a, b, "the cubin", &diff, NULL) != 0)
		return false;
	for (size_t i = 0; i < diff.count; i++) {
		if (strstr(diff.parts[i].name, "debug") == NULL)
			return false;
	}
	return true;
}

/*
 * The metadata contains the folders of Triton and its libraries; keys do not.
 */
static bool same_metadata(struct tkb_bytes a, struct tkb_bytes b)
{
	json_auto_t *one = json_loadb(a.data, a.size, 0, NULL);
	json_auto_t *other = json_loadb(b.data, b.size, 0, NULL);

	(void)json_object_del(one, "extern_libs");
	(void)json_object_del(other, "extern_libs");
	return one != NULL && json_equal(one, other) == 1;
}

static bool is_debug_only(const char *name, struct tkb_bytes a,
                          struct tkb_bytes b)
{
	const char *const dot = strrchr(name, '.');
	const char *const ending = dot != NULL ? dot : "";

	if (source_is_group(name))
		return true;
	if (strcmp(ending, ".json") == 0)
		return same_metadata(a, b);
	if (strcmp(ending, ".source") == 0 || strcmp(ending, ".ttir") == 0 ||
	    strcmp(ending, ".ttgir") == 0)
		return same_ir(a, b);
	if (strcmp(ending, ".llir") == 0 || strcmp(ending, ".ptx") == 0)
		return same_assembly(a, b);
	return strcmp(ending, ".cubin") == 0 && same_cubin(a, b);
}

static void append_name(char out[SAME_KEY_SIZE], const char *name)
{
	const size_t length = strlen(out);

	(void)snprintf(out + length, SAME_KEY_SIZE - length, "%s%s",
	               length != 0 ? ", " : "", name);
}

int same_key_compare(const struct source *a, const struct source *b,
                     const struct diff_pair *pair, enum reason *reason,
                     char out[SAME_KEY_SIZE], struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory one = { .size = 0 };
	TKB_AUTO(tkb_memory_release) struct tkb_memory other = { .size = 0 };
	struct diff_file file;
	size_t at = 0;

	*reason = pair->facts == 0 ? REASON_DEBUG_LINES : REASON_BYTES;
	out[0] = '\0';
	while (diff_next_file(pair, &at, &file)) {
		int rc = 0;

		append_name(out, file.name);
		if (file.a == NULL || file.b == NULL) {
			*reason = REASON_BYTES;
			continue;
		}
		rc = source_read_file(a, pair->a_index, file.a_index, &one,
		                      err);
		if (rc == 0)
			rc = source_read_file(b, pair->b_index, file.b_index,
			                      &other, err);
		if (rc != 0)
			return rc;
		if (!is_debug_only(file.name, source_bytes(&one),
		                   source_bytes(&other)))
			*reason = REASON_BYTES;
	}
	return 0;
}

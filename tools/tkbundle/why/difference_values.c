/* SPDX-License-Identifier: Apache-2.0 */
#include "why/differences.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum {
	BLOCK_SIZE = 64 /* bytes that are compared at once */
};

/* The text after the hash and the name in a line of a graph. */
static const char *graph_value(const struct part *part)
{
	const size_t length = strlen(part->name);
	const char *at = part->value;

	if (at[0] == '[' && strlen(at) > length + 2) {
		const char *const name = strstr(at, part->name);

		if (name != NULL && strncmp(name + length, ": ", 2) == 0)
			at = name + length + 2;
	}
	return at;
}

void difference_copy_value(const struct part *part,
                           char out[DIFFERENCE_TEXT_SIZE])
{
	const char *value = graph_value(part);

	if (tkb_name_is_secret(part->name))
		value = FACTS_SECRET;
	(void)snprintf(out, DIFFERENCE_TEXT_SIZE, "%s", value);
	if (strlen(value) >= DIFFERENCE_TEXT_SIZE)
		(void)snprintf(out + DIFFERENCE_TEXT_SIZE - 5, 5, "...");
}

/* How many of the first `size` bytes are the same in both, up to a difference. */
static size_t common_size(const char *a, const char *b, size_t size)
{
	size_t at = 0;

	while (size - at >= BLOCK_SIZE &&
	       memcmp(a + at, b + at, BLOCK_SIZE) == 0)
		at += BLOCK_SIZE;
	while (at < size && a[at] == b[at])
		at++;
	return at;
}

/* The length of the number that begins at `at`; 0 if none does. */
static size_t number_size(const char *at)
{
	size_t size = 0;

	while (isdigit((unsigned char)at[size]))
		size++;
	return size;
}

bool difference_find_number(const char *a, const char *b,
                            struct difference *out)
{
	const char *const a_end = a + strlen(a);
	const char *const b_end = b + strlen(b);
	bool is_found = false;

	for (;;) {
		const size_t left =
			(size_t)(a_end - a < b_end - b ? a_end - a : b_end - b);
		size_t common = common_size(a, b, left);
		size_t a_size;
		size_t b_size;

		if (a + common == a_end && b + common == b_end)
			return is_found;
		/* Numbers may begin with the same digits. */
		while (common != 0 && isdigit((unsigned char)a[common - 1]))
			common--;
		a += common;
		b += common;
		a_size = number_size(a);
		b_size = number_size(b);
		if (a_size == 0 || b_size == 0)
			return false;
		if (!is_found) {
			(void)snprintf(out->a, sizeof(out->a), "%.*s",
			               (int)(a_size < 20 ? a_size : 20), a);
			(void)snprintf(out->b, sizeof(out->b), "%.*s",
			               (int)(b_size < 20 ? b_size : 20), b);
			is_found = true;
		}
		a += a_size;
		b += b_size;
	}
}

void difference_copy_lines(const char *a, const char *b, struct difference *out)
{
	size_t line = 0;

	for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++) {
		if (a[i] == '\n')
			line = i + 1;
	}
	a += line + strspn(a + line, " \t");
	b += line + strspn(b + line, " \t");
	(void)snprintf(out->a, sizeof(out->a), "%.*s",
	               (int)(strcspn(a, "\n") < 100 ? strcspn(a, "\n") : 100),
	               a);
	(void)snprintf(out->b, sizeof(out->b), "%.*s",
	               (int)(strcspn(b, "\n") < 100 ? strcspn(b, "\n") : 100),
	               b);
}

/* The size of the home folder at the start of a path; 0 if there is none. */
static size_t home_size(const char *path)
{
	const char *const home = cli_variable("HOME");
	const size_t length = home != NULL ? strlen(home) : 0;

	if (length > 1 && strncmp(path, home, length) == 0 &&
	    path[length] == '/')
		return length;
	if (strncmp(path, "/root/", 6) == 0)
		return 5;
	if (strncmp(path, "/home/", 6) == 0 && path[6] != '/' &&
	    strchr(path + 6, '/') != NULL)
		return (size_t)(strchr(path + 6, '/') - path);
	return 0;
}

enum reason difference_reason_of_variable(const char *a, const char *b)
{
	const size_t a_home = home_size(a);
	const size_t b_home = home_size(b);

	if (a_home != 0 && b_home != 0 && strcmp(a + a_home, b + b_home) == 0)
		return REASON_HOME;
	/*
	 * One value is the default, which is below a home folder; the other was
	 * set.
	 */
	if ((a_home != 0 && b[0] == '/') || (b_home != 0 && a[0] == '/'))
		return REASON_HOME;
	return a[0] == '/' && b[0] == '/' ? REASON_PATH : REASON_ENVIRONMENT;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"

enum {
	NAMES_SIZE = 300,
	NAME_SIZE = 1024
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";

/* A text that is walked through. */
struct walk {
	const char *at;
	const char *end;
};

/* The next ".entry NAME"; false at the end. */
static bool next_entry(struct walk *walk, char name[NAME_SIZE])
{
	static const char word[] = ".entry";
	const size_t length = sizeof(word) - 1;

	for (;;) {
		const char *found = memmem(
			walk->at, (size_t)(walk->end - walk->at), word, length);
		size_t size = 0;

		if (found == NULL)
			return false;
		walk->at = found + length;
		while (walk->at < walk->end && strchr(" \t\r\n", *walk->at))
			walk->at++;
		while (walk->at + size < walk->end && size < NAME_SIZE - 1 &&
		       walk->at[size] != '\0' &&
		       strchr(letters, walk->at[size]) != NULL)
			size++;
		if (size == 0)
			continue;
		memcpy(name, walk->at, size);
		name[size] = '\0';
		walk->at += size;
		return true;
	}
}

int ptx_find_kernel(struct tkb_bytes ptx, const char *wanted, char kernel[1024],
                    struct tkb_error *err)
{
	struct walk walk = { ptx.data, (const char *)ptx.data + ptx.size };
	char names[NAMES_SIZE] = "";
	char name[NAME_SIZE];
	size_t count = 0;
	size_t used = 0;

	while (next_entry(&walk, name)) {
		if (wanted != NULL && strcmp(name, wanted) == 0) {
			(void)snprintf(kernel, NAME_SIZE, "%s", name);
			return 0;
		}
		if (count == 0)
			(void)snprintf(kernel, NAME_SIZE, "%s", name);
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used,
			                         sizeof(names) - used, "%s%s",
			                         count == 0 ? "" : ", ", name);
		count++;
	}
	if (count == 0)
		return fail(err, TKB_ERR_INVALID, "the PTX has no kernel");
	if (wanted != NULL)
		return fail(err, TKB_ERR_INVALID,
		            "the PTX has no kernel '%s', but %s", wanted,
		            names);
	if (count > 1)
		return fail(err, TKB_ERR_INVALID,
		            "the PTX has several kernels: name one of %s",
		            names);
	return 0;
}

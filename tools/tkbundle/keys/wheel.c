/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/wheel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PATH_SIZE = 4096
};

/* The first eight bytes, of eleven digits of base64 for URLs, which have 66 bits. */
static bool read_bytes(const char *text, uint64_t *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";

	*out = 0;
	for (size_t i = 0; i < 11; i++) {
		const char *const found =
			text[i] != '\0' ? strchr(digits, text[i]) : NULL;

		if (found == NULL)
			return false;
		*out = i < 10 ? *out << 6 | (uint64_t)(found - digits)
		              : *out << 4 | (uint64_t)(found - digits) >> 2;
	}
	return true;
}

/* "sha256=iYdyws0cyA-o2OXx3C8aOMOj-59_uaUKB8JJ5xzhqIQ,415583664" */
static bool read_entry(const char *text, long long size,
                       char out[WHEEL_DIGEST_SIZE])
{
	static const char begin[] = "sha256=";
	const char *const comma = strchr(text, ',');
	uint64_t first = 0;

	if (strncmp(text, begin, strlen(begin)) != 0 || comma == NULL ||
	    strtoll(comma + 1, NULL, 10) != size ||
	    !read_bytes(text + strlen(begin), &first))
		return false;
	(void)snprintf(out, WHEEL_DIGEST_SIZE, "%016" PRIx64, first);
	return true;
}

bool wheel_digest(const char *folder, const char *list, const char *file,
                  char out[WHEEL_DIGEST_SIZE])
{
	const size_t length = strlen(file);
	char path[PATH_SIZE];
	char *line = NULL;
	size_t line_size = 0;
	bool is_found = false;
	struct stat status;
	FILE *record;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (stat(path, &status) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s/%s/RECORD", folder, list);
	record = fopen(path, "re");
	while (record != NULL && !is_found &&
	       getline(&line, &line_size, record) > 0)
		is_found = strncmp(line, file, length) == 0 &&
		           line[length] == ',' &&
		           read_entry(line + length + 1,
		                      (long long)status.st_size, out);
	if (record != NULL)
		(void)fclose(record);
	free(line);
	return is_found;
}

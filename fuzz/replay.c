/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "fuzz.h"

/*
 * Runs a fuzz target over files, and over the files in folders, in order, so
 * that a corpus is a test in every build. The last name that was printed is
 * that of the input at fault.
 */

enum {
	INPUT_LIMIT = 16 * 1024 * 1024
};

static int is_no_dot(const struct dirent *item)
{
	return item->d_name[0] != '.';
}

static size_t replay_file(const char *path)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT(INPUT_LIMIT);
	struct tkb_error err = { 0 };
	struct stat status;
	uint8_t *exact;

	MUST_OK(tkb_fd_read_file(AT_FDCWD, path, INPUT_LIMIT, &buf, &status,
	                         &err),
	        &err);
	(void)printf("%s\n", path);
	(void)fflush(stdout);
	/* Exactly as large as the input, so that reading too far is detected.
	 */
	exact = malloc(buf.size == 0 ? 1 : buf.size);
	MUST(exact != NULL);
	if (buf.size != 0)
		memcpy(exact, buf.data, buf.size);
	(void)LLVMFuzzerTestOneInput(exact, buf.size);
	free(exact);
	return 1;
}

static size_t replay_folder(const char *path)
{
	struct dirent **items = NULL;
	const int count = scandir(path, &items, is_no_dot, alphasort);
	size_t replayed = 0;

	MUST(count >= 0);
	for (int i = 0; i < count; i++) {
		char *below = NULL;

		MUST(asprintf(&below, "%s/%s", path, items[i]->d_name) > 0);
		replayed += replay_file(below);
		free(below);
		free(items[i]);
	}
	free(items);
	return replayed;
}

int main(int argc, char **argv)
{
	size_t replayed = 0;

	for (int i = 1; i < argc; i++) {
		struct stat status;

		if (stat(argv[i], &status) < 0) {
			(void)fprintf(stderr, "cannot read '%s'\n", argv[i]);
			return 2;
		}
		replayed += S_ISDIR(status.st_mode) ? replay_folder(argv[i])
		                                    : replay_file(argv[i]);
	}
	if (replayed == 0) {
		(void)fprintf(stderr, "there is nothing to replay\n");
		return 2;
	}
	(void)printf("%zu inputs\n", replayed);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FILE_SOURCE_H
#define TKBUNDLE_FILE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <tkbundle/tkbundle.h>

/*
 * The bytes of a file, or of standard input, as a source for the library. A
 * pipe can be read only once, from its beginning to its end.
 *
 *     TKB_AUTO(file_source_close) struct file_source file = FILE_SOURCE_INIT;
 *
 *     rc = file_source_open("kernels.tkb", &file, &err);
 *     source = file_source_of(&file);
 */
struct file_source {
	int fd;
	const char *name; /* for messages; borrowed */
	uint64_t done;    /* bytes read from a pipe */
	bool is_pipe;
};

#define FILE_SOURCE_INIT                                                       \
	{                                                                      \
		.fd = -1                                                       \
	}

/*
 * @param path  kept until close; "-" is standard input
 * @return 0, TKB_MISS (there is no such file), TKB_ERR_INVALID (a terminal) or
 *         TKB_ERR_IO
 */
TKB_NODISCARD int file_source_open(const char *path, struct file_source *out,
                                   struct tkb_error *err);
struct tkb_source file_source_of(struct file_source *file);

/* For TKB_AUTO. */
void file_source_close(struct file_source *file);

#endif

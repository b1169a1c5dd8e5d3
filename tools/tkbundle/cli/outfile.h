/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_OUTFILE_H
#define TKBUNDLE_OUTFILE_H

#include <stdbool.h>

#include <tkbundle/tkbundle.h>

/*
 * A file that appears whole at once, and replaces one of its name.
 *
 *     TKB_AUTO(outfile_discard) struct outfile file = OUTFILE_INIT;
 *
 *     rc = outfile_open("kernels.tkb", &file, &err);
 *     sink = outfile_sink(&file);
 *     rc = outfile_publish(&file, &err);
 *
 * Until then it has no name, where the file system can do that, so that a
 * process that is killed leaves nothing. What is no regular file (a pipe,
 * /dev/null) is written to as it stands.
 */
struct outfile {
	int fd;
	char *path; /* owned */
	char *temp; /* owned; a name beside it; NULL where none is needed */
	bool is_named;
};

#define OUTFILE_INIT                                                           \
	{                                                                      \
		.fd = -1                                                       \
	}

/* Codes: 0, TKB_ERR_IO or TKB_ERR_NOMEM. */
TKB_NODISCARD int outfile_open(const char *path, struct outfile *out,
                               struct tkb_error *err);
struct tkb_sink outfile_sink(struct outfile *file);
TKB_NODISCARD int outfile_publish(struct outfile *file, struct tkb_error *err);

/* For TKB_AUTO. */
void outfile_discard(struct outfile *file);

#endif

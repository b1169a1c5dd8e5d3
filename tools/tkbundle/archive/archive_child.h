/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_CHILD_H
#define TKBUNDLE_ARCHIVE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/cli.h"
#include "cli/deadline.h"
#include "cli/progress.h"

/*
 * A running tkbundle-archive, the program that reads and writes foreign
 * archives. Its answers are not trusted: the archive's author may control it.
 *
 *     struct archive_child child = { .cli = cli, .archive = path };
 *
 *     rc = archive_child_start(&child, argv, &files, &err);
 *     if (rc == 0)
 *             rc = archive_child_finish(&child, &err);
 *     archive_child_release(&child);
 */
struct archive_child {
	struct cli *cli;
	const char *archive; /* its name, for messages */
	const char *what;    /* "import" or "export" */
	const char *output; /* the output of an export, for messages; or NULL */
	uint64_t size;      /* size of the archive, for the bar; 0: unknown */
	const struct deadline *deadline; /* or NULL */
	bool is_verbose;
	struct progress progress;
	pid_t pid;          /* 0: it is not running */
	int messages_fd;    /* valid while `pid` is */
	char message[2048]; /* the part of the next message that has arrived */
	size_t message_size;
	bool is_done;           /* it reported success */
	struct tkb_error fault; /* the failure that it reported */
	uint64_t file_count;
	uint64_t unpacked_size;
	uint64_t link_count;           /* left out */
	char sum[TKB_DIGEST_HEX_SIZE]; /* of a tar without compression, or "" */
};

/* Descriptors for the child; -1: none. The caller keeps them. */
struct archive_child_files {
	int in_fd;
	int out_fd;
	int folder_fd;
};

/* Start it; argv[0] is its name. Fails with TKB_ERR_IO. */
TKB_NODISCARD int archive_child_start(struct archive_child *child,
                                      char *const argv[],
                                      const struct archive_child_files *files,
                                      struct tkb_error *err);

/*
 * Read its messages for at most this long. False if it has ended, or must end
 * because of a signal or the deadline.
 */
bool archive_child_listen(struct archive_child *child, int time_ms);

/*
 * Wait for its end.
 *
 * @return 0; the failure that it reported; TKB_ERR_CANCELLED; or TKB_ERR_IO: it
 *         died
 */
TKB_NODISCARD int archive_child_finish(struct archive_child *child,
                                       struct tkb_error *err);

/* For TKB_AUTO: kill it if it still runs. */
void archive_child_release(struct archive_child *child);

#endif

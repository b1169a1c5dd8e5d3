/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TOOL_H
#define TKB_COMPILE_TOOL_H

/*
 * Runs another program with files in memory as standard streams: no shell, no
 * temporary files, no pipes that could fill up.
 */

#include <tkbundle/tkbundle.h>

struct tool_run {
	int output; /* owned; standard output, in memory */
	int log;    /* owned; standard error, in memory */
	int status; /* status from waitpid() */
};

#define TOOL_RUN_INIT                                                          \
	{                                                                      \
		.output = -1, .log = -1                                        \
	}

/* Limit of the output, and of the log. A tool that exceeds it is killed. */
#define TOOL_FILE_LIMIT ((uint64_t)128 << 20)

/*
 * Run `path` with `arguments`, which begin with its name and end with NULL, and
 * wait for it. Returns 0 however the program ended, or TKB_ERR_IO.
 */
int tool_run(const char *path, const char *const *arguments,
             struct tkb_bytes input, struct tool_run *out,
             struct tkb_error *err);
void tool_release(struct tool_run *run);

/* Write the contents of the output or the log to `sink`. */
int tool_send(int file, const struct tkb_sink *sink, struct tkb_error *err);

/* Read the beginning of the output or the log as a string. */
void tool_peek(int file, char *out, size_t size);

/*
 * Describe how the tool ended, such as "exited with status 255" or "was killed
 * by signal 11 (Segmentation fault)".
 */
void tool_describe(const struct tool_run *run, char out[64]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TOOL_H
#define TKB_COMPILE_TOOL_H

/*
 * Another program: bytes to its standard input, what it writes to memory. No
 * shell, no temporary files, no pipes that could fill up.
 */

#include <tkbundle/tkbundle.h>

struct tool_run {
	int output; /* owned; a file in memory: standard output */
	int log;    /* owned; standard error */
	int status; /* as waitpid() has it */
};

#define TOOL_RUN_INIT                                                          \
	{                                                                      \
		.output = -1, .log = -1                                        \
	}

/*
 * Neither its output nor its log can grow past this: it is killed there, before
 * the machine is.
 */
#define TOOL_FILE_LIMIT ((uint64_t)128 << 20)

/*
 * Run `path` with `arguments`, which begin with its name and end with NULL, and
 * wait for it. Returns 0 however it ended, or TKB_ERR_IO.
 */
int tool_run(const char *path, const char *const *arguments,
             struct tkb_bytes input, struct tool_run *out,
             struct tkb_error *err);
void tool_release(struct tool_run *run);

/* Send what one of its files holds. */
int tool_send(int file, const struct tkb_sink *sink, struct tkb_error *err);

/* The beginning of what one of its files holds, as a text. */
void tool_peek(int file, char *out, size_t size);

bool tool_has_failed(const struct tool_run *run);

/* "exited with status 255", "was killed by signal 11 (Segmentation fault)". */
void tool_describe(const struct tool_run *run, char out[64]);

#endif

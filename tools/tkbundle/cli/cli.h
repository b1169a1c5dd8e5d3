/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CLI_H
#define TKBUNDLE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include <tkbundle/tkbundle.h>

#include "cli/auto.h"
#include "cli/json_out.h"
#include "cli/status.h"

/*
 * Common to all verbs: where they write, how they fail, how they exit.
 *
 * Results go to `out`, words to `log`. A verb returns its exit status; main()
 * writes the JSON document, flushes, and exits.
 */

struct command;

struct cli {
	FILE *out;
	FILE *log;
	bool is_tty;      /* `log` is a terminal that can be drawn on */
	bool is_disabled; /* $TKBUNDLE_DISABLE */
	const struct command *const *commands; /* sorted by name */
	size_t command_count;
	const struct command *command; /* the verb that runs, or NULL */
	struct json_out json;          /* a document, if --json was given */
};

/* The value of an environment variable; NULL if it is unset or empty. */
const char *cli_variable(const char *name);

/* For TKB_AUTO. */
void cli_close_draft(struct tkb_draft **draft);

/*
 * Write a file that appears whole and replaces an existing one.
 *
 * @return what tkb_draft_open(), its sink or tkb_draft_publish() returns
 */
TKB_NODISCARD int cli_write_file(const char *path, struct tkb_bytes text,
                                 mode_t mode, struct tkb_error *err);

/* Find the verb `name`; NULL if there is none. */
const struct command *cli_find_command(const struct cli *cli, const char *name);

/* The exit status for a return value of the library. */
enum status status_of(int rc);

/*
 * Did the function do its work, at least in part? What it did not do was
 * already reported.
 */
bool cli_is_done(int rc);

/*
 * The more important one of two: the one that comes first in 2, 5, 1, 4, 3, 0.
 */
enum status status_merge(enum status one, enum status other);

/* Print "tkbundle: ..." to the log. */
__attribute__((format(printf, 2, 3))) void cli_say(const struct cli *cli,
                                                   const char *format, ...);

/* Print a line of the result, if --json was not given. */
__attribute__((format(printf, 2, 3))) void cli_print(const struct cli *cli,
                                                     const char *format, ...);

/* Print that memory is exhausted. @return STATUS_FAILED */
enum status cli_no_memory(const struct cli *cli);

/*
 * Print "tkbundle VERB: ...; see 'tkbundle help VERB'" to the log.
 *
 * @return STATUS_USAGE
 */
__attribute__((format(printf, 2, 3))) enum status cli_misused(
	const struct cli *cli, const char *format, ...);

/*
 * Refuse the command line if it has two options that exclude each other.
 *
 * @return STATUS_USAGE, or STATUS_DONE: they were not
 */
enum status cli_exclude(const struct cli *cli, bool has_one, const char *one,
                        bool has_other, const char *other);

/*
 * Print the library's error and add it to the document as "error". If it has no
 * message, make one that names `subject`.
 *
 * @return status_of(rc)
 */
enum status cli_failed(struct cli *cli, int rc, const struct tkb_error *err,
                       const char *subject);

/* Is $TKBUNDLE_DISABLE set? If so, print that nothing is done. */
bool cli_is_disabled(struct cli *cli);

/* Flush cli->out. @return 0 or TKB_ERR_IO */
TKB_NODISCARD int cli_flush(const struct cli *cli, struct tkb_error *err);

/* A sink that writes to cli->out. */
struct tkb_sink cli_sink(struct cli *cli);

/*
 * Return `rc`. If it is a miss, for which the library has no message, write one
 * to `err`: there is no such `what` ("folder").
 */
int cli_missed(struct tkb_error *err, int rc, const char *what,
               const char *path);

/*
 * Fill `err` as the library does; used by the program's own sinks and openers.
 */
__attribute__((format(printf, 3, 4))) int cli_error(struct tkb_error *err,
                                                    enum tkb_status status,
                                                    const char *format, ...);

int cli_error_nomem(struct tkb_error *err);

/*
 * The same for a file that cannot be read or written: "cannot VERB 'PATH'", and
 * the reason from errno. @return TKB_ERR_IO
 */
int cli_error_errno(struct tkb_error *err, const char *verb, const char *path);

#ifdef __clang_analyzer__
/*
 * clang-tidy reads one file at a time, and would assume that these functions
 * may return 0. Show it what they return.
 */
#define cli_error(err, status, ...)                                            \
	((void)cli_error(err, status, __VA_ARGS__), (status))
#define cli_error_nomem(err) ((void)cli_error_nomem(err), TKB_ERR_NOMEM)
#define cli_error_errno(err, verb, path)                                       \
	((void)cli_error_errno(err, verb, path), TKB_ERR_IO)
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PASSPHRASE_H
#define TKBUNDLE_PASSPHRASE_H

#include <stdbool.h>

#include <tkbundle/trust.h>

#include "cli/args.h"

/* What was read of a file, for the next key: standard input is read once. */
struct passphrase_kept {
	char text[TKB_PASSPHRASE_LIMIT];
	size_t size; /* 0: nothing yet */
};

/*
 * The passphrase of a key: the first line of a file or of a command's output,
 * or typed by the user. It is never an argument, which ps(1) would show.
 */
struct passphrase {
	const char *file;             /* NULL, or "-" for standard input */
	struct passphrase_kept *kept; /* of that file, or NULL */
	const char *command;          /* a command for the shell, or NULL */
	const char *subject;          /* the key's file, for the prompt */
	bool is_new;                  /* the user must type it twice */
	bool *is_asked; /* set when the passphrase is asked for; or NULL */
};

#define ARGS_PASSPHRASE_FILE                                                   \
	{                                                                      \
		OPTION(TEXT, "passphrase-file", "FILE|-",                      \
		       trust.passphrase_file,                                  \
		       "the first line of FILE is the key's passphrase")       \
	}
#define ARGS_PASSPHRASE_COMMAND                                                \
	{                                                                      \
		OPTION(TEXT, "passphrase-command", "COMMAND",                  \
		       trust.passphrase_command,                               \
		       "the first line that COMMAND prints is the passphrase") \
	}

/*
 * The source of the passphrase that the options name, for the key in the file
 * `subject`.
 */
struct passphrase passphrase_of(const struct arguments *args,
                                const char *subject);

/* Refuse two options for the passphrase. STATUS_DONE or STATUS_USAGE */
enum status passphrase_check(const struct cli *cli,
                             const struct arguments *args);

/* The ask() of struct tkb_passphrase; its `self` is a struct passphrase. */
int passphrase_ask(void *self, char *out, size_t *size_out,
                   struct tkb_error *err);

#endif

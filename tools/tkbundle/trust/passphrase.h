/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PASSPHRASE_H
#define TKBUNDLE_PASSPHRASE_H

#include <stdbool.h>

#include <tkbundle/trust.h>

#include "cli/args.h"

/*
 * The passphrase of a key: the first line of a file or of what a command prints,
 * or what somebody types. It never stands in an argument, where ps(1) shows it.
 */
struct passphrase {
	const char *file;    /* NULL, or "-" for standard input */
	const char *command; /* NULL, or for the shell */
	const char *subject; /* the key's file, for the prompt */
	bool is_new;         /* typed twice */
	bool *is_asked;      /* set once somebody asks; or NULL */
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

/* The passphrase that the options give, for the key in the file `subject`. */
struct passphrase passphrase_of(const struct arguments *args,
                                const char *subject);

/* Refuse two ways to give it. STATUS_DONE or STATUS_USAGE */
enum status passphrase_check(const struct cli *cli,
                             const struct arguments *args);

/* ask() of struct tkb_passphrase; its self is a struct passphrase. */
int passphrase_ask(void *self, char *out, size_t *size_out,
                   struct tkb_error *err);

#endif

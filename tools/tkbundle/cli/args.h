/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARGS_H
#define TKBUNDLE_ARGS_H

#include "cli/cli.h"
#include "cli/command.h"

/* What every verb knows. */
extern const struct option_spec args_help_option;

/* Options that several verbs have: elements of their tables. */
#define ARGS_KEYS                                                              \
	{                                                                      \
		.name = "key", .kind = OPTION_TEXTS, .value = "KEY",           \
		.offset = offsetof(struct arguments, keys),                    \
		.help = "only the entry whose key is, or begins with, KEY"     \
	}
#define ARGS_JOBS                                                              \
	{                                                                      \
		.name = "jobs", .letter = 'j', .kind = OPTION_NUMBER,          \
		.value = "N", .offset = offsetof(struct arguments, jobs),      \
		.min = 1, .max = 256,                                          \
		.help = "use N threads; default one for each core"             \
	}
#define ARGS_JSON                                                              \
	{                                                                      \
		.name = "json", .kind = OPTION_SWITCH,                         \
		.offset = offsetof(struct arguments, is_json),                 \
		.help = "print one JSON document"                              \
	}
#define ARGS_REMOTE                                                            \
	{                                                                      \
		.name = "remote", .kind = OPTION_SECRET,                       \
		.value = "URL[,URL...]",                                       \
		.offset = offsetof(struct arguments, remote),                  \
		.help = "the remote; by default $TKBUNDLE_REMOTE"              \
	}
/* Nobody waits for longer than a day. */
#define ARGS_TIME_LIMIT_MS (24 * 60 * 60 * 1000)
#define ARGS_DEADLINE                                                          \
	{                                                                      \
		.name = "deadline", .kind = OPTION_TIME, .value = "TIME",      \
		.offset = offsetof(struct arguments, deadline), .min = 1,      \
		.max = ARGS_TIME_LIMIT_MS,                                     \
		.help = "give up after so long, as 500ms or 30s"               \
	}
#define ARGS_METRICS                                                           \
	{                                                                      \
		.name = "metrics", .kind = OPTION_TEXT, .value = "FILE",       \
		.offset = offsetof(struct arguments, metrics),                 \
		.help = "write metrics for Prometheus to FILE"                 \
	}
#define ARGS_DRY_RUN                                                           \
	{                                                                      \
		.name = "dry-run", .letter = 'n', .kind = OPTION_SWITCH,       \
		.offset = offsetof(struct arguments, is_dry_run),              \
		.help = "check everything, write nothing"                      \
	}

/*
 * Parse what follows the verb cli->command. Complaints go to the log.
 *
 * @param argv  borrowed until args_release(); may be cut into pieces
 * @param out   released by the caller, also after a failure
 * @return STATUS_DONE, STATUS_USAGE or STATUS_FAILED (memory). With
 *         out->is_help nothing after it was looked at.
 */
enum status args_parse(const struct cli *cli, int argc, char **argv,
                       struct arguments *out);

void args_release(struct arguments *args);

/* Does the command line have this option of its verb? */
bool args_is_given(const struct arguments *args,
                   const struct option_spec *spec);

/* Word number `index` of "full|lean": its length, and where it begins. */
size_t args_word(const char *words, uint32_t index, const char **begin_out);

/* Operand number `index`, or NULL if there are not so many. */
const char *args_operand(const struct arguments *args, size_t index);

#endif

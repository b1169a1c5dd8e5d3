/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARGS_H
#define TKBUNDLE_ARGS_H

#include "cli/cli.h"
#include "cli/command.h"

/* The options of every verb. */
extern const struct option_spec args_help_option;

/*
 * An element of a verb's table of options; designated members may follow.
 * `kind` is written without OPTION_; `value` is NULL for a switch.
 */
#define OPTION(option_kind, long_name, value_name, member, text)               \
	.name = (long_name), .kind = OPTION_##option_kind,                     \
	.value = (value_name), .offset = offsetof(struct arguments, member),   \
	.help = (text)

/* The table of a verb's options, as members of its struct command. */
#define COMMAND_OPTIONS(table)                                                 \
	.options = (table), .option_count = TKB_COUNT_OF(table)

/* No option takes a time of more than a day. */
#define ARGS_TIME_LIMIT_MS (24 * 60 * 60 * 1000)

/* Options that several verbs have, as elements of their tables. */
#define ARGS_KEYS                                                              \
	{                                                                      \
		OPTION(TEXTS, "key", "KEY", keys,                              \
		       "only the entry whose key is, or begins with, KEY")     \
	}
#define ARGS_ENGINES                                                           \
	{                                                                      \
		OPTION(TEXTS, "engine", "NAME", engines,                       \
		       "all caches of this engine, as vllm or torch")          \
	}
#define ARGS_TREES                                                             \
	{                                                                      \
		OPTION(TEXTS, "tree", "NAME[:KIND]=PATH", trees,               \
		       "the folder PATH as well, under this name")             \
	}
#define ARGS_JOBS                                                              \
	{                                                                      \
		OPTION(NUMBER, "jobs", "N", jobs,                              \
		       "use N threads; default one for each core"),            \
			.letter = 'j', .min = 1, .max = 256                    \
	}
#define ARGS_JSON                                                              \
	{                                                                      \
		OPTION(SWITCH, "json", NULL, is_json,                          \
		       "print one JSON document")                              \
	}
#define ARGS_VERBOSE(what)                                                     \
	{                                                                      \
		OPTION(SWITCH, "verbose", NULL, is_verbose, what),             \
			.letter = 'v'                                          \
	}
#define ARGS_REMOTE                                                            \
	{                                                                      \
		OPTION(SECRET, "remote", "URL[,URL...]", remote,               \
		       "the remote; by default $TKBUNDLE_REMOTE")              \
	}
#define ARGS_TRUST                                                             \
	{                                                                      \
		OPTION(TEXT, "trust", "FILE", trust.policy,                    \
		       "the policy that says whose signatures count")          \
	}
#define ARGS_DEADLINE                                                          \
	{                                                                      \
		OPTION(TIME, "deadline", "TIME", deadline,                     \
		       "give up after this time, as 500ms or 30s"),            \
			.min = 1, .max = ARGS_TIME_LIMIT_MS                    \
	}
#define ARGS_METRICS                                                           \
	{                                                                      \
		OPTION(TEXT, "metrics", "FILE", metrics,                       \
		       "write metrics for Prometheus to FILE")                 \
	}
#define ARGS_DRY_RUN(text)                                                     \
	{                                                                      \
		OPTION(SWITCH, "dry-run", NULL, is_dry_run, text),             \
			.letter = 'n'                                          \
	}
#define ARGS_BUNDLE                                                            \
	{                                                                      \
		OPTION(TEXT, "output", "FILE|-", output,                       \
		       "write the bundle to FILE, or to standard output"),     \
			.letter = 'o', .is_required = true                     \
	}

/* Options of collect and push: what to pack. */
#define ARGS_DEVICE                                                            \
	{                                                                      \
		OPTION(NUMBER, "device", "N", device,                          \
		       "only this GPU's entries; sets it for a Triton root"),  \
			.max = 1023                                            \
	}
#define ARGS_PROFILE                                                           \
	{                                                                      \
		OPTION(WORD, "profile", "full|lean", profile,                  \
		       "pack every file, or only what a launch needs")         \
	}
#define ARGS_NO_MODULES                                                        \
	{                                                                      \
		OPTION(SWITCH, "no-modules", NULL, is_kernels_only,            \
		       "leave shared objects out")                             \
	}
#define ARGS_SETTLE                                                            \
	{                                                                      \
		OPTION(TIME, "settle", "TIME", settle,                         \
		       "leave out units that were changed within this time"),  \
			.min = 1, .max = ARGS_TIME_LIMIT_MS                    \
	}
#define ARGS_STRICT(text)                                                      \
	{                                                                      \
		OPTION(SWITCH, "strict", NULL, is_strict, text)                \
	}

/* Options of emit and pull: what to put into a cache, and how. */
#define ARGS_DEVICES                                                           \
	{                                                                      \
		OPTION(NUMBERS, "device", "N", devices,                        \
		       "emit for this GPU, whatever was recorded"),            \
			.max = 1023                                            \
	}
#define ARGS_TARGETS                                                           \
	{                                                                      \
		OPTION(TARGETS, "target", "BACKEND[:ARCH[:WARP]]", targets,    \
		       "only kernels for this target, as cuda:90")             \
	}
#define ARGS_LAYOUT                                                            \
	{                                                                      \
		OPTION(WORD, "layout", "auto|triton|inductor", layout,         \
		       "one folder of keys, or one for each GPU")              \
	}
#define ARGS_SYNC                                                              \
	{                                                                      \
		OPTION(SWITCH, "sync", NULL, is_sync,                          \
		       "sync the file system, before and after")               \
	}

/*
 * Parse the words after the verb cli->command. Errors go to the log.
 *
 * @param argv  borrowed until args_release(); may be cut into pieces
 * @param out   released by the caller, also after a failure
 * @return STATUS_DONE, STATUS_USAGE or STATUS_FAILED (memory). If
 *         out->is_help is set, the words after it were not parsed.
 */
enum status args_parse(const struct cli *cli, int argc, char **argv,
                       struct arguments *out);

void args_release(struct arguments *args);

/* Does the command line have this option of its verb? */
bool args_is_given(const struct arguments *args,
                   const struct option_spec *spec);

/* Find word number `index` of a list such as "full|lean". @return its length */
size_t args_word(const char *words, uint32_t index, const char **begin_out);

/*
 * Find the number of the word in `words` that equals `text`; false if none
 * does.
 */
bool args_find_word(const char *text, const char *words, uint32_t *out);

/* Operand number `index`, or NULL if there are not so many. */
const char *args_operand(const struct arguments *args, size_t index);

#endif

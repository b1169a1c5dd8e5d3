/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMMAND_H
#define TKBUNDLE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/entry.h>

#include "cli/status.h"

/*
 * A verb and its options are constants. Parsing, help and error messages are
 * derived from them.
 *
 * Options may come before and after operands; "--" ends them. A value is
 * written `--key X`, `--key=X`, `-o X` or `-oX`; switches of one letter may be
 * joined. Every verb knows --help and -h.
 */

struct cli;

/*
 * The kind of an option's value, and the type of its member of struct
 * arguments.
 */
enum option_kind {
	OPTION_SWITCH,  /* bool */
	OPTION_TEXT,    /* const char *, NULL if not given; the last counts */
	OPTION_SECRET,  /* char *, owned; the word itself is overwritten, so
	                   that ps(1) does not show it */
	OPTION_TEXTS,   /* struct texts */
	OPTION_NUMBER,  /* struct number; the last counts */
	OPTION_NUMBERS, /* struct numbers */
	OPTION_SIZE,    /* struct amount, in bytes; the last counts */
	OPTION_AGE,     /* struct amount, in seconds; the last counts */
	OPTION_TIME,    /* struct amount, in milliseconds; the last counts */
	OPTION_WORD,    /* struct number: the index of a word in `value` */
	OPTION_TARGETS  /* struct targets */
};

struct option_spec {
	const char *name; /* long name, without dashes */
	char letter;      /* short name, or 0 */
	enum option_kind kind;
	const char *value; /* as in a synopsis, "KEY"; or "full|lean" */
	bool is_required;  /* only in the synopsis; the verb checks it */
	size_t offset;     /* into struct arguments */
	uint32_t min;      /* of a number, or of a time */
	uint32_t max;      /* 0: of a time, none */
	const char *help;  /* one line, imperative, no full stop */
};

struct texts {
	const char **items;
	size_t count;
};

struct number {
	bool is_set;
	uint32_t value;
};

struct amount {
	bool is_set;
	uint64_t value;
};

struct numbers {
	uint32_t *items; /* no value twice */
	size_t count;
};

struct targets {
	struct tkb_target *items;
	size_t count;
};

/* Options that only `compile` has. */
struct compile_arguments {
	struct texts bindings; /* each ARGUMENT=VALUE */
	struct texts defines;
	struct texts folders; /* of includes */
	struct texts kept;    /* names of kernels */
	struct texts ptxas_options;
	struct texts pythons;
	struct texts rules;
	struct texts without; /* steps of finalize */
	struct number cubin_with;
	struct number emit;
	struct number num_stages;
	struct number num_warps;
	struct number quant; /* enum tkb_quant, less 1 */
	const char *bindings_file;
	const char *kernel;
	const char *libdevice;
	const char *log;
	const char *metadata;
	const char *ptxas;
	const char *signature;
	bool is_fast;
	bool is_finalized;
	bool is_optimized;
	bool keeps_going;
	bool is_strict;
	bool has_only_winners;
	bool has_pass_output;
};

/* Options that only `launcher` has. */
struct launcher_arguments {
	struct number num_stages;
	struct number num_warps;
	const char *grid;
	const char *out_name;
	const char *signature;
	bool is_link;
};

/* Options of verbs that sign, or check signatures against a policy. */
struct trust_arguments {
	const char *policy;    /* its file */
	struct texts sign;     /* files of keys that sign */
	struct amount expires; /* until a signature expires, seconds */
	struct number kind;    /* of a key */
	struct number stage;   /* that is signed for */
	const char *to;        /* the ref to promote to */
	const char *exported;  /* a folder for signatures */
	struct texts imported; /* files of signatures */
	const char *passphrase_file;
	const char *passphrase_command;
	bool is_encrypted;
	bool is_public;
	bool is_renewal; /* sign again what is signed */
	bool is_revoked; /* remove what is revoked */
};

/*
 * A parsed command line. A verb reads only the members that its own options
 * fill in.
 */
struct arguments {
	struct texts operands;
	struct texts keys;
	struct texts engines;
	struct texts trees;  /* each NAME[:KIND]=PATH */
	struct texts labels; /* each NAME=VALUE */
	struct numbers devices;
	struct targets targets;
	struct compile_arguments compile;
	struct launcher_arguments launcher;
	struct trust_arguments trust;
	struct number device;
	struct number jobs;
	struct number profile;
	struct number layout;
	struct number stage;
	struct number format; /* of an archive, or of an image's layer */
	struct number as;     /* push as a bundle, or as an image */
	struct number max_entries;
	struct amount max_size;
	struct amount max_age;
	struct amount deadline;
	struct amount refresh;
	struct amount settle;
	struct texts again;
	struct amount quiet;
	struct amount wait;
	struct number push;
	char *remote; /* owned */
	const char *ref;
	const char *ready_url;
	const char *ready_file;
	const char *cache;
	const char *bundle;
	const char *deleted;
	const char *node;
	const char *metrics;
	const char *output;
	const char *archive_root; /* where an archive will be unpacked */
	const char *mount;        /* where an image will be mounted */
	const char *file;
	const char *value_name; /* of the configuration */
	bool has_files;
	bool has_facts; /* of kernels */
	bool has_paths;
	bool has_uses;
	bool is_best_effort;
	bool is_deep;
	bool is_dry_run;
	bool is_help;
	bool is_json;
	bool is_kill_child;
	bool is_last;
	bool is_repair;
	bool is_strict;
	bool is_sync;
	bool is_verbose;
	bool requires_warm;
	bool is_compaction_off;
	bool is_kernels_only;
	bool is_long;
	bool strips_locations;
};

struct command {
	const char *name;
	const char *operands[4];  /* as in a synopsis; ends with NULL */
	size_t required_operands; /* their number; by default 0 */
	bool repeats_operand;     /* the last may be given several times */
	bool takes_command;       /* the operands are a command: they come last,
	                             and the first ends the options */
	const char *summary;      /* one line, imperative, no full stop */
	const char *details;      /* paragraphs, which help wraps; or NULL */
	const struct option_spec *options;
	size_t option_count;
	enum status (*run)(struct cli *cli, const struct arguments *args);
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_H
#define TKBUNDLE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "run/run_child.h"
#include "run/run_signals.h"

/*
 * The verb `run`: one process that supervises, and children that do the rest.
 *
 * Whatever may hang or crash is done by a child: networks, the user's files,
 * the cache root (which may be on a dead NFS mount), and parsing. The
 * supervisor starts children, waits for signals with a time limit, and forwards
 * some. A child that hangs is killed; one that cannot be killed is left behind.
 *
 *     cmd_run.c      the order of the steps
 *     run_loop.c     wait for signals and act on them
 *     run_signals.c  block and take signals
 *     run_child.c    start and end children
 *     run_verbs.c    the children that pull and push
 *     run_root.c     choose the root, and another one if it cannot be written
 *     run_engine.c   the engine, its caches and variables
 *     run_links.c    link kernels into another root, or gather them in the root
 *     run_scan.c     list entries
 *     run_document.c read what a pull has emitted
 *     run_watch.c    find new entries
 *     run_note.c     write the note of the start
 *     run_ready.c    ask whether the server is ready
 *     run_count.c    count what was used and compiled
 *     run_command.c  start the command
 *     run_report.c   print lines, or the documents of --json
 *     run_figures.c  the figures in them, and in the file of --metrics
 *     run_refresh.c  update the figures while the command runs
 *
 * starts/starts_moment.c leaves reports of the start in the remote.
 */

enum run_push {
	RUN_PUSH_ALWAYS, /* in the order of the words of --push */
	RUN_PUSH_ON_EXIT,
	RUN_PUSH_NEVER
};

enum {
	RUN_PATH_SIZE = 4096,
	RUN_COLD_SIZE = 2048,
	RUN_IDLE_SIZE = 1024,
	RUN_AGAIN_SIZE = 256 << 10,
	RUN_ENGINES_LIMIT = 8,
	RUN_KINDS_LIMIT = 65,      /* kernels, and the trees of a bundle */
	RUN_NAMES_SIZE = 16 << 20, /* room for 250,000; unused room takes no
	                              memory */
	RUN_WAIT_MS = 2000,
	RUN_DEADLINE_MS = 30000,
	RUN_REFRESH_MS = 30000,
	RUN_QUIET_MS = 5000
};

/* Identity of a file, to distinguish it from another one of the same name. */
struct run_stamp {
	bool is_there;
	uint64_t inode;
	struct timespec modified;
	struct timespec changed;
};

/* The plan that a child makes before the command starts. */
struct run_plan {
	bool is_made; /* it is complete */
	uint64_t wait_ms;
	uint64_t deadline_ms;
	enum run_push push;
	bool has_root;
	bool is_inductor;
	bool is_other;            /* `root` is not the requested root,
	                             `meant` */
	char root[RUN_PATH_SIZE]; /* absolute */
	char meant[RUN_PATH_SIZE];
	bool is_image;     /* `meant` is a mounted image: change nothing in
	                      it */
	char message[512]; /* what is wrong, or "" */
	bool has_remote;   /* a remote is configured */
	bool has_ref;
	char engines[256]; /* names, each with a terminating zero */
	size_t engines_size;
	char variables[8 * RUN_PATH_SIZE]; /* "NAME=VALUE", likewise */
	size_t variables_size;
	bool has_trees;
	char engine_ref[512]; /* template of the ref, if none is given */
	char notes[2048];     /* of --verbose: lines, each with its zero */
	size_t notes_size;
	uint64_t quiet_ms;
	char ready_url[1200]; /* how to ask whether it is ready: at most one is
	                         set */
	char ready_file[RUN_PATH_SIZE];
	char ready_message[128];      /* why the setting makes no sense */
	struct run_stamp ready_stamp; /* of the file, before the command */
};

/*
 * A group of entries with its own counts: the kernels, or the units of one
 * tree. The kernels are the first.
 */
struct run_kind {
	char engine[256]; /* the engine; empty: none */
	char name[33];    /* "kernels", or the name of the tree */
	uint64_t emitted;
	uint64_t used;
	uint64_t compiled;
	uint64_t saved_ms; /* time that it took to compile those used */
};

/* The counts that a child makes while the command runs, and after it. */
struct run_counts {
	bool is_made;
	bool has_access_times; /* in all roots; if not, uses are unknown */
	uint64_t used;         /* of all kinds */
	uint64_t compiled;     /* of all kinds */
	struct run_kind kinds[RUN_KINDS_LIMIT];
	size_t kind_count;
	uint64_t saved_ms;        /* of all kinds */
	bool has_new;             /* there are entries not pushed yet */
	char cold[RUN_COLD_SIZE]; /* the first ones compiled, a line each */
	uint64_t cold_count;      /* number of these lines */
	char idle[RUN_IDLE_SIZE]; /* the first kernels that were emitted and
	                             not used: keys, a line each */
};

/*
 * Units that the command has made again, or changed after they were pushed: the
 * ref has their names. They stay listed as long as they exist, since a push may
 * fail, or leave a unit out that is being written. What the ref has already is
 * not pushed twice.
 */
struct run_again {
	char names[RUN_AGAIN_SIZE]; /* "TREE/UNIT", each with its zero */
	size_t size;                /* bytes of the names */
	size_t count;
	bool is_full; /* there was no room for all */
};

/* Memory that the supervisor shares with children that it forks. */
struct run_shared {
	struct run_plan plan;
	struct run_counts counts;
	struct run_again again[2]; /* a count writes the other one */
	size_t again_index;        /* of the one that is whole */
	uint64_t linked_count;     /* kernels that were linked from another
	                            root */
	char links_error[512];     /* why not all were linked */
	char metrics_error[512];   /* why no figures could be written */
	char leave_error[512];  /* why no report of the start could be left */
	bool has_left;          /* a report was left */
	struct tkb_digest left; /* the digest of that report */
	int exec_error;         /* errno: why the command could not be
	                            started */
	uint64_t ready_ms;      /* when the server was ready; 0: not yet */
	char ready_reason[512]; /* the answer to the last question */
	bool has_baseline;      /* `names` begins with all entries from before;
	                            else, perhaps, with some of them */
	bool is_full;           /* there was no room for all names */
	int64_t learnt_ns;      /* since 1970: later changes are in no name */
	size_t baseline_size;   /* bytes of the names from before */
	size_t told_size; /* bytes of the names that need no further push */
	int64_t told_ns;  /* learnt_ns of these names */
	size_t name_size; /* bytes of all names, unsorted: read them with
			     run_scan_next() */
	char names[RUN_NAMES_SIZE];
};

enum run_role {
	RUN_PULL,
	RUN_PUSH,
	RUN_TASK, /* a fork for single tasks, one after another */
	RUN_WATCH,
	RUN_FIGURES, /* counts and measures while the command runs */
	RUN_HOLD,    /* protects what the command may read from a gc */
	RUN_LEAVE,   /* leaves a report of the start while the command runs */
	RUN_WAKE     /* wakes us when a command goes on that had stopped */
};

enum {
	RUN_ROLE_COUNT = RUN_WAKE + 1
};

struct run {
	struct cli *cli;
	const struct arguments *args;
	struct run_signals signals;
	struct run_shared *shared; /* owned */
	struct run_child children[RUN_ROLE_COUNT];
	uint64_t start_ms;   /* when tkbundle was started */
	int64_t command_ns;  /* since 1970: when the command was started */
	int64_t pull_ns;     /* likewise: when the pull ended */
	uint64_t delay_ms;   /* how much later the command was started */
	pid_t command;       /* 0: it is not running */
	bool has_begun;      /* the command was started, and may have ended */
	int command_state;   /* valid once it has ended */
	bool is_interrupted; /* signal of the terminal, while the command ran */
	int stop_signal;     /* a signal while no command ran, or 0 */
	bool is_late;        /* the pull did not end in time */
	bool is_dirty;       /* there is something to push */
	bool is_stale;       /* the figures have changed */
	bool has_news;       /* news that a line must report */
	bool was_pulling;    /* whether the pull ran at the last check */
	uint64_t refresh_ms; /* when figures are due */
	uint64_t id;         /* random number of the start, for its reports */
	uint64_t leave_ms;   /* when a report of the start is due */
	bool has_pushed;     /* a push has ended */
	bool has_push_reason;
	char push_reason[RUN_REASON_SIZE]; /* why the last push failed */
	uint64_t pushed_count;
	uint64_t left_out_count;        /* by the last push */
	char left_out[RUN_REASON_SIZE]; /* the first entry left out, and why */
};

#endif

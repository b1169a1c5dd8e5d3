/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_START_H
#define TKBUNDLE_START_H

#include <stdint.h>

#include <tkbundle/tkbundle.h>

#include "keys/facts.h"
#include "why/reason.h"

/*
 * The note of a start, kept on this machine: what `run` knows about the start,
 * and why its command compiled.
 *
 *     TKB_AUTO(start_release) struct start start = { 0 };
 *
 *     rc = start_read_last(&start, &err);
 *     for (size_t i = 0; i < start.made_count; i++)
 *             puts(reason_word(start.made[i].reason));
 *
 * Notes are files "<milliseconds since 1970>-<process>.json" in one folder,
 * $XDG_STATE_HOME/tkbundle/starts or ~/.local/state/tkbundle/starts; where
 * neither can be written, $TMPDIR/tkbundle-<uid>/starts. The newest
 * START_NOTES_LIMIT stay. Each is one JSON document:
 *
 *     {"command": "vllm", "compiled": 2, "delay_ms": 812, "emitted": 95,
 *      "facts": {"gpu": "NVIDIA H200", ...}, "failures": [{"message": "...",
 *      "of": "pull"}], "format": "tkbundle-start",
 *      "made": [{"advice": "...", "detail": "...", "key": "KRJX...",
 *      "kind": "kernels", "name": "add_kernel", "reason": "ptxas"}, ...],
 *      "pushed": 2, "ready_ms": 31000, "reasons": {"ptxas": 2}, "ref": "llama/h200",
 *      "root": "/home/op/.triton/cache", "saved_ms": 41200, "status": 0,
 *      "time_ms": 1795420000000, "used": 93, "version": 1}
 *
 * Unknown members are left out. A note has no command lines, no URLs and no
 * values of secret names.
 */

enum {
	START_NOTES_LIMIT = 32,
	START_MADE_LIMIT = 256, /* entries listed; all are counted */
	START_FAILURES_LIMIT = 8,
	START_PATH_SIZE = 4096,
	START_TEXT_SIZE = 512 /* size of a text in a note; a longer one is
	                         cut */
};

/* The value of an unknown number. */
#define START_UNKNOWN UINT64_MAX

/* An entry that the command compiled. All texts are owned; none is NULL. */
struct start_made {
	char *kind; /* "kernels", or the name of a tree */
	char *key;  /* of a kernel; "" for a unit */
	char *name; /* name of the kernel, or the unit's path in its tree */
	enum reason reason;
	char *detail; /* "ptxas 13.0.88 there, 12.8.93 here"; may be "" */
	char *advice; /* what to do; may be "" */
};

/* A failure and its reason; the texts are owned. */
struct start_failure {
	char *of; /* "pull", "push", "cache"; may be "" */
	char *message;
};

struct start {
	uint64_t time_ms; /* since 1970: when the command was started */
	char *command;    /* owned: its program, without the folder */
	char *ref;        /* owned; NULL: there was none */
	char *root;       /* owned: the cache root; NULL: there was none */
	struct facts facts;
	uint64_t emitted; /* these may be START_UNKNOWN */
	uint64_t used;
	uint64_t compiled;
	uint64_t pushed;
	uint64_t saved_ms;
	uint64_t delay_ms; /* how much later the command was started */
	uint64_t ready_ms; /* how long it took to be ready */
	uint64_t status;   /* what it exited with; unknown while it runs */
	uint64_t reasons[REASON_COUNT]; /* how many were compiled for each */
	struct start_made *made;        /* owned */
	size_t made_count;
	struct start_failure failures[START_FAILURES_LIMIT];
	size_t failure_count;
	uint64_t run_count; /* the number of notes that were combined */
};

/* The size of a buffer for start_number(). */
#define START_NUMBER_SIZE 24

/* Write a number of a start, or "unknown". */
void start_number(uint64_t number, char out[START_NUMBER_SIZE]);

/* For TKB_AUTO. */
void start_release(struct start *start);

/* A start about which nothing is known. */
void start_init(struct start *start);

/*
 * List an entry that was made, and count its reason. Texts are copied, and cut
 * if they are too long. Beyond START_MADE_LIMIT, or without memory, the entry
 * is only counted.
 */
void start_add_made(struct start *start, const struct start_made *made);

/* Add a failure, while there is room. */
void start_add_failure(struct start *start, const char *of,
                       const char *message);

/*
 * The folder of notes, whether it exists or not.
 *
 * @param is_made  make it, and use another place if that fails
 * @return false: there is no place
 */
bool start_folder(bool is_made, char out[START_PATH_SIZE]);

/*
 * Write the note of `start` into that folder, in one step, and remove
 * notes that are too old.
 *
 * @param process  distinguishes two starts in the same millisecond
 * @return 0, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int start_write(const struct start *start, uint64_t process,
                              struct tkb_error *err);

/*
 * Read a note.
 *
 * @return 0, TKB_MISS (there is no such file), TKB_ERR_CORRUPT (it is not a
 *         note, or of a newer tkbundle), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int start_read(const char *path, struct start *out,
                             struct tkb_error *err);

/*
 * Read the note that start_write() wrote with these values; returns like
 * start_read().
 */
TKB_NODISCARD int start_read_own(uint64_t time_ms, uint64_t process,
                                 struct start *out, struct tkb_error *err);

/* Have both the same command and root? */
bool start_is_same_command(const struct start *one, const struct start *other);

/* Do both also have the same ref? Then they may belong to the same start. */
bool start_is_one(const struct start *one, const struct start *other);

/* Did the start compile this entry, for whatever reason? */
bool start_has_made(const struct start *start, const struct start_made *made);

/* Add the note of another process of the same start. */
void start_merge(struct start *into, const struct start *other);

/*
 * The newest note of the same command and cache that was written before `start`
 * began. TKB_MISS: there is none that can be read.
 */
TKB_NODISCARD int start_read_before(const struct start *start,
                                    struct start *out, struct tkb_error *err);

/*
 * Read the newest note, combined with those of its other ranks: processes that
 * were started within a minute and ran at the same time. TKB_MISS: there is
 * none. Else like start_read().
 */
TKB_NODISCARD int start_read_last(struct start *out, struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_UPKEEP_H
#define TKB_TESTS_UPKEEP_H

/* What the tests of relocate, uses and gc share. */

#include "harness.h"

#include <sys/stat.h>
#include <sys/types.h>

/* Pack the cache at `root` into file `path`; emit that to `root`. */
void pack(const char *root, const char *path);
void emit(const char *path, const char *root);

/* `fixture`, of one Triton root, emitted to "out"; it is in "a.tkb". */
void arrange_emitted(const char *fixture);

/* What collect says of a cache, without packing it. */
struct tkb_collect_report look_at(const char *root);

/* All that tells whether something was written below a folder. */
const char *tree(const char *path);

struct stat stat_of(const char *path);
void remove_folder(const char *path);

/* The path of the stamp file in `folder`: the group file, or the first. */
const char *stamp_of(const char *folder);

/* Date the entry in `folder`: when it was read and written, since 1970. */
void date(const char *folder, time_t read_s, time_t written_s);

/* Date number n of the entries in `root` n hours after 1970, unread. */
void date_all(const char *root);

/* 13 kernels and 4 modules in "out", dated so; their keys. */
const char **arrange_dated(void);

/* Let a file or folder look as if it was written so many seconds ago. */
void age(const char *path, time_t seconds);

/* The same for a folder and the files in it. */
void age_folder(const char *path, time_t seconds);

/* The folders of `root` that are called as keys are, sorted; ends with NULL. */
const char **keys(const char *root);

/* What was told of entries, in its order. It may be told in any thread. */
struct told {
	size_t count;
	struct {
		enum tkb_outcome outcome;
		enum tkb_reason reason;
		char key[80];
		char root[512];
		char message[512];
	} items[64];
	struct tkb_watch watch;
};

/* A watch that only lists; `told` must outlive it. */
const struct tkb_watch *tell_to(struct told *told);

/* Start a program without waiting for it, quietly; arguments end with NULL. */
pid_t start(const char *program, ...) __attribute__((sentinel));

/*
 * Run a verb of the program; as root, without its power to write anywhere. With
 * a status of 126 or more it could not be run.
 */
struct outcome run_powerless(const char *verb, const char *one,
                             const char *other);

/* Hold the lock of a root, as an emit does; closing it gives it back. */
int lock_root(const char *root);

/* What a call came to that was made by somebody without rights. */
struct refusal {
	const char *path;
	int (*act)(struct tkb_error *err);
	int rc;
	struct tkb_error err;
};

/*
 * Call act() in a child that is root no more. Skips the test where `path`
 * cannot be reached then.
 */
struct refusal as_nobody(const char *path, int (*act)(struct tkb_error *err));

#endif

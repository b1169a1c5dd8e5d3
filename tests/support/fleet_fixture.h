/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FLEET_FIXTURE_H
#define TKB_TESTS_FLEET_FIXTURE_H

/*
 * What tests of push, pull, compaction and clean-up are made of: caches of real
 * kernels, a remote that is a folder, watched by a spy, and what is in both.
 */

#include <tkbundle/fleet.h>

#include "spy.h"

#define REF "team/model"

/* Entries of a cache, by number, in the order of their keys. */
struct part {
	size_t first;
	size_t end;
};

enum {
	POOL = 17, /* entries of the pool */
	DAY_S = 86400
};

/*
 * A cache of 13 kernels and 4 modules, which name the place where they are, and
 * its keys. The spy is reset.
 */
const char *pool(void);
const char **pool_keys(void);

/* Instead, if called first: a cache of 26 larger entries. */
const char *large_pool(void);

/* A cache of some of the pool's entries, in the new folder `name`. */
const char *cache_of(const char *name, struct part part);

/* An Inductor cache of 26 entries for each of devices 0 and 1. */
const char *inductor_cache(void);

/* The folder `name` as a remote that the spy watches. */
const char *spy_url(const char *name);

/* Push, pull: must succeed. */
struct tkb_push_report push_with(struct tkb_remote *remote, const char *root,
                                 struct tkb_push_options options);
struct tkb_push_report push_all(struct tkb_remote *remote, const char *root);
struct tkb_push_report push_bytes(struct tkb_remote *remote,
                                  struct tkb_bytes bundle);
/* Of the pool, without compaction: each a record of its own. */
struct tkb_push_report push_part(struct tkb_remote *remote, struct part part);
/* Each of the first `count` entries of the pool by itself. */
void push_singly(struct tkb_remote *remote, size_t count);
struct tkb_pull_report pull_with(struct tkb_remote *remote, const char *root,
                                 struct tkb_pull_options options);
struct tkb_pull_report pull_all(struct tkb_remote *remote, const char *root);

/* Some entries of the pool are in the cache `root`, byte for byte. */
void check_has_part(const char *root, struct part part);
/* These, and nothing else; nothing of ours is left. */
void check_is_part(const char *root, struct part part);
/* How many entries has it? All verify and are of the pool. */
size_t count_entries(const char *root);

/* What a collect says of a cache: the same for the same entries. */
struct tkb_collect_report weigh(const char *root);

/* The files in which the remote folder keeps blobs, or records of REF; sorted;
   ends with NULL. */
const char **blob_files(const char *remote);
const char **record_files(const char *remote);
size_t count_texts(const char **texts);

/* The file of the blob that record file `record` names. */
const char *blob_of(const char *remote, const char *record);

/* Flip a bit of it, `at` sixteenths into it. */
void flip(const char *path, unsigned at);

/* Let it look as if it was written so long ago. */
void make_old(const char *path, unsigned seconds);

#endif

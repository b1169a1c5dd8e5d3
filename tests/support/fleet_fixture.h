/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FLEET_FIXTURE_H
#define TKB_TESTS_FLEET_FIXTURE_H

/*
 * For tests of push, pull, compaction and gc: caches of real kernels, a folder
 * as a remote, watched by a spy, and functions that inspect both.
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
 * A cache of 13 kernels and 4 modules, whose group files have the right path,
 * and its keys. The spy is reset.
 */
const char *pool(void);
const char **pool_keys(void);

/* Instead, if called first: a cache of 26 larger entries. */
const char *large_pool(void);

/* A cache of some of the pool's entries, in the new folder `name`. */
const char *cache_of(const char *name, struct part part);

/* A cache of small entries, in the folder `name`: the keys of number `from` to `to`. */
const char *autotunes(const char *name, unsigned from, unsigned to);

/* An Inductor cache of 26 entries for each of devices 0 and 1. */
const char *inductor_cache(void);

/* The path of `name` in the test's folder. */
const char *out(const char *name);

/* The folder `name` as a remote that the spy watches. */
const char *spy_url(const char *name);

/* Push, pull: must succeed. */
struct tkb_push_report push_with(struct tkb_remote *remote, const char *root,
                                 struct tkb_push_options options);
struct tkb_push_report push_all(struct tkb_remote *remote, const char *root);
struct tkb_push_report push_bytes(struct tkb_remote *remote,
                                  struct tkb_bytes bundle);
/* Push a part of the pool as one record, without compaction. */
struct tkb_push_report push_part(struct tkb_remote *remote, struct part part);
/* Push entries 0 to 4, 5 to 8, and 9 on as a record each; the spy is reset. */
void push_three(struct tkb_remote *remote);
/* Push each of the first `count` entries of the pool separately. */
void push_singly(struct tkb_remote *remote, size_t count);
struct tkb_pull_report pull_with(struct tkb_remote *remote, const char *root,
                                 struct tkb_pull_options options);
struct tkb_pull_report pull_all(struct tkb_remote *remote, const char *root);

/* Some entries of the pool are in the cache `root`, byte for byte. */
void check_has_part(const char *root, struct part part);
/* The same, and nothing else; no temporary files are left. */
void check_is_part(const char *root, struct part part);
/* A pull into the folder `name` gives just that, and no blob is gone. */
void check_pulled(struct tkb_remote *remote, const char *name,
                  struct part part);
/* The number of its entries, which all verify and are from the pool. */
size_t count_entries(const char *root);

/* The report of a collect: the same for the same entries. */
struct tkb_collect_report weigh(const char *root);

/* The files in which the remote folder keeps blobs, or records of REF; sorted;
   ends with NULL. */
const char **blob_files(const char *remote);
const char **record_files(const char *remote);
size_t count_texts(const char **texts);

/* The file of the blob that record file `record` names. */
const char *blob_of(const char *remote, const char *record);

/* Flip a bit of the file, at `at` sixteenths of its size. */
void flip(const char *path, unsigned at);

/* Set its times to this long ago. */
void make_old(const char *path, unsigned seconds);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_RECORDING_H
#define TKB_TESTS_RECORDING_H

/*
 * For tests of recorders, launchers and open bundles.
 *
 *     RECORDER(recorder) = recording();
 *
 *     put(recorder, key, 0);
 *     save(recorder, "conf", "payload", TKB_NEED_ALL, keys_of(1, key));
 *     bundle = open_bytes(recorded(recorder, root));
 *
 * All calls must succeed. Memory belongs to the test and must not be used by
 * several threads at once.
 */

#include "harness.h"

/* A key that does not occur in any cache. */
#define ABSENT "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* Release functions for variables of a block. */
#define RECORDER(name) TKB_AUTO(free_recorder_at) struct tkb_recorder *name
#define RESULTS(name) TKB_AUTO(free_results_at) struct tkb_results *name
#define LAUNCHERS(name) TKB_AUTO(close_launchers_at) struct tkb_launchers *name
TKB_AUTO_POINTER(free_recorder_at, struct tkb_recorder, tkb_recorder_free)
TKB_AUTO_POINTER(free_results_at, struct tkb_results, tkb_results_free)
TKB_AUTO_POINTER(close_launchers_at, struct tkb_launchers, tkb_launchers_close)

struct keys {
	const char **items;
	size_t count;
};

struct keys keys_of(size_t count, ...);

/* The keys of a cache's kernels, or of all its entries, sorted. */
struct keys kernels_of(const char *root);
struct keys entries_of(const char *root);

/* Keys `first` to `end` of some. */
struct keys some_of(const struct keys *keys, size_t first, size_t end);

/*
 * Unpack a fixture and return its cache root: of 13 kernels and 4 modules, and
 * of Inductor, 23 and 3 for each of devices 0 and 1, which share their files.
 */
const char *h100(void);
const char *inductor(void);

/* A recorder in which a compile has begun. */
struct tkb_recorder *recording(void);

void put(struct tkb_recorder *recorder, const char *key, uint32_t device);
void put_all(struct tkb_recorder *recorder, const struct keys *keys,
             uint32_t device);
void put_winner(struct tkb_recorder *recorder, const char *key);

/* Save a launcher of kernel "kernel". */
void save(struct tkb_recorder *recorder, const char *cache_key,
          const char *payload, enum tkb_need need, struct keys needs);

/* The bundle that a recorder, or tkb_collect(), makes. `report` may be NULL. */
struct tkb_bytes recorded(struct tkb_recorder *recorder, const char *root);
struct tkb_bytes recorded_with(struct tkb_recorder *recorder, const char *root,
                               const struct tkb_collect_options *options,
                               struct tkb_collect_report *report);
struct tkb_bytes collected(const char *root,
                           const struct tkb_collect_options *options);
struct tkb_bytes collected_keys(const char *root, const struct keys *keys);

/* Must fail; with which status? */
int failed_collect(struct tkb_recorder *recorder, const char *root,
                   const struct tkb_collect_options *options,
                   struct tkb_error *err);

struct tkb_bundle *open_bytes(struct tkb_bytes bytes);

/* What a recorder collects, which must be sound, opened. */
struct tkb_bundle *recorded_bundle(struct tkb_recorder *recorder,
                                   const char *root,
                                   struct tkb_collect_report *report);

/* The only result about `key`; it must be there. */
const struct tkb_result *find_result(const struct tkb_results *results,
                                     const char *key);

void check_same_bytes(struct tkb_bytes got, struct tkb_bytes wanted);

/* Is everything in it as it should be? */
void check_sound(const struct tkb_bundle *bundle);

/* The keys of its entries, joined by spaces, each cut to four letters. */
const char *keys_in(const struct tkb_bundle *bundle);
const char *short_keys(const struct keys *keys);

/* The devices of its entry `key`, joined by commas. */
const char *devices_of(const struct tkb_bundle *bundle, const char *key);

/* Its launchers: "key=payload" of each, joined by spaces. */
const char *launchers_in(const struct tkb_bundle *bundle);

void emit_bundle(const struct tkb_bundle *bundle, const char *root,
                 enum tkb_layout layout);

/*
 * Write a bundle of one lean kernel, FORGE_KERNEL, and of three launchers that
 * need it: "a" and one whose cache key begins with "c" share the payload
 * "hello", "b" has "other". These are the payloads' digests.
 */
#define HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define OTHER "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"

void save_three(const char *path);

/* Sanitizers change what may be forked, what memory there is, what time is. */
bool has_thread_sanitizer(void);
bool has_address_sanitizer(void);

#endif

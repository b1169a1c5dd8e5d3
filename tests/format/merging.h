/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_MERGING_H
#define TKB_TESTS_MERGING_H

/* What the tests of merge and of mixed frames share. */

#include "harness.h"

/* Keys of triton-3.6.0-cpu, in the order of a bundle: five entries. */
#define AUTOTUNE "OHLECDAU2WNCE4HO4Q2ANXCJVEUGFJBA73LV2GWZKGZKESJ5RVMA"
#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define GELU "CPSMUG3KHAYNZXCXDQ32RQIT7TEPDLHOM5LX25JRHMXIW3AR72BQ"
#define OTHER_GELU "W4JUUVDO5DSKFOXADDK5ILUF2SYPNDSCEEQS53PYLRFOYAKSEHNA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

enum {
	KERNEL_FILES = 8, /* of each kernel there */
	LEAN_FILES = 3
};

/* Unpack that fixture; its cache root. */
const char *arrange_cache(void);

/*
 * A copy of the cache at `root`, in which kernel `key` was compiled elsewhere:
 * its source says "/srv/<user>/kernels.py".
 */
const char *compile_elsewhere(const char *root, const char *key,
                              const char *user);

/* Pack the cache at `root` as a framework does. */
struct packing {
	const char *root;
	struct {
		const char *key; /* NULL ends the list */
		uint32_t device;
	} puts[12];
	struct tkb_launcher_spec launchers[4]; /* a key that is NULL ends it */
	bool is_lean;
};
void pack_into(const char *path, struct packing packing);

/* Pack all of the cache at `root` with the program's means. */
void collect_into(const char *path, const char *root);

/* A launcher of the kernel `needed`, with the text `payload`. */
struct tkb_launcher_spec launcher_of(const char *cache_key, const char *payload,
                                     const char *needed);

/* Merge bundle files into `path`; they end with NULL. */
struct tkb_merge_report merge(const char *path, ...) __attribute__((sentinel));

/* The same of a list. */
struct tkb_merge_report merge_list(const char *path, const char *const *inputs,
                                   size_t count);

/* "a.tkb" and "b.tkb": two kernels of that cache each, and GELU in both. */
void pack_overlapping(const char *root);

/* Every byte of the bundle `path` is as it should be. */
struct tkb_verify_report check_verifies(const char *path);

/* The files `one` and `other` are the same, byte for byte. */
void check_same_file(const char *one, const char *other);

/* Both bundles emit the same files, byte for byte. */
void check_emit_same(const char *one, const char *other);

/* Emit the bundle `path` to `root`; all of it comes out. */
void emit_all(const char *path, const char *root);

/* The bundle's id, in hexadecimal. */
const char *id_of(const char *path);

/* The entry of `key` for `device`, and its place; there must be one. */
const struct tkb_entry *entry_for(const struct tkb_bundle *bundle,
                                  const char *key, uint32_t device,
                                  size_t *index_out);

/* "0,2": the devices of that entry. */
const char *devices_for(const struct tkb_bundle *bundle, const char *key,
                        uint32_t device);

/* The text of its file whose name ends with `ending`. */
const char *file_for(const struct tkb_bundle *bundle, const char *key,
                     uint32_t device, const char *ending);

/* Where it was compiled: the user in its source, see compile_elsewhere(). */
const char *user_of(const struct tkb_bundle *bundle, const char *key,
                    uint32_t device);

/* The bundle's frames: "0-2,4 +3 | 3" has an unused count in the first. */
const char *frames_of(const char *path);

/* The payload of the launcher saved under `cache_key`; it must be there. */
const char *payload_of(const struct tkb_bundle *bundle, const char *cache_key);

#endif

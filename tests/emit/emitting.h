/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_EMITTING_H
#define TKB_TESTS_EMITTING_H

/* What the tests of emit share. */

#include "forge.h"
#include "upkeep.h"

#define KERNEL_FOLDER "out/" FORGE_KERNEL
#define GROUP_FILE KERNEL_FOLDER "/__grp__add_kernel.json"

/* The fixture's kernel, full: all of its files. */
static const char *const kernel_files[] = {
	"__grp__add_kernel.json", "add_kernel.cubin", "add_kernel.json",
	"add_kernel.llir",        "add_kernel.ptx",   "add_kernel.source",
	"add_kernel.ttgir",       "add_kernel.ttir",
};

/* What an emit did, and what was told of its last entry that is no success. */
struct did {
	int rc;
	struct tkb_error err;
	struct tkb_emit_report report;
	unsigned told;
	struct tkb_result last;
	const char *message;
};

struct did emit_with(const char *path, const char *root,
                     const struct tkb_emit_options *options);
struct did emit_once(const char *path, const char *root);

/* It went well: so many entries each, and none besides. */
#define CHECK_DID(did, emitted, present, repaired)                             \
	check_did((did), (emitted), (present), (repaired), __FILE__, __LINE__)
void check_did(struct did did, uint64_t emitted, uint64_t present,
               uint64_t repaired, const char *file, int line);

bool is_group(const char *name);

/*
 * Folder `entry` must hold what `wanted` holds, byte for byte, in plain files;
 * in the group file `to` stands where `from` does. The same for a root, less
 * what is tkbundle's own.
 */
void check_entry(const char *entry, const char *wanted, const char *from,
                 const char *to);
void check_root(const char *root, const char *wanted, const char *from,
                const char *to);
size_t count_stages(const char *root);

/* Unpack the fixture, and pack a key of it, or all, into "a.tkb". */
void pack_key(const char *key);

/*
 * The full kernel is in "a.tkb", emitted to "out", and copied to "good"; the
 * mark is gone, so that everything is looked at.
 */
void arrange(void);
void distrust(void);

/* All is as it was; after the one entry was put right. */
void check_good(void);
void check_repaired(void);

/* The path of the mark of this boot. */
const char *mark(void);

#endif

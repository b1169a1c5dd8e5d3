/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_COLLECTING_H
#define TKB_TESTS_COLLECTING_H

/* What the tests of collect share: caches to pack, and what a collect told. */

#include "recording.h"

/* The keys of triton-3.6.0-cpu; these are all that most tests work with. */
#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define GELU_2 "CPSMUG3KHAYNZXCXDQ32RQIT7TEPDLHOM5LX25JRHMXIW3AR72BQ"
#define AUTOTUNE "OHLECDAU2WNCE4HO4Q2ANXCJVEUGFJBA73LV2GWZKGZKESJ5RVMA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

/* Two of triton-3.6.0-h100 that begin alike, and a module there. */
#define H100_MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define H100_SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"
#define H100_LAUNCHER "HEUKIG4JTP2YEOVQFSWBTVS6LZOIS6UFCDGRSN4HPQYM3RTA6GRQ"

#define LAUNCHER_SO "__triton_launcher.cpython-312-x86_64-linux-gnu.so"

#define ADD_GROUP "__grp__add_kernel.json"
#define RECORDED "/home/serve/.triton/cache"

enum {
	ADD_FILES = 8 /* the group file is one of them */
};

const char *cache_of(const char *fixture);

/* A cache of five entries, to be damaged. */
const char *small_cache(void);

const char *in(const char *root, const char *key, const char *name);

const char *group_of_add(const char *root);

/* Replace each `from` in `bytes` by `to`. */
struct tkb_bytes replace(struct tkb_bytes bytes, const char *from,
                         const char *to);

void replace_in_file(const char *path, const char *from, const char *to);

/* List a file more in the group file of ADD, first; the name is escaped as JSON wants it. */
void list_child(const char *root, const char *json_name);

/* What a collect told its caller. */
struct seen {
	struct tkb_watch watch;
	size_t collected_count;
	size_t left_out_count;
	enum tkb_reason reason; /* of the last one left out */
	char key[128];
	char message[512];
	uint64_t done;
	uint64_t total;
	bool went_back;
	bool went_too_far;
};

void see_result(void *self, const struct tkb_result *result);

const struct tkb_watch *watch_with(struct seen *seen);

/* The group file of ADD in the shape of Triton 2 and of the remote cache manager. */
extern const char list_of_add[];

void check_counts(const char *root, uint64_t collected_count,
                  uint64_t unfinished_count, uint64_t stray_count);

#endif

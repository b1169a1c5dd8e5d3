/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PLACE_H
#define TKBUNDLE_PLACE_H

#include <stdint.h>

#include "cli/ask.h"
#include "doctor/machine/finding.h"

/*
 * The folder of a cache, and its file system. A child process looks at it,
 * since on a dead mount that may never return. If the folder does not exist,
 * the child looks at the nearest existing folder above it, where it would be
 * made.
 */
enum {
	PLACE_PATH_SIZE = 4096,
	PLACE_NAME_SIZE = 64
};

/* The child's answer, byte for byte. */
struct place_facts {
	bool is_there;
	bool is_folder;
	bool is_below_file; /* it cannot be made: a file is in its way */
	bool can_read;
	bool can_write; /* or create it */
	bool is_read_only;
	bool is_noexec;
	bool is_noatime;
	uint32_t owner;
	uint32_t mode;
	int error;     /* errno; 0: it could be examined */
	uint64_t type; /* type of the file system, from statfs(2) */
	uint64_t free_size;
	uint64_t free_files;
	uint64_t files; /* 0: the file system does not count them */
};

struct place {
	const char *name;           /* "triton" */
	char path[PLACE_PATH_SIZE]; /* absolute, if possible */
	char origin[256];           /* what decided the path,
	                               "TRITON_CACHE_DIR" */
	bool is_kernels;
	bool is_late;
	struct place_facts facts;
	char answer[sizeof(struct place_facts) + 1];
};

void place_begin(struct place *place, struct ask *ask);
void place_end(struct place *place, const struct ask *ask);

/* Can it be read, and did it answer in time? */
bool place_is_usable(const struct place *place);

void place_print(const struct place *place, struct cli *cli,
                 struct findings *findings);

#endif

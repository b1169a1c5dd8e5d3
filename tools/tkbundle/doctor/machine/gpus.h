/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_GPUS_H
#define TKBUNDLE_GPUS_H

#include "cli/ask.h"
#include "doctor/machine/finding.h"

/*
 * The GPUs of this machine. A child process asks the driver's library, which
 * may hang.
 *
 *     gpus_begin(&gpus, &ask);
 *     asks_begin(&ask, 1);
 *     asks_end(&ask, 1, limit_ms);
 *     gpus_end(&gpus, &ask);
 */
enum {
	GPUS_LIMIT = 64,
	GPU_NAME_SIZE = 96,
	GPUS_ANSWER_SIZE = 16384
};

struct gpu {
	char name[GPU_NAME_SIZE];
	uint32_t arch; /* 90 */
	bool is_visible;
};

struct gpus {
	struct gpu items[GPUS_LIMIT];
	size_t count;
	size_t visible_count;
	char driver[GPU_NAME_SIZE]; /* "" if unknown */
	uint32_t cuda;              /* 13000; 0: unknown */
	bool is_late;               /* the driver did not answer */
	char why[256];              /* why nothing is known about GPUs */
	char answer[GPUS_ANSWER_SIZE];
};

void gpus_begin(struct gpus *gpus, struct ask *ask);
void gpus_end(struct gpus *gpus, const struct ask *ask);

/* Does a visible GPU have this architecture? */
bool gpus_have_arch(const struct gpus *gpus, const char *arch);

/*
 * The architectures of visible GPUs, "sm_90" or "sm_80 and sm_90"; "" if there
 * are none.
 */
void gpus_archs(const struct gpus *gpus, char *out, size_t size);

/* The newest PTX that the driver accepts, as 90; 0: unknown. */
uint32_t gpus_ptx(const struct gpus *gpus);

/* Print the GPUs, and note what is wrong. */
void gpus_print(const struct gpus *gpus, struct cli *cli,
                struct findings *findings);

#endif

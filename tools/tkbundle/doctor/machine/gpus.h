/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_GPUS_H
#define TKBUNDLE_GPUS_H

#include "cli/ask.h"
#include "doctor/machine/finding.h"

/*
 * The GPUs of this machine, as the driver's library tells a child: it may hang.
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
	char driver[GPU_NAME_SIZE]; /* "" where it is not told */
	uint32_t cuda;              /* 13000; 0: not told */
	bool is_late;               /* the driver did not answer */
	char why[256];              /* nothing is known of GPUs */
	char answer[GPUS_ANSWER_SIZE];
};

void gpus_begin(struct gpus *gpus, struct ask *ask);
void gpus_end(struct gpus *gpus, const struct ask *ask);

/* Has a GPU that may be used this architecture? */
bool gpus_have_arch(const struct gpus *gpus, const char *arch);

/* "sm_90", or "sm_80 and sm_90", of those that may be used; "" of none. */
void gpus_archs(const struct gpus *gpus, char *out, size_t size);

/* The newest PTX that the driver takes, as 90; 0: not told. */
uint32_t gpus_ptx(const struct gpus *gpus);

/* Print them, and note what is wrong. */
void gpus_print(const struct gpus *gpus, struct cli *cli, bool is_json,
                struct findings *findings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATE_H
#define TKBUNDLE_STATE_H

#include "cli/args.h"
#include "config/root.h"
#include "doctor/finding.h"
#include "doctor/gpus.h"
#include "doctor/place.h"
#include "doctor/tools.h"
#include "doctor/versions.h"

/*
 * What doctor knows of this machine, as one page: facts, what fits and what does
 * not, a verdict.
 *
 * All that may hang is asked in children, at once, and waited for DOCTOR_LIMIT_MS;
 * a cache is read for DOCTOR_PATIENCE_MS, and what is left then only counted. With
 * --deep there is more time for both.
 */
enum {
	DOCTOR_LIMIT_MS = 2000,
	DOCTOR_DEEP_LIMIT_MS = 60000,
	DOCTOR_PATIENCE_MS = 120,
	DOCTOR_PLACES_LIMIT = 32
};

struct doctor {
	struct cli *cli;
	const struct arguments *args;
	struct root root;
	bool is_file; /* the operand is a bundle */
	struct gpus gpus;
	struct versions versions;
	struct tools tools;
	struct place places[DOCTOR_PLACES_LIMIT];
	size_t place_count;
	struct findings findings;
};

/* The engine whose Python is asked: the first of --engine, or NULL. */
const char *doctor_engine(const struct doctor *doctor);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATE_H
#define TKBUNDLE_STATE_H

#include "cli/args.h"
#include "config/root.h"
#include "doctor/machine/finding.h"
#include "doctor/machine/gpus.h"
#include "doctor/machine/place.h"
#include "doctor/machine/tools.h"
#include "doctor/machine/versions.h"

/*
 * The state of doctor, which prints one page about this machine: facts, what
 * fits and what does not, and a verdict.
 *
 * Whatever may hang runs in child processes, in parallel, for at most
 * DOCTOR_LIMIT_MS. A cache is read for at most DOCTOR_PATIENCE_MS; entries that
 * were not read by then are only counted. --deep allows more time for both.
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

/* The engine whose Python is examined: the first of --engine, or NULL. */
const char *doctor_engine(const struct doctor *doctor);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FIT_H
#define TKBUNDLE_FIT_H

#include <tkbundle/makers.h>

#include "doctor/machine/gpus.h"
#include "doctor/look.h"
#include "doctor/machine/tools.h"
#include "doctor/machine/versions.h"

/*
 * Find out which entries of a source would be used here, and why the others
 * would not. fit_faults_find() then decides which of those are faults.
 *
 * An entry for another machine is not a fault if an entry of the same kind and
 * name fits this one. An entry that is torn, or names another folder, is always
 * a fault.
 */
struct fit_facts {
	const struct source *source;
	const struct look *looks; /* facts about each entry */
	const struct gpus *gpus;
	const struct versions *versions;
	const struct tools *tools;
	const struct tkb_makers *makers; /* NULL: unknown */
	const char *engine;              /* NULL: no engine is named */
	const char *environment;         /* as from look_environment() */
	bool has_graphs; /* Inductor's graphs name kernels, whatever ptxas made
	                    them */
};

struct misfit {
	const struct tkb_entry *entry; /* NULL: a folder without an entry */
	const char *key;               /* the folder's name */
	const char *cause;
	char *message; /* owned; a sentence */
	bool is_fault;
};

struct fits {
	bool *fits; /* owned; for each entry of the source */
	size_t count;
	size_t counts[4];       /* numbers of entries that fit, by kind */
	struct misfit *misfits; /* owned */
	size_t misfit_count;
	size_t fault_count; /* number of misfits that are faults */
	size_t busy_count;  /* entries that are being written */
};

TKB_NODISCARD int fits_take(const struct fit_facts *facts, struct fits *out,
                            struct tkb_error *err);
void fits_release(struct fits *fits);

/* The number of entries that fit, of all kinds. */
size_t fits_total(const struct fits *fits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FIT_H
#define TKBUNDLE_FIT_H

#include <tkbundle/makers.h>

#include "doctor/machine/gpus.h"
#include "doctor/look.h"
#include "doctor/machine/tools.h"
#include "doctor/machine/versions.h"

/*
 * Which entries of a source would be used here, and why each other one would not.
 * fit_faults_find() then says which of these are faults.
 *
 * An entry for another machine is no fault if an entry of the same kind and
 * name fits this one. An entry that is torn, or names another folder, is always
 * a fault.
 */
struct fit_facts {
	const struct source *source;
	const struct look *looks; /* of each entry */
	const struct gpus *gpus;
	const struct versions *versions;
	const struct tools *tools;
	const struct tkb_makers *makers; /* NULL: none is known */
	const char *engine;              /* NULL: none is asked for */
	const char *environment;         /* as of look_environment() */
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
	bool *fits; /* owned; of each entry of the source */
	size_t count;
	size_t counts[4];       /* of those that fit, by kind */
	struct misfit *misfits; /* owned */
	size_t misfit_count;
	size_t fault_count; /* of those */
	size_t busy_count;  /* being written now */
};

TKB_NODISCARD int fits_take(const struct fit_facts *facts, struct fits *out,
                            struct tkb_error *err);
void fits_release(struct fits *fits);

/* How many entries fit, of all kinds. */
size_t fits_total(const struct fits *fits);

#endif

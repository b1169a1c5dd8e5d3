/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_METRICS_H
#define TKBUNDLE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/error.h>

/*
 * The figures of one run of a verb, as the text format of Prometheus that the
 * node exporter's textfile collector reads.
 *
 *     TKB_AUTO(metrics_release)
 *     struct metrics metrics = { .verb = "pull", .label = "ref",
 *                                .label_value = "model/h100" };
 *
 *     metrics_add(&metrics, "emitted", "Entries that were emitted.", 5);
 *     rc = metrics_write(&metrics, "/var/lib/.../tkbundle.prom", &err);
 *
 * All are gauges, of the last run, and named tkbundle_<verb>_<name>.
 */
struct metric {
	const char *name; /* not kept, as all texts here */
	const char *help; /* a sentence */
	double value;
	const char *labels[2]; /* values of further labels, or of the first
	                          alone; NULL: it has none */
};

struct metrics {
	const char *verb;
	const char *label;       /* its name; NULL: none */
	const char *label_value; /* must not hold a secret */
	const char *labels[2];   /* names of further labels that some metrics
	                            have */
	struct metric *items;    /* owned */
	size_t count;
	bool is_failed; /* out of memory: some are missing */
};

/* For TKB_AUTO. */
void metrics_release(struct metrics *metrics);

/* The metric called `name`, or NULL. */
const struct metric *metrics_find(const struct metrics *metrics,
                                  const char *name);

/*
 * Add a metric, unless its value is NAN, for not known. If memory is short,
 * metrics_write() fails.
 */
void metrics_add(struct metrics *metrics, const char *name, const char *help,
                 double value);

/* Add one of several metrics with the same name; add them one after another. */
void metrics_add_labelled(struct metrics *metrics, const char *name,
                          const char *help, double value, const char *first,
                          const char *second);

/*
 * Add the metrics that every verb has: whether it succeeded, how long it took,
 * and when it ended, which is now.
 */
void metrics_add_end(struct metrics *metrics, bool is_success,
                     uint64_t duration_ms);

/*
 * Write the file, which appears whole at once and anybody may read.
 *
 * @return 0, TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int metrics_write(const struct metrics *metrics, const char *path,
                                struct tkb_error *err);

#endif

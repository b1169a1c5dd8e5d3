/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RESULTS_H
#define TKBUNDLE_RESULTS_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/results.h
 * Keeps the results of a call in a list, for callers that read them afterwards
 * instead of in a callback.
 *
 *     struct tkb_results *results;
 *
 *     rc = tkb_results_new(&results, &err);
 *     options.watch = tkb_results_watch(results);
 *     rc = tkb_emit(bundle, root, &options, &report, &err);
 *     for (size_t i = 0; i < tkb_results_count(results); i++)
 *             puts(tkb_results_at(results, i)->name);
 *     tkb_results_free(results);
 *
 * Threads: read the list after the call has returned; a list serves one call at
 * a time.
 */
struct tkb_results;

/** Make an empty list. @return 0 or TKB_ERR_NOMEM */
TKB_API TKB_NODISCARD int tkb_results_new(struct tkb_results **out,
                                          struct tkb_error *err);

/** Free a list and all that it lent. Never fails; NULL is allowed. */
TKB_API void tkb_results_free(struct tkb_results *results);

/** A watch that adds to the list. Borrowed until the list is freed. */
TKB_API const struct tkb_watch *tkb_results_watch(struct tkb_results *results);

/** The number of results. */
TKB_API size_t tkb_results_count(const struct tkb_results *results);

/**
 * Result `index`, in the order in which they came: an item of an array. Borrowed
 * until the list is freed.
 */
TKB_API const struct tkb_result *tkb_results_at(
	const struct tkb_results *results, size_t index);

/** Is the list incomplete because memory ran out? */
TKB_API bool tkb_results_is_cut(const struct tkb_results *results);

#ifdef __cplusplus
}
#endif

#endif

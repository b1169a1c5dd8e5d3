/* SPDX-License-Identifier: Apache-2.0 */
#include "notes/starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "remote/remote.h"

/* "@starts/" and a ref. */
struct name {
	char text[256];
};

struct report {
	struct tkb_digest digest;
	struct tkb_bytes text; /* in the arena */
	uint64_t age_s;
};

/* Zeroed is empty. */
struct reports {
	struct tkb_arena arena;
	struct report *items; /* owned */
	size_t count;
	size_t capacity;
};

static void reports_release(struct reports *reports)
{
	tkb_arena_release(&reports->arena);
	free(reports->items);
}

static int make_name(const char *ref, struct name *out, struct tkb_error *err)
{
	if (!tkb_ref_is_valid(ref) || tkb_ref_is_reserved(ref))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.200s' cannot be a ref's name", ref);
	(void)snprintf(out->text, sizeof(out->text), TKB_STARTS_PREFIX "%s",
	               ref);
	if (!tkb_ref_is_valid(out->text))
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "the name of ref '%.200s' is too long for "
		                "reports of starts",
		                ref);
	return 0;
}

int tkb_starts_add(struct tkb_remote *remote, const char *ref,
                   struct tkb_bytes report, const struct tkb_digest *before,
                   struct tkb_digest *digest_out, struct tkb_error *err)
{
	struct tkb_digest digest;
	struct name name;
	int rc;

	if (report.size > TKB_START_SIZE_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a report of a start has %zu bytes, more than "
		                "%d",
		                report.size, TKB_START_SIZE_LIMIT);
	rc = make_name(ref, &name, err);
	if (rc == 0)
		rc = tkb_digest_of(report, &digest, err);
	if (rc == 0)
		rc = tkb_remote_add(remote, name.text, report, err);
	if (rc != 0)
		return rc;
	if (before != NULL && tkb_digest_compare(before, &digest) != 0)
		(void)(tkb_remote_drop(remote, name.text, before, NULL) == 0);
	*digest_out = digest;
	return 0;
}

static int keep(void *self, const struct tkb_digest *digest,
                struct tkb_bytes text, uint64_t age_s, struct tkb_error *err)
{
	struct reports *reports = self;
	const struct report report = {
		.digest = *digest,
		.text = { tkb_arena_string(&reports->arena, text), text.size },
		.age_s = age_s,
	};

	if (report.text.data == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&reports->items, &reports->count, &reports->capacity,
	                  &report, sizeof(report), err);
}

/* A report that cannot be read is ignored: one less does not matter. */
static int pass_over(void *self, const struct tkb_digest *digest,
                     const struct tkb_error *why, struct tkb_error *err)
{
	(void)self, (void)digest, (void)why, (void)err;
	return 0;
}

static int compare_reports(const void *a, const void *b)
{
	const struct report *left = a;
	const struct report *right = b;

	if (left->age_s != right->age_s)
		return left->age_s < right->age_s ? -1 : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

/* The reports under a name, the newest first. */
static int read_reports(struct tkb_remote *remote, const char *name,
                        struct reports *out, struct tkb_error *err)
{
	const struct tkb_record_visitor visitor = { keep, out, pass_over };
	int rc;

	rc = tkb_remote_records(remote, name, &visitor, err);
	if (rc == 0 && out->count > 1)
		qsort(out->items, out->count, sizeof(*out->items),
		      compare_reports);
	return rc;
}

static bool is_counted(const struct reports *reports, size_t index)
{
	return index < TKB_STARTS_LIMIT &&
	       reports->items[index].age_s <= TKB_STARTS_AGE_S &&
	       reports->items[index].text.size <= TKB_START_SIZE_LIMIT;
}

int tkb_starts_read(struct tkb_remote *remote, const char *ref,
                    const struct tkb_starts_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(reports_release) struct reports reports = { .count = 0 };
	struct name name;
	size_t told = 0;
	int rc;

	rc = make_name(ref, &name, err);
	if (rc == 0)
		rc = read_reports(remote, name.text, &reports, err);
	for (size_t i = 0; i < reports.count && rc == 0; i++) {
		if (!is_counted(&reports, i))
			continue;
		rc = visitor->on_start(visitor->self, reports.items[i].text,
		                       reports.items[i].age_s, err);
		told++;
	}
	return rc == 0 && told == 0 ? TKB_MISS : rc;
}

int tkb_starts_refs(struct tkb_remote *remote,
                    const struct tkb_ref_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_ref_names_release)
	struct tkb_ref_names names = { .prefix = TKB_STARTS_PREFIX };
	int rc;

	rc = tkb_remote_ref_names(remote, false, &names, err);
	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = visitor->on_ref(visitor->self,
		                     names.items[i] + strlen(TKB_STARTS_PREFIX),
		                     err);
	return rc;
}

static int prune(struct tkb_remote *remote, const char *name, bool is_all,
                 bool is_dry_run, uint64_t *count, struct tkb_error *err)
{
	TKB_AUTO(reports_release) struct reports reports = { .count = 0 };
	int rc;

	rc = read_reports(remote, name, &reports, err);
	for (size_t i = 0; i < reports.count && rc >= 0; i++) {
		if (!is_all && is_counted(&reports, i))
			continue;
		(*count)++;
		if (!is_dry_run)
			rc = tkb_remote_drop(remote, name,
			                     &reports.items[i].digest, err);
	}
	return rc < 0 ? rc : 0;
}

int tkb_starts_prune(struct tkb_remote *remote, bool is_dry_run,
                     uint64_t *dropped_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_ref_names_release)
	struct tkb_ref_names names = { .prefix = TKB_STARTS_PREFIX };
	uint64_t count = 0;
	int rc;

	rc = tkb_remote_ref_names(remote, false, &names, err);
	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = prune(remote, names.items[i], false, is_dry_run, &count,
		           err);
	if (rc == 0)
		*dropped_out = count;
	return rc;
}

int tkb_starts_drop(struct tkb_remote *remote, const char *ref,
                    struct tkb_error *err)
{
	struct name name;
	uint64_t count = 0;
	int rc;

	rc = make_name(ref, &name, err);
	return rc == 0 ? prune(remote, name.text, true, false, &count, err)
	               : rc;
}

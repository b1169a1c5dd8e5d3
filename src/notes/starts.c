/* SPDX-License-Identifier: Apache-2.0 */
#include "notes/starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "remote/remote.h"

/* "@starts/" followed by a ref. */
struct name {
	char text[256];
};

enum {
	PRUNE_EVERY = 32, /* one report in about 32 prunes */
	PRUNE_LIMIT = 256 /* the most that one prunes */
};

struct report {
	struct tkb_digest digest;
	struct tkb_bytes text; /* in the arena; no data: not fetched yet */
	uint64_t age_s;
};

/* A zeroed list is empty. */
struct reports {
	struct tkb_arena arena;
	struct report *items; /* owned */
	size_t count;
	size_t capacity;
	bool has_failed; /* out of memory in a function that cannot report it */
};

static void reports_release(struct reports *reports)
{
	tkb_arena_release(&reports->arena);
	free(reports->items);
}

static int make_reports_ref(const char *ref, struct name *out,
                            struct tkb_error *err)
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

static int add_report(struct reports *reports, const struct tkb_digest *digest,
                      struct tkb_bytes text, uint64_t age_s,
                      struct tkb_error *err)
{
	const struct report report = { .digest = *digest,
		                       .text = text,
		                       .age_s = age_s };

	return tkb_append(&reports->items, &reports->count, &reports->capacity,
	                  &report, sizeof(report), err);
}

static int copy_report_text(struct reports *reports, struct tkb_bytes *text,
                            struct tkb_error *err)
{
	text->data = tkb_arena_string(&reports->arena, *text);
	return text->data == NULL ? tkb_fail_nomem(err) : 0;
}

/* A remote that does not tell ages in advance gives the report itself. */
static int list_read(void *self, const struct tkb_digest *digest,
                     struct tkb_bytes text, uint64_t age_s,
                     struct tkb_error *err)
{
	const int rc = copy_report_text(self, &text, err);

	return rc == 0 ? add_report(self, digest, text, age_s, err) : rc;
}

/* Fetch nothing yet: which reports are wanted is known when all are listed. */
static bool list_unread(void *self, const struct tkb_digest *digest,
                        uint64_t age_s)
{
	struct reports *reports = self;

	if (add_report(reports, digest, (struct tkb_bytes){ NULL, 0 }, age_s,
	               NULL) != 0)
		reports->has_failed = true;
	return false;
}

static int compare_reports(const void *a, const void *b)
{
	const struct report *left = a;
	const struct report *right = b;

	if (left->age_s != right->age_s)
		return left->age_s < right->age_s ? -1 : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

/*
 * Sort by digest. If several tiers have a report, one that was read comes
 * first, and of these the youngest.
 */
static int compare_report_digests(const void *a, const void *b)
{
	const struct report *left = a;
	const struct report *right = b;
	const int order = tkb_digest_compare(&left->digest, &right->digest);

	if (order != 0)
		return order;
	if ((left->text.data == NULL) != (right->text.data == NULL))
		return left->text.data == NULL ? 1 : -1;
	return (left->age_s > right->age_s) - (left->age_s < right->age_s);
}

/* Keep each report once, and sort them by age. */
static void sort_reports(struct reports *reports)
{
	tkb_sort(reports->items, reports->count, sizeof(*reports->items),
	         compare_report_digests);
	reports->count =
		tkb_unique(reports->items, reports->count,
	                   sizeof(*reports->items), tkb_compare_digests);
	tkb_sort(reports->items, reports->count, sizeof(*reports->items),
	         compare_reports);
}

/* List the reports under a name, the newest first. Some may be read too. */
static int list_reports(struct tkb_remote *remote, const char *name,
                        struct reports *out, struct tkb_error *err)
{
	const struct tkb_record_visitor visitor = {
		.on_record = list_read,
		.self = out,
		.on_unread = tkb_record_ignore_unread,
		.wants = list_unread
	};
	int rc;

	rc = tkb_remote_records(remote, name, &visitor, err);
	if (rc == 0 && out->has_failed)
		rc = tkb_fail_nomem(err);
	if (rc == 0)
		sort_reports(out);
	return rc;
}

static bool is_counted(const struct reports *reports, size_t index)
{
	return index < TKB_STARTS_LIMIT &&
	       reports->items[index].age_s <= TKB_STARTS_AGE_S &&
	       reports->items[index].text.size <= TKB_START_SIZE_LIMIT;
}

static struct report *find_report(const struct reports *reports,
                                  const struct tkb_digest *digest)
{
	const size_t count = reports->count < TKB_STARTS_LIMIT
	                             ? reports->count
	                             : TKB_STARTS_LIMIT;

	for (size_t i = 0; i < count; i++) {
		if (tkb_digest_equal(&reports->items[i].digest, digest))
			return &reports->items[i];
	}
	return NULL;
}

/* Is it one of the newest reports, and not read yet? */
static bool is_wanted_report(void *self, const struct tkb_digest *digest,
                             uint64_t age_s)
{
	const struct report *const report = find_report(self, digest);

	return report != NULL && report->text.data == NULL &&
	       age_s <= TKB_STARTS_AGE_S;
}

static int fill_in(void *self, const struct tkb_digest *digest,
                   struct tkb_bytes text, uint64_t age_s, struct tkb_error *err)
{
	struct report *const report = find_report(self, digest);
	int rc = 0;

	(void)age_s;
	if (report != NULL && report->text.data == NULL) {
		rc = copy_report_text(self, &text, err);
		report->text = text;
	}
	return rc;
}

/* Fetch the reports that count and were only listed. */
static int fetch_reports(struct tkb_remote *remote, const char *name,
                         struct reports *reports, struct tkb_error *err)
{
	const struct tkb_record_visitor visitor = {
		.on_record = fill_in,
		.self = reports,
		.on_unread = tkb_record_ignore_unread,
		.wants = is_wanted_report
	};

	for (size_t i = 0; i < reports->count; i++) {
		if (is_counted(reports, i) &&
		    reports->items[i].text.data == NULL)
			return tkb_remote_records(remote, name, &visitor, err);
	}
	return 0;
}

/* Which reports to drop, and the most that may be dropped. */
struct pruning {
	bool is_all; /* even those that count */
	bool is_dry_run;
	uint64_t limit;
};

static int prune(struct tkb_remote *remote, const char *name,
                 const struct pruning *pruning, uint64_t *count,
                 struct tkb_error *err)
{
	TKB_AUTO(reports_release) struct reports reports = { .count = 0 };
	uint64_t dropped = 0;
	int rc;

	rc = list_reports(remote, name, &reports, err);
	/* Begin with the oldest. */
	for (size_t i = reports.count;
	     i-- > 0 && rc >= 0 && dropped < pruning->limit;) {
		if (!pruning->is_all && is_counted(&reports, i))
			continue;
		dropped++;
		if (!pruning->is_dry_run)
			rc = tkb_remote_drop(remote, name,
			                     &reports.items[i].digest, err);
	}
	*count += dropped;
	return rc < 0 ? rc : 0;
}

int tkb_starts_add(struct tkb_remote *remote, const char *ref,
                   struct tkb_bytes report, const struct tkb_digest *before,
                   struct tkb_digest *digest_out, struct tkb_error *err)
{
	const struct pruning few = { .limit = PRUNE_LIMIT };
	struct tkb_digest digest;
	uint64_t dropped = 0;
	struct name name;
	int rc;

	if (report.size > TKB_START_SIZE_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a report of a start has %zu bytes, more than "
		                "%d",
		                report.size, TKB_START_SIZE_LIMIT);
	rc = make_reports_ref(ref, &name, err);
	if (rc == 0)
		rc = tkb_digest_of(report, &digest, err);
	if (rc == 0)
		rc = tkb_remote_add(remote, name.text, report, err);
	if (rc != 0)
		return rc;
	if (before != NULL && tkb_digest_compare(before, &digest) != 0)
		(void)(tkb_remote_drop(remote, name.text, before, NULL) == 0);
	/* Digests are random, so about one report in PRUNE_EVERY prunes. */
	if (digest.bytes[0] % PRUNE_EVERY == 0)
		(void)(prune(remote, name.text, &few, &dropped, NULL) == 0);
	*digest_out = digest;
	return 0;
}

int tkb_starts_read(struct tkb_remote *remote, const char *ref,
                    const struct tkb_starts_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(reports_release) struct reports reports = { .count = 0 };
	struct name name;
	size_t told = 0;
	int rc;

	rc = make_reports_ref(ref, &name, err);
	if (rc == 0)
		rc = list_reports(remote, name.text, &reports, err);
	if (rc == 0)
		rc = fetch_reports(remote, name.text, &reports, err);
	for (size_t i = 0; i < reports.count && rc == 0; i++) {
		if (!is_counted(&reports, i) ||
		    reports.items[i].text.data == NULL)
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

int tkb_starts_prune(struct tkb_remote *remote, bool is_dry_run,
                     uint64_t *dropped_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_ref_names_release)
	struct tkb_ref_names names = { .prefix = TKB_STARTS_PREFIX };
	const struct pruning surplus = { .is_dry_run = is_dry_run,
		                         .limit = UINT64_MAX };
	uint64_t count = 0;
	int rc;

	rc = tkb_remote_ref_names(remote, false, &names, err);
	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = prune(remote, names.items[i], &surplus, &count, err);
	if (rc == 0)
		*dropped_out = count;
	return rc;
}

int tkb_starts_drop(struct tkb_remote *remote, const char *ref,
                    struct tkb_error *err)
{
	const struct pruning all = { .is_all = true, .limit = UINT64_MAX };
	struct name name;
	uint64_t count = 0;
	int rc;

	rc = make_reports_ref(ref, &name, err);
	return rc == 0 ? prune(remote, name.text, &all, &count, err) : rc;
}

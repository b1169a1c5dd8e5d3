/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/pull.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/struct.h"
#include "emit/options.h"
#include "trust/judge.h"

enum {
	DEFAULT_CONNECTIONS = 4,
	CONNECTIONS_LIMIT = 16
};

/* Records with many entries come first: then fewer blobs are needed. */
static int compare_records(const void *a, const void *b)
{
	const struct tkb_record *left = a;
	const struct tkb_record *right = b;

	if (left->entry_count != right->entry_count)
		return left->entry_count > right->entry_count ? -1 : 1;
	return tkb_digest_compare(&left->digest, &right->digest);
}

void tkb_pull_note_gone(struct tkb_error *first, const char *ref)
{
	if (first->status == 0)
		(void)tkb_fail(first, TKB_ERR_PARTIAL,
		               "a blob of ref '%s' is gone", ref);
}

const struct tkb_record_fault *tkb_pull_fault(
	const struct tkb_record_list *list)
{
	const struct tkb_record_fault *damaged =
		tkb_record_list_fault(list, TKB_RECORD_DAMAGED, NULL);

	return damaged != NULL
	               ? damaged
	               : tkb_record_list_fault(list, TKB_RECORD_UNREAD, NULL);
}

/*
 * Refuse to pull from an inbox, whoever signed the records: see struct
 * tkb_trust.
 */
static int check_inbox(const struct tkb_remote *remote, const char *ref,
                       struct tkb_error *err)
{
	struct tkb_trust trust;
	int rc;

	if (remote->options.trust == NULL)
		return 0;
	rc = tkb_trust_read(&trust, remote->options.trust, err);
	if (rc < 0 || !tkb_trust_keeps_back(&trust, ref))
		return rc;
	return tkb_fail(err, TKB_ERR_UNTRUSTED,
	                "ref '%s' is not trusted: it is in the inbox, and "
	                "its records must be promoted first",
	                ref);
}

int tkb_pull_records(struct tkb_remote *remote, const char *ref,
                     struct tkb_record_list *out,
                     struct tkb_pull_report *report, struct tkb_error *err)
{
	const struct tkb_record_fault *fault;
	int rc;

	rc = check_inbox(remote, ref, err);
	if (rc == 0)
		rc = tkb_record_list_read(remote, ref, false, out, err);
	if (rc == 0)
		rc = tkb_records_keep_trusted(remote, ref, out, err);
	if (rc < 0)
		return rc;
	report->untrusted_count = out->untrusted_count;
	if (out->count == 0 && out->untrusted_count != 0)
		return tkb_fail_as(err, TKB_ERR_UNTRUSTED, &out->untrusted);
	report->record_count = out->count;
	report->unreadable_count = out->fault_count;
	fault = tkb_pull_fault(out);
	if (out->count == 0 && fault != NULL)
		return tkb_fail(err, (enum tkb_status)fault->status, "%s",
		                fault->message);
	if (out->count == 0 && out->fault_count != 0)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "ref '%s' has only records of a newer tkbundle",
		                ref);
	if (out->count == 0)
		return TKB_MISS;
	qsort(out->items, out->count, sizeof(*out->items), compare_records);
	return 0;
}

int tkb_pull_options_read(struct tkb_pull_options *out,
                          struct tkb_emit_options *emit,
                          struct tkb_timed *timed,
                          const struct tkb_pull_options *given,
                          const struct tkb_pull_report *report,
                          struct tkb_error *err)
{
	int rc;

	rc = TKB_STRUCT_READ(tkb_pull_options, connections, out, given, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_pull_report, unfetched_count, report,
		                      err);
	if (rc == 0)
		rc = tkb_emit_options_read(emit, out->emit, err);
	if (rc == 0)
		rc = tkb_timed_begin(timed, emit->watch, emit->deadline_ms,
		                     err);
	if (rc != 0)
		return rc;
	emit->watch = &timed->watch;
	emit->deadline_ms = 0;
	out->emit = emit;
	return 0;
}

size_t tkb_pull_connections(const struct tkb_pull_options *options)
{
	if (options->connections == 0)
		return DEFAULT_CONNECTIONS;
	return options->connections < CONNECTIONS_LIMIT ? options->connections
	                                                : CONNECTIONS_LIMIT;
}

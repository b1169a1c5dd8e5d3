/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push_session.h"

#include "base/digest.h"
#include "base/disable.h"
#include "base/struct.h"
#include "collect/collect.h"
#include "tree/unit.h"

static int check_again(const struct tkb_push_options *options,
                       struct tkb_error *err)
{
	for (size_t i = 0; i < options->again_count; i++) {
		const struct tkb_unit_name *unit = &options->again[i];

		if (unit->tree == NULL || unit->name == NULL ||
		    !tkb_unit_name_is_valid(unit->tree, unit->name))
			return tkb_fail(err, TKB_ERR_INVALID,
			                "no unit can have the name '%.200s' in "
			                "a tree '%.100s'",
			                unit->name != NULL ? unit->name : "",
			                unit->tree != NULL ? unit->tree : "");
	}
	return 0;
}

int tkb_push_session_read(struct tkb_push_session *session,
                          const struct tkb_push_options *given,
                          const struct tkb_push_report *report,
                          struct tkb_error *err)
{
	struct tkb_push_options *options = &session->options;
	struct tkb_collect_options *collect = &session->collect;
	int rc;

	rc = TKB_STRUCT_READ(tkb_push_options, is_compaction_off, options,
	                     given, err);
	if (rc == 0)
		rc = check_again(options, err);
	if (rc == 0)
		rc = tkb_labels_read(options->labels, options->label_count,
		                     session->labels, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_push_report, size, report, err);
	if (rc == 0)
		rc = tkb_collect_options_read(collect, options->collect, NULL,
		                              err);
	if (rc == 0)
		rc = tkb_timed_begin(&session->timed, collect->watch,
		                     collect->deadline_ms, err);
	if (rc < 0)
		return rc;
	collect->watch = &session->timed.watch;
	collect->deadline_ms = 0;
	options->labels = session->labels;
	options->collect = collect;
	return 0;
}

int tkb_push_session_begin(struct tkb_push_session *session,
                           struct tkb_remote *remote,
                           const struct tkb_push_options *given,
                           struct tkb_push_report *report,
                           struct tkb_error *err)
{
	static const struct tkb_push_report nothing = { 0 };
	int rc;

	rc = tkb_push_session_read(session, given, report, err);
	if (rc < 0)
		return rc;
	if (!session->collect.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_push_report, report, &nothing);
		return TKB_MISS;
	}
	tkb_remote_attach_watch(&session->attachment, remote,
	                        &session->timed.watch);
	return 0;
}

int tkb_push_session_end(struct tkb_push_session *session, int rc,
                         const struct tkb_push_report *done,
                         struct tkb_push_report *report, struct tkb_error *err)
{
	tkb_remote_detach_watch(&session->attachment);
	if (tkb_is_done(rc))
		TKB_STRUCT_WRITE(tkb_push_report, report, done);
	return tkb_timed_end(&session->timed, rc, err);
}

int tkb_push_ref_begin(struct tkb_signer *signer,
                       const struct tkb_push_options *options,
                       struct tkb_remote *remote, const char *ref,
                       struct tkb_record_list *records,
                       const struct tkb_signer **out, struct tkb_error *err)
{
	int rc;

	*out = NULL;
	rc = tkb_records_keep_in_fleet(remote, ref, records, err);
	if (rc < 0 || options->signing == NULL)
		return rc;
	rc = tkb_signer_begin(signer, options->signing, remote, ref, err);
	if (rc < 0)
		return rc;
	*out = signer;
	return tkb_records_keep_own(records, signer, ref, err);
}

int tkb_push_base_read(struct tkb_remote *remote,
                       const struct tkb_push_options *options,
                       struct tkb_record_list *out, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	if (options->base_ref == NULL)
		return 0;
	rc = tkb_record_list_read(remote, options->base_ref, false, out, err);
	if (rc < 0)
		return rc;
	rc = tkb_records_keep_trusted(remote, options->base_ref, out, &fault);
	if (rc == TKB_ERR_UNTRUSTED) {
		tkb_record_list_release(out);
		return 0;
	}
	if (rc < 0)
		return tkb_fail_as(err, rc, &fault);
	rc = tkb_records_check(remote, out, false, err);
	return rc == 0 ? tkb_records_keep_whole(out, err) : rc;
}

static int sign_new_record(struct tkb_remote *remote, const char *ref,
                           struct tkb_bytes text,
                           const struct tkb_signer *signer,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_record_release) struct tkb_record record = { 0 };
	int rc;

	rc = tkb_record_parse(text, &record, err);
	if (rc < 0)
		return rc;
	record.text = text;
	return tkb_record_sign(&record, signer, remote, ref, err);
}

static int add_blob_record(struct tkb_remote *remote, struct tkb_uptake *uptake,
                           const char *ref, struct tkb_blob_buffer *buffer,
                           const struct tkb_record_facts *facts,
                           const struct tkb_digest *blob,
                           struct tkb_digest *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT((size_t)remote->max_record_size);
	const struct tkb_source source = tkb_blob_buffer_source(buffer);
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_source(&source, "the bundle", &bundle, err);
	if (rc < 0)
		return rc;
	rc = tkb_record_write(bundle, blob, buffer->size, facts, &record, err);
	tkb_bundle_close(bundle);
	if (rc == 0 && out != NULL)
		rc = tkb_digest_of(tkb_buf_bytes(&record), out, err);
	/* Sign before the record is added: a reader never finds it unsigned. */
	if (rc == 0 && facts != NULL && facts->signer != NULL)
		rc = sign_new_record(remote, ref, tkb_buf_bytes(&record),
		                     facts->signer, err);
	if (rc < 0)
		return rc;
	return tkb_remote_add_in(remote, uptake, ref, tkb_buf_bytes(&record),
	                         err);
}

int tkb_push_blob(struct tkb_remote *remote, const char *ref,
                  struct tkb_blob_buffer *buffer,
                  const struct tkb_record_facts *facts,
                  const struct tkb_watch *watch, struct tkb_digest *record_out,
                  struct tkb_uptake *uptake, struct tkb_error *err)
{
	const struct tkb_blob blob = { buffer->size,
		                       tkb_blob_buffer_source(buffer) };
	struct tkb_digest digest;
	int rc;

	rc = tkb_remote_put_watched(remote, &blob, watch, &digest, uptake, err);
	if (rc < 0)
		return rc;
	return add_blob_record(remote, uptake, ref, buffer, facts, &digest,
	                       record_out, err);
}

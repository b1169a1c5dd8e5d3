/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push_blob.h"

#include "base/digest.h"
#include "fleet/records.h"

static int add_record(struct tkb_remote *remote, const char *ref,
                      struct tkb_blob_buffer *hold,
                      const struct tkb_digest *blob, struct tkb_digest *out,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf record = TKB_BUF_INIT((size_t)remote->max_record_size);
	const struct tkb_source source = tkb_blob_buffer_source(hold);
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_source(&source, "the bundle", &bundle, err);
	if (rc < 0)
		return rc;
	rc = tkb_record_write(bundle, blob, hold->size, &record, err);
	tkb_bundle_close(bundle);
	if (rc == 0 && out != NULL)
		rc = tkb_digest_of(tkb_buf_bytes(&record), out, err);
	if (rc < 0)
		return rc;
	return tkb_remote_add(remote, ref, tkb_buf_bytes(&record), err);
}

int tkb_push_blob(struct tkb_remote *remote, const char *ref,
                  struct tkb_blob_buffer *hold, const struct tkb_watch *watch,
                  struct tkb_digest *record_out, struct tkb_error *err)
{
	const struct tkb_blob blob = { hold->size,
		                       tkb_blob_buffer_source(hold) };
	struct tkb_digest digest;
	int rc;

	rc = tkb_remote_put_watched(remote, &blob, watch, &digest, err);
	if (rc < 0)
		return rc;
	return add_record(remote, ref, hold, &digest, record_out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/remote_source.h"

#include <stdlib.h>

#include "cli/follow.h"
#include "config/remote_use.h"
#include "report/entry_out.h"

static int list_entries(struct remote_source *source, struct tkb_error *err)
{
	const struct remote_library *const library = &source->use.library;
	const size_t count = library->holdings_item_count(source->holdings);

	source->source.entries =
		calloc(count + 1, sizeof(*source->source.entries));
	if (source->source.entries == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < count; i++)
		source->source.entries[i] =
			library->holdings_item(source->holdings, i)->entry;
	source->source.entry_count = count;
	return 0;
}

static int read_ref(struct remote_source *source, struct tkb_error *err)
{
	struct remote_use *const use = &source->use;
	struct tkb_holdings_options chosen = { .struct_size = sizeof(chosen) };
	struct follow follow;
	int rc;

	chosen.watch = remote_use_follow_alone(use, &follow);
	rc = use->library.holdings_open(use->remote, use->ref, &chosen,
	                                &source->holdings, err);
	follow_end_alone(&follow);
	if (cli_is_done(rc) && list_entries(source, err) != 0)
		rc = TKB_ERR_NOMEM;
	return rc;
}

enum status remote_source_open(struct remote_source *out,
                               const struct arguments *args)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct remote_use *const use = &out->use;
	struct tkb_error err = { .status = 0 };
	enum status status;
	int rc;

	use->cli = out->cli;
	status = remote_use_begin(use, args, false);
	if (status != STATUS_DONE)
		return status;
	/*
	 * Kernels of the default cache may give values for placeholders of the
	 * ref.
	 */
	rc = root_choose(NULL, &root, &err);
	status = remote_use_ref(use, args_operand(args, 0),
	                        rc == 0 ? root.path : NULL);
	if (status != STATUS_DONE)
		return status;
	json_out_text(&use->cli->json, "ref", use->ref);
	remote_use_json(use);
	rc = read_ref(out, &err);
	if (!cli_is_done(rc))
		return remote_use_failed(use, rc, &err, use->ref);
	if (rc != 0)
		cli_say(use->cli, "%s", err.message);
	return status_of(rc);
}

void remote_source_close(struct remote_source *source)
{
	if (source->holdings != NULL)
		source->use.library.holdings_close(source->holdings);
	free(source->source.entries);
	remote_use_end(&source->use);
}

uint64_t remote_source_size(const struct remote_source *source)
{
	const struct remote_library *const library = &source->use.library;
	uint64_t size = 0;

	for (size_t i = 0; i < library->holdings_record_count(source->holdings);
	     i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(source->holdings, i);

		size += record->is_gone ? 0 : record->size;
	}
	return size;
}

void remote_source_json(const struct remote_source *source)
{
	const struct remote_library *const library = &source->use.library;
	struct json_out *const json = &source->use.cli->json;

	json_out_open_array(json, "records");
	for (size_t i = 0; i < library->holdings_record_count(source->holdings);
	     i++) {
		const struct tkb_holdings_record *const record =
			library->holdings_record(source->holdings, i);

		json_out_open_object(json, NULL);
		entry_out_digest(json, "digest", &record->digest);
		entry_out_digest(json, "blob", &record->blob);
		json_out_number(json, "size", record->size);
		json_out_number(json, "age", record->age_s);
		json_out_number(json, "entries", record->entry_count);
		json_out_number(json, "frames", record->frame_count);
		json_out_text(json, "profile",
		              record->is_lean ? "lean" : "full");
		json_out_flag(json, "gone", record->is_gone);
		json_out_close(json);
	}
	json_out_close(json);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/source_out.h"

#include "report/entry_out.h"

void source_out_head(struct json_out *json, const struct source *source,
                     const char *path)
{
	json_out_text(json, source->bundle != NULL ? "bundle" : "root", path);
	if (source->bundle == NULL) {
		json_out_text(json, "layout",
		              tkb_cache_is_inductor(source->cache) ? "inductor"
		                                                   : "triton");
		return;
	}

	entry_out_digest(json, "id", tkb_bundle_id(source->bundle));
	json_out_text(json, "profile", tkb_bundle_profile(source->bundle));
	json_out_number(json, "frames", tkb_bundle_frame_count(source->bundle));
}

void source_out_say_left_out(const struct cli *cli, const struct source *source,
                             const char *side)
{
	const struct tkb_cache *const cache = source->cache;

	for (size_t i = 0; cache != NULL && i < tkb_cache_left_out_count(cache);
	     i++) {
		const struct tkb_left_out *const left_out =
			tkb_cache_left_out(cache, i);

		cli_say(cli, "left out%s %s: %s: %s", side, left_out->key,
		        tkb_reason_name(left_out->reason), left_out->message);
	}
}

void source_out_left_out(struct cli *cli, const struct source *source,
                         const char *side)
{
	const struct tkb_cache *const cache = source->cache;

	if (cache == NULL)
		return;

	source_out_say_left_out(cli, source, side);
	json_out_open_array(&cli->json, "left_out");
	for (size_t i = 0; i < tkb_cache_left_out_count(cache); i++) {
		const struct tkb_left_out *const left_out =
			tkb_cache_left_out(cache, i);

		json_out_open_object(&cli->json, NULL);
		json_out_text(&cli->json, "key", left_out->key);
		json_out_text(&cli->json, "name", "");
		json_out_text(&cli->json, "root", left_out->root);
		json_out_text(&cli->json, "reason",
		              tkb_reason_name(left_out->reason));
		json_out_text(&cli->json, "message", left_out->message);
		json_out_close(&cli->json);
	}
	json_out_close(&cli->json);
}

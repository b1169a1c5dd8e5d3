/* SPDX-License-Identifier: Apache-2.0 */
#include "report/launcher_out.h"

#include "report/entry_out.h"
#include "cli/text.h"

static void put_saved(struct json_out *json,
                      const struct tkb_saved_launcher *launcher)
{
	json_out_open_object(json, NULL);
	json_out_text(json, "key", launcher->cache_key);
	json_out_text(json, "name", launcher->name);
	json_out_text(json, "need", tkb_need_name(launcher->need));
	json_out_open_array(json, "needs");
	for (size_t i = 0; i < launcher->need_count; i++)
		json_out_text(json, NULL, launcher->needs[i]);
	json_out_close(json);
	entry_out_digest(json, "sha256", &launcher->digest);
	json_out_number(json, "size", launcher->size);
	json_out_close(json);
}

static void print_saved(const struct cli *cli,
                        const struct tkb_saved_launcher *launcher)
{
	char size[TEXT_SIZE_SIZE];

	text_size(launcher->size, size);
	text_line(cli->out, "launcher %s of %s: %s, needs %s of %zu %s",
	          launcher->cache_key, launcher->name, size,
	          tkb_need_name(launcher->need), launcher->need_count,
	          text_plural(launcher->need_count, "entry", "entries"));
}

void launcher_out_saved(struct cli *cli, const struct tkb_bundle *bundle)
{
	json_out_open_array(&cli->json, "launchers");
	for (size_t i = 0; i < tkb_bundle_launcher_count(bundle); i++) {
		const struct tkb_saved_launcher *const launcher =
			tkb_bundle_launcher(bundle, i);

		put_saved(&cli->json, launcher);
		if (!cli->json.is_wanted)
			print_saved(cli, launcher);
	}
	json_out_close(&cli->json);
}

static void put_ready(struct json_out *json,
                      const struct tkb_launcher *launcher)
{
	json_out_open_object(json, NULL);
	json_out_text(json, "key", launcher->cache_key);
	json_out_text(json, "name", launcher->name);
	json_out_text(json, "root", launcher->root);
	json_out_number(json, "device", launcher->device);
	json_out_number(json, "size", launcher->payload.size);
	json_out_open_array(json, "binaries");
	for (size_t i = 0; i < launcher->kernel_count; i++)
		json_out_text(json, NULL, launcher->kernels[i].binary);
	json_out_close(json);
	json_out_close(json);
}

static void put_dropped(struct cli *cli,
                        const struct tkb_dropped_launcher *dropped)
{
	struct json_out *const json = &cli->json;
	const char *const reason = tkb_reason_name(dropped->reason);

	cli_say(cli, "dropped launcher %s (%s): %s: %s", dropped->cache_key,
	        dropped->name, reason, dropped->message);
	json_out_open_object(json, NULL);
	json_out_text(json, "key", dropped->cache_key);
	json_out_text(json, "name", dropped->name);
	json_out_text(json, "reason", reason);
	json_out_text(json, "message", dropped->message);
	json_out_close(json);
}

TKB_AUTO_POINTER(close_at, struct tkb_launchers, tkb_launchers_close)

int launcher_out_ready(struct cli *cli, const struct tkb_bundle *bundle,
                       const char *root, struct launcher_counts *out,
                       struct tkb_error *err)
{
	TKB_AUTO(close_at) struct tkb_launchers *launchers = NULL;
	const int rc = tkb_launchers_open(bundle, root, NULL, &launchers, err);

	if (rc < 0)
		return rc;
	out->ready = tkb_launchers_count(launchers);
	json_out_open_array(&cli->json, "launchers");
	for (size_t i = 0; i < out->ready; i++)
		put_ready(&cli->json, tkb_launchers_at(launchers, i));
	json_out_close(&cli->json);

	out->dropped = tkb_launchers_dropped_count(launchers);
	json_out_open_array(&cli->json, "dropped_launchers");
	for (size_t i = 0; i < out->dropped; i++) {
		const struct tkb_dropped_launcher *const dropped =
			tkb_launchers_dropped(launchers, i);

		put_dropped(cli, dropped);
		out->damaged += dropped->reason == TKB_REASON_DAMAGED;
	}
	json_out_close(&cli->json);
	return 0;
}

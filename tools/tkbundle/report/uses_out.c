/* SPDX-License-Identifier: Apache-2.0 */
#include "report/uses_out.h"

#include <time.h>

#include "cli/text.h"
#include "report/entry_out.h"

#define KEY_WIDTH 12 /* 60 bits of a key's hash */

static const enum tkb_use_state states[] = { TKB_USE_STATE_USED,
	                                     TKB_USE_STATE_UNUSED,
	                                     TKB_USE_STATE_COMPILED,
	                                     TKB_USE_STATE_UNKNOWN };

#define STATE_COUNT (TKB_COUNT_OF(states))

static uint64_t count_state(const struct tkb_uses *uses,
                            enum tkb_use_state state)
{
	uint64_t count = 0;

	for (size_t i = 0; i < tkb_uses_count(uses); i++)
		count += tkb_uses_at(uses, i)->state == state ? 1 : 0;
	return count;
}

/* Write "2026-11-21 02:40:11", in UTC; or "-". */
static void write_time(int64_t ns, char *out, size_t size)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;

	if (ns == 0 || gmtime_r(&seconds, &parts) == NULL ||
	    strftime(out, size, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		(void)snprintf(out, size, "-");
}

static void print_use(FILE *to, const struct tkb_use *use)
{
	char size[TEXT_SIZE_SIZE];
	char when[32];
	char device[32];

	text_size(use->size, size);
	write_time(use->used_ns, when, sizeof(when));
	entry_out_devices(use->entry, device, sizeof(device));
	text_line(to, "%-8s  %-19s  %-*.*s  %-8s  %3s  %6s  %s",
	          tkb_use_state_name(use->state), when, KEY_WIDTH, KEY_WIDTH,
	          use->entry->key, tkb_kind_name(use->entry->kind), device,
	          size, use->entry->name);
}

void uses_out_print(FILE *to, const struct tkb_uses *uses)
{
	struct text_count counts[STATE_COUNT];
	char rest[128];

	if (!tkb_uses_are_known(uses)) {
		text_line(to, "uses      unknown: the file system does not "
		              "keep access times");
		return;
	}

	text_line(to, "state     last used (UTC)      key           kind      "
	              "GPU    size  name");
	for (size_t i = 0; i < tkb_uses_count(uses); i++)
		print_use(to, tkb_uses_at(uses, i));

	for (size_t i = 0; i < STATE_COUNT; i++)
		counts[i] = (struct text_count){
			.word = tkb_use_state_name(states[i]),
			.count = count_state(uses, states[i]),
		};
	text_counts(counts, STATE_COUNT, rest, sizeof(rest));
	text_line(to, "uses      %zu %s%s", tkb_uses_count(uses),
	          text_plural(tkb_uses_count(uses), "entry", "entries"), rest);
}

static void put_use(struct json_out *json, const struct tkb_use *use)
{
	json_out_open_object(json, NULL);
	json_out_text(json, "key", use->entry->key);
	json_out_text(json, "kind", tkb_kind_name(use->entry->kind));
	json_out_text(json, "name", use->entry->name);
	if (use->entry->kind == TKB_KIND_UNIT)
		json_out_text(json, "tree", use->entry->tree);
	json_out_text(json, "root", use->root);
	json_out_number(json, "device", use->device);
	json_out_text(json, "state", tkb_use_state_name(use->state));
	json_out_number(json, "used_ns",
	                use->used_ns > 0 ? (uint64_t)use->used_ns : 0);
	json_out_number(json, "written_ns",
	                use->written_ns > 0 ? (uint64_t)use->written_ns : 0);
	json_out_number(json, "size", use->size);
	json_out_close(json);
}

void uses_out_json(struct json_out *json, const struct tkb_uses *uses)
{
	json_out_open_object(json, "uses");
	json_out_flag(json, "known", tkb_uses_are_known(uses));
	for (size_t i = 0; i < STATE_COUNT; i++)
		json_out_number(json, tkb_use_state_name(states[i]),
		                count_state(uses, states[i]));

	json_out_open_array(json, "list");
	for (size_t i = 0; i < tkb_uses_count(uses); i++)
		put_use(json, tkb_uses_at(uses, i));
	json_out_close(json);
	json_out_close(json);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/follow.h"

#include "cli/signals.h"

/* Entries skipped for any other reason were not requested. */
static bool is_bad(const struct tkb_result *result)
{
	switch (result->outcome) {
	case TKB_OUTCOME_LEFT_OUT:
	case TKB_OUTCOME_FAILED:
		return true;
	case TKB_OUTCOME_SKIPPED:
		return result->reason == TKB_REASON_BUSY ||
		       result->reason == TKB_REASON_INPUTS;
	default:
		return false;
	}
}

static void print_result(const struct follow *follow,
                         const struct tkb_result *result)
{
	const bool is_named = result->name[0] != '\0';
	const bool has_reason = result->reason != TKB_REASON_NONE;
	const bool has_message = result->message[0] != '\0';

	cli_say(follow->cli, "%s %s%s%s%s%s%s%s%s%s",
	        tkb_outcome_name(result->outcome),
	        result->is_launcher ? "launcher " : "", result->key,
	        is_named ? " (" : "", result->name, is_named ? ")" : "",
	        has_reason ? ": " : "",
	        has_reason ? tkb_reason_name(result->reason) : "",
	        has_message ? ": " : "", result->message);
}

static void add_result(struct follow *follow, const struct tkb_result *result)
{
	struct json_out *const json = &follow->cli->json;

	json_out_open_object(json, NULL);
	json_out_text(json, "key", result->key);
	json_out_text(json, "name", result->name);
	json_out_text(json, "root", result->root);
	if (result->is_launcher)
		json_out_flag(json, "launcher", true);
	if (follow->list == FOLLOW_ALL)
		json_out_text(json, "outcome",
		              tkb_outcome_name(result->outcome));
	json_out_text(json, "reason",
	              result->reason != TKB_REASON_NONE
	                      ? tkb_reason_name(result->reason)
	                      : NULL);
	json_out_text(json, "message", result->message);
	json_out_close(json);
}

static void follow_result(void *self, const struct tkb_result *result)
{
	struct follow *const follow = self;
	const bool bad = is_bad(result);

	if (result->outcome == TKB_OUTCOME_MISSING &&
	    follow->missing.message[0] == '\0')
		(void)cli_error(&follow->missing, TKB_MISS, "%s",
		                result->message);
	if (result->outcome == TKB_OUTCOME_MISSING)
		return;
	if (bad) {
		progress_erase(&follow->progress);
		print_result(follow, result);
	}
	if (bad && result->outcome != TKB_OUTCOME_SKIPPED &&
	    result->reason != TKB_REASON_BUSY &&
	    result->reason != TKB_REASON_UNREADABLE)
		follow->has_untrusted = true;

	if (bad || follow->list == FOLLOW_ALL)
		add_result(follow, result);
}

static void follow_progress(void *self, uint64_t done, uint64_t total)
{
	struct follow *const follow = self;

	progress_update(&follow->progress, done, total);
}

static void on_look(void *self, uint64_t done, uint64_t total)
{
	struct follow *const follow = self;

	progress_look(&follow->progress, done, total);
}

static bool is_follow_cancelled(void *self)
{
	struct follow *const follow = self;

	progress_tick(&follow->progress);
	if (follow->deadline != NULL)
		return deadline_is_cancelled(follow->deadline);
	return signals_is_caught();
}

const struct tkb_watch *follow_begin_alone(struct follow *follow,
                                           struct cli *cli)
{
	*follow = (struct follow){
		.cli = cli,
		.list = FOLLOW_BAD,
		.watch = { .struct_size = sizeof(struct tkb_watch),
		           .self = follow,
		           .on_result = follow_result,
		           .on_progress = follow_progress,
		           .is_cancelled = is_follow_cancelled,
		           .on_look = on_look },
	};
	progress_init(&follow->progress, cli->log, cli->is_tty);
	signals_catch();
	return &follow->watch;
}

void follow_end_alone(struct follow *follow)
{
	progress_erase(&follow->progress);
}

const struct tkb_watch *follow_begin(struct follow *follow, struct cli *cli,
                                     const char *name, enum follow_list list)
{
	const struct tkb_watch *const watch = follow_begin_alone(follow, cli);

	follow->list = list;
	json_out_open_array(&cli->json, name);
	return watch;
}

void follow_end(struct follow *follow)
{
	follow_end_alone(follow);
	json_out_close(&follow->cli->json);
}

int follow_missed(const struct follow *follow, int rc, struct tkb_error *err)
{
	if (rc == TKB_MISS && follow->missing.message[0] != '\0')
		*err = follow->missing;
	return rc;
}

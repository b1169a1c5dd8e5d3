/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_report.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/status.h"
#include "cli/text.h"
#include "run/run_command.h"
#include "run/run_engine.h"
#include "run/run_figures.h"
#include "run/run_ready.h"

#define NUMBER_SIZE 24
#define REASONS_LIMIT 8
#define REASON_SIZE 1200
#define REMOTE_SHOWN 400
#define LINE_SIZE 4096 /* bytes that a pipe accepts in one write */

/* Collects failures and their reasons. */
struct reasons {
	size_t count;
	struct failure {
		const char *what; /* or NULL: the text says it */
		char text[REASON_SIZE];
	} items[REASONS_LIMIT];
};

__attribute__((format(printf, 3, 4))) static void add_reason(
	struct reasons *reasons, const char *what, const char *format, ...)
{
	struct failure *const reason = &reasons->items[reasons->count];
	va_list values;

	if (reasons->count == REASONS_LIMIT)
		return;
	reasons->count++;
	reason->what = what;
	va_start(values, format);
	(void)vsnprintf(reason->text, sizeof(reason->text), format, values);
	va_end(values);
}

/* "2 s" */
static void show_time(uint64_t time_ms, char out[NUMBER_SIZE])
{
	if (time_ms % 1000 == 0)
		(void)snprintf(out, NUMBER_SIZE, "%" PRIu64 " s",
		               time_ms / 1000);
	else
		(void)snprintf(out, NUMBER_SIZE, "%" PRIu64 " ms", time_ms);
}

/*
 * The time that the pull was given: until the wait ended, or until it was
 * stopped.
 */
static void show_limit(const struct run *run, char out[NUMBER_SIZE])
{
	const struct run_plan *const plan = &run->shared->plan;
	const struct run_child *const pull = &run->children[RUN_PULL];
	const bool is_over = pull->is_told &&
	                     pull->told_ms - run->start_ms >= plan->deadline_ms;

	show_time(is_over ? plan->deadline_ms : plan->wait_ms, out);
}

/* What pull says whether it fails or not. */
static void add_warnings(const struct run_child *pull, struct reasons *reasons)
{
	static const char *const words[] = {
		": verify=false:",    /* a certificate that is not checked */
		"the signature of '", /* it expires soon */
		"the list of what is revoked, by '",
	};
	char reason[RUN_REASON_SIZE];

	for (size_t i = 0; i < TKB_COUNT_OF(words); i++) {
		if (run_child_line(pull, words[i], reason))
			add_reason(reasons, NULL, "%s", reason);
	}
}

static bool has_no_record(const struct run *run)
{
	return run_child_found_nothing(&run->children[RUN_PULL]);
}

/* What to do if the ref has no record: said once, before the command starts. */
static const char *advice(const struct run *run)
{
	if (run->has_begun || !has_no_record(run))
		return "";
	return run->shared->plan.push == RUN_PUSH_NEVER
	               ? ": push one elsewhere, or check the names of ref and "
	                 "remote"
	               : ": what is compiled is pushed to it; if it should "
	                 "have one, check the names of ref and remote";
}

static void add_pull(const struct run *run, struct reasons *reasons)
{
	const struct run_child *const pull = &run->children[RUN_PULL];
	char reason[RUN_REASON_SIZE];
	char limit[NUMBER_SIZE];
	int status = 0;

	if (!pull->has_begun)
		return;

	add_warnings(pull, reasons);
	show_limit(run, limit);
	if (pull->pid == 0 && !pull->is_told &&
	    (!run_child_has_exited(pull, &status) || status != 0)) {
		run_child_reason(pull, reason);
		add_reason(reasons, "pull", "%s%s", reason, advice(run));
	} else if (pull->pid != 0 || pull->is_told || run->is_late) {
		add_reason(reasons, "pull", "not done after %s", limit);
	}
}

/* Only when the command has ended is it certain that it was never ready. */
static void add_ready(const struct run *run, struct reasons *reasons)
{
	const struct run_shared *const shared = run->shared;

	if (shared->plan.ready_message[0] != '\0')
		add_reason(reasons, "ready", "%s", shared->plan.ready_message);
	if (run->has_begun && run->command == 0 &&
	    run->shared->exec_error == 0 && run_ready_is_asked(&shared->plan) &&
	    shared->ready_ms == 0)
		add_reason(reasons, "ready", "%s",
		           shared->ready_reason[0] != '\0'
		                   ? shared->ready_reason
		                   : "the command ended before it was asked");
}

static void add_root_reason(const struct run *run, struct reasons *reasons)
{
	const struct run_plan *const plan = &run->shared->plan;
	const char *const elsewhere = run_command_elsewhere(run);
	const char *const there = elsewhere != NULL ? getenv(elsewhere) : NULL;

	if (plan->message[0] != '\0')
		add_reason(reasons, "cache", "%s", plan->message);
	if (there != NULL && strcmp(there, plan->root) == 0)
		add_reason(reasons, "cache",
		           "%s names '%s', but its kernels are in '%s/triton'",
		           elsewhere, plan->root, plan->root);
	else if (there != NULL)
		add_reason(reasons, "cache", "%s names '%s', not '%s'",
		           elsewhere, there, plan->root);
}

/* Report what the push left out, with its first line about that. */
static void note_left_out(struct run *run)
{
	static const char words[] = "left out ";
	const struct run_child *const push = &run->children[RUN_PUSH];
	char line[RUN_REASON_SIZE];

	run->left_out_count = 0;
	if (!run_child_number(push, "left_out_count", &run->left_out_count))
		return;
	run->left_out[0] = '\0';
	if (run_child_line(push, words, line) &&
	    strncmp(line, words, strlen(words)) == 0)
		(void)snprintf(run->left_out, sizeof(run->left_out), "%s",
		               line + strlen(words));
}

/* While the command runs, it may still be writing what was left out. */
static void add_left_out(const struct run *run, struct reasons *reasons)
{
	const uint64_t count = run->left_out_count;
	const struct run_shared *const shared = run->shared;
	const struct run_again *const again =
		&shared->again[shared->again_index];

	if (again->is_full && shared->plan.push != RUN_PUSH_NEVER)
		add_reason(reasons, "push",
		           "of the units made again, only %zu can be pushed",
		           again->count);
	if (count == 0 || run->command != 0)
		return;
	if (count == 1)
		add_reason(reasons, "push", "left out %s", run->left_out);
	else
		add_reason(reasons, "push", "left out %" PRIu64 ", first %s",
		           count, run->left_out);
}

void run_report_push(struct run *run)
{
	struct run_child *const push = &run->children[RUN_PUSH];
	uint64_t count = 0;
	char limit[NUMBER_SIZE];
	int status = 0;

	run->has_push_reason = false;
	if (!push->has_begun)
		return;
	if (run_child_number(push, "pushed", &count))
		run->pushed_count += count;
	note_left_out(run);
	if (run_child_has_exited(push, &status) && status == 0)
		return;

	/*
	 * Entries that are still being compiled are not a failure: the last
	 * push takes them.
	 */
	run->is_dirty = true;
	if (run_child_has_exited(push, &status) && status == STATUS_PARTIAL)
		return;

	run->has_push_reason = true;
	if (push->pid != 0 || push->is_told) {
		/* The last push had the rest of the deadline. */
		show_time((push->told_ms - push->begin_ms + 50) / 100 * 100,
		          limit);
		(void)snprintf(run->push_reason, sizeof(run->push_reason),
		               "not done after %s", limit);
	} else {
		run_child_reason(push, run->push_reason);
	}
}

/* The ref as the user may give it to a push. */
static const char *name_ref(const struct run *run)
{
	const char *ref = run->args->ref;

	if (ref == NULL)
		ref = run_engine_variable(&run->shared->plan, "TKBUNDLE_REF");
	return ref != NULL ? ref : "-";
}

/*
 * The remote as the user may give it to a push. If it may hold a password or
 * characters that a shell would take for its own, or is too long, "URL".
 */
static const char *name_remote(const struct run *run)
{
	const char *remote = run->args->remote;

	if (remote == NULL)
		remote = run_engine_variable(&run->shared->plan,
		                             "TKBUNDLE_REMOTE");
	if (remote == NULL || strlen(remote) > REMOTE_SHOWN ||
	    remote[strspn(remote, "abcdefghijklmnopqrstuvwxyz"
	                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                          "0123456789/:._-+,=%")] != '\0')
		return "URL";
	return remote;
}

/* "--engine vllm --engine flashinfer", each with a space before it */
static void list_engines(const struct run_plan *plan, char *out, size_t size)
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t at = 0; at < plan->engines_size && length < size;
	     at += strlen(plan->engines + at) + 1)
		length += (size_t)snprintf(out + length, size - length,
		                           " --engine %s", plan->engines + at);
}

/*
 * A warm cache, and a ref without a record: nothing was compiled, so nothing
 * was pushed. Name the command that pushes what was there before.
 */
static void add_first_push(const struct run *run, struct reasons *reasons)
{
	const struct run_plan *const plan = &run->shared->plan;
	const struct run_counts *const counts = &run->shared->counts;
	const bool needs_root =
		plan->engines_size == 0 || run->args->cache != NULL;
	const bool needs_remote =
		!plan->has_remote || run->args->remote != NULL;
	char engines[512];

	if (!run->has_begun || run->command != 0 || !has_no_record(run) ||
	    plan->push == RUN_PUSH_NEVER || run->pushed_count != 0 ||
	    run->args->trees.count != 0 || !counts->is_made ||
	    counts->compiled != 0 || run->shared->baseline_size == 0)
		return;
	list_engines(plan, engines, sizeof(engines));
	add_reason(reasons, "push",
	           "nothing was compiled; 'tkbundle push %s%s%.400s%s%s%s' "
	           "pushes what was here before",
	           name_ref(run), needs_root ? " " : "",
	           needs_root ? plan->root : "", engines,
	           needs_remote ? " --remote " : "",
	           needs_remote ? name_remote(run) : "");
}

static void add_command(const struct run *run, struct reasons *reasons)
{
	const int error = run->shared->exec_error;

	if (error != 0)
		add_reason(reasons, "command", "cannot run '%.1000s': %s",
		           run->args->operands.items[0], strerror(error));
}

static void list_reasons(const struct run *run, struct reasons *out)
{
	*out = (struct reasons){ .count = 0 };
	add_command(run, out);
	add_root_reason(run, out);
	if (run->shared->links_error[0] != '\0')
		add_reason(out, "links", "%s", run->shared->links_error);
	add_ready(run, out);
	add_pull(run, out);
	if (run->has_push_reason)
		add_reason(out, "push", "%s", run->push_reason);
	add_left_out(run, out);
	add_first_push(run, out);
	if (run->shared->metrics_error[0] != '\0')
		add_reason(out, "metrics", "%s", run->shared->metrics_error);
}

void run_report_failures(const struct run *run,
                         void (*visit)(void *self, const char *of,
                                       const char *message),
                         void *self)
{
	struct reasons reasons;

	list_reasons(run, &reasons);
	for (size_t i = 0; i < reasons.count; i++)
		visit(self,
		      reasons.items[i].what != NULL ? reasons.items[i].what
		                                    : "",
		      reasons.items[i].text);
}

static void print_report(const struct run *run, const char *counts)
{
	struct reasons reasons;
	char line[LINE_SIZE];
	int length;

	list_reasons(run, &reasons);
	length = snprintf(line, sizeof(line), "%s", counts);
	for (size_t i = 0; i < reasons.count; i++) {
		const struct failure *const reason = &reasons.items[i];

		if (length < 0 || (size_t)length >= sizeof(line))
			break;
		length += snprintf(
			line + length, sizeof(line) - (size_t)length,
			"; %s%s%s", reason->what != NULL ? reason->what : "",
			reason->what != NULL ? ": " : "", reason->text);
	}
	cli_say(run->cli, "%s", line);
}

/* Less than half a second is not printed. */
static void show_saved(const struct run_figures *figures,
                       char out[2 * NUMBER_SIZE])
{
	const uint64_t seconds = (figures->saved_ms + 500) / 1000;

	out[0] = '\0';
	if (figures->saved_ms != START_UNKNOWN && seconds != 0)
		(void)snprintf(out, 2 * (size_t)NUMBER_SIZE,
		               ", saved about %" PRIu64 " s of compiling",
		               seconds);
}

static void print_counts(const struct run *run)
{
	struct run_figures figures;
	char counts[8 * NUMBER_SIZE];
	char emitted[START_NUMBER_SIZE];
	char used[START_NUMBER_SIZE];
	char compiled[START_NUMBER_SIZE];
	char saved[2 * NUMBER_SIZE];

	run_figures_take(run, &figures);
	start_number(figures.emitted, emitted);
	start_number(figures.used, used);
	start_number(figures.compiled, compiled);
	show_saved(&figures, saved);
	(void)snprintf(counts, sizeof(counts),
	               "emitted %s, used %s, compiled anew %s, pushed %" PRIu64
	               "%s",
	               emitted, used, compiled, figures.pushed, saved);
	print_report(run, counts);
}

static void print_start_line(const struct run *run)
{
	struct run_figures figures;
	const uint64_t linked_count = run->shared->linked_count;
	char counts[4 * NUMBER_SIZE];
	char emitted[START_NUMBER_SIZE];
	char linked[2 * NUMBER_SIZE] = "";

	run_figures_take(run, &figures);
	start_number(figures.emitted, emitted);
	if (linked_count != 0)
		(void)snprintf(linked, sizeof(linked), ", linked %" PRIu64,
		               linked_count);
	(void)snprintf(counts, sizeof(counts), "emitted %s%s, starting",
	               emitted, linked);
	print_report(run, counts);
}

static void fill_figures(struct json_out *json, const struct run *run)
{
	static const char *const names[] = {
		"emitted",          "used",
		"compiled",         "pushed",
		"left_out",         "gone_blobs",
		"saved_seconds",    "delay_seconds",
		"ready_seconds",    "duration_seconds",
		"timestamp_seconds"
	};
	TKB_AUTO(metrics_release) struct metrics metrics = { .count = 0 };
	const struct metric *success;

	run_figures_name(run, &metrics);
	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		const char *const name = names[i];
		const struct metric *const item = metrics_find(&metrics, name);

		if (item == NULL)
			json_out_null(json, name);
		else if (strstr(name, "_seconds") != NULL)
			json_out_real(json, name, item->value);
		else
			json_out_number(json, name, (uint64_t)item->value);
	}
	success = metrics_find(&metrics, "success");
	json_out_flag(json, "success", success != NULL && success->value != 0);
}

static void fill_kinds(struct json_out *json, const struct run_counts *counts)
{
	json_out_open_array(json, "kinds");
	for (size_t i = 0; counts->is_made && i < counts->kind_count; i++) {
		const struct run_kind *const kind = &counts->kinds[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "engine",
		              kind->engine[0] != '\0' ? kind->engine : NULL);
		json_out_text(json, "kind", kind->name);
		json_out_number(json, "emitted", kind->emitted);
		if (counts->has_access_times)
			json_out_number(json, "used", kind->used);
		else
			json_out_null(json, "used");
		json_out_number(json, "compiled", kind->compiled);
		if (counts->has_access_times)
			json_out_real(json, "saved_seconds",
			              (double)kind->saved_ms / 1000);
		else
			json_out_null(json, "saved_seconds");
		json_out_close(json);
	}
	json_out_close(json);
}

/* @param status  the command's; negative: it is still running */
static void print_document(const struct run *run, const char *event, int status)
{
	TKB_AUTO(json_out_release)
	struct json_out json = { .is_wanted = false };
	struct reasons reasons;

	json_out_init(&json, true, "run");
	json_out_text(&json, "event", event);
	json_out_text(&json, "ref", run->args->ref);
	fill_figures(&json, run);
	fill_kinds(&json, &run->shared->counts);
	list_reasons(run, &reasons);
	json_out_open_array(&json, "reasons");
	for (size_t i = 0; i < reasons.count; i++) {
		json_out_open_object(&json, NULL);
		if (reasons.items[i].what != NULL)
			json_out_text(&json, "of", reasons.items[i].what);
		json_out_text(&json, "message", reasons.items[i].text);
		json_out_close(&json);
	}
	json_out_close(&json);
	if (status >= 0)
		json_out_number(&json, "status", (uint64_t)status);
	(void)json_out_write(&json, run->cli->log);
	(void)fflush(run->cli->log);
}

/* Never block on a slow reader: signals must be forwarded. */
static bool can_print(void)
{
	struct pollfd log = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&log, 1, 0) == 1 && (log.revents & POLLOUT) != 0;
}

void run_report_start(const struct run *run)
{
	if (!can_print())
		return;
	if (run->args->is_json)
		print_document(run, "start", -1);
	else
		print_start_line(run);
}

/* @param status  as for print_document() */
static void report_counts(const struct run *run, const char *event, int status)
{
	if (run->args->is_json)
		print_document(run, event, status);
	else
		print_counts(run);
}

void run_report_change(const struct run *run)
{
	if (can_print())
		report_counts(run, "change", -1);
}

void run_report_end(const struct run *run, int status)
{
	report_counts(run, "end", status);
}

/* "2 kernels, 1 unit of 'vllm'" */
static void list_compiled(const struct run_counts *counts, char out[512])
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < counts->kind_count; i++) {
		const struct run_kind *const kind = &counts->kinds[i];
		const char *const comma = length != 0 ? ", " : "";
		int added;

		if (kind->compiled == 0)
			continue;
		if (i == 0)
			added = snprintf(out + length, 512 - length,
			                 "%s%" PRIu64 " %s", comma,
			                 kind->compiled,
			                 text_plural(kind->compiled, "kernel",
			                             "kernels"));
		else
			added = snprintf(
				out + length, 512 - length,
				"%s%" PRIu64 " %s of '%s'", comma,
				kind->compiled,
				text_plural(kind->compiled, "unit", "units"),
				kind->name);
		length += added > 0 ? (size_t)added : 0;
		if (length >= 512)
			return;
	}
}

bool run_report_is_warm(const struct run *run)
{
	const struct run_counts *const counts = &run->shared->counts;
	const char *line = counts->cold;
	char compiled[512];

	if (!counts->is_made) {
		cli_say(run->cli, "it is not known what was compiled");
		return false;
	}
	if (counts->compiled == 0)
		return true;
	list_compiled(counts, compiled);
	cli_say(run->cli, "not warm: compiled anew %s", compiled);
	while (*line != '\0') {
		const size_t length = strcspn(line, "\n");

		cli_say(run->cli, "  made anew: %.*s", (int)length, line);
		line += length + 1;
	}
	if (counts->cold_count < counts->compiled)
		cli_say(run->cli, "  and %" PRIu64 " more",
		        counts->compiled - counts->cold_count);
	return false;
}

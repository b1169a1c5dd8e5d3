/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_ready.h"

#include <errno.h>
#include <sys/stat.h>

#include "cli/deadline.h"
#include "config/http_get.h"

#define NAP_MS 250     /* time between two questions */
#define ANSWER_MS 2000 /* time for one answer */

enum status run_ready_check(const struct cli *cli, const struct arguments *args)
{
	const bool has_ready =
		args->ready_url != NULL || args->ready_file != NULL;
	const bool is_always = !args->push.is_set ||
	                       args->push.value == (uint32_t)RUN_PUSH_ALWAYS;
	const bool is_never = args->push.is_set &&
	                      args->push.value == (uint32_t)RUN_PUSH_NEVER;
	struct http_url url;

	if (args->ready_url != NULL && !http_url_parse(args->ready_url, &url))
		return cli_misused(cli, "'--ready-url' wants " HTTP_URL_WANTED);
	if (args->ready_file != NULL && args->ready_file[0] == '\0')
		return cli_misused(cli, "'--ready-file' wants PATH");
	if (cli_exclude(cli, args->ready_url != NULL, "--ready-url",
	                args->ready_file != NULL,
	                "--ready-file") != STATUS_DONE)
		return STATUS_USAGE;
	if (has_ready && !is_always)
		return cli_misused(cli, "'%s' needs '--push always'",
		                   args->ready_url != NULL ? "--ready-url"
		                                           : "--ready-file");
	return cli_exclude(cli, args->quiet.is_set, "--quiet", is_never,
	                   "--push never");
}

static struct run_stamp stamp_of(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return (struct run_stamp){ .is_there = false };
	return (struct run_stamp){ .is_there = true,
		                   .inode = status.st_ino,
		                   .modified = status.st_mtim,
		                   .changed = status.st_ctim };
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* The file appeared, or was replaced: no clock is compared. */
static bool has_come(const struct run_plan *plan)
{
	const struct run_stamp *const old = &plan->ready_stamp;
	const struct run_stamp now = stamp_of(plan->ready_file);

	return now.is_there && (!old->is_there || now.inode != old->inode ||
	                        !is_same_time(&now.modified, &old->modified) ||
	                        !is_same_time(&now.changed, &old->changed));
}

void run_ready_plan(const struct arguments *args, const struct config *config,
                    struct run_plan *out)
{
	const char *const url = config->values[CONFIG_READY_URL].text;
	const char *const file = config->values[CONFIG_READY_FILE].text;

	if (out->push != RUN_PUSH_ALWAYS)
		return;
	if (url != NULL && args->ready_file == NULL)
		(void)snprintf(out->ready_url, sizeof(out->ready_url), "%s",
		               url);
	else if (file != NULL)
		(void)snprintf(out->ready_file, sizeof(out->ready_file), "%s",
		               file);
	if (url != NULL && file != NULL && args->ready_url == NULL &&
	    args->ready_file == NULL)
		(void)snprintf(out->ready_message, sizeof(out->ready_message),
		               "'ready-url' and 'ready-file' exclude each "
		               "other: the URL is asked");
	if (out->ready_file[0] != '\0')
		out->ready_stamp = stamp_of(out->ready_file);
}

bool run_ready_is_asked(const struct run_plan *plan)
{
	return plan->ready_url[0] != '\0' || plan->ready_file[0] != '\0';
}

static bool ask_server(struct run_shared *shared, const struct http_url *url)
{
	char reason[HTTP_REASON_SIZE] = "";
	const int status = http_get(url, ANSWER_MS, reason);

	(void)snprintf(shared->ready_reason, sizeof(shared->ready_reason),
	               "'%.300s': %s", shared->plan.ready_url, reason);
	return status >= 200 && status <= 299;
}

static bool ask_file(struct run_shared *shared)
{
	(void)snprintf(shared->ready_reason, sizeof(shared->ready_reason),
	               "'%.400s' has not come", shared->plan.ready_file);
	return has_come(&shared->plan);
}

void run_ready_wait(struct run_shared *shared)
{
	static const struct timespec nap = { .tv_nsec = NAP_MS * 1000000 };
	const struct run_plan *const plan = &shared->plan;
	struct http_url url;
	const bool is_url = http_url_parse(plan->ready_url, &url);

	while (is_url ? !ask_server(shared, &url) : !ask_file(shared))
		(void)nanosleep(&nap, NULL);
	shared->ready_reason[0] = '\0';
	shared->ready_ms = deadline_now_ms();
}

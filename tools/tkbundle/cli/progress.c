/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>
#include <sched.h>

#include "cli/deadline.h"
#include "cli/text.h"

#define FIRST_MS 200 /* most work is done sooner */
#define NEXT_MS 100
#define RATE_MS 500    /* too short to measure a rate */
#define STEADY_MS 2000 /* the rate is averaged over about this time */
#define WIDTH 30
#define RATE_SIZE (TEXT_SIZE_SIZE + TEXT_AGE_SIZE + 16)

static void draw_progress(void *self, uint64_t done, uint64_t total)
{
	progress_update(self, done, total);
}

static void on_look(void *self, uint64_t done, uint64_t total)
{
	progress_look(self, done, total);
}

void progress_init(struct progress *progress, FILE *to, bool is_tty)
{
	*progress = (struct progress){
		.to = to,
		.is_tty = is_tty,
		.watch = { .struct_size = sizeof(struct tkb_watch),
		           .self = progress,
		           .on_progress = draw_progress,
		           .on_look = on_look },
	};
	if (!is_tty)
		return;
	progress->begin_ms = deadline_now_ms();
	progress->next_ms = progress->begin_ms + FIRST_MS;
}

static void write_amount(const struct progress *progress, uint64_t amount,
                         char out[TEXT_SIZE_SIZE])
{
	if (progress->is_count || progress->is_look)
		(void)snprintf(out, TEXT_SIZE_SIZE, "%" PRIu64, amount);
	else
		text_size(amount, out);
}

/* Another part of the work begins, with a rate of its own. */
static void begin_part(struct progress *progress, uint64_t now, uint64_t done,
                       bool is_look)
{
	progress->begin_ms = now;
	progress->last_ms = now;
	progress->last_done = done;
	progress->rate = 0;
	progress->is_look = is_look;
}

static void measure_rate(struct progress *progress, uint64_t now, uint64_t done)
{
	const double spent_ms = (double)(now - progress->last_ms);
	const double rate =
		(double)(done - progress->last_done) * 1000 / spent_ms;
	const double share = progress->last_ms == progress->begin_ms
	                             ? 1
	                             : spent_ms / (spent_ms + STEADY_MS);

	if (now == progress->last_ms)
		return;
	progress->rate += share * (rate - progress->rate);
	progress->last_ms = now;
	progress->last_done = done;
}

/* ", 5.2 MB/s, 12s left": known only after some time. */
static void write_rate(const struct progress *progress, uint64_t now,
                       uint64_t done, uint64_t total, char out[RATE_SIZE])
{
	const double left_s = progress->rate > 0 && total > done
	                              ? (double)(total - done) / progress->rate
	                              : 0;
	char rate[TEXT_SIZE_SIZE];
	char left[TEXT_AGE_SIZE];

	out[0] = '\0';
	if (now - progress->begin_ms < RATE_MS || progress->rate < 1)
		return;
	write_amount(progress, (uint64_t)progress->rate, rate);
	text_age((uint64_t)(left_s + 0.5), left);
	(void)snprintf(out, RATE_SIZE, ", %s/s, %s left", rate, left);
}

/* ", 3s": for work whose end is unknown. */
static void draw_wait(const struct progress *progress, uint64_t now)
{
	char age[TEXT_AGE_SIZE];

	text_age((now - progress->begin_ms) / 1000, age);
	(void)fprintf(progress->to, "\r%s, %s\033[K", progress->waits_for, age);
}

static void draw_bar(const struct progress *progress, uint64_t now)
{
	const uint64_t done = progress->done;
	const uint64_t total = progress->total;
	const double share = total > 0 ? (double)done / (double)total : 0;
	const int filled = share < 1 ? (int)(share * WIDTH) : WIDTH;
	char done_text[TEXT_SIZE_SIZE];
	char total_text[TEXT_SIZE_SIZE];
	char rate[RATE_SIZE];
	char bar[WIDTH + 1] = "";

	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < filled ? '#' : '.';
	write_amount(progress, done, done_text);
	write_amount(progress, total, total_text);
	write_rate(progress, now, done, total, rate);
	(void)fprintf(progress->to, "\r[%s] %s%s of %s%s\033[K", bar,
	              progress->is_look ? "looked at " : "", done_text,
	              total_text, rate);
}

/* Draw the bar, if it is time and there is anything to draw. */
static void draw(struct progress *progress, uint64_t now)
{
	if (now < progress->next_ms ||
	    (!progress->is_told && progress->waits_for == NULL))
		return;
	if (progress->is_told) {
		measure_rate(progress, now, progress->done);
		draw_bar(progress, now);
	} else {
		draw_wait(progress, now);
	}
	(void)fflush(progress->to);
	progress->is_drawn = true;
	progress->next_ms = now + NEXT_MS;
}

static void update(struct progress *progress, bool is_look, uint64_t done,
                   uint64_t total)
{
	const uint64_t now = progress->is_tty ? deadline_now_ms() : 0;

	if (!progress->is_tty || atomic_flag_test_and_set(&progress->is_busy))
		return;
	if (!progress->is_told || progress->is_look != is_look ||
	    done < progress->last_done)
		begin_part(progress, now, done, is_look);
	progress->is_told = true;
	progress->done = done;
	progress->total = total;
	draw(progress, now);
	atomic_flag_clear(&progress->is_busy);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total)
{
	update(progress, false, done, total);
}

void progress_look(struct progress *progress, uint64_t done, uint64_t total)
{
	update(progress, true, done, total);
}

void progress_tick(struct progress *progress)
{
	if (!progress->is_tty || atomic_flag_test_and_set(&progress->is_busy))
		return;
	draw(progress, deadline_now_ms());
	atomic_flag_clear(&progress->is_busy);
}

void progress_erase(struct progress *progress)
{
	/* The lock is held only while a line is written. */
	while (atomic_flag_test_and_set(&progress->is_busy))
		(void)sched_yield();
	if (progress->is_drawn) {
		(void)fputs("\r\033[K", progress->to);
		(void)fflush(progress->to);
	}
	progress->is_drawn = false;
	atomic_flag_clear(&progress->is_busy);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>

#include "cli/deadline.h"
#include "cli/text.h"

#define FIRST_MS 200 /* most work is done by then */
#define NEXT_MS 100
#define RATE_MS 500 /* a rate of less says nothing */
#define WIDTH 30
#define RATE_SIZE (TEXT_SIZE_SIZE + TEXT_AGE_SIZE + 16)

void progress_init(struct progress *progress, FILE *to, bool is_tty)
{
	*progress = (struct progress){ .to = to, .is_tty = is_tty };
	if (!is_tty)
		return;
	progress->begin_ms = deadline_now_ms();
	progress->next_ms = progress->begin_ms + FIRST_MS;
}

static void write_amount(const struct progress *progress, uint64_t amount,
                         char out[TEXT_SIZE_SIZE])
{
	if (progress->is_count)
		(void)snprintf(out, TEXT_SIZE_SIZE, "%" PRIu64, amount);
	else
		text_size(amount, out);
}

/* ", 5.2 MB/s, 12s left": what is known when some time has passed. */
static void write_rate(const struct progress *progress, uint64_t now,
                       uint64_t done, uint64_t total, char out[RATE_SIZE])
{
	const uint64_t spent_ms = now - progress->begin_ms;
	char rate[TEXT_SIZE_SIZE];
	char left[TEXT_AGE_SIZE];

	out[0] = '\0';
	if (spent_ms < RATE_MS || done == 0)
		return;
	write_amount(progress,
	             (uint64_t)((double)done * 1000 / (double)spent_ms), rate);
	text_age((uint64_t)((double)(total > done ? total - done : 0) *
	                            (double)spent_ms / (double)done / 1000 +
	                    0.5),
	         left);
	(void)snprintf(out, RATE_SIZE, ", %s/s, %s left", rate, left);
}

static void draw(const struct progress *progress, uint64_t now, uint64_t done,
                 uint64_t total)
{
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
	(void)fprintf(progress->to, "\r[%s] %s of %s%s\033[K", bar, done_text,
	              total_text, rate);
	(void)fflush(progress->to);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total)
{
	uint64_t now;

	if (!progress->is_tty)
		return;

	now = deadline_now_ms();
	if (now < progress->next_ms)
		return;

	draw(progress, now, done, total);
	progress->is_drawn = true;
	progress->next_ms = now + NEXT_MS;
}

void progress_erase(struct progress *progress)
{
	if (!progress->is_drawn)
		return;

	(void)fputs("\r\033[K", progress->to);
	(void)fflush(progress->to);
	progress->is_drawn = false;
}

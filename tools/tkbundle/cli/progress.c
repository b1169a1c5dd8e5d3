/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include "cli/deadline.h"
#include "cli/text.h"

#define FIRST_MS 200 /* most work is done by then */
#define NEXT_MS 100
#define WIDTH 30

void progress_init(struct progress *progress, FILE *to, bool is_tty)
{
	*progress = (struct progress){ .to = to, .is_tty = is_tty };
	if (is_tty)
		progress->next_ms = deadline_now_ms() + FIRST_MS;
}

static void draw(FILE *to, uint64_t done, uint64_t total)
{
	const double share = total > 0 ? (double)done / (double)total : 0;
	const int filled = share < 1 ? (int)(share * WIDTH) : WIDTH;
	char done_text[TEXT_SIZE_SIZE];
	char total_text[TEXT_SIZE_SIZE];
	char bar[WIDTH + 1] = "";

	for (int i = 0; i < WIDTH; i++)
		bar[i] = i < filled ? '#' : '.';

	text_size(done, done_text);
	text_size(total, total_text);
	(void)fprintf(to, "\r[%s] %s of %s\033[K", bar, done_text, total_text);
	(void)fflush(to);
}

void progress_update(struct progress *progress, uint64_t done, uint64_t total)
{
	uint64_t now;

	if (!progress->is_tty)
		return;

	now = deadline_now_ms();
	if (now < progress->next_ms)
		return;

	draw(progress->to, done, total);
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

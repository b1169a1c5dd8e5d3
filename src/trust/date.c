/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void tkb_time_text(uint64_t seconds, char out[TKB_TIME_TEXT_SIZE])
{
	const time_t time =
		(time_t)(seconds < TKB_TIME_LIMIT_S ? seconds
	                                            : TKB_TIME_LIMIT_S);
	struct tm parts = { .tm_mday = 1 };

	(void)gmtime_r(&time, &parts);
	(void)strftime(out, TKB_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

bool tkb_date_parse(const char *text, uint64_t *out)
{
	char again[TKB_TIME_TEXT_SIZE];
	struct tm parts = { .tm_mday = 0 };
	const char *end;
	time_t time;

	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
	if (end == NULL || *end != '\0')
		return false;
	time = timegm(&parts);
	if (time < 0)
		return false;
	/*
	 * Writing it again must give the same text: this refuses 30 February.
	 */
	tkb_time_text((uint64_t)time, again);
	*out = (uint64_t)time;
	return strcmp(again, text) == 0;
}

uint64_t tkb_time_now(void)
{
	const time_t now = time(NULL);

	return now > 0 ? (uint64_t)now : 0;
}

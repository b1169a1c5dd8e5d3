/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_finding(const struct findings *findings, const char *what)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (strcmp(findings->items[i].what, what) == 0)
			return true;
	}
	return false;
}

/* Take ownership of `text`, which is cut in two at its tab. */
static void add_finding(struct findings *findings, enum finding_level level,
                        const char *cause, char *text)
{
	struct finding *items;
	char *advice = strchr(text, '\t');

	if (advice != NULL)
		*advice++ = '\0';
	if (has_finding(findings, text)) {
		free(text);
		return;
	}
	items = reallocarray(findings->items, findings->count + 1,
	                     sizeof(*items));
	advice = strdup(advice != NULL ? advice : "");
	if (items != NULL)
		findings->items = items;
	if (items == NULL || advice == NULL) {
		findings->has_failed = true;
		free(advice);
		free(text);
		return;
	}
	items[findings->count++] = (struct finding){
		.level = level, .cause = cause, .what = text, .advice = advice
	};
}

void findings_add(struct findings *findings, enum finding_level level,
                  const char *cause, const char *format, ...)
{
	char *text = NULL;
	va_list values;
	int length;

	va_start(values, format);
	length = vasprintf(&text, format, values);
	va_end(values);
	if (length < 0)
		findings->has_failed = true;
	else
		add_finding(findings, level, cause, text);
}

enum verdict findings_verdict(const struct findings *findings)
{
	enum verdict verdict = VERDICT_WARM;

	for (size_t i = 0; i < findings->count; i++) {
		if (findings->items[i].level == FINDING_COLD)
			return VERDICT_COLD;
		if (findings->items[i].level == FINDING_FAULT)
			verdict = VERDICT_PARTLY;
	}
	return verdict;
}

const char *verdict_word(enum verdict verdict)
{
	static const char *const words[] = { "warm", "partly", "cold" };

	return words[verdict];
}

static void print_finding(const struct finding *finding, struct cli *cli)
{
	struct json_out *const json = &cli->json;

	json_out_open_object(json, NULL);
	json_out_text(json, "level",
	              finding->level == FINDING_RISK ? "risk" : "fault");
	json_out_text(json, "cause", finding->cause);
	json_out_text(json, "what", finding->what);
	json_out_text(json, "advice",
	              finding->advice[0] != '\0' ? finding->advice : NULL);
	json_out_close(json);
	cli_print(cli, "  %s%s: %s",
	          finding->level == FINDING_RISK ? "risk, " : "",
	          finding->cause, finding->what);
	if (finding->advice[0] != '\0')
		cli_print(cli, "    do: %s", finding->advice);
}

void findings_print(const struct findings *findings, struct cli *cli)
{
	json_out_open_array(&cli->json, "findings");
	for (int level = FINDING_COLD; level >= FINDING_RISK; level--) {
		for (size_t i = 0; i < findings->count; i++) {
			if ((int)findings->items[i].level == level)
				print_finding(&findings->items[i], cli);
		}
	}
	json_out_close(&cli->json);
}

void findings_release(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].what);
		free(findings->items[i].advice);
	}
	free(findings->items);
}

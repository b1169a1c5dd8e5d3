/* SPDX-License-Identifier: Apache-2.0 */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "page/page_files.h"

#define NONCE_SIZE 33 /* 32 digits */

/* The template's words that are replaced by the parts of a page. */
static const struct {
	const char *word;
	const char *text; /* NULL: made for each page */
} parts[] = {
	{ "@NONCE@", NULL },
	{ "@DATA@", NULL },
	{ "@STYLE@", page_css },
	{ "@SCRIPT@", page_js },
};

/*
 * The policy allows only the script and the style with the page's random
 * number.
 */
static int make_nonce(char out[NONCE_SIZE], struct tkb_error *err)
{
	unsigned char bytes[(NONCE_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return cli_error(err, TKB_ERR_IO, "there are no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/*
 * Write JSON so that it cannot end its element, or a line of a script. The
 * bytes that are escaped occur only in strings.
 */
static void put_data(FILE *to, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '<' || *text == '>' || *text == '&') {
			(void)fprintf(to, "\\u%04x", (unsigned)*text);
		} else if (strncmp(text, "\xe2\x80\xa8", 3) == 0 ||
		           strncmp(text, "\xe2\x80\xa9", 3) == 0) {
			(void)fprintf(to, "\\u20%x",
			              (unsigned char)text[2] - 0x80u);
			text += 2;
		} else {
			(void)fputc(*text, to);
		}
	}
}

static void put_page(FILE *to, const char *nonce, const char *data)
{
	const char *at = page_html;

	while (*at != '\0') {
		size_t i = 0;

		while (i < TKB_COUNT_OF(parts) &&
		       strncmp(at, parts[i].word, strlen(parts[i].word)) != 0)
			i++;
		if (i == TKB_COUNT_OF(parts)) {
			(void)fputc(*at++, to);
			continue;
		}
		if (parts[i].text != NULL)
			(void)fputs(parts[i].text, to);
		else if (i == 0)
			(void)fputs(nonce, to);
		else
			put_data(to, data);
		at += strlen(parts[i].word);
	}
}

int page_write(struct json_out *json, FILE *to, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *data = NULL;
	char nonce[NONCE_SIZE];
	size_t size = 0;
	FILE *const stream = open_memstream(&data, &size);
	bool is_made = false;
	int rc;

	if (stream != NULL)
		is_made = json_out_write(json, stream);
	if (stream == NULL || fclose(stream) != 0 || !is_made)
		return cli_error_nomem(err);
	rc = make_nonce(nonce, err);
	if (rc == 0)
		put_page(to, nonce, data);
	return rc;
}

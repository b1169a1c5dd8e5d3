/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/url.h"

#include <stdlib.h>

#include <tkbundle/amount.h>
#include <tkbundle/fleet.h>

#include "base/utf8.h"
#include "fuzz.h"

/*
 * A line with the names of remotes, and one with the name of a ref and words to
 * be filled in. Where the URL has a password, nobody gets to see it.
 */

#define SECRET "s3cret"

TKB_AUTO_POINTER(close_remote, struct tkb_remote, tkb_remote_close)

static bool is_printable(const char *text)
{
	for (const char *at = text; *at != '\0'; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return false;
	}
	return tkb_utf8_is_valid(tkb_text(text));
}

static void check_url_parts(const struct tkb_remote_url *url)
{
	const char *const texts[] = { url->scheme, url->user, url->password,
		                      url->host };

	for (size_t i = 0; i < TKB_COUNT_OF(texts); i++)
		MUST(texts[i] != NULL && is_printable(texts[i]));
	/* A path without a scheme is as the file system has it. */
	MUST(url->path != NULL && url->name != NULL);
	MUST(url->name == url->path || is_printable(url->path));
	MUST(url->name == url->path || is_printable(url->name));
	MUST(url->scheme[0] != '\0' && url->name[0] != '\0');
	MUST(url->port <= UINT16_MAX);
	MUST(url->has_user == (url->user[0] != '\0') || url->has_user);
	for (size_t i = 0; i < url->param_count; i++) {
		const struct tkb_param *param = &url->params[i];

		MUST(is_printable(param->name) && is_printable(param->value));
		MUST(tkb_remote_url_param(url, param->name) != NULL);
	}
	(void)tkb_remote_url_warning(url);
}

static void check_url(const char *text)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	struct tkb_error err = { 0 };
	const int rc = tkb_remote_url_parse(text, &url, &err);

	MUST(rc == 0 || rc == TKB_ERR_INVALID);
	if (rc == 0)
		check_url_parts(url);
	else
		MUST(err.message[0] != '\0');
}

/* To open connects to nothing. */
static void check_remotes(const char *urls)
{
	TKB_AUTO(close_remote) struct tkb_remote *remote = NULL;
	struct tkb_error err = { 0 };
	const int rc = tkb_remote_open(urls, NULL, &remote, &err);

	MUST(rc == 0 || rc == TKB_ERR_INVALID || rc == TKB_ERR_UNSUPPORTED);
	if (rc < 0) {
		MUST(err.message[0] != '\0');
		return;
	}
	for (size_t i = 0; i < tkb_remote_tier_count(remote); i++) {
		MUST(tkb_remote_tier_name(remote, i)[0] != '\0');
		(void)tkb_remote_tier_warning(remote, i);
	}
}

/*
 * With a password behind the first "://". What stands before an '@' behind it
 * belongs to it; a slash ends it, and a comma the whole URL.
 */
static void check_secret(const char *text)
{
	const char *start = strstr(text, "://");
	TKB_AUTO(tkb_buf_release) struct tkb_buf url = TKB_BUF_INIT(64 * 1024);
	TKB_AUTO(close_remote) struct tkb_remote *remote = NULL;
	struct tkb_error err = { 0 };

	if (start == NULL || start != strchr(text, ':') ||
	    strchr(text, ',') != NULL || strstr(text, SECRET) != NULL)
		return;
	tkb_buf_add(&url, (struct tkb_bytes){ text, (size_t)(start - text) });
	tkb_buf_add_text(&url, "://somebody:a@" SECRET "@");
	tkb_buf_add_text(&url, start + strlen("://"));
	tkb_buf_add_byte(&url, '\0');
	if (url.failure != 0)
		return;
	if (tkb_remote_open((const char *)url.data, NULL, &remote, &err) < 0)
		MUST(strstr(err.message, SECRET) == NULL);
	else
		MUST(strstr(tkb_remote_tier_name(remote, 0), SECRET) == NULL);
}

/* Of what is counted, all of it fits. */
static void check_numbers(const char *text)
{
	uint64_t value = 0;

	if (tkb_time_parse(text, 1, &value))
		MUST(text[0] >= '0' && text[0] <= '9');
	if (tkb_size_parse(text, &value))
		MUST(text[0] >= '0' && text[0] <= '9');
}

static void check_ref(const char *pattern)
{
	const struct tkb_ref_facts facts = { .struct_size = sizeof(facts),
		                             .nvml = "/nowhere" };
	char name[TKB_REF_SIZE] = "";
	struct tkb_error err = { 0 };
	const int rc = tkb_ref_expand(pattern, &facts, name, &err);

	MUST(rc == 0 || rc == TKB_ERR_INVALID);
	MUST((rc == 0) == tkb_ref_is_valid(name));
	if (rc < 0)
		MUST(err.message[0] != '\0' && name[0] == '\0');
	if (rc == 0 && strchr(pattern, '{') == NULL)
		MUST(strcmp(name, pattern) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tkb_bytes input = { data, size };
	const struct tkb_bytes first = fuzz_take(&input, "\n");
	TKB_AUTO(tkb_free_at) char *urls = strndup(first.data, first.size);
	TKB_AUTO(tkb_free_at) char *ref = strndup(input.data, input.size);

	MUST(urls != NULL && ref != NULL);
	check_url(urls);
	check_remotes(urls);
	check_secret(urls);
	check_numbers(urls);
	check_ref(ref);
	return 0;
}

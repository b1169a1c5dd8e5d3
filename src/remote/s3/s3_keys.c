/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "remote/net/secret.h"
#include "remote/s3/s3.h"

/* Finding credentials in the environment, or in the files of AWS's programs. */

enum {
	PATH_LIMIT = 4096,
	VALUE_LIMIT = 32 * 1024
};

const char *tkb_s3_profile(const struct tkb_remote_url *url)
{
	const char *profile = tkb_remote_url_param(url, "profile");

	if (profile == NULL)
		profile = tkb_environment("AWS_PROFILE");
	return profile == NULL ? "default" : profile;
}

int tkb_s3_settings_path(const char *variable, const char *name,
                         struct tkb_buf *out, struct tkb_error *err)
{
	const char *path = tkb_environment(variable);
	const char *home = tkb_environment("HOME");

	tkb_buf_reset(out);
	if (path == NULL && home == NULL)
		return TKB_MISS;
	if (path != NULL) {
		tkb_buf_add_text(out, path);
	} else {
		tkb_buf_add_text(out, home);
		tkb_buf_add_text(out, "/.aws/");
		tkb_buf_add_text(out, name);
	}
	tkb_buf_add_byte(out, '\0');
	return tkb_buf_check(out, err);
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Trim white space at both ends, in place. */
static char *trim_spaces(char *text)
{
	size_t size;

	while (is_space(*text))
		text++;
	size = strlen(text);
	while (size != 0 && is_space(text[size - 1]))
		size--;
	text[size] = '\0';
	return text;
}

/* Is the line "[section]"? */
static bool is_head(char *line, const char *section)
{
	char *end = strrchr(line, ']');

	if (end == NULL)
		return false;
	*end = '\0';
	return strcmp(trim_spaces(line + 1), section) == 0;
}

/* The value if the line is "name = value", else NULL. */
static const char *setting_value(char *line, const char *name)
{
	char *equals = strchr(line, '=');

	/* An indented line belongs to the setting above it. */
	if (equals == NULL || is_space(line[0]))
		return NULL;
	*equals = '\0';
	return strcmp(trim_spaces(line), name) == 0 ? trim_spaces(equals + 1)
	                                            : NULL;
}

/*
 * Find a setting. `text` is modified. The last value counts, as in AWS's
 * programs.
 */
static const char *find_setting(char *text, const char *section,
                                const char *name)
{
	const char *found = NULL;
	bool is_in_section = false;
	char *rest = text;

	while (rest != NULL) {
		char *line = strsep(&rest, "\n");
		const char *value;

		if (line[0] == '[') {
			is_in_section = is_head(line, section);
			continue;
		}
		/*
		 * In a comment line, the name begins with '#', so it matches
		 * nothing.
		 */
		value = is_in_section ? setting_value(line, name) : NULL;
		if (value != NULL)
			found = value;
	}
	return found;
}

int tkb_s3_setting(const char *path, const char *section, const char *name,
                   struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_S3_SETTINGS_LIMIT + 1);
	const char *value;
	int rc;

	tkb_buf_reset(out);
	rc = tkb_secret_file_read(path, "settings", TKB_S3_SETTINGS_LIMIT,
	                          &text, err);
	if (rc != 0)
		return rc;
	value = find_setting((char *)text.data, section, name);
	if (value == NULL || value[0] == '\0')
		return TKB_MISS;
	tkb_buf_add(out, (struct tkb_bytes){ value, strlen(value) + 1 });
	return tkb_buf_check(out, err);
}

void tkb_s3_keys_release(struct tkb_s3_keys *keys)
{
	tkb_secret_text_release(&keys->id);
	tkb_secret_text_release(&keys->secret);
	tkb_secret_text_release(&keys->token);
}

/*
 * It becomes part of a header, so it must not hold spaces or control
 * characters.
 */
static int copy_value(const char *value, const char *what, char **out,
                      struct tkb_error *err)
{
	for (const char *at = value; *at != '\0'; at++) {
		if (*at <= ' ' || *at > '~')
			return tkb_fail(err, TKB_ERR_DENIED,
			                "%s has a character that is not "
			                "allowed there",
			                what);
	}
	*out = strdup(value);
	return *out == NULL ? tkb_fail_nomem(err) : 0;
}

static int read_environment(struct tkb_s3_keys *keys, struct tkb_error *err)
{
	const char *id = tkb_environment("AWS_ACCESS_KEY_ID");
	const char *secret = tkb_environment("AWS_SECRET_ACCESS_KEY");
	const char *token = tkb_environment("AWS_SESSION_TOKEN");
	int rc;

	if (id == NULL && secret == NULL)
		return TKB_MISS;
	if (id == NULL || secret == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "%s is set, but %s is "
		                "not",
		                id != NULL ? "AWS_ACCESS_KEY_ID"
		                           : "AWS_SECRET_ACCESS_KEY",
		                id != NULL ? "AWS_SECRET_ACCESS_KEY"
		                           : "AWS_ACCESS_KEY_ID");
	rc = copy_value(id, "AWS_ACCESS_KEY_ID", &keys->id, err);
	if (rc == 0)
		rc = copy_value(secret, "AWS_SECRET_ACCESS_KEY", &keys->secret,
		                err);
	if (rc == 0 && token != NULL)
		rc = copy_value(token, "AWS_SESSION_TOKEN", &keys->token, err);
	return rc;
}

static int read_key(const char *path, const char *profile, const char *name,
                    char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf value = TKB_BUF_INIT(VALUE_LIMIT);
	int rc;

	rc = tkb_s3_setting(path, profile, name, &value, err);
	if (rc == 0)
		rc = copy_value((const char *)value.data, name, out, err);
	return rc;
}

static int read_profile(const char *path, const char *profile,
                        struct tkb_s3_keys *keys, struct tkb_error *err)
{
	int rc;

	rc = read_key(path, profile, "aws_access_key_id", &keys->id, err);
	if (rc == 0)
		rc = read_key(path, profile, "aws_secret_access_key",
		              &keys->secret, err);
	if (rc != 0)
		return rc;
	rc = read_key(path, profile, "aws_session_token", &keys->token, err);
	return rc < 0 ? rc : 0;
}

static int find_keys(const struct tkb_remote_url *url, struct tkb_s3_keys *keys,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	const bool has_profile = tkb_remote_url_param(url, "profile") != NULL;
	const char *profile = tkb_s3_profile(url);
	int rc = TKB_MISS;

	/* The URL overrides the environment, which overrides the files. */
	if (!has_profile)
		rc = read_environment(keys, err);
	if (rc != TKB_MISS)
		return rc;
	rc = tkb_s3_settings_path("AWS_SHARED_CREDENTIALS_FILE", "credentials",
	                          &path, err);
	if (rc == 0)
		rc = read_profile((const char *)path.data, profile, keys, err);
	if (rc != TKB_MISS)
		return rc;
	return tkb_fail(err, TKB_ERR_DENIED,
	                "there are no credentials: %s profile '%.80s' in "
	                "'%.200s' (anonymous=true does without; roles of "
	                "machines and pods, SSO and credential_process are not "
	                "asked)",
	                has_profile ? "no"
	                            : "no AWS_ACCESS_KEY_ID in the "
	                              "environment, and no",
	                profile,
	                path.size != 0 ? (const char *)path.data
	                               : "~/.aws/credentials");
}

int tkb_s3_keys_find(const struct tkb_remote_url *url, struct tkb_s3_keys *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };
	int rc;

	rc = find_keys(url, &keys, err);
	if (rc < 0)
		return rc;
	*out = keys;
	keys = (struct tkb_s3_keys){ 0 };
	return 0;
}

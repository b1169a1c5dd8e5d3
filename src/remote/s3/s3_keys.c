/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/s3/s3_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/net/secret.h"
#include "remote/net/url.h"

/* Credentials in the environment, and in the files of AWS's programs. */

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

int tkb_s3_file_path(enum tkb_s3_file file, struct tkb_buf *out,
                     struct tkb_error *err)
{
	const bool is_config = file == TKB_S3_CONFIG;
	const char *variable =
		is_config ? "AWS_CONFIG_FILE" : "AWS_SHARED_CREDENTIALS_FILE";
	const char *path = tkb_environment(variable);
	const char *home = tkb_environment("HOME");

	tkb_buf_reset(out);
	if (path == NULL && home == NULL)
		return TKB_MISS;
	if (path == NULL) {
		tkb_buf_add_text(out, home);
		path = is_config ? "/.aws/config" : "/.aws/credentials";
	}
	tkb_buf_add_text(out, path);
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

/*
 * Is the line the head of the profile's section: "[ci]" in the one file,
 * "[profile ci]" in the other, which also may have "[default]"?
 */
static bool is_head(char *line, enum tkb_s3_file file, const char *profile)
{
	char *end = strrchr(line, ']');
	char *head;

	if (end == NULL)
		return false;
	*end = '\0';
	head = trim_spaces(line + 1);
	if (file == TKB_S3_CONFIG && tkb_begins_with(head, "profile") &&
	    is_space(head[7]))
		head = trim_spaces(head + 7);
	else if (file == TKB_S3_CONFIG && strcmp(head, "default") != 0)
		return false;
	return strcmp(head, profile) == 0;
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
static const char *find_setting(char *text, enum tkb_s3_file file,
                                const char *profile, const char *name)
{
	const char *found = NULL;
	bool is_in_profile = false;
	char *rest = text;

	while (rest != NULL) {
		char *line = strsep(&rest, "\n");
		const char *value;

		if (line[0] == '[') {
			is_in_profile = is_head(line, file, profile);
			continue;
		}
		/*
		 * In a comment line, the name begins with '#', so it matches
		 * nothing.
		 */
		value = is_in_profile ? setting_value(line, name) : NULL;
		if (value != NULL)
			found = value;
	}
	return found;
}

int tkb_s3_setting(enum tkb_s3_file file, const char *profile, const char *name,
                   struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_S3_SETTINGS_LIMIT + 1);
	const char *value;
	int rc;

	tkb_buf_reset(out);
	rc = tkb_s3_file_path(file, &path, err);
	/* so Amazon's programs are told to read none */
	if (rc == 0 && strcmp((const char *)path.data, "/dev/null") == 0)
		return TKB_MISS;
	if (rc == 0)
		rc = tkb_secret_file_read((const char *)path.data, "settings",
		                          TKB_S3_SETTINGS_LIMIT, &text, err);
	if (rc != 0)
		return rc;
	value = find_setting((char *)text.data, file, profile, name);
	if (value == NULL || value[0] == '\0')
		return TKB_MISS;
	tkb_buf_add(out, (struct tkb_bytes){ value, strlen(value) + 1 });
	return tkb_buf_check(out, err);
}

int tkb_s3_profile_setting(const struct tkb_remote_url *url, const char *name,
                           struct tkb_buf *out, struct tkb_error *err)
{
	const char *profile = tkb_s3_profile(url);
	int rc;

	rc = tkb_s3_setting(TKB_S3_CREDENTIALS, profile, name, out, err);
	return rc == TKB_MISS
	               ? tkb_s3_setting(TKB_S3_CONFIG, profile, name, out, err)
	               : rc;
}

void tkb_s3_keys_release(struct tkb_s3_keys *keys)
{
	tkb_secret_text_release(&keys->id);
	tkb_secret_text_release(&keys->secret);
	tkb_secret_text_release(&keys->token);
	*keys = (struct tkb_s3_keys){ 0 };
}

int tkb_s3_keys_set(char **member, const char *value, const char *what,
                    struct tkb_error *err)
{
	if (!tkb_is_visible(value))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "%s has a character that is not allowed there",
		                what);
	tkb_secret_text_release(member);
	*member = strdup(value);
	return *member == NULL ? tkb_fail_nomem(err) : 0;
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
	rc = tkb_s3_keys_set(&keys->id, id, "AWS_ACCESS_KEY_ID", err);
	if (rc == 0)
		rc = tkb_s3_keys_set(&keys->secret, secret,
		                     "AWS_SECRET_ACCESS_KEY", err);
	if (rc == 0 && token != NULL)
		rc = tkb_s3_keys_set(&keys->token, token, "AWS_SESSION_TOKEN",
		                     err);
	return rc;
}

static int read_key(enum tkb_s3_file file, const char *profile,
                    const char *name, char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf value = TKB_BUF_INIT(VALUE_LIMIT);
	int rc;

	rc = tkb_s3_setting(file, profile, name, &value, err);
	if (rc == 0)
		rc = tkb_s3_keys_set(out, (const char *)value.data, name, err);
	return rc;
}

/* TKB_MISS: no key, or half of one. */
static int read_profile(enum tkb_s3_file file, const char *profile,
                        struct tkb_s3_keys *keys, struct tkb_error *err)
{
	int rc;

	rc = read_key(file, profile, "aws_access_key_id", &keys->id, err);
	if (rc == 0)
		rc = read_key(file, profile, "aws_secret_access_key",
		              &keys->secret, err);
	if (rc == TKB_MISS)
		tkb_s3_keys_release(keys);
	if (rc != 0)
		return rc;
	rc = read_key(file, profile, "aws_session_token", &keys->token, err);
	return rc < 0 ? rc : 0;
}

/*
 * Has the profile a role, which comes before its keys? Its SSO does not: what
 * logs in for programs without SSO writes such keys.
 */
static int find_role(const struct tkb_remote_url *url, struct tkb_error *err)
{
	static const char *const ways[] = { "web_identity_token_file",
		                            "source_profile",
		                            "credential_source" };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(PATH_LIMIT);
	int rc = TKB_MISS;

	for (size_t i = 0; i < TKB_COUNT_OF(ways) && rc == TKB_MISS; i++)
		rc = tkb_s3_profile_setting(url, ways[i], &value, err);
	return rc == 0 ? tkb_s3_profile_setting(url, "role_arn", &value, err)
	               : rc;
}

/* Keys of the profile, unless its role or its program comes first. */
static int read_profiles(const struct tkb_remote_url *url,
                         struct tkb_s3_keys *keys, struct tkb_error *err)
{
	const char *profile = tkb_s3_profile(url);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(PATH_LIMIT);
	int rc;

	rc = find_role(url, err);
	if (rc != TKB_MISS)
		return rc < 0 ? rc : TKB_MISS;
	rc = read_profile(TKB_S3_CREDENTIALS, profile, keys, err);
	if (rc != TKB_MISS)
		return rc;
	rc = tkb_s3_profile_setting(url, "credential_process", &value, err);
	if (rc != TKB_MISS)
		return rc < 0 ? rc : TKB_MISS;
	return read_profile(TKB_S3_CONFIG, profile, keys, err);
}

int tkb_s3_keys_read(const struct tkb_remote_url *url, struct tkb_s3_keys *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };
	int rc = TKB_MISS;

	if (tkb_remote_url_param(url, "profile") == NULL) {
		rc = read_environment(&keys, err);
		if (rc == TKB_MISS &&
		    tkb_environment("AWS_WEB_IDENTITY_TOKEN_FILE") != NULL)
			return TKB_MISS;
	}
	if (rc == TKB_MISS)
		rc = read_profiles(url, &keys, err);
	if (rc != 0)
		return rc;
	*out = keys;
	keys = (struct tkb_s3_keys){ 0 };
	return 0;
}

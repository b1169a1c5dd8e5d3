/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "config/http_get.h"
#include "trust/config_file.h"
#include "config/engine_ref.h"
#include "cli/text.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz-"

enum kind {
	KIND_URLS, /* may hold a secret: never shown */
	KIND_TEXT,
	KIND_TIME,
	KIND_WORD,
	KIND_ADDRESS, /* a URL for http_get() */
	KIND_TEMPLATE /* see engine_ref.h */
};

struct spec {
	const char *name;
	const char *variable;
	enum kind kind;
	const char *standard; /* the default, or NULL */
	uint64_t min;
};

/* In the order of enum config_name. */
static const struct spec specs[CONFIG_COUNT] = {
	{ "remote", "TKBUNDLE_REMOTE", KIND_URLS, NULL, 0 },
	{ "ref", "TKBUNDLE_REF", KIND_TEXT, NULL, 0 },
	{ "timeout", "TKBUNDLE_TIMEOUT", KIND_TIME, "30s", 1 },
	{ "connect-timeout", "TKBUNDLE_CONNECT_TIMEOUT", KIND_TIME, "1s", 1 },
	{ "stall-timeout", "TKBUNDLE_STALL_TIMEOUT", KIND_TIME, "5s", 1 },
	{ "deadline", "TKBUNDLE_DEADLINE", KIND_TIME, NULL, 1 },
	{ "wait", "TKBUNDLE_WAIT", KIND_TIME, "2s", 0 },
	{ "push", "TKBUNDLE_PUSH", KIND_WORD, "always", 0 },
	{ "quiet", "TKBUNDLE_QUIET", KIND_TIME, "5s", 1 },
	{ "ready-url", "TKBUNDLE_READY_URL", KIND_ADDRESS, NULL, 0 },
	{ "ready-file", "TKBUNDLE_READY_FILE", KIND_TEXT, NULL, 0 },
	{ "engine-ref", "TKBUNDLE_ENGINE_REF", KIND_TEMPLATE,
	  ENGINE_REF_DEFAULT, 0 },
	{ "trust", "TKBUNDLE_TRUST", KIND_TEXT, NULL, 0 },
};

const char *config_name(enum config_name name)
{
	return specs[name].name;
}

const char *config_variable(enum config_name name)
{
	return specs[name].variable;
}

static bool read_config_number(const struct spec *spec, const char *text,
                               uint64_t *out)
{
	struct http_url url;
	uint32_t word;

	if (spec->kind == KIND_ADDRESS)
		return http_url_parse(text, &url);
	if (spec->kind == KIND_TEMPLATE)
		return engine_ref_is_valid(text);
	if (spec->kind == KIND_TIME)
		return tkb_time_parse(text, 0, out) && *out >= spec->min &&
		       *out <= ARGS_TIME_LIMIT_MS;
	if (spec->kind != KIND_WORD)
		return true;
	if (!args_find_word(text, CONFIG_PUSH_WORDS, &word))
		return false;
	*out = word;
	return true;
}

/* The kind of value that is expected, as a part of a sentence. */
static const char *wanted_value(const struct spec *spec)
{
	if (spec->kind == KIND_TIME)
		return "a time of at most 24h, as 500ms or 30s";
	if (spec->kind == KIND_WORD)
		return CONFIG_PUSH_WORDS;
	if (spec->kind == KIND_ADDRESS)
		return HTTP_URL_WANTED;
	if (spec->kind == KIND_TEMPLATE)
		return ENGINE_REF_WANTED;
	return "a value";
}

/*
 * If a URL was given for another value, do not print it: it may hold a
 * password.
 */
static int refuse_value(const struct spec *spec, const char *text,
                        const char *origin, struct tkb_error *err)
{
	if (text[0] == '\0')
		return cli_error(err, TKB_ERR_INVALID,
		                 "%s: '%s' wants %s, not nothing", origin,
		                 spec->name, wanted_value(spec));
	if (spec->kind == KIND_ADDRESS)
		return cli_error(err, TKB_ERR_INVALID,
		                 "%s: '%s' wants %s, and nothing else", origin,
		                 spec->name, wanted_value(spec));
	if (strstr(text, "://") != NULL)
		return cli_error(err, TKB_ERR_INVALID,
		                 "%s: '%s' wants %s, not a URL", origin,
		                 spec->name, wanted_value(spec));
	return cli_error(err, TKB_ERR_INVALID, "%s: '%s' wants %s, not '%.80s'",
	                 origin, spec->name, wanted_value(spec), text);
}

/* Set a value to `text`; `origin` names the place where it was found. */
static int set_value(struct config *config, size_t index, const char *text,
                     const char *origin, struct tkb_error *err)
{
	const struct spec *const spec = &specs[index];
	struct config_value *const value = &config->values[index];
	uint64_t number = 0;
	char *copy;
	char *place;

	if (text[0] == '\0' || !read_config_number(spec, text, &number)) {
		config->fault_count++;
		return refuse_value(spec, text, origin, err);
	}

	copy = strdup(text);
	place = strdup(origin);
	if (copy == NULL || place == NULL) {
		free(copy);
		free(place);
		return cli_error_nomem(err);
	}
	free(value->text);
	free(value->origin);
	*value = (struct config_value){ .text = copy,
		                        .number = number,
		                        .origin = place };
	return 0;
}

/* The state of reading one file. */
struct reading {
	struct config *config;
	bool is_seen[CONFIG_COUNT]; /* the values that this file has set */
	int rc;                     /* the first fault */
	struct tkb_error fault;
};

static void keep_first_fault(struct reading *reading, int rc,
                             const struct tkb_error *fault)
{
	if (reading->rc != 0)
		return;
	reading->rc = rc;
	reading->fault = *fault;
}

static int refuse_line(struct reading *reading, const char *origin,
                       const char *name, const char *what)
{
	struct tkb_error fault = { .status = 0 };

	reading->config->fault_count++;
	if (name[0] == '\0')
		(void)cli_error(&fault, TKB_ERR_INVALID, "%s: %s", origin,
		                what);
	else
		(void)cli_error(&fault, TKB_ERR_INVALID, "%s: '%.80s' %s",
		                origin, name, what);
	keep_first_fault(reading, TKB_ERR_INVALID, &fault);
	return 0;
}

/* After a faulty line, the other lines are still used. */
static int on_line(void *self, const char *path, size_t line, char *name,
                   char *value, struct tkb_error *err)
{
	struct reading *const reading = self;
	TKB_AUTO(text_free) char *origin = text_format("%s:%zu", path, line);
	struct tkb_error fault = { .status = 0 };
	size_t index = 0;
	int rc;

	if (origin == NULL)
		return cli_error_nomem(err);
	/* Do not print it if it is not a name: it may be a part of a URL. */
	if (name[strspn(name, NAME_CHARS)] != '\0' || name[0] == '\0')
		return refuse_line(reading, origin, "",
		                   "this is no 'name = value'");
	while (index < CONFIG_COUNT && strcmp(specs[index].name, name) != 0)
		index++;
	if (index == CONFIG_COUNT)
		return refuse_line(reading, origin, name, "is not known");
	if (reading->is_seen[index])
		return refuse_line(reading, origin, name, "is set here twice");

	reading->is_seen[index] = true;
	rc = set_value(reading->config, index, value, origin, &fault);
	if (rc == TKB_ERR_NOMEM)
		return cli_error_nomem(err);
	if (rc != 0)
		keep_first_fault(reading, rc, &fault);
	return 0;
}

static int load_file(struct config *config, const char *path,
                     enum config_file_kind kind, struct tkb_error *err)
{
	struct reading reading = { .config = config };
	const struct config_file_visitor visitor = { on_line, &reading };
	const int rc = config_file_read(path, kind, &visitor, err);

	if (rc != 0) {
		config->fault_count++;
		return rc;
	}
	if (reading.rc != 0)
		*err = reading.fault;
	return reading.rc;
}

/*
 * Without $HOME there is no user's file. Do not ask a name service for the home
 * folder: that could take long.
 */
static bool user_path(char **out)
{
	const char *const xdg = cli_variable("XDG_CONFIG_HOME");
	const char *const home = cli_variable("HOME");

	if (xdg != NULL && xdg[0] == '/')
		*out = text_format("%s/tkbundle/config", xdg);
	else if (home != NULL)
		*out = text_format("%s/.config/tkbundle/config", home);
	else
		return true;
	return *out != NULL;
}

bool config_path(size_t index, char **out)
{
	const char *const named = cli_variable("TKBUNDLE_CONFIG");

	*out = NULL;
	if (named != NULL && index != 0)
		return true;
	if (index != 0)
		return user_path(out);
	*out = strdup(named != NULL ? named : "/etc/tkbundle.conf");
	return *out != NULL;
}

static int load_path(struct config *config, size_t index, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *path = NULL;
	enum config_file_kind kind = CONFIG_FILE_SYSTEM;

	if (!config_path(index, &path))
		return cli_error_nomem(err);
	if (path == NULL)
		return 0;
	if (cli_variable("TKBUNDLE_CONFIG") != NULL)
		kind = CONFIG_FILE_NAMED;
	else if (index != 0)
		kind = CONFIG_FILE_USER;
	return load_file(config, path, kind, err);
}

static int load_variable(struct config *config, size_t index,
                         struct tkb_error *err)
{
	const char *const text = cli_variable(specs[index].variable);

	if (text == NULL)
		return 0;
	return set_value(config, index, text, specs[index].variable, err);
}

static int load_default(struct config *config, size_t index,
                        struct tkb_error *err)
{
	if (specs[index].standard == NULL)
		return 0;
	return set_value(config, index, specs[index].standard, "default", err);
}

static int set_time(struct config *config, enum config_name name,
                    const char *option, const struct amount *amount,
                    struct tkb_error *err)
{
	char text[TEXT_TIME_SIZE];

	if (!amount->is_set)
		return 0;
	text_time(amount->value, text);
	return set_value(config, name, text, option, err);
}

static int set_word(struct config *config, enum config_name name,
                    const char *option, uint32_t index, struct tkb_error *err)
{
	const char *begin;
	const size_t length = args_word(CONFIG_PUSH_WORDS, index, &begin);
	TKB_AUTO(text_free) char *word = strndup(begin, length);

	if (word == NULL)
		return cli_error_nomem(err);
	return set_value(config, name, word, option, err);
}

static int load_arguments(struct config *config, const struct arguments *args,
                          struct tkb_error *err)
{
	int rc = 0;

	if (args->remote != NULL && strcmp(args->remote, "-") != 0)
		rc = set_value(config, CONFIG_REMOTE, args->remote, "--remote",
		               err);
	if (rc == 0 && args->ref != NULL)
		rc = set_value(config, CONFIG_REF, args->ref, "--ref", err);
	if (rc == 0)
		rc = set_time(config, CONFIG_DEADLINE, "--deadline",
		              &args->deadline, err);
	if (rc == 0)
		rc = set_time(config, CONFIG_WAIT, "--wait", &args->wait, err);
	if (rc == 0)
		rc = set_time(config, CONFIG_QUIET, "--quiet", &args->quiet,
		              err);
	if (rc == 0 && args->ready_url != NULL)
		rc = set_value(config, CONFIG_READY_URL, args->ready_url,
		               "--ready-url", err);
	if (rc == 0 && args->ready_file != NULL)
		rc = set_value(config, CONFIG_READY_FILE, args->ready_file,
		               "--ready-file", err);
	if (rc == 0 && args->trust.policy != NULL)
		rc = set_value(config, CONFIG_TRUST, args->trust.policy,
		               "--trust", err);
	if (rc == 0 && args->push.is_set)
		rc = set_word(config, CONFIG_PUSH, "--push", args->push.value,
		              err);
	return rc;
}

/* Keep the first failure. */
static int keep_first_failure(int first, int rc, const struct tkb_error *fault,
                              struct tkb_error *err)
{
	if (first != 0 || rc == 0)
		return first;
	*err = *fault;
	return rc;
}

int config_load(const struct arguments *args, struct config *out,
                struct tkb_error *err)
{
	struct tkb_error fault = { .status = 0 };
	int rc = 0;

	*out = (struct config){ .fault_count = 0 };
	for (size_t i = 0; i < CONFIG_COUNT; i++)
		rc = keep_first_failure(rc, load_default(out, i, &fault),
		                        &fault, err);
	for (size_t i = 0; i < CONFIG_PATH_COUNT; i++)
		rc = keep_first_failure(rc, load_path(out, i, &fault), &fault,
		                        err);
	for (size_t i = 0; i < CONFIG_COUNT; i++)
		rc = keep_first_failure(rc, load_variable(out, i, &fault),
		                        &fault, err);
	if (args != NULL)
		rc = keep_first_failure(rc, load_arguments(out, args, &fault),
		                        &fault, err);
	return rc;
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < CONFIG_COUNT; i++) {
		free(config->values[i].text);
		free(config->values[i].origin);
	}
	*config = (struct config){ .fault_count = 0 };
}

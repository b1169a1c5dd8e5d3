/* SPDX-License-Identifier: Apache-2.0 */
#include "s3_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PORT_TRIES = 20
};

static struct server s3;

static const char *python(void)
{
	const char *path = getenv("TKB_MOTO_PYTHON");

	return path != NULL ? path : TKB_MOTO_PYTHON;
}

static bool is_answering(unsigned port)
{
	const struct outcome outcome =
		run("curl", "-sf", "--noproxy", "*", "-m", "20",
	            text("http://127.0.0.1:%u/_test/clock/0", port), NULL);

	return outcome.status == 0 && strcmp(outcome.out, "done") == 0;
}

static void launch(void)
{
	const char *log = text("%s/s3.log", test_folder());

	/* Another process may take the port before the server does. */
	for (int i = 0; i < PORT_TRIES; i++) {
		const unsigned port = free_port();

		if (start_server(&s3, port, log, python(), "-B", TKB_S3_SERVER,
		                 text("%u", port), NULL) &&
		    is_answering(port))
			return;
		stop_server(&s3, SIGKILL);
	}
	fail_msg("moto does not start: %s", (const char *)read_file(log).data);
}

void start_s3(void)
{
	if (access(python(), X_OK) < 0) {
		print_message("cannot run '%s': ./bootstrap test makes it\n",
		              python());
		skip();
	}
	forget_aws();
	set_keys("AKIDTEST", "s3cret/With+Signs", NULL);
	if (s3.pid == 0)
		launch();
	(void)ask_s3("clock/0");
}

unsigned s3_port(void)
{
	return s3.port;
}

static void set(const char *name, const char *value)
{
	if (value == NULL)
		SYS(unsetenv(name));
	else
		SYS(setenv(name, value, 1));
}

void forget_aws(void)
{
	static const char *const names[] = {
		"AWS_ROLE_ARN",
		"AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_ROLE_SESSION_NAME",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT",
		"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
		"AWS_ENDPOINT_URL_STS",
		"AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY",
		"AWS_SESSION_TOKEN",
		"AWS_PROFILE",
		"AWS_REGION",
		"AWS_DEFAULT_REGION",
		"AWS_CONFIG_FILE",
		"AWS_SHARED_CREDENTIALS_FILE",
		"AWS_ENDPOINT_URL_S3",
		"AWS_ENDPOINT_URL",
		"http_proxy",
		"https_proxy",
		"all_proxy",
		"ALL_PROXY",
		"HTTPS_PROXY",
	};

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++)
		set(names[i], NULL);
	set("HOME", test_folder());
	set("AWS_EC2_METADATA_DISABLED", "true");
}

void set_keys(const char *id, const char *secret, const char *token)
{
	set("AWS_ACCESS_KEY_ID", id);
	set("AWS_SECRET_ACCESS_KEY", secret);
	set("AWS_SESSION_TOKEN", token);
}

const char *ask_s3(const char *command)
{
	const struct outcome outcome = run(
		"curl", "-sf", "--noproxy", "*",
		text("http://127.0.0.1:%u/_test/%s", s3.port, command), NULL);

	CHECK_INT(outcome.status, 0);
	return outcome.out;
}

const char *new_bucket(const char *word)
{
	static unsigned count;
	const char *name = text("%s-%u", word, ++count);

	CHECK_STR(ask_s3(text("bucket/%s", name)), "done");
	return name;
}

const char *s3_url(const char *where, const char *rest)
{
	return text("s3://%s?endpoint=http://127.0.0.1:%u%s", where, s3.port,
	            rest);
}

/* Secrets, which no message may contain. */
static void check_silent(const char *message)
{
	CHECK(strstr(message, "s3cret") == NULL);
	CHECK(strstr(message, "token/") == NULL);
	CHECK(strstr(message, "Signature=") == NULL);
}

void check_refusal(const char *url, int status, const char *part)
{
	const struct tkb_ref_visitor visitor = ref_visitor(new_notebook());
	struct handle *handle = must_connect(url);

	FAILS(ASK(handle, refs, &visitor, ERR), status, part);
	check_silent(ERR->message);
}

void check_unopened(const char *url, int status, const char *part)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };

	FAILS(open_handle(url, &handle, ERR), status, part);
	check_silent(ERR->message);
}

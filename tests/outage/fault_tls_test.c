/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>

#include "fault_scene.h"
#include "nginx.h"

/*
 * Pulls under TLS from the real redis-server and nginx, by a proxy that can see
 * nothing and only delay, stall and cut; and certificates that are not as they
 * should be.
 */

enum {
	GREETING = 1000 /* bytes into the server's part of the handshake */
};

static void make_certificates(void)
{
	make_certified("IP:127.0.0.1", 2);
	make_certificate("other", "ca", "DNS:cache.test,IP:127.0.0.2", 2);
	make_certificate("expired", "ca", "IP:127.0.0.1", -1);
}

/* With certificate `name`. */
static struct server start_rediss(const char *name)
{
	return start_redis(text("requirepass " SECRET "\n"
	                        "tls-cert-file %s/%s.pem\n"
	                        "tls-key-file %s/%s.key\n"
	                        "tls-auth-clients no\n"
	                        "tls-ca-cert-file %s/ca.pem\n",
	                        test_folder(), name, test_folder(), name,
	                        test_folder()));
}

static struct server start_https(const char *name)
{
	return start_nginx(text("%s%s", nginx_tls(name), nginx_dav()));
}

static const struct kind {
	struct server (*start)(const char *certificate);
	const char *form; /* of a URL */
	const char *careless;
	int once_rc; /* of a pull that is cut and does not try again */
} kinds[] = {
	{ start_rediss, "rediss://:" SECRET "@127.0.0.1:%u?cafile=ca.pem&%s",
	  "rediss://:" SECRET "@127.0.0.1:%u?verify=false&%s",
	  TKB_ERR_UNAVAILABLE },
	{ start_https,
	  "https://bob:" SECRET "@127.0.0.1:%u/cache?cafile=ca.pem&%s",
	  "https://bob:" SECRET "@127.0.0.1:%u/cache?verify=false&%s", EITHER },
};

/* How many bytes a whole pull brings, with those of TLS. */
static uint64_t weigh_pull(const struct scene *scene)
{
	struct proxy proxy = start_proxy(scene->port, NULL, 0);
	const struct attempt attempt =
		pull_from(scene_url(scene, proxy.port, ONCE), "weighed");
	const uint64_t size = proxy.counts->down;

	CHECK_OK(attempt.rc, &attempt.err);
	stop_proxy(&proxy);
	return size;
}

TEST(fault_tls, a_pull_that_is_cut_anywhere_is_a_miss_and_right_at_another_try)
{
	static const struct fault cut = { .harm = CUT };

	make_certificates();
	for (size_t i = 0; i < TKB_COUNT_OF(kinds); i++) {
		struct server server = kinds[i].start("server");
		const struct scene scene =
			arrange_scene(server.tls_port, kinds[i].form);

		check_cuts(&scene, &cut, weigh_pull(&scene), kinds[i].once_rc,
		           "");
		stop_server(&server, SIGTERM);
	}
}

TEST(fault_tls, a_pull_that_meets_a_fault_is_right_or_a_miss)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing", HARM(STALL),
		  ENDS(HASTY_ONCE, STALL_MS, TKB_ERR_UNAVAILABLE, "") },
		{ "it stalls in its greeting", HARM(STALL, .at = GREETING),
		  ENDS(HASTY_ONCE, STALL_MS, TKB_ERR_UNAVAILABLE, "") },
		{ "it greets late", HARM(DELAY, .ms = 100),
		  ENDS(ONCE, 100, 0, NULL) },
		{ "a bit of its greeting is flipped",
		  HARM(FLIP, .at = GREETING), GONE("") },
		{ "a bit of a blob is flipped", HARM(FLIP, .at = 20000),
		  GONE("") },
		{ "a bit of a blob is flipped once",
		  HARM(FLIP, .at = 20000, .times = 1), RIGHT(THRICE) },
	};

	make_certificates();
	for (size_t i = 0; i < TKB_COUNT_OF(kinds); i++) {
		struct server server = kinds[i].start("server");
		const struct scene scene =
			arrange_scene(server.tls_port, kinds[i].form);

		check_pulls(&scene, cases, TKB_COUNT_OF(cases));
		stop_server(&server, SIGTERM);
	}
}

/* What is loud is told before anything is done. */
static const char *warning_of(const char *urls)
{
	struct tkb_remote *remote = must_open_remote(urls, NULL);
	const char *warning = tkb_remote_tier_warning(remote, 0);

	return warning == NULL ? NULL : text("%s", warning);
}

/* What the program says to a pull from `urls`. */
static struct outcome pull_by_program(const char *urls, const char *root)
{
	return run(program(), "pull", SCENE_REF, root, "--remote", urls, NULL);
}

/* Loud is also what the program is. */
static void check_program(const char *quiet, const char *loud, const char *part)
{
	struct outcome outcome = pull_by_program(quiet, "by-program");

	CHECK_INT(outcome.status, 1);
	CHECK_CONTAINS(outcome.err, part);
	CHECK(strstr(outcome.err, SECRET) == NULL);
	CHECK(strstr(outcome.err, "verify=false") == NULL);
	outcome = pull_by_program(loud, "by-program");
	CHECK_INT(outcome.status, 0);
	CHECK_CONTAINS(outcome.err, "verify=false");
	CHECK(strstr(outcome.err, SECRET) == NULL);
	CHECK_INT(run("rm", "-rf", "by-program", NULL).status, 0);
}

/* Not with these eyes, and with them shut. */
static void check_certificate(const struct kind *kind, const char *certificate,
                              const char *part)
{
	struct server server = kind->start(certificate);
	const char *loud = text(kind->careless, server.tls_port, THRICE);
	const char *quiet = text(kind->form, server.tls_port, THRICE);
	const char *root = text("pulled-%u", server.tls_port);
	const struct scene scene =
		arrange_scene(server.tls_port, kind->careless);
	struct attempt attempt = pull_from(quiet, root);

	CHECK_INT(attempt.rc, TKB_ERR_DENIED);
	check_message(&attempt, attempt.name, part);
	CHECK_INT(count_right(&scene, root), 0);
	attempt = push_to(quiet, scene.source);
	CHECK_INT(attempt.rc, TKB_ERR_DENIED);
	check_message(&attempt, attempt.name, part);

	CHECK(warning_of(quiet) == NULL);
	CHECK_CONTAINS(warning_of(loud), "verify=false");
	attempt = push_to(loud, scene.source);
	CHECK_OK(attempt.rc, &attempt.err);
	attempt = pull_from(loud, root);
	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(count_right(&scene, root), scene.entry_count);
	check_program(quiet, loud, part);
	stop_server(&server, SIGTERM);
}

TEST(fault_tls, a_certificate_for_another_name_is_a_miss_if_it_is_looked_at)
{
	make_certificates();
	check_certificate(&kinds[0], "other",
	                  "its certificate is not accepted");
	check_certificate(&kinds[1], "other",
	                  "its certificate is not accepted");
}

TEST(fault_tls, a_certificate_of_the_past_is_a_miss_if_it_is_looked_at)
{
	make_certificates();
	check_certificate(&kinds[0], "expired", "certificate has expired");
	check_certificate(&kinds[1], "expired", "certificate has expired");
}

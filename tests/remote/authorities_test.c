/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls_fixture.h"

/* Whom TLS trusts: the URL, variables and the system name authorities. */

#define SYSTEM "/etc/ssl/certs/ca-certificates.crt" /* this Debian's */

static const char *const variables[] = { "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	                                 "SSL_CERT_FILE", "SSL_CERT_DIR" };

enum {
	FILE_VARIABLES = 3 /* the first of them name files */
};

/* NULL: it is not set. */
static void set(const char *name, const char *value)
{
	if (value != NULL)
		SYS(setenv(name, value, 1));
	else
		SYS(unsetenv(name));
}

static void unset_all(void)
{
	for (size_t i = 0; i < TKB_COUNT_OF(variables); i++)
		set(variables[i], NULL);
}

static void check_variables(const struct tls_target *target)
{
	for (size_t i = 0; i < FILE_VARIABLES; i++) {
		const char *name = variables[i];

		set(name, "ca.pem");
		check_works(target, "localhost", "");
		set(name, "other.pem");
		check_denied(target, "localhost", "",
		             text("; TLS trusts 'other.pem' (%s)", name));
		check_works(target, "localhost", "?cafile=ca.pem");
		set(name, "none.pem");
		check_invalid(target, "",
		              text("cannot use the CA certificates in "
		                   "'none.pem' (%s)",
		                   name));
		set(name, NULL);
	}
	check_denied(target, "localhost", "", "; TLS trusts ");
}

TEST(authorities, a_file_that_a_variable_names_is_trusted)
{
	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost", 2);
	check_each("server", NO_CERTIFICATE, check_variables);
}

static void check_folders(const struct tls_target *target)
{
	static const char *const names[] = { "REQUESTS_CA_BUNDLE",
		                             "CURL_CA_BUNDLE", "SSL_CERT_DIR" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		set(names[i], "ours");
		check_works(target, "localhost", "");
		set(names[i], "empty");
		check_denied(target, "localhost", "",
		             text("; TLS trusts 'empty' (%s)", names[i]));
		set(names[i], NULL);
	}
	set("SSL_CERT_DIR", "empty:ours");
	check_works(target, "localhost", "");
	set("SSL_CERT_FILE", "other.pem");
	check_works(target, "localhost", "");
	set("SSL_CERT_DIR", "empty");
	check_denied(target, "localhost", "",
	             "; TLS trusts 'other.pem' (SSL_CERT_FILE) and 'empty' "
	             "(SSL_CERT_DIR)");
	unset_all();
}

TEST(authorities, a_folder_that_a_variable_names_is_trusted)
{
	make_authority("ca");
	make_authority("other");
	make_certificate("server", "ca", "DNS:localhost", 2);
	SYS(mkdir("ours", 0777));
	SYS(mkdir("empty", 0777));
	SYS(symlink("../ca.pem", "ours/ca.pem"));
	CHECK_INT(run("openssl", "rehash", "ours", NULL).status, 0);
	check_each("server", NO_CERTIFICATE, check_folders);
}

/* What is said of the remote. "" where TLS is not asked whom it trusts. */
static const char *said_of(const char *url, const char *fallback)
{
	const struct tkb_remote_options options =
		CHOSEN(tkb_remote_options, .fallback_cafile = fallback);
	struct tkb_remote *remote = must_open_remote(url, &options);
	char out[TKB_AUTHORITIES_SIZE] = "untouched";

	if (!tkb_remote_tier_authorities(remote, 0, out)) {
		CHECK_STR(out, "untouched");
		return "";
	}
	return text("%s", out);
}

TEST(authorities, the_first_that_is_named_counts_alone)
{
	static const struct {
		const char *url;
		const char *values[TKB_COUNT_OF(variables)];
		const char *wanted;
	} rows[] = {
		{ "https://h?cafile=u",
		  { "r", "c", "f", "d" },
		  "'u' (cafile)" },
		{ "https://h",
		  { "r", "c", "f", "d" },
		  "'r' (REQUESTS_CA_BUNDLE)" },
		{ "https://h", { "", "c", "f", "d" }, "'c' (CURL_CA_BUNDLE)" },
		{ "rediss://h",
		  { NULL, "", "f", "d:e" },
		  "'f' (SSL_CERT_FILE) and 'd:e' (SSL_CERT_DIR)" },
		{ "s3://bucket",
		  { NULL, NULL, "f", "" },
		  "'f' (SSL_CERT_FILE)" },
		{ "s3://bucket",
		  { NULL, NULL, NULL, "d" },
		  "'d' (SSL_CERT_DIR)" },
		{ "https://h?verify=false", { "r", "c", "f", "d" }, "" },
		{ "https://h?verify=true",
		  { "r", "c", "f", "d" },
		  "'r' (REQUESTS_CA_BUNDLE)" },
		{ "oci://h/r",
		  { "r", "c", "f", "d" },
		  "'r' (REQUESTS_CA_BUNDLE)" },
		{ "oci://localhost/r?cafile=u",
		  { "r", "c", "f", "d" },
		  "'u' (cafile)" },
		{ "oci://localhost/r", { "r", "c", "f", "d" }, "" },
		{ "oci+http://h/r", { "r", "c", "f", "d" }, "" },
		{ "http://h", { "r", "c", "f", "d" }, "" },
		{ "redis://h", { "r", "c", "f", "d" }, "" },
		{ "memory://m", { "r", "c", "f", "d" }, "" },
		{ "/folder", { "r", "c", "f", "d" }, "" },
	};

	EACH(i, rows) {
		for (size_t j = 0; j < TKB_COUNT_OF(variables); j++)
			set(variables[j], rows[i].values[j]);
		CHECK_STR(said_of(rows[i].url, "fallback"), rows[i].wanted);
	}
	unset_all();
}

TEST(authorities, the_fallback_is_for_a_machine_without_any)
{
	const bool has_system = access(SYSTEM, R_OK) == 0;
	const char *wanted = has_system ? "'" SYSTEM "' (the system's)"
	                                : "'more.pem' (this machine has none)";

	CHECK_STR(said_of("https://h", "more.pem"), wanted);
	wanted = has_system ? wanted
	                    : "nobody: this machine has no CA certificates, "
	                      "name some by 'cafile' or SSL_CERT_FILE";
	CHECK_STR(said_of("https://h", NULL), wanted);
}

static void check_name(const struct tls_target *target)
{
	set("SSL_CERT_FILE", "ca.pem");
	check_denied(target, "localhost", "", "matches target host");
	CHECK(strstr(ERR->message, "TLS trusts") == NULL);
	unset_all();
}

TEST(authorities, none_is_blamed_for_a_wrong_name)
{
	make_certified("DNS:other", 2);
	check_each("server", NO_CERTIFICATE, check_name);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/authorities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/base.h"
#include "base/path.h"

static void choose_authorities(struct tkb_authorities *out, const char *path,
                               const char *origin)
{
	if (tkb_path_is_folder(path))
		out->folder = path;
	else
		out->file = path;
	(void)snprintf(out->text, sizeof(out->text), "'%.200s' (%s)", path,
	               origin);
}

/* Use OpenSSL's two variables. The folder may be a list separated by colons. */
static bool find_openssl(struct tkb_authorities *out)
{
	const char *file = tkb_environment("SSL_CERT_FILE");
	const char *folder = tkb_environment("SSL_CERT_DIR");

	if (file != NULL && folder != NULL)
		(void)snprintf(out->text, sizeof(out->text),
		               "'%.200s' (SSL_CERT_FILE) and '%.200s' "
		               "(SSL_CERT_DIR)",
		               file, folder);
	else if (file != NULL || folder != NULL)
		(void)snprintf(out->text, sizeof(out->text), "'%.200s' (%s)",
		               file != NULL ? file : folder,
		               file != NULL ? "SSL_CERT_FILE" : "SSL_CERT_DIR");
	out->file = file;
	out->folder = folder;
	return file != NULL || folder != NULL;
}

/*
 * If several variables are set, the order is: those of Python's requests, of
 * curl, of OpenSSL.
 */
static bool find_variable(struct tkb_authorities *out)
{
	static const char *const names[] = { "REQUESTS_CA_BUNDLE",
		                             "CURL_CA_BUNDLE" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		const char *path = tkb_environment(names[i]);

		if (path != NULL) {
			choose_authorities(out, path, names[i]);
			return true;
		}
	}
	return find_openssl(out);
}

/* Use libcurl's default if it is the system's: then nothing need be set. */
static bool find_built_in(struct tkb_authorities *out)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
	const char *path = info->cainfo;

	if (path == NULL || access(path, R_OK) != 0)
		path = info->cainfo == NULL ? info->capath : NULL;
	if (path == NULL || access(path, R_OK) != 0)
		return false;
	(void)snprintf(out->text, sizeof(out->text), "'%.200s' (the system's)",
	               path);
	return true;
}

static bool find_system(struct tkb_authorities *out)
{
	static const char *const paths[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Red Hat, Fedora */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		"/var/lib/ca-certificates/ca-bundle.pem", /* SUSE */
		"/etc/ssl/cert.pem",                      /* Alpine */
	};

	for (size_t i = 0; i < TKB_COUNT_OF(paths); i++) {
		if (access(paths[i], R_OK) == 0) {
			choose_authorities(out, paths[i], "the system's");
			return true;
		}
	}
	return false;
}

void tkb_authorities_find_general(const struct tkb_remote_url *url,
                                  struct tkb_authorities *out)
{
	*out = (struct tkb_authorities){ .file = NULL };
	if (find_variable(out) || find_built_in(out) || find_system(out))
		return;
	if (url->fallback_cafile != NULL)
		choose_authorities(out, url->fallback_cafile,
		                   "this machine has none");
	out->is_none = url->fallback_cafile == NULL;
	if (out->is_none)
		(void)snprintf(out->text, sizeof(out->text),
		               "nobody: this machine has no CA certificates, "
		               "name some by 'cafile' or SSL_CERT_FILE");
}

void tkb_authorities_find(const struct tkb_remote_url *url,
                          struct tkb_authorities *out)
{
	const char *path = tkb_remote_url_param(url, "cafile");

	if (path == NULL) {
		tkb_authorities_find_general(url, out);
		return;
	}
	*out = (struct tkb_authorities){ .file = path };
	(void)snprintf(out->text, sizeof(out->text), "'%.200s' (cafile)", path);
}

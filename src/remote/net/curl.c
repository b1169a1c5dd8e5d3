/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/curl.h"

#include <errno.h>
#include <string.h>

#include "remote/net/authorities.h"

int tkb_curl_slist_add(struct curl_slist **list, const char *text,
                       struct tkb_error *err)
{
	struct curl_slist *longer = curl_slist_append(*list, text);

	if (longer == NULL)
		return tkb_fail_nomem(err);
	*list = longer;
	return 0;
}

int tkb_curl_check_threads(struct tkb_error *err)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);

	if ((info->features & CURL_VERSION_THREADSAFE) != 0)
		return 0;
	return tkb_fail(err, TKB_ERR_UNSUPPORTED,
	                "this libcurl was built without threads");
}

/*
 * Set both options, file and folder: libcurl's default for the other would add
 * authorities that were not chosen.
 */
static void set_authorities(CURL *curl, const struct tkb_remote_url *url,
                            CURLcode *code)
{
	struct tkb_authorities authorities;

	tkb_authorities_find(url, &authorities);
	if (authorities.file != NULL || authorities.folder != NULL) {
		tkb_curl_set(*code, curl, CURLOPT_CAINFO, authorities.file);
		tkb_curl_set(*code, curl, CURLOPT_CAPATH, authorities.folder);
	}
	tkb_authorities_find_general(url, &authorities);
	if (authorities.file == NULL && authorities.folder == NULL)
		return;
	/*
	 * Ignore a failure: a libcurl without HTTPS proxies lacks these
	 * options.
	 */
	(void)curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO, authorities.file);
	(void)curl_easy_setopt(curl, CURLOPT_PROXY_CAPATH, authorities.folder);
}

void tkb_curl_set_tls(CURL *curl, const struct tkb_remote_url *url,
                      bool shows_certificate, CURLcode *code)
{
	const char *verify = tkb_remote_url_param(url, "verify");
	const char *cert = tkb_remote_url_param(url, "cert");
	const char *key = tkb_remote_url_param(url, "key");

	tkb_curl_set(*code, curl, CURLOPT_SSLVERSION,
	             (long)CURL_SSLVERSION_TLSv1_2);
	set_authorities(curl, url, code);
	if (verify != NULL && strcmp(verify, "false") == 0) {
		tkb_curl_set(*code, curl, CURLOPT_SSL_VERIFYPEER, 0L);
		tkb_curl_set(*code, curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (cert == NULL || !shows_certificate)
		return;
	tkb_curl_set(*code, curl, CURLOPT_SSLCERT, cert);
	tkb_curl_set(*code, curl, CURLOPT_SSLKEY, key != NULL ? key : cert);
	/* Without a pass phrase, OpenSSL asks for one on the terminal. */
	tkb_curl_set(*code, curl, CURLOPT_KEYPASSWD, "");
}

static int unavailable(struct tkb_error *err, const char *what)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "%s", what);
}

/*
 * Was it a proxy that libcurl could not connect to? Its text, "Failed to connect
 * to <name> port ...", then has another name than the URL, or ends with "via
 * <proxy>". (With the parameter server-name, the URL has that one.)
 */
static bool is_about_proxy(CURL *curl, const struct tkb_remote_url *url,
                           const char *fault)
{
	static const char opening[] = "Failed to connect to ";
	TKB_AUTO(tkb_curl_url_cleanup_at) CURLU *parts = curl_url();
	TKB_AUTO(tkb_curl_free_at) char *host = NULL;
	const char *text = NULL;
	size_t size;

	if (!tkb_begins_with(fault, opening) || parts == NULL ||
	    tkb_remote_url_param(url, "server-name") != NULL)
		return false;
	(void)curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &text);
	if (text == NULL ||
	    curl_url_set(parts, CURLUPART_URL, text, 0) != CURLUE_OK ||
	    curl_url_get(parts, CURLUPART_HOST, &host, CURLU_PUNYCODE) !=
	            CURLUE_OK)
		return false;
	fault += strlen(opening);
	size = strcspn(fault, " ");
	return strstr(fault, " via ") != NULL ||
	       strcspn(host + (host[0] == '['), "]") != size ||
	       strncasecmp(host + (host[0] == '['), fault, size) != 0;
}

/* "...: Connection refused" */
static int fail_to_connect(CURL *curl, const struct tkb_remote_url *url,
                           const char *fault, struct tkb_error *err)
{
	const char *what = is_about_proxy(curl, url, fault)
	                           ? "cannot connect to its proxy"
	                           : "cannot connect";
	char text[128] = "";
	long number = 0;

	(void)curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number);
	if (number == 0)
		return unavailable(err, what);
	return tkb_fail(
		err,
		number == EACCES || number == EPERM ? TKB_ERR_DENIED
						    : TKB_ERR_UNAVAILABLE,
		"%s: %s", what, strerror_r((int)number, text, sizeof(text)));
}

/* Report that a proxy refused to connect to the server. 0: none did. */
static int explain_proxy(CURL *curl, struct tkb_error *err)
{
	long status = 0;

	(void)curl_easy_getinfo(curl, CURLINFO_HTTP_CONNECTCODE, &status);
	if (status == 407)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "its proxy wants other credentials: HTTP 407");
	if (status == 0 || status / 100 == 2)
		return 0;
	/* One that was too slow, or is asked too often, may do so later. */
	return tkb_fail(err,
	                status / 100 == 4 && status != 408 && status != 429
	                        ? TKB_ERR_DENIED
	                        : TKB_ERR_UNAVAILABLE,
	                "its proxy does not connect to it: HTTP %ld", status);
}

/* The words with which libcurl introduces OpenSSL's verdict on a chain. */
static const char certificate_problem[] = "SSL certificate problem: ";

/* The reason alone, without the words of libcurl and OpenSSL before it. */
static const char *reason_in(const char *fault)
{
	static const char *const openings[] = { certificate_problem,
		                                "SSL: ", "::" };

	for (size_t i = 0; i < TKB_COUNT_OF(openings); i++) {
		const char *found = strstr(fault, openings[i]);

		if (found != NULL)
			fault = found + strlen(openings[i]);
	}
	return fault[0] != '\0' ? fault : "no reason is given";
}

/* The alerts with which a server refuses our certificate, or the lack of one.
 */
static bool is_about_certificate(const char *fault)
{
	static const char *const alerts[] = {
		"alert bad certificate",         "alert certificate",
		"alert unsupported certificate", "alert handshake failure",
		"alert access denied",           "alert unknown ca",
	};

	for (size_t i = 0; i < TKB_COUNT_OF(alerts); i++) {
		if (strstr(fault, alerts[i]) != NULL)
			return true;
	}
	return false;
}

static int fail_tls(const char *fault, struct tkb_error *err)
{
	if (strstr(fault, "unexpected eof") != NULL ||
	    strstr(fault, "SSL_ERROR_SYSCALL") != NULL)
		return unavailable(err, "it closed the connection");
	if (is_about_certificate(fault))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it does not accept our certificate: %s",
		                reason_in(fault));
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "TLS failed: %s",
	                reason_in(fault));
}

/* Report that our certificate or key cannot be used. */
static int fail_certificate(const struct tkb_remote_url *url, const char *fault,
                            struct tkb_error *err)
{
	const char *cert = tkb_remote_url_param(url, "cert");
	const char *key = tkb_remote_url_param(url, "key");

	if (cert == NULL)
		return fail_tls(fault, err);
	return tkb_fail(err, TKB_ERR_INVALID,
	                "cannot use the certificate in '%s' with the private "
	                "key in '%s': %s",
	                cert, key != NULL ? key : cert, reason_in(fault));
}

static int fail_authorities(const struct tkb_remote_url *url,
                            struct tkb_error *err)
{
	struct tkb_authorities authorities;

	tkb_authorities_find(url, &authorities);
	return tkb_fail(err, TKB_ERR_INVALID,
	                authorities.is_none
	                        ? "TLS trusts %s"
	                        : "cannot use the CA certificates in %s",
	                authorities.text);
}

/* A certificate was refused: the server's by us, or ours by the server. */
static int fail_verification(const struct tkb_remote_url *url,
                             const char *fault, struct tkb_error *err)
{
	struct tkb_authorities authorities;

	/*
	 * libcurl's text if the server says that our certificate has expired.
	 */
	if (strcmp(fault, "SSL certificate verification failed") == 0)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it does not accept our certificate: it has "
		                "expired");
	/* The name does not match: do not mention the authorities. */
	if (strstr(fault, certificate_problem) == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "its certificate is not accepted: %s",
		                reason_in(fault));
	tkb_authorities_find(url, &authorities);
	return tkb_fail(err, TKB_ERR_DENIED,
	                "its certificate is not accepted: %s; TLS trusts %s",
	                reason_in(fault), authorities.text);
}

int tkb_curl_explain(CURL *curl, const struct tkb_remote_url *url,
                     const char *fault, CURLcode code, struct tkb_error *err)
{
	int rc;

	if (code == CURLE_OUT_OF_MEMORY)
		return tkb_fail_nomem(err);
	rc = explain_proxy(curl, err);
	if (rc < 0)
		return rc;
	switch (code) {
	case CURLE_URL_MALFORMAT:
		return tkb_fail(err, TKB_ERR_INVALID, "its URL makes no sense");
	case CURLE_COULDNT_RESOLVE_HOST:
		return unavailable(err, "its host's name is not known");
	case CURLE_COULDNT_CONNECT:
		return fail_to_connect(curl, url, fault, err);
	case CURLE_OPERATION_TIMEDOUT:
		return unavailable(err, "cannot connect: it was not done in "
		                        "time (connect-timeout)");
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
		return fail_verification(url, fault, err);
	case CURLE_SSL_CACERT_BADFILE:
		return fail_authorities(url, err);
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_BAD_FUNCTION_ARGUMENT:
		return fail_certificate(url, fault, err);
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CLIENTCERT:
	case CURLE_SSL_CIPHER:
		return fail_tls(fault, err);
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		if (strstr(fault, "SSL routines") != NULL)
			return fail_tls(fault, err);
		return unavailable(err, "it closed the connection");
	default:
		return 0;
	}
}

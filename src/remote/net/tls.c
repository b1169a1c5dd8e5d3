/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct tkb_tls {
	BIO_METHOD *method; /* owned */
	SSL *ssl;           /* owned; owns its BIO */
	bool is_open;       /* the handshake is done */
};

static void free_context(SSL_CTX **context)
{
	SSL_CTX_free(*context);
}

static void free_tls(struct tkb_tls **tls)
{
	tkb_tls_free(*tls);
}

/* OpenSSL's own socket BIO raises SIGPIPE. */
static int bio_write(BIO *bio, const char *data, int size)
{
	const ssize_t sent =
		tkb_wire_send(BIO_get_data(bio), data, (size_t)size);

	BIO_clear_retry_flags(bio);
	if (sent < 0 && tkb_wire_would_block())
		BIO_set_retry_write(bio);
	return (int)sent;
}

static int bio_read(BIO *bio, char *data, int size)
{
	const ssize_t got =
		tkb_wire_recv(BIO_get_data(bio), data, (size_t)size);

	BIO_clear_retry_flags(bio);
	if (got < 0 && tkb_wire_would_block())
		BIO_set_retry_read(bio);
	return (int)got;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	const struct tkb_wire *wire = BIO_get_data(bio);

	(void)number, (void)pointer;
	if (command == BIO_CTRL_EOF)
		return wire->is_ended;
	return command == BIO_CTRL_FLUSH;
}

/* A method of one's own needs a number only where somebody searches for it. */
static BIO_METHOD *new_method(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "tkbundle");

	if (method == NULL || BIO_meth_set_write(method, bio_write) != 1 ||
	    BIO_meth_set_read(method, bio_read) != 1 ||
	    BIO_meth_set_ctrl(method, bio_ctrl) != 1) {
		BIO_meth_free(method);
		return NULL;
	}
	return method;
}

static int fail_nomem(struct tkb_error *err)
{
	ERR_clear_error();
	return tkb_fail(err, TKB_ERR_NOMEM, "OpenSSL gives no TLS");
}

static const char *reason_text(unsigned long code)
{
	const char *text = ERR_reason_error_string(code);

	return text != NULL ? text : "no reason is given";
}

static int fail_file(struct tkb_error *err, const char *what, const char *path)
{
	const unsigned long code = ERR_peek_last_error();

	ERR_clear_error();
	return tkb_fail(err, TKB_ERR_INVALID, "cannot use the %s in '%s': %s",
	                what, path, reason_text(code));
}

/* Without this OpenSSL asks for a key's pass phrase on the terminal. */
static int know_no_pass_phrase(char *text, int size, int writes, void *self)
{
	(void)writes, (void)self;
	if (size > 0)
		text[0] = '\0';
	return -1;
}

static int load_authorities(SSL_CTX *context,
                            const struct tkb_tls_options *options,
                            struct tkb_error *err)
{
	const char *path = options->ca_file;

	if (options->accepts_anybody)
		return 0;
	if (path == NULL)
		return SSL_CTX_set_default_verify_paths(context) == 1
		               ? 0
		               : fail_nomem(err);
	if (SSL_CTX_load_verify_file(context, path) != 1)
		return fail_file(err, "CA certificates", path);
	return 0;
}

static int load_certificate(SSL_CTX *context,
                            const struct tkb_tls_options *options,
                            struct tkb_error *err)
{
	const char *cert = options->cert_file;
	const char *key = options->key_file != NULL ? options->key_file : cert;

	if (cert == NULL && key == NULL)
		return 0;
	if (cert == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a key without a certificate");
	SSL_CTX_set_default_passwd_cb(context, know_no_pass_phrase);
	if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
		return fail_file(err, "certificate", cert);
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(context) != 1)
		return fail_file(err, "private key", key);
	return 0;
}

static bool is_address(const char *name)
{
	unsigned char bytes[16];

	return inet_pton(AF_INET, name, bytes) == 1 ||
	       inet_pton(AF_INET6, name, bytes) == 1;
}

/* Who the peer must be; a host is told which of its names is wanted. */
static int set_name(SSL *ssl, const char *name, struct tkb_error *err)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	if (is_address(name))
		return X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1
		               ? 0
		               : fail_nomem(err);
	X509_VERIFY_PARAM_set_hostflags(param,
	                                X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (X509_VERIFY_PARAM_set1_host(param, name, 0) != 1 ||
	    SSL_set_tlsext_host_name(ssl, name) != 1) {
		ERR_clear_error();
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.200s' cannot be a server's name", name);
	}
	return 0;
}

static int prepare(struct tkb_tls *tls, struct tkb_wire *wire,
                   struct tkb_error *err)
{
	BIO *bio;

	tls->method = new_method();
	if (tls->method == NULL)
		return fail_nomem(err);
	bio = BIO_new(tls->method);
	if (bio == NULL)
		return fail_nomem(err);
	BIO_set_data(bio, wire);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	SSL_set_connect_state(tls->ssl);
	(void)SSL_set_mode(tls->ssl,
	                   SSL_MODE_ENABLE_PARTIAL_WRITE |
	                           SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return 0;
}

int tkb_tls_new(const struct tkb_tls_options *options, const char *host,
                struct tkb_wire *wire, struct tkb_tls **out,
                struct tkb_error *err)
{
	TKB_AUTO(free_context)
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	TKB_AUTO(free_tls) struct tkb_tls *tls = NULL;
	int rc;

	if (context == NULL ||
	    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
		return fail_nomem(err);
	rc = load_authorities(context, options, err);
	if (rc == 0)
		rc = load_certificate(context, options, err);
	if (rc < 0)
		return rc;
	SSL_CTX_set_verify(context,
	                   options->accepts_anybody ? SSL_VERIFY_NONE
	                                            : SSL_VERIFY_PEER,
	                   NULL);
	tls = tkb_alloc_array(1, sizeof(*tls));
	if (tls == NULL)
		return tkb_fail_nomem(err);
	tls->ssl = SSL_new(context);
	if (tls->ssl == NULL)
		return fail_nomem(err);
	rc = set_name(tls->ssl,
	              options->server_name != NULL ? options->server_name
	                                           : host,
	              err);
	if (rc == 0)
		rc = prepare(tls, wire, err);
	if (rc == 0)
		*out = tkb_take(tls);
	return rc;
}

void tkb_tls_free(struct tkb_tls *tls)
{
	if (tls == NULL)
		return;
	ERR_clear_error();
	if (tls->is_open)
		(void)SSL_shutdown(tls->ssl);
	SSL_free(tls->ssl);
	BIO_meth_free(tls->method);
	ERR_clear_error();
	free(tls);
}

/* The peer's alerts that say that it wants another certificate, or one. */
static bool is_about_certificate(int reason)
{
	static const int reasons[] = {
		SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
		SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
		SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED,
		SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
		SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,
		SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
		SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
		SSL_R_TLSV1_ALERT_ACCESS_DENIED,
		SSL_R_TLSV1_ALERT_UNKNOWN_CA,
	};

	for (size_t i = 0; i < TKB_COUNT_OF(reasons); i++) {
		if (reasons[i] == reason)
			return true;
	}
	return false;
}

static int explain_failure(struct tkb_tls *tls, struct tkb_error *err)
{
	const unsigned long code = ERR_peek_error();
	const int reason = ERR_GET_REASON(code);

	ERR_clear_error();
	if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		return tkb_wire_fail_ended(err);
	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "its certificate is not accepted: %s",
		                X509_verify_cert_error_string(
					SSL_get_verify_result(tls->ssl)));
	if (is_about_certificate(reason))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it does not accept our certificate: %s",
		                reason_text(code));
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "TLS failed: %s",
	                reason_text(code));
}

/* What a step that moved nothing came to. */
static int explain(struct tkb_tls *tls, int result, short *wanted_out,
                   struct tkb_error *err)
{
	const int number = errno;

	switch (SSL_get_error(tls->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		*wanted_out = POLLIN;
		return 0;
	case SSL_ERROR_WANT_WRITE:
		*wanted_out = POLLOUT;
		return 0;
	case SSL_ERROR_SSL:
		tls->is_open = false;
		return explain_failure(tls, err);
	case SSL_ERROR_SYSCALL:
		tls->is_open = false;
		ERR_clear_error();
		errno = number;
		if (number == 0 || number == ECONNRESET)
			return tkb_wire_fail_ended(err);
		return tkb_wire_fail(err, "the connection broke");
	default:
		return tkb_wire_fail_ended(err);
	}
}

int tkb_tls_handshake(struct tkb_tls *tls, bool *done_out, short *wanted_out,
                      struct tkb_error *err)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_do_handshake(tls->ssl);
	tls->is_open = result == 1;
	*done_out = tls->is_open;
	return tls->is_open ? 0 : explain(tls, result, wanted_out, err);
}

int tkb_tls_read(struct tkb_tls *tls, void *data, size_t size,
                 size_t *moved_out, short *wanted_out, struct tkb_error *err)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_read_ex(tls->ssl, data, size, moved_out);
	return result == 1 ? 0 : explain(tls, result, wanted_out, err);
}

int tkb_tls_write(struct tkb_tls *tls, const void *data, size_t size,
                  size_t *moved_out, short *wanted_out, struct tkb_error *err)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_write_ex(tls->ssl, data, size, moved_out);
	return result == 1 ? 0 : explain(tls, result, wanted_out, err);
}

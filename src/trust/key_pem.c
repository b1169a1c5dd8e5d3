/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#define BEGIN "-----BEGIN "

enum {
	TEXT_LIMIT = 64 * 1024,
	LABEL_SIZE = 64,
	/* OWASP's advice for PBKDF2 with SHA-256; OpenSSL's default is 2048. */
	ROUNDS = 600000
};

static void bio_free_at(BIO **bio)
{
	(void)BIO_free(*bio);
}

/* A request for the passphrase of an encrypted key, and its result. */
struct asking {
	const struct tkb_passphrase *passphrase;
	int rc; /* result of ask_for_passphrase() */
	struct tkb_error *err;
	bool is_asked;
	bool is_unknown; /* OpenSSL lacks what the key is encrypted by */
};

/* Callback of OpenSSL: returns the passphrase's size, or -1. */
static int ask_for_passphrase(char *out, int size, int is_writing, void *self)
{
	struct asking *asking = self;
	char text[TKB_PASSPHRASE_LIMIT];
	size_t length = 0;

	(void)is_writing;
	asking->is_asked = true;
	if (asking->passphrase == NULL)
		return -1;
	asking->rc = asking->passphrase->ask(asking->passphrase->self, text,
	                                     &length, asking->err);
	if (asking->rc == 0 && length <= (size_t)size)
		memcpy(out, text, length);
	else
		length = 0;
	explicit_bzero(text, sizeof(text));
	return asking->rc == 0 ? (int)length : -1;
}

static int refuse_label(const char *label, const char *name,
                        struct tkb_error *err)
{
	if (strstr(label, "CERTIFICATE") != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' is a certificate, not a key: "
		                "'openssl x509 -pubkey' takes the key out of "
		                "it",
		                name);
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'%.300s' is a '%.60s': keys are PEM of PKCS #8 or "
	                "SubjectPublicKeyInfo%s",
	                name, label,
	                tkb_begins_with(label, "EC ")
	                        ? "; 'openssl pkey' converts it"
	                        : "");
}

/* Find the label of the first BEGIN line. Is there no other such line? */
static bool find_label(struct tkb_bytes text, char out[LABEL_SIZE])
{
	const char *begin = memmem(text.data, text.size, BEGIN, strlen(BEGIN));
	const char *end = (const char *)text.data + text.size;
	size_t size = 0;

	begin += strlen(BEGIN);
	while (begin + size < end && size < LABEL_SIZE - 1 &&
	       begin[size] != '-' && begin[size] >= ' ') {
		out[size] = begin[size];
		size++;
	}
	out[size] = '\0';
	return memmem(begin, (size_t)(end - begin), BEGIN, strlen(BEGIN)) ==
	       NULL;
}

/* Does OpenSSL lack a cipher or a key derivation that it was asked for? */
static bool lacks_algorithm(void)
{
	unsigned long number;
	bool is_found = false;

	while ((number = ERR_get_error()) != 0) {
		const int reason = ERR_GET_REASON(number);

		is_found |=
			ERR_GET_LIB(number) == ERR_LIB_EVP &&
			(reason == ERR_R_UNSUPPORTED ||
		         reason == EVP_R_UNSUPPORTED_CIPHER ||
		         reason == EVP_R_UNKNOWN_PBE_ALGORITHM ||
		         reason == EVP_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION);
	}
	return is_found;
}

static int refuse_private(const struct asking *asking, const char *name,
                          struct tkb_error *err)
{
	if (asking->rc < 0)
		return asking->rc;
	if (asking->is_asked && asking->passphrase == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' is encrypted, and there is no "
		                "passphrase",
		                name);
	if (asking->is_unknown)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' is encrypted by what this OpenSSL "
		                "lacks: 'openssl pkey -aes256' converts it",
		                name);
	if (asking->is_asked)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' is encrypted with another "
		                "passphrase, or damaged",
		                name);
	return tkb_fail(err, TKB_ERR_INVALID, "'%.300s' is a damaged key",
	                name);
}

static int read_pem(struct tkb_bytes text, const char *name,
                    const struct tkb_passphrase *passphrase,
                    struct tkb_key **out, struct tkb_error *err)
{
	TKB_AUTO(bio_free_at)
	BIO *bio = BIO_new_mem_buf(text.data, (int)text.size);
	struct asking asking = { .passphrase = passphrase, .err = err };
	char label[LABEL_SIZE];
	EVP_PKEY *made = NULL;
	bool is_private;
	bool is_alone;

	if (bio == NULL)
		return tkb_fail_nomem(err);
	is_alone = find_label(text, label);
	is_private = strcmp(label, "PUBLIC KEY") != 0;
	if (is_private && strcmp(label, "PRIVATE KEY") != 0 &&
	    strcmp(label, "ENCRYPTED PRIVATE KEY") != 0)
		return refuse_label(label, name, err);
	if (!is_alone)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' has more than one key", name);
	ERR_clear_error();
	made = is_private ? PEM_read_bio_PrivateKey(bio, NULL,
	                                            ask_for_passphrase, &asking)
	                  : PEM_read_bio_PUBKEY(bio, NULL, ask_for_passphrase,
	                                        &asking);
	asking.is_unknown = asking.is_asked && lacks_algorithm();
	ERR_clear_error();
	if (made == NULL)
		return refuse_private(&asking, name, err);
	return tkb_key_adopt(made, is_private, NULL, name, out, err);
}

int tkb_key_read(struct tkb_bytes text, const char *name,
                 const struct tkb_passphrase *passphrase, struct tkb_key **out,
                 struct tkb_error *err)
{
	int rc;

	if (text.size > TEXT_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' is not a key: it is too large", name);
	rc = tkb_key_read_plain(text, name, out, err);
	if (rc != TKB_MISS)
		return rc;
	if (text.size > 0 &&
	    memmem(text.data, text.size, BEGIN, strlen(BEGIN)) != NULL)
		return read_pem(text, name, passphrase, out, err);
	return tkb_minisign_read(text, name, out, err);
}

/* Encrypt the key; NULL if OpenSSL fails. */
static X509_SIG *encrypt(PKCS8_PRIV_KEY_INFO *plain,
                         struct tkb_bytes passphrase)
{
	X509_ALGOR *how =
		PKCS5_pbe2_set_iv_ex(EVP_aes_256_cbc(), ROUNDS, NULL, 0, NULL,
	                             NID_hmacWithSHA256, NULL);
	X509_SIG *made;

	if (how == NULL)
		return NULL;
	made = PKCS8_set0_pbe_ex(passphrase.data, (int)passphrase.size, plain,
	                         how, NULL, NULL);
	if (made == NULL)
		X509_ALGOR_free(how);
	return made;
}

static bool write_private(const struct tkb_key *key,
                          struct tkb_bytes passphrase, BIO *bio)
{
	PKCS8_PRIV_KEY_INFO *plain = EVP_PKEY2PKCS8(key->key);
	X509_SIG *sealed = NULL;
	bool is_done = plain != NULL;

	if (is_done && passphrase.size > 0) {
		sealed = encrypt(plain, passphrase);
		is_done = sealed != NULL && PEM_write_bio_PKCS8(bio, sealed);
	} else if (is_done) {
		is_done = PEM_write_bio_PKCS8_PRIV_KEY_INFO(bio, plain) == 1;
	}
	X509_SIG_free(sealed);
	PKCS8_PRIV_KEY_INFO_free(plain);
	return is_done;
}

static int write_memory(BIO *bio, const struct tkb_sink *sink,
                        struct tkb_error *err)
{
	char *data = NULL;
	const long size = BIO_get_mem_data(bio, &data);

	return sink->write(sink->self, (struct tkb_bytes){ data, (size_t)size },
	                   err);
}

int tkb_key_write(const struct tkb_key *key, struct tkb_bytes passphrase,
                  const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(bio_free_at) BIO *bio = BIO_new(BIO_s_secmem());

	if (!key->is_private)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "this is a public key: there is no private "
		                "one to write");
	if (passphrase.size > TKB_PASSPHRASE_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a passphrase has at most %d bytes",
		                TKB_PASSPHRASE_LIMIT);
	if (bio == NULL)
		return tkb_fail_nomem(err);
	if (!write_private(key, passphrase, bio))
		return tkb_key_fail("write a key", err);
	return write_memory(bio, sink, err);
}

int tkb_key_write_public(const struct tkb_key *key, const struct tkb_sink *sink,
                         struct tkb_error *err)
{
	TKB_AUTO(bio_free_at) BIO *bio = BIO_new(BIO_s_mem());

	if (bio == NULL)
		return tkb_fail_nomem(err);
	if (PEM_write_bio_PUBKEY(bio, key->key) != 1)
		return tkb_key_fail("write a public key", err);
	return write_memory(bio, sink, err);
}

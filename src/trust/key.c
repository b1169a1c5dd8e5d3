/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/key.h"

#include <stdlib.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/x509.h>

#include "base/digest.h"
#include "base/struct.h"

static const char *const kind_names[] = { "ed25519", "p256", "minisign" };

const char *tkb_key_kind_name(unsigned kind)
{
	return kind < TKB_COUNT_OF(kind_names) ? kind_names[kind] : NULL;
}

int tkb_key_fail(const char *what, struct tkb_error *err)
{
	const unsigned long code = ERR_peek_last_error();
	const char *why = code == 0 ? NULL : ERR_reason_error_string(code);

	ERR_clear_error();
	return tkb_fail(err, TKB_ERR_IO, "OpenSSL cannot %s: %s", what,
	                why != NULL ? why : "no reason given");
}

static bool find_kind(const EVP_PKEY *key, enum tkb_key_kind *out)
{
	char group[32] = "";

	if (EVP_PKEY_is_a(key, "ED25519") == 1) {
		*out = TKB_KEY_KIND_ED25519;
		return true;
	}
	*out = TKB_KEY_KIND_P256;
	return EVP_PKEY_is_a(key, "EC") == 1 &&
	       EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) == 1 &&
	       strcmp(group, "prime256v1") == 0;
}

/*
 * A file may also have the point compressed, or the curve's parameters in the place
 * of its name. One key has one SubjectPublicKeyInfo.
 */
static bool choose_form(EVP_PKEY *key)
{
	return EVP_PKEY_set_utf8_string_param(
		       key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
		       OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_UNCOMPRESSED) ==
	               1 &&
	       EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_ENCODING,
	                                      OSSL_PKEY_EC_ENCODING_GROUP) == 1;
}

/* The id is the SHA-256 of the key's SubjectPublicKeyInfo. */
static int find_id(const EVP_PKEY *key, struct tkb_digest *out,
                   struct tkb_error *err)
{
	unsigned char *der = NULL;
	const int size = i2d_PUBKEY(key, &der);
	int rc;

	if (size < 0)
		return tkb_key_fail("write a public key", err);
	rc = tkb_digest_of((struct tkb_bytes){ der, (size_t)size }, out, err);
	OPENSSL_free(der);
	return rc;
}

int tkb_key_adopt(EVP_PKEY *made, bool is_private, const struct tkb_bytes *spki,
                  const char *name, struct tkb_key **out, struct tkb_error *err)
{
	struct tkb_key *key = calloc(1, sizeof(*key));
	int rc;

	if (key == NULL) {
		EVP_PKEY_free(made);
		return tkb_fail_nomem(err);
	}
	key->key = made;
	key->is_private = is_private;
	if (!find_kind(made, &key->kind))
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              "'%.300s' is a key of another algorithm (%.40s): "
		              "Ed25519 and ECDSA on P-256 are known",
		              name, EVP_PKEY_get0_type_name(made));
	else if (spki != NULL)
		rc = tkb_digest_of(*spki, &key->id, err);
	else if (key->kind == TKB_KEY_KIND_P256 && !choose_form(made))
		rc = tkb_key_fail("write a public key", err);
	else
		rc = find_id(made, &key->id, err);
	if (rc < 0) {
		tkb_key_close(key);
		return rc;
	}
	*out = key;
	return 0;
}

int tkb_key_make(enum tkb_key_kind kind, struct tkb_key **out,
                 struct tkb_error *err)
{
	EVP_PKEY *made;

	if (kind == TKB_KEY_KIND_ED25519)
		made = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	else if (kind == TKB_KEY_KIND_P256)
		made = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	else
		return tkb_fail(err, TKB_ERR_INVALID,
		                "no key of kind %d can be made", (int)kind);
	if (made == NULL)
		return tkb_key_fail("make a key", err);
	return tkb_key_adopt(made, true, NULL, "the new key", out, err);
}

int tkb_key_look(const struct tkb_key *key, struct tkb_key_info *out,
                 struct tkb_error *err)
{
	const struct tkb_key_info info = { .id = key->id,
		                           .kind = key->kind,
		                           .is_private = key->is_private };
	int rc;

	rc = TKB_STRUCT_CHECK(tkb_key_info, is_private, out, err);
	if (rc == 0)
		TKB_STRUCT_WRITE(tkb_key_info, out, &info);
	return rc;
}

void tkb_key_close(struct tkb_key *key)
{
	if (key == NULL)
		return;
	EVP_PKEY_free(key->key);
	free(key);
}

/* The digest that is signed. NULL: Ed25519 hashes the message itself. */
static const char *hash_of(const struct tkb_key *key)
{
	return key->kind == TKB_KEY_KIND_P256 ? "SHA256" : NULL;
}

int tkb_key_sign(const struct tkb_key *key, struct tkb_bytes message,
                 struct tkb_buf *out, struct tkb_error *err)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned char signature[128];
	size_t size = sizeof(signature);
	bool is_done;

	is_done = context != NULL &&
	          EVP_DigestSignInit_ex(context, NULL, hash_of(key), NULL, NULL,
	                                key->key, NULL) == 1 &&
	          EVP_DigestSign(context, signature, &size, message.data,
	                         message.size) == 1;
	EVP_MD_CTX_free(context);
	if (!is_done)
		return tkb_key_fail("sign", err);
	tkb_buf_add(out, (struct tkb_bytes){ signature, size });
	return tkb_buf_check(out, err);
}

int tkb_key_check_plain(const struct tkb_key *key, struct tkb_bytes message,
                        struct tkb_bytes signature, bool *out,
                        struct tkb_error *err)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_ready;

	is_ready = context != NULL &&
	           EVP_DigestVerifyInit_ex(context, NULL, hash_of(key), NULL,
	                                   NULL, key->key, NULL) == 1;
	/*
	 * OpenSSL also fails if the signature is not DER; it is then invalid.
	 */
	*out = is_ready &&
	       EVP_DigestVerify(context, signature.data, signature.size,
	                        message.data, message.size) == 1;
	EVP_MD_CTX_free(context);
	if (!is_ready)
		return tkb_key_fail("check a signature", err);
	ERR_clear_error();
	return 0;
}

int tkb_key_check(const struct tkb_key *key, struct tkb_bytes message,
                  struct tkb_bytes signature, bool *out, struct tkb_error *err)
{
	if (key->kind == TKB_KEY_KIND_MINISIGN)
		return tkb_minisign_check(key, message, signature, out, err);
	return tkb_key_check_plain(key, message, signature, out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/key.h"

#include <openssl/core_names.h>
#include <openssl/err.h>

#include "remote/net/base64.h"

#define BEGIN "-----BEGIN PUBLIC KEY-----\n"
#define END "\n-----END PUBLIC KEY-----\n"

enum {
	HEAD_LIMIT = 27,
	DER_LIMIT = 91,
	BASE64_LIMIT = 124
};

static EVP_PKEY *make_ed25519(struct tkb_bytes raw)
{
	return EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, raw.data,
	                                      raw.size);
}

/* OpenSSL refuses a point that is not on the curve. */
static EVP_PKEY *make_p256(struct tkb_bytes raw)
{
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
	unsigned char point[DER_LIMIT];
	char group[] = "P-256";
	OSSL_PARAM params[3];
	EVP_PKEY *made = NULL;

	memcpy(point, raw.data, raw.size);
	params[0] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME,
	                                             group, 0);
	params[1] = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY,
	                                              point, raw.size);
	params[2] = OSSL_PARAM_construct_end();
	if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
	    EVP_PKEY_fromdata(context, &made, EVP_PKEY_PUBLIC_KEY, params) != 1)
		made = NULL;
	EVP_PKEY_CTX_free(context);
	return made;
}

/* A SubjectPublicKeyInfo is one of these headers, followed by the raw key. */
static const struct form {
	unsigned char head[HEAD_LIMIT];
	size_t head_size; /* for P-256 including 4, "uncompressed point" */
	size_t size;      /* of the header and the key */
	EVP_PKEY *(*make)(struct tkb_bytes raw);
	size_t raw_at;
} forms[] = {
	{ { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21,
	    0x00 },
	  12,
	  44,
	  make_ed25519,
	  12 },
	{ { 0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48,
	    0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
	    0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04 },
	  27,
	  91,
	  make_p256,
	  26 },
};

/*
 * Copy the base64 of the text without its line breaks, and return the length; 0
 * if there is none, or too much.
 */
static size_t take_base64(struct tkb_bytes text, char out[BASE64_LIMIT])
{
	const size_t around = strlen(BEGIN) + strlen(END);
	const char *data = text.data;
	size_t size = 0;

	if (text.size <= around || memcmp(data, BEGIN, strlen(BEGIN)) != 0 ||
	    memcmp(data + text.size - strlen(END), END, strlen(END)) != 0)
		return 0;
	for (size_t i = strlen(BEGIN); i < text.size - strlen(END); i++) {
		if (data[i] == '\n')
			continue;
		if (size == BASE64_LIMIT)
			return 0;
		out[size++] = data[i];
	}
	return size;
}

static const struct form *find_form(struct tkb_bytes der)
{
	for (size_t i = 0; i < TKB_COUNT_OF(forms); i++) {
		if (der.size == forms[i].size &&
		    memcmp(der.data, forms[i].head, forms[i].head_size) == 0)
			return &forms[i];
	}
	return NULL;
}

int tkb_key_read_plain(struct tkb_bytes text, const char *name,
                       struct tkb_key **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT(DER_LIMIT + 3);
	char base64[BASE64_LIMIT];
	const size_t size = take_base64(text, base64);
	struct tkb_bytes der;
	const struct form *form;
	EVP_PKEY *made;

	if (size == 0 ||
	    !tkb_base64_read((struct tkb_bytes){ base64, size }, &buf) ||
	    buf.failure != 0)
		return TKB_MISS;
	der = tkb_buf_bytes(&buf);
	form = find_form(der);
	made = form == NULL ? NULL
	                    : form->make(tkb_bytes_slice(der, form->raw_at,
	                                                 der.size));
	ERR_clear_error();
	return made == NULL ? TKB_MISS
	                    : tkb_key_adopt(made, false, &der, name, out, err);
}

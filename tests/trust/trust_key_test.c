/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/key.h"

#include <stdlib.h>

#include "harness.h"
#include "remote/net/base64.h"

/* Keys, in the files that they lie in, and what they sign. */

struct keyring {
	const char *word; /* the passphrase */
	int rc;
	unsigned asked;
};

static int give_word(void *self, char *out, size_t *size_out,
                     struct tkb_error *err)
{
	struct keyring *keyring = self;

	keyring->asked++;
	if (keyring->rc != 0)
		return tkb_fail(err, keyring->rc, "nobody knows it");
	*size_out = strlen(keyring->word);
	memcpy(out, keyring->word, *size_out);
	return 0;
}

static struct tkb_bytes written(const struct tkb_key *key, const char *word)
{
	struct tkb_buf *buf = test_buf(TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(buf);

	OK(tkb_key_write(key, tkb_text(word), &sink, ERR));
	return tkb_buf_bytes(buf);
}

static struct tkb_bytes written_public(const struct tkb_key *key)
{
	struct tkb_buf *buf = test_buf(TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(buf);

	OK(tkb_key_write_public(key, &sink, ERR));
	return tkb_buf_bytes(buf);
}

static bool checks(const struct tkb_key *key, struct tkb_bytes message,
                   struct tkb_bytes signature)
{
	bool is_good = false;

	OK(tkb_key_check(key, message, signature, &is_good, ERR));
	return is_good;
}

TEST(key, comes_back_from_its_files_with_its_id)
{
	for (enum tkb_key_kind kind = 0; kind <= TKB_KEY_KIND_P256; kind++) {
		struct tkb_key *key = test_key(kind);
		struct tkb_key *private_key = NULL;
		struct tkb_key *public_key = NULL;
		struct tkb_key_info info = { SIZED(info) };

		OK(tkb_key_read(written(key, ""), "a", NULL, &private_key,
		                ERR));
		OK(tkb_key_read(written_public(key), "b", NULL, &public_key,
		                ERR));
		OK(tkb_key_look(private_key, &info, ERR));
		CHECK(info.is_private && info.kind == kind);
		CHECK(is_same_digest(&info.id, &key->id));
		OK(tkb_key_look(public_key, &info, ERR));
		CHECK(!info.is_private && info.kind == kind);
		CHECK(is_same_digest(&info.id, &key->id));
		tkb_key_close(private_key);
		tkb_key_close(public_key);
	}
}

TEST(key, that_is_encrypted_opens_with_its_passphrase_alone)
{
	struct keyring keyring = { .word = "pass" };
	const struct tkb_passphrase passphrase = { give_word, &keyring };
	struct tkb_key *key = test_key(TKB_KEY_KIND_P256);
	const struct tkb_bytes text = written(key, "pass");
	struct tkb_key *again = NULL;

	CHECK(memmem(text.data, text.size, "ENCRYPTED", 9) != NULL);
	OK(tkb_key_read(text, "a", &passphrase, &again, ERR));
	CHECK_INT(keyring.asked, 1);
	CHECK(is_same_digest(&again->id, &key->id));
	tkb_key_close(again);

	keyring.word = "word";
	FAILS(tkb_key_read(text, "a", &passphrase, &again, ERR),
	      TKB_ERR_INVALID, "encrypted with another passphrase");
	FAILS(tkb_key_read(text, "a", NULL, &again, ERR), TKB_ERR_INVALID,
	      "there is no passphrase");
	keyring.rc = TKB_ERR_IO;
	FAILS(tkb_key_read(text, "a", &passphrase, &again, ERR), TKB_ERR_IO,
	      "nobody knows it");
}

TEST(key, that_is_encrypted_by_an_unknown_cipher_is_told_so)
{
	/* AES-256, but for the last number of its name. */
	static const char text[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
				   "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDA"
				   "cBAj1fzrdiuek1AICCAAw\n"
				   "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAX8EEJGZRbP"
				   "QiRidfr6/bgi0ytgEQAVk\n"
				   "hbFqAvSD9xfM3srkAExjcfOBNfWu7gfa7E2qovL6IGb"
				   "zgz/e51lf4SWCCqLEUSl6\n"
				   "m5axVcDdUOh20tsTLXA=\n"
				   "-----END ENCRYPTED PRIVATE KEY-----\n";
	struct keyring keyring = { .word = "pass" };
	const struct tkb_passphrase passphrase = { give_word, &keyring };
	struct tkb_key *key = NULL;

	FAILS(tkb_key_read((struct tkb_bytes){ text, sizeof(text) - 1 }, "a",
	                   &passphrase, &key, ERR),
	      TKB_ERR_INVALID, "by what this OpenSSL lacks");
}

TEST(key, that_is_not_encrypted_asks_for_no_passphrase)
{
	struct keyring keyring = { .word = "pass" };
	const struct tkb_passphrase passphrase = { give_word, &keyring };
	struct tkb_key *key = test_key(TKB_KEY_KIND_ED25519);
	struct tkb_key *again = NULL;

	OK(tkb_key_read(written(key, ""), "a", &passphrase, &again, ERR));
	CHECK_INT(keyring.asked, 0);
	tkb_key_close(again);
}

TEST(key, has_one_id_however_it_is_written)
{
	static const char *const forms[][2] = {
		{ "point-format", "compressed" }, { "encoding", "explicit" }
	};

	EACH(i, forms) {
		struct tkb_key *key = test_key(TKB_KEY_KIND_P256);
		struct tkb_key *again = NULL;
		const struct tkb_bytes plain = written_public(key);
		struct tkb_bytes text;

		CHECK_INT(EVP_PKEY_set_utf8_string_param(key->key, forms[i][0],
		                                         forms[i][1]),
		          1);
		text = written_public(key);
		CHECK(!tkb_bytes_equal(text, plain));
		OK(tkb_key_read(text, "a", NULL, &again, ERR));
		CHECK(is_same_digest(&again->id, &key->id));
		CHECK(tkb_bytes_equal(written_public(again), plain));
		tkb_key_close(again);
		OK(tkb_key_read(written(key, ""), "a", NULL, &again, ERR));
		CHECK(is_same_digest(&again->id, &key->id));
		tkb_key_close(again);
	}
}

TEST(key, that_is_something_else_is_refused_by_name)
{
	static const struct {
		const char *text;
		const char *part;
	} others[] = {
		{ "", "neither PEM nor" },
		{ "untrusted comment: x\nAAAA\n", "neither PEM nor" },
		{ "-----BEGIN CERTIFICATE-----\nAAAA\n-----END "
		  "CERTIFICATE-----\n",
		  "is a certificate" },
		{ "-----BEGIN EC PRIVATE KEY-----\nAAAA\n", "PKCS #8" },
		/* As `openssl ecparam -genkey` writes it. */
		{ "-----BEGIN EC PARAMETERS-----\nAAAA\n-----END EC "
		  "PARAMETERS-----\n-----BEGIN EC PRIVATE KEY-----\nAAAA\n",
		  "'openssl pkey' converts it" },
		{ "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC "
		  "KEY-----\n",
		  "damaged key" },
		{ "-----BEGIN PUBLIC KEY-----\n-----BEGIN PUBLIC KEY-----\n",
		  "more than one" },
		/* X25519: OpenSSL knows it, and it does not sign. */
		{ "-----BEGIN PUBLIC KEY-----\n"
		  "MCowBQYDK2VuAyEAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
		  "\n"
		  "-----END PUBLIC KEY-----\n",
		  "another algorithm (X25519)" },
	};
	struct tkb_key *key = NULL;

	EACH(i, others) {
		FAILS(tkb_key_read(tkb_text(others[i].text), "a.pem", NULL,
		                   &key, ERR),
		      TKB_ERR_INVALID, others[i].part);
		CHECK_CONTAINS(ERR->message, "'a.pem'");
	}
}

TEST(key, of_another_program_has_no_advice_that_does_not_help)
{
	static const char *const others[] = {
		"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n",
		"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n",
	};
	struct tkb_key *key = NULL;

	EACH(i, others) {
		FAILS(tkb_key_read(tkb_text(others[i]), "a.pem", NULL, &key,
		                   ERR),
		      TKB_ERR_INVALID, "PKCS #8 or SubjectPublicKeyInfo");
		CHECK(strstr(ERR->message, "openssl") == NULL);
	}
}

TEST(key, that_is_public_has_no_private_one_to_write)
{
	struct tkb_key *key = test_key(TKB_KEY_KIND_ED25519);
	struct tkb_key *public_key = NULL;
	const struct tkb_sink sink = tkb_buf_sink(test_buf(TKB_MIB));

	OK(tkb_key_read(written_public(key), "b", NULL, &public_key, ERR));
	FAILS(tkb_key_write(public_key, tkb_text(""), &sink, ERR),
	      TKB_ERR_INVALID, "public key");
	FAILS(tkb_key_make(TKB_KEY_KIND_MINISIGN, &key, ERR), TKB_ERR_INVALID,
	      "no key of kind 2");
	tkb_key_close(public_key);
}

static bool signs_message(void *self, struct tkb_bytes signature)
{
	return checks(self, tkb_text("message"), signature);
}

TEST(signature, of_another_message_key_or_with_a_flipped_bit_is_refused)
{
	for (enum tkb_key_kind kind = 0; kind <= TKB_KEY_KIND_P256; kind++) {
		struct tkb_key *key = test_key(kind);
		struct tkb_key *other = test_key(kind);
		struct tkb_buf *made = test_buf(TKB_MIB);

		OK(tkb_key_sign(key, tkb_text("message"), made, ERR));
		CHECK(!checks(key, tkb_text("messagf"), tkb_buf_bytes(made)));
		CHECK(!checks(other, tkb_text("message"), tkb_buf_bytes(made)));
		check_damaged(tkb_buf_bytes(made), signs_message, key);
	}
}

/* The same key in the form of minisign. */
TEST(minisign, signatures_are_checked_by_its_public_key)
{
	struct tkb_key *key = NULL;
	struct tkb_buf *made = test_buf(TKB_MIB);
	struct tkb_key *signer = test_key(TKB_KEY_KIND_ED25519);
	unsigned char raw[32];
	size_t size = sizeof(raw);
	struct tkb_buf *file = test_buf(TKB_MIB);
	struct tkb_buf *bytes = test_buf(TKB_MIB);

	CHECK_INT(EVP_PKEY_get_raw_public_key(signer->key, raw, &size), 1);
	tkb_buf_add_text(bytes, "Ed12345678");
	tkb_buf_add(bytes, (struct tkb_bytes){ raw, size });
	tkb_buf_add_text(file, "untrusted comment: minisign public key\n");
	tkb_base64_add(tkb_buf_bytes(bytes), file);
	tkb_buf_add_text(file, "\n");
	OK(tkb_key_read(tkb_buf_bytes(file), "k.pub", NULL, &key, ERR));
	CHECK_INT(key->kind, TKB_KEY_KIND_MINISIGN);

	/* The older kind, of the message itself. */
	tkb_buf_add_text(made, "Ed12345678");
	OK(tkb_key_sign(signer, tkb_text("message"), made, ERR));
	CHECK(!checks(key, tkb_text("messagf"), tkb_buf_bytes(made)));
	check_damaged(tkb_buf_bytes(made), signs_message, key);
	tkb_key_close(key);
}

TEST(base64, has_one_way_to_write_anything)
{
	static const char *const bad[] = { "A",     "AA",    "AAA",      "AA=A",
		                           "AB==",  "AAB=",  "====",     "A===",
		                           "AA\n=", "AAAA=", "AA==AAAA", "AA-_",
		                           " AAA" };
	struct tkb_buf *out = test_buf(TKB_MIB);
	struct tkb_buf *back = test_buf(TKB_MIB);

	EACH(i, bad)
		CHECK(!tkb_base64_read(tkb_text(bad[i]), out));
	for (size_t size = 0; size < 20; size++) {
		const struct tkb_bytes bytes = { "\xff\0abcdefghijklmnopqrst",
			                         size };

		tkb_buf_reset(out);
		tkb_buf_reset(back);
		tkb_base64_add(bytes, out);
		CHECK(tkb_base64_read(tkb_buf_bytes(out), back));
		CHECK(tkb_bytes_equal(tkb_buf_bytes(back), bytes));
	}
}

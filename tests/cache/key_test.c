/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/key.h"

#include "harness.h"

/* The SHA-256 of nothing, in each way of writing it. */
static const char hash[] =
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char base64[] = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
static const char base32[] =
	"4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ";

TEST(key, has_one_of_four_shapes)
{
	CHECK(tkb_key_is_valid(hash));
	CHECK(tkb_key_is_valid(base64));
	CHECK(tkb_key_is_valid(base32));
	CHECK(tkb_key_is_valid("d41d8cd98f00b204e9800998ecf8427e"));
}

TEST(key, of_another_shape_is_none)
{
	CHECK(!tkb_key_is_valid(""));
	CHECK(!tkb_key_is_valid("."));
	CHECK(!tkb_key_is_valid(".tkbundle"));
	CHECK(!tkb_key_is_valid("d41d8cd98f00b204e9800998ecf8427"));
	CHECK(!tkb_key_is_valid("D41D8CD98F00B204E9800998ECF8427E"));
	CHECK(!tkb_key_is_valid(
		"4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXB/Q"));
	CHECK(!tkb_key_is_valid(
		"4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbkq"));
}

TEST(key, encodes_its_hash_in_every_shape)
{
	CHECK(tkb_key_encodes(hash, hash));
	CHECK(tkb_key_encodes(base64, hash));
	CHECK(tkb_key_encodes(base32, hash));
}

TEST(key, does_not_encode_another_hash)
{
	static const char other[] = "f3b0c44298fc1c149afbf4c8996fb924"
				    "27ae41e4649b934ca495991b7852b855";

	CHECK(!tkb_key_encodes(hash, other));
	CHECK(!tkb_key_encodes(base64, other));
	CHECK(!tkb_key_encodes(base32, other));
	CHECK(!tkb_key_encodes(base32, ""));
	CHECK(!tkb_key_encodes(base32, "e3b0"));
}

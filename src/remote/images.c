/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/image.h>

#include <string.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/struct.h"
#include "remote/remote.h"
#include "text/ascii.h"

#define BY_DIGEST "sha256:"

enum {
	TAG_LIMIT = 128
};

/* Arguments of one request about an image. */
struct question {
	const struct tkb_image_manifest *manifest;
	const char *name;
	const struct tkb_digest *subject;
	bool is_listed;
	struct tkb_buf answer;
};

static void question_release(struct question *question)
{
	tkb_buf_release(&question->answer);
}

static bool is_tag_byte(char byte, bool is_first)
{
	return tkb_is_letter(byte) || tkb_is_digit(byte) || byte == '_' ||
	       (!is_first && (byte == '.' || byte == '-'));
}

/*
 * Check that the name is a tag or a digest. If it is a digest, set
 * `*digest_out`.
 */
static int check_name(const char *name, struct tkb_digest *digest_out,
                      bool *is_digest_out, struct tkb_error *err)
{
	const size_t size = strlen(name);
	size_t good = 0;

	*is_digest_out = tkb_begins_with(name, BY_DIGEST) &&
	                 tkb_digest_from_hex(tkb_text(name + strlen(BY_DIGEST)),
	                                     digest_out);
	while (good < size && is_tag_byte(name[good], good == 0))
		good++;
	if (*is_digest_out || (good == size && size > 0 && size <= TAG_LIMIT))
		return 0;
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'%.200s' cannot be the tag of an image", name);
}

static int find_tier(const struct tkb_remote *remote, bool writes,
                     struct tkb_tier **out, struct tkb_error *err)
{
	for (size_t i = 0; i < remote->tier_count; i++) {
		struct tkb_tier *tier = &remote->tiers[i];

		if (tier->backend->put_image == NULL)
			continue;
		if (writes && tier->is_read_only)
			return tkb_fail(err, TKB_ERR_DENIED,
			                "remote '%s' is read only here",
			                tier->url->name);
		*out = tier;
		return 0;
	}
	return tkb_fail(err, TKB_ERR_UNSUPPORTED,
	                "remote '%s' keeps no images: a registry does, as "
	                "oci://host/name",
	                remote->tiers[0].url->name);
}

int tkb_image_digest(const struct tkb_blob *blob, struct tkb_digest *out,
                     struct tkb_error *err)
{
	return tkb_blob_digest(blob, out, err);
}

static int put_into_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	struct question *question = self;

	return tier->backend->put_image(tier->self, limits, question->manifest,
	                                &question->is_listed, err);
}

int tkb_image_put(struct tkb_remote *remote,
                  const struct tkb_image_manifest *manifest,
                  bool *is_listed_out, struct tkb_error *err)
{
	struct tkb_image_manifest own;
	struct question question = { .manifest = &own };
	const struct tkb_tier_work work = { put_into_tier, &question };
	struct tkb_tier *tier = NULL;
	struct tkb_digest digest;
	bool is_digest;
	int rc;

	rc = TKB_STRUCT_READ(tkb_image_manifest, blob_count, &own, manifest,
	                     err);
	if (rc == 0)
		rc = check_name(own.name, &digest, &is_digest, err);
	if (rc == 0 && own.text.size > TKB_IMAGE_MANIFEST_LIMIT)
		rc = tkb_fail(err, TKB_ERR_TOO_LARGE,
		              "an image's manifest of %zu bytes",
		              own.text.size);
	if (rc == 0)
		rc = find_tier(remote, true, &tier, err);
	if (rc == 0)
		rc = tkb_tier_do(tier, &work, err);
	if (rc == 0 && is_listed_out != NULL)
		*is_listed_out = question.is_listed;
	return rc;
}

static int get_from_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	struct question *question = self;
	const struct tkb_sink sink = tkb_buf_sink(&question->answer);

	tkb_buf_reset(&question->answer);
	return question->subject == NULL
	               ? tier->backend->get_image(tier->self, limits,
	                                          question->name, &sink, err)
	               : tier->backend->get_referrers(tier->self, limits,
	                                              question->subject, &sink,
	                                              err);
}

static int ask_tier(struct tkb_remote *remote, struct question *question,
                    struct tkb_error *err)
{
	const struct tkb_tier_work work = { get_from_tier, question };
	struct tkb_tier *tier = NULL;
	int rc;

	rc = find_tier(remote, false, &tier, err);
	return rc == 0 ? tkb_tier_do(tier, &work, err) : rc;
}

static int send_answer(const struct question *question,
                       const struct tkb_sink *sink, struct tkb_error *err)
{
	return sink->write(sink->self, tkb_buf_bytes(&question->answer), err);
}

int tkb_image_get(struct tkb_remote *remote, const char *name,
                  const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(question_release)
	struct question question = {
		.name = name,
		.answer = TKB_BUF_INIT(TKB_IMAGE_MANIFEST_LIMIT),
	};
	struct tkb_digest wanted;
	struct tkb_digest found;
	bool is_digest;
	int rc;

	rc = check_name(name, &wanted, &is_digest, err);
	if (rc == 0)
		rc = ask_tier(remote, &question, err);
	if (rc != 0)
		return rc;
	rc = tkb_digest_of(tkb_buf_bytes(&question.answer), &found, err);
	if (rc < 0)
		return rc;
	if (is_digest && !tkb_digest_equal(&wanted, &found))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the manifest '%s' has another digest", name);
	return send_answer(&question, sink, err);
}

int tkb_image_referrers(struct tkb_remote *remote,
                        const struct tkb_digest *subject,
                        const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(question_release)
	struct question question = {
		.subject = subject,
		.answer = TKB_BUF_INIT(TKB_IMAGE_MANIFEST_LIMIT),
	};
	int rc;

	rc = ask_tier(remote, &question, err);
	return rc == 0 ? send_answer(&question, sink, err) : rc;
}

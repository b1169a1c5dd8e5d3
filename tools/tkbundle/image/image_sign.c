/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/auto.h"
#include "cli/text.h"
#include "image/image_json.h"
#include "image/image_manifest.h"
#include "image/image_name.h"

#define EMPTY "application/vnd.oci.empty.v1+json"

enum {
	INDEX_TRIES = 8
};

struct signing {
	struct remote_use *use;
	const struct tkb_digest *subject;
	uint64_t subject_size;
};

/* The description of a manifest that names the subject, for an index. */
static json_t *describe_signature(const struct tkb_digest *digest,
                                  uint64_t size)
{
	const struct image_part part = { IMAGE_MANIFEST, digest, size };
	json_t *item = image_part_json(&part);

	if (item != NULL)
		(void)json_object_set_new(item, "artifactType",
		                          json_string(TKB_IMAGE_SIGNATURE));
	return item;
}

/*
 * The index of the subject, for a registry that does not keep one itself
 */

static int read_index(const struct signing *signing, const char *tag,
                      json_t **out, struct tkb_error *err)
{
	const int rc = image_get_json(signing->use, tag, out, err);

	if (rc < 0)
		return rc;
	if (rc == TKB_MISS)
		*out = json_pack("{s:i,s:s,s:[]}", "schemaVersion", 2,
		                 "mediaType", IMAGE_INDEX, "manifests");
	if (!json_is_array(json_object_get(*out, "manifests")))
		return cli_error(err, TKB_ERR_CORRUPT, "'%s' is no index", tag);
	return 0;
}

static bool lists(const json_t *index, const json_t *item)
{
	const char *wanted = image_json_string(item, "digest", "");
	size_t i;
	json_t *known;

	json_array_foreach(json_object_get(index, "manifests"), i, known)
	{
		if (strcmp(image_json_string(known, "digest", "?"), wanted) ==
		    0)
			return true;
	}
	return false;
}

/*
 * A tag has no compare-and-swap: check whether another signer has replaced our
 * index by its own, and add our signature again.
 */
static int add_to_index(const struct signing *signing, json_t *item,
                        struct tkb_error *err)
{
	char tag[IMAGE_TAG_SIZE] = "sha256-";
	int rc;

	tkb_digest_to_hex(signing->subject, tag + strlen(tag));
	for (int i = 0; i < INDEX_TRIES; i++) {
		json_auto_t *index = NULL;
		TKB_AUTO(text_free) char *text = NULL;
		struct tkb_image_manifest manifest = {
			.struct_size = sizeof(manifest),
			.name = tag,
			.media_type = IMAGE_INDEX,
		};

		rc = read_index(signing, tag, &index, err);
		if (rc != 0 || lists(index, item))
			return rc;
		if (json_array_append(json_object_get(index, "manifests"),
		                      item) < 0)
			return cli_error_nomem(err);
		text = image_json_text(index);
		if (text == NULL)
			return cli_error_nomem(err);
		manifest.text = (struct tkb_bytes){ text, strlen(text) };
		rc = signing->use->library.image_put(signing->use->remote,
		                                     &manifest, NULL, err);
		if (rc != 0)
			return rc;
	}
	return cli_error(err, TKB_ERR_UNAVAILABLE,
	                 "others keep writing the index '%s'", tag);
}

/*
 * One signature
 */

static char *signature_manifest(const struct signing *signing,
                                const struct image_part *config,
                                const struct image_part *layer)
{
	const struct image_part subject = { IMAGE_MANIFEST, signing->subject,
		                            signing->subject_size };
	json_auto_t *manifest = json_pack(
		"{s:i,s:s,s:s,s:o,s:[o],s:o,s:{s:s}}", "schemaVersion", 2,
		"mediaType", IMAGE_MANIFEST, "artifactType",
		TKB_IMAGE_SIGNATURE, "config", image_part_json(config),
		"layers", image_part_json(layer), "subject",
		image_part_json(&subject), "annotations",
		"dev.sigstore.bundle.content", "dsse-envelope");

	return manifest == NULL ? NULL : image_json_text(manifest);
}

static int put_signature(const struct signing *signing, const char *text,
                         const struct tkb_digest *digests,
                         const struct tkb_blob *blobs, struct tkb_error *err)
{
	const struct remote_library *library = &signing->use->library;
	struct tkb_image_manifest manifest = {
		.struct_size = sizeof(manifest),
		.media_type = IMAGE_MANIFEST,
		.text = { text, strlen(text) },
		.digests = digests,
		.blobs = blobs,
		.blob_count = 2,
	};
	char name[IMAGE_DIGEST_SIZE] = "sha256:";
	json_auto_t *item = NULL;
	struct tkb_digest own;
	bool is_listed = false;
	int rc;

	rc = image_digest_text(library->image_digest, text, &own, err);
	if (rc < 0)
		return rc;
	tkb_digest_to_hex(&own, name + strlen(name));
	manifest.name = name;
	rc = library->image_put(signing->use->remote, &manifest, &is_listed,
	                        err);
	if (rc != 0 || is_listed)
		return rc;
	item = describe_signature(&own, manifest.text.size);
	return item == NULL ? cli_error_nomem(err)
	                    : add_to_index(signing, item, err);
}

/* For tkb_image_sign(): each call brings one bundle. */
static int take_bundle(void *self, struct tkb_bytes bundle,
                       struct tkb_error *err)
{
	const struct signing *signing = self;
	const struct tkb_bytes parts[] = { { "{}", 2 }, bundle };
	const struct tkb_blob blobs[] = {
		{ parts[0].size, tkb_memory_source(&parts[0]) },
		{ parts[1].size, tkb_memory_source(&parts[1]) },
	};
	struct tkb_digest digests[2];
	const struct image_part config = { EMPTY, &digests[0], parts[0].size };
	const struct image_part layer = { TKB_IMAGE_SIGNATURE, &digests[1],
		                          parts[1].size };
	TKB_AUTO(text_free) char *text = NULL;
	int rc = 0;

	for (size_t i = 0; i < 2 && rc == 0; i++)
		rc = signing->use->library.image_digest(&blobs[i], &digests[i],
		                                        err);
	if (rc < 0)
		return rc;
	text = signature_manifest(signing, &config, &layer);
	return text == NULL ? cli_error_nomem(err)
	                    : put_signature(signing, text, digests, blobs, err);
}

int image_sign(struct remote_use *use, const struct signers *signers,
               const char *name, const struct tkb_digest *manifest,
               uint64_t size, struct tkb_error *err)
{
	struct signing signing = { use, manifest, size };
	const struct tkb_sink sink = { take_bundle, &signing };

	return use->library.image_sign(manifest, name, signers_signing(signers),
	                               &sink, err);
}

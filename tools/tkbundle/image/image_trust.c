/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_trust.h"

#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "image/image_json.h"
#include "image/image_manifest.h"
#include "image/image_name.h"
#include "trust/key_file.h"

#define BY_DIGEST "sha256:"

enum {
	SIGNATURES_LIMIT = 64,
	BUNDLE_LIMIT = 256 * 1024
};

/* The signatures beside an image. */
struct beside {
	struct remote_use *use;
	struct tkb_digest manifest;
	struct tkb_memory bundles[SIGNATURES_LIMIT];
	size_t count;
};

static void beside_release(struct beside *beside)
{
	for (size_t i = 0; i < SIGNATURES_LIMIT; i++)
		tkb_memory_release(&beside->bundles[i]);
}

static int get_index(struct beside *beside, json_t **out, struct tkb_error *err)
{
	struct tkb_memory text = { .limit = TKB_IMAGE_MANIFEST_LIMIT };
	const struct tkb_sink sink = tkb_memory_sink(&text);
	char tag[IMAGE_TAG_SIZE] = "sha256-";
	int rc;

	rc = beside->use->library.image_referrers(
		beside->use->remote, &beside->manifest, &sink, err);
	if (rc == 0)
		*out = json_loadb((const char *)text.data, text.size, 0, NULL);
	tkb_memory_release(&text);
	if (rc != TKB_MISS)
		return rc;
	tkb_digest_to_hex(&beside->manifest, tag + strlen(tag));
	rc = image_get_json(beside->use, tag, out, err);
	return rc == TKB_MISS ? 0 : rc;
}

/* A signature that is missing or damaged does not count. */
static bool is_no_signature(int rc)
{
	return rc == TKB_MISS || rc == TKB_ERR_CORRUPT ||
	       rc == TKB_ERR_TOO_LARGE || rc == TKB_ERR_INVALID;
}

static int get_bundle(struct beside *beside, const json_t *manifest,
                      struct tkb_error *err)
{
	const json_t *layer =
		json_array_get(json_object_get(manifest, "layers"), 0);
	struct tkb_memory *out = &beside->bundles[beside->count];
	const struct tkb_sink sink = tkb_memory_sink(out);
	struct tkb_digest digest;
	int rc;

	if (strcmp(image_json_string(layer, "mediaType", ""),
	           TKB_IMAGE_SIGNATURE) != 0 ||
	    !image_digest_read(image_json_string(layer, "digest", ""), &digest))
		return TKB_MISS;
	out->limit = BUNDLE_LIMIT;
	rc = beside->use->library.get(beside->use->remote, &digest, &sink, err);
	if (rc != 0)
		tkb_memory_release(out);
	else
		beside->count++;
	return rc;
}

static int get_signature(struct beside *beside, const json_t *item,
                         struct tkb_error *err)
{
	const char *name = image_json_string(item, "digest", "");
	struct tkb_error fault = { .status = 0 };
	json_auto_t *manifest = NULL;
	int rc;

	if (beside->count == SIGNATURES_LIMIT ||
	    strncmp(name, BY_DIGEST, strlen(BY_DIGEST)) != 0)
		return 0;
	rc = image_get_json(beside->use, name, &manifest, &fault);
	if (rc == 0)
		rc = get_bundle(beside, manifest, &fault);
	if (is_no_signature(rc))
		return 0;
	if (rc < 0)
		*err = fault;
	return rc;
}

static int get_signatures(struct beside *beside, struct tkb_error *err)
{
	json_auto_t *index = NULL;
	size_t i;
	json_t *item;
	int rc;

	rc = get_index(beside, &index, err);
	if (rc != 0)
		return rc;
	json_array_foreach(json_object_get(index, "manifests"), i, item)
	{
		if (i == SIGNATURES_LIMIT)
			break;
		rc = get_signature(beside, item, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int image_trust_check(struct remote_use *use, const char *name,
                      struct tkb_bytes text, struct tkb_error *err)
{
	TKB_AUTO(beside_release) struct beside beside = { .use = use };
	const struct tkb_blob blob = { text.size, tkb_memory_source(&text) };
	struct tkb_bytes bundles[SIGNATURES_LIMIT];
	struct tkb_image_question question = {
		.struct_size = sizeof(question),
		.manifest = &beside.manifest,
		.tag = strncmp(name, BY_DIGEST, strlen(BY_DIGEST)) == 0 ? NULL
		                                                        : name,
		.signatures = bundles,
	};
	int rc;

	rc = use->library.image_digest(&blob, &beside.manifest, err);
	if (rc == 0)
		rc = get_signatures(&beside, err);
	for (size_t i = 0; i < beside.count; i++)
		bundles[i] = (struct tkb_bytes){ beside.bundles[i].data,
			                         beside.bundles[i].size };
	question.signature_count = beside.count;
	return rc == 0 ? use->library.image_judge(use->remote, &question, err)
	               : rc;
}

/*
 * What is revoked
 */

/* Digests of parts of the image, and the first of them that is revoked. */
struct parts {
	struct tkb_digest items[2];
	const char *names[2];
	size_t count;
	const char *revoked; /* its name; NULL: none */
};

static int on_revoked(void *self, const struct tkb_digest *digest,
                      struct tkb_error *err)
{
	struct parts *parts = self;

	(void)err;
	for (size_t i = 0; i < parts->count && parts->revoked == NULL; i++) {
		if (memcmp(&parts->items[i], digest, sizeof(*digest)) == 0)
			parts->revoked = parts->names[i];
	}
	return 0;
}

static void add_part(struct parts *parts, const char *name,
                     const struct tkb_digest *digest)
{
	parts->names[parts->count] = name;
	parts->items[parts->count++] = *digest;
}

/* An image that others made has no such label. */
static int add_bundle(struct remote_use *use, const char *name,
                      const json_t *manifest, struct parts *parts,
                      struct tkb_error *err)
{
	struct tkb_memory text = { .limit = TKB_IMAGE_MANIFEST_LIMIT };
	const struct tkb_sink sink = tkb_memory_sink(&text);
	const json_t *part = json_object_get(manifest, "config");
	json_auto_t *config = NULL;
	const json_t *labels;
	struct tkb_digest digest;
	int rc = TKB_MISS;

	if (image_digest_read(image_json_string(part, "digest", ""), &digest))
		rc = use->library.get(use->remote, &digest, &sink, err);
	if (rc == 0)
		config =
			json_loadb((const char *)text.data, text.size, 0, NULL);
	tkb_memory_release(&text);
	if (rc == TKB_MISS || (rc == 0 && config == NULL))
		return cli_error(err, TKB_ERR_CORRUPT,
		                 "'%.200s' lacks its configuration", name);
	labels = json_object_get(json_object_get(config, "config"), "Labels");
	if (rc == 0 &&
	    key_id_read(image_json_string(labels, IMAGE_BUNDLE_LABEL, ""),
	                &digest))
		add_part(parts, "its bundle", &digest);
	return rc;
}

static bool has_revoker(const struct tkb_trust *trust)
{
	for (size_t i = 0; i < trust->key_count; i++) {
		if (trust->keys[i].is_revoker)
			return true;
	}
	return false;
}

int image_trust_check_revoked(struct remote_use *use, const char *name,
                              const json_t *manifest,
                              const struct tkb_digest *layer,
                              struct tkb_error *err)
{
	struct parts parts = { .count = 0 };
	int rc;

	if (!has_revoker(policy_trust(&use->policy)))
		return 0;
	add_part(&parts, "its layer", layer);
	rc = add_bundle(use, name, manifest, &parts, err);
	if (rc == 0)
		rc = use->library.revoked(use->remote, on_revoked, &parts, err);
	if (rc == 0 && parts.revoked != NULL)
		return cli_error(err, TKB_ERR_UNTRUSTED,
		                 "image '%.200s' is not trusted: %s is revoked",
		                 name, parts.revoked);
	return rc;
}

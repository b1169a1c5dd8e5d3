/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <jansson.h>

#include "config/remote_use.h"
#include "image/image_json.h"
#include "trust/key_file.h"

#define BY_DIGEST "sha256:"

json_t *image_part_json(const struct image_part *part)
{
	char digest[sizeof(BY_DIGEST) + TKB_DIGEST_HEX_SIZE] = BY_DIGEST;

	tkb_digest_to_hex(part->digest, digest + strlen(BY_DIGEST));
	return json_pack("{s:s,s:s,s:I}", "mediaType", part->media_type,
	                 "digest", digest, "size", (json_int_t)part->size);
}

/*
 * The name of this machine in images, since modules in the caches are for it.
 */
static const char *architecture(void)
{
	struct utsname machine;

	if (uname(&machine) == 0 && strcmp(machine.machine, "aarch64") == 0)
		return "arm64";
	return "amd64";
}

char *image_config_text(json_t *labels, const char *sum, int64_t time_s)
{
	const time_t time = (time_t)time_s;
	struct tm parts = { .tm_mday = 1 };
	json_auto_t *config = NULL;
	char created[64] = "";
	char layer[128];

	if (gmtime_r(&time, &parts) == NULL ||
	    strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%SZ", &parts) ==
	            0)
		return NULL;
	(void)snprintf(layer, sizeof(layer), BY_DIGEST "%s", sum);
	config = json_pack("{s:s,s:s,s:s,s:{s:O},s:{s:s,s:[s]},s:[{s:s,s:s}]}",
	                   "architecture", architecture(), "os", "linux",
	                   "created", created, "config", "Labels", labels,
	                   "rootfs", "type", "layers", "diff_ids", layer,
	                   "history", "created", created, "created_by",
	                   "tkbundle push --as image");
	return config == NULL ? NULL : image_json_text(config);
}

char *image_manifest_text(const struct image_part *config,
                          const struct image_part *layer)
{
	json_auto_t *manifest = json_pack(
		"{s:i,s:s,s:o,s:[o]}", "schemaVersion", 2, "mediaType",
		IMAGE_MANIFEST, "config", image_part_json(config), "layers",
		image_part_json(layer));

	return manifest == NULL ? NULL : image_json_text(manifest);
}

int image_get_json(struct remote_use *use, const char *name, json_t **out,
                   struct tkb_error *err)
{
	struct tkb_memory text = { .limit = TKB_IMAGE_MANIFEST_LIMIT };
	const struct tkb_sink sink = tkb_memory_sink(&text);
	int rc;

	rc = use->library.image_get(use->remote, name, &sink, err);
	if (rc == 0)
		*out = json_loadb((const char *)text.data, text.size, 0, NULL);
	tkb_memory_release(&text);
	return rc;
}

int image_digest_text(int (*digest)(const struct tkb_blob *blob,
                                    struct tkb_digest *out,
                                    struct tkb_error *err),
                      const char *text, struct tkb_digest *out,
                      struct tkb_error *err)
{
	const struct tkb_bytes bytes = { text, strlen(text) };
	const struct tkb_blob blob = { bytes.size, tkb_memory_source(&bytes) };

	return digest(&blob, out, err);
}

bool image_digest_read(const char *text, struct tkb_digest *out)
{
	return strncmp(text, BY_DIGEST, strlen(BY_DIGEST)) == 0 &&
	       key_id_read(text + strlen(BY_DIGEST), out);
}

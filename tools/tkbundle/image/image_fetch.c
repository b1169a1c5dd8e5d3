/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/auto.h"
#include "cli/fd.h"
#include "cli/text.h"
#include "config/remote_use.h"
#include "image/image_json.h"
#include "image/image_manifest.h"
#include "image/image_name.h"
#include "image/image_trust.h"

#define LAYER_LIMIT                                                            \
	((uint64_t)16 << 30) /* the same limit as for all unpacked
                                            files */
#define BY_DIGEST "sha256:"

enum {
	PATH_SIZE = 4096
};

static int fail_image(const char *name, const char *why, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_CORRUPT, "'%.200s' %s", name, why);
}

/* The digest of a manifest's only layer. */
static int layer_of(const json_t *manifest, const char *name,
                    const char **digest_out, struct tkb_error *err)
{
	const json_t *layers = json_object_get(manifest, "layers");
	const char *type;

	if (!json_is_array(layers) || json_array_size(layers) == 0)
		return fail_image(name, "is no image", err);
	if (json_array_size(layers) != 1)
		return fail_image(name,
		                  "has several layers: unpack it, and collect",
		                  err);
	type = image_json_string(json_array_get(layers, 0), "mediaType", "");
	if (strstr(type, "tar") == NULL &&
	    strstr(type, "content.layer") == NULL)
		return fail_image(name, "has no layer that is a tar", err);
	*digest_out =
		image_json_string(json_array_get(layers, 0), "digest", "");
	return 0;
}

/* Choose from an index the manifest for this machine, else the first. */
static const char *choose_manifest(const json_t *index)
{
	const json_t *manifests = json_object_get(index, "manifests");
	const char *chosen = NULL;
	struct utsname machine;
	const char *own = "amd64";
	size_t i;
	json_t *item;

	if (uname(&machine) == 0 && strcmp(machine.machine, "aarch64") == 0)
		own = "arm64";
	json_array_foreach(manifests, i, item)
	{
		const char *digest = image_json_string(item, "digest", "");
		const char *architecture = image_json_string(
			json_object_get(item, "platform"), "architecture", "");

		if (chosen == NULL || strcmp(architecture, own) == 0)
			chosen = digest;
		if (strcmp(architecture, own) == 0)
			break;
	}
	return chosen;
}

/*
 * From a registry
 */

/*
 * Fetch a manifest; with `is_judged`, check it against the policy, if there is
 * one.
 */
static int get_manifest(struct remote_use *use, const char *name,
                        bool is_judged, json_t **out, struct tkb_error *err)
{
	struct tkb_memory text = { .limit = TKB_IMAGE_MANIFEST_LIMIT };
	const struct tkb_sink sink = tkb_memory_sink(&text);
	int rc;

	rc = use->library.image_get(use->remote, name, &sink, err);
	if (rc == 0 && is_judged && policy_trust(&use->policy) != NULL)
		rc = image_trust_check(
			use, name, (struct tkb_bytes){ text.data, text.size },
			err);
	if (rc == 0)
		*out = json_loadb((const char *)text.data, text.size, 0, NULL);
	tkb_memory_release(&text);
	return rc;
}

static int write_bytes(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	const int *fd = self;

	return fd_write(*fd, bytes) ? 0
	                            : cli_error(err, TKB_ERR_IO,
	                                        "cannot write the layer: %s",
	                                        strerror(errno));
}

static int get_layer(struct remote_use *use, const struct tkb_digest *digest,
                     const char *path, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const struct tkb_sink sink = { write_bytes, &fd };

	if (fd < 0)
		return cli_error_errno(err, "make", path);
	return use->library.get(use->remote, digest, &sink, err);
}

static int fetch_image(struct remote_use *use, const char *name,
                       const char *path, struct tkb_error *err)
{
	json_auto_t *index = NULL;
	json_auto_t *manifest = NULL;
	struct tkb_digest layer;
	const char *digest = "";
	int rc;

	rc = get_manifest(use, name, true, &index, err);
	if (rc != 0)
		return rc;
	if (json_is_array(json_object_get(index, "manifests")) &&
	    choose_manifest(index) != NULL) {
		/*
		 * The index names the manifest by digest: the signature of the
		 * index is enough.
		 */
		rc = get_manifest(use, choose_manifest(index), false, &manifest,
		                  err);
	} else {
		manifest = index;
		index = NULL;
	}
	if (rc == 0)
		rc = layer_of(manifest, name, &digest, err);
	if (rc != 0)
		return rc;
	if (!image_digest_read(digest, &layer))
		return fail_image(name, "names a layer by no SHA-256", err);
	if (policy_trust(&use->policy) != NULL)
		rc = image_trust_check_revoked(use, name, manifest, &layer,
		                               err);
	if (rc == 0)
		rc = get_layer(use, &layer, path, err);
	return rc == TKB_MISS ? fail_image(name, "lacks its layer", err) : rc;
}

static int load_policy(struct remote_use *use, const char *path,
                       struct tkb_error *err)
{
	int rc;

	rc = remote_library_load(&use->library, err);
	return rc == 0 ? policy_load(&use->policy, use->cli, &use->library,
	                             path, err)
	               : rc;
}

/* Print who signed the image. */
static void tell_signatures(const struct remote_use *use, bool is_said)
{
	const struct signed_list *const list = &use->policy.trusted;
	char brief[SIGNED_BRIEF_SIZE];

	if (list->count == 0)
		return;
	signed_list_json(list, list->items[0].ref, &use->cli->json);
	signed_list_brief(list, list->items[0].ref, brief);
	if (is_said)
		cli_say(use->cli, "the image is %s", brief);
}

int image_fetch(struct cli *cli, const char *text, const struct arguments *args,
                const struct deadline *deadline,
                const struct archive_folder *folder, char **path_out,
                struct tkb_error *err)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	const struct tkb_watch watch = { .struct_size = sizeof(watch),
		                         .self = (void *)(uintptr_t)deadline,
		                         .is_cancelled =
		                                 deadline_is_cancelled };
	struct tkb_remote_options options = {
		.struct_size = sizeof(options),
		.max_blob_size = LAYER_LIMIT,
		.watch = &watch,
		.fallback_cafile = cli_variable("TKBUNDLE_FALLBACK_CAFILE"),
	};
	TKB_AUTO(text_free) char *path = NULL;
	char url[IMAGE_URL_SIZE];
	char name[IMAGE_TAG_SIZE];
	int rc;

	rc = image_name_split(text, url, name, err);
	if (rc == 0 && args->trust.policy != NULL)
		rc = load_policy(&use, args->trust.policy, err);
	options.trust = policy_trust(&use.policy);
	if (rc == 0)
		rc = remote_use_open(&use, url, &options, err);
	if (rc != 0)
		return rc;
	path = text_format("%s/fetched", folder->path);
	if (path == NULL)
		return cli_error_nomem(err);
	rc = fetch_image(&use, name, path, err);
	if (rc == TKB_MISS)
		return cli_error(err, TKB_MISS,
		                 "there is no image '%s' in '%s'", name,
		                 use.library.tier_name(use.remote, 0));
	if (rc == 0) {
		tell_signatures(&use, args->is_verbose);
		*path_out = path;
		path = NULL;
	}
	return rc;
}

/*
 * From an archive
 */

/* Find the path of a blob in an OCI layout; false: there is no such blob. */
static bool find_blob(const char *folder, const char *digest,
                      char path[PATH_SIZE])
{
	struct tkb_digest known;

	return digest != NULL && image_digest_read(digest, &known) &&
	       snprintf(path, PATH_SIZE, "%s/blobs/sha256/%s", folder,
	                digest + strlen(BY_DIGEST)) < PATH_SIZE;
}

static int layer_of_layout(const char *folder, const json_t *index,
                           char path[PATH_SIZE], struct tkb_error *err)
{
	static const char name[] = "index.json";
	json_auto_t *manifest = NULL;
	const char *digest = "";
	int rc;

	if (find_blob(folder, choose_manifest(index), path))
		manifest = image_json_read(path);
	if (manifest == NULL)
		return fail_image(name, "names no image of the archive", err);
	rc = layer_of(manifest, name, &digest, err);
	if (rc == 0 && !find_blob(folder, digest, path))
		return fail_image(name, "names a layer by no SHA-256", err);
	return rc;
}

/* The manifest of `docker save`: [{"Layers":["<path>"]}] */
static int layer_of_save(const char *folder, const json_t *saved,
                         char path[PATH_SIZE], struct tkb_error *err)
{
	static const char name[] = "manifest.json";
	const json_t *layers =
		json_object_get(json_array_get(saved, 0), "Layers");
	const char *inside = json_string_value(json_array_get(layers, 0));

	if (json_array_size(layers) > 1)
		return fail_image(name,
		                  "has several layers: unpack it, and collect",
		                  err);
	if (inside == NULL || inside[0] == '/' ||
	    strstr(inside, "..") != NULL ||
	    !folder_join(path, PATH_SIZE, folder, inside))
		return fail_image(name, "names no layer of the archive", err);
	return 0;
}

int image_layer_of_folder(const char *folder, char **path_out,
                          struct tkb_error *err)
{
	json_auto_t *index = NULL;
	json_auto_t *saved = NULL;
	char path[PATH_SIZE];
	int rc;

	*path_out = NULL;
	(void)snprintf(path, sizeof(path), "%.4000s/index.json", folder);
	index = image_json_read(path);
	(void)snprintf(path, sizeof(path), "%.4000s/manifest.json", folder);
	saved = image_json_read(path);
	if (json_is_array(json_object_get(index, "manifests")))
		rc = layer_of_layout(folder, index, path, err);
	else if (json_object_get(json_array_get(saved, 0), "Layers") != NULL)
		rc = layer_of_save(folder, saved, path, err);
	else
		return 0;
	if (rc < 0)
		return rc;
	*path_out = strdup(path);
	return *path_out == NULL ? cli_error_nomem(err) : 0;
}

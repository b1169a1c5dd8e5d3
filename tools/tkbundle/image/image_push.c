/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_push.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "archive/archive_stage.h"
#include "cli/auto.h"
#include "cli/fd.h"
#include "cli/follow.h"
#include "cli/text.h"
#include "config/choices.h"
#include "image/image_facts.h"
#include "image/image_json.h"
#include "image/image_manifest.h"
#include "image/image_name.h"
#include "image/image_sign.h"
#include "report/file_source.h"
#include "report/source.h"

/* The state of a push. */
struct work {
	struct image_push *push;
	struct archive_folder folder;
	struct archive_stage stage;
	struct tkb_bundle *bundle;
	json_t *labels;
	char *layer; /* the path of its file */
	char *config;
	char *manifest;
	int left_out; /* TKB_ERR_PARTIAL, or 0 */
};

static void work_release(struct work *work)
{
	free(work->manifest);
	free(work->config);
	free(work->layer);
	json_decref(work->labels);
	tkb_bundle_close(work->bundle);
	archive_stage_release(&work->stage);
	archive_folder_remove(&work->folder);
}

/* Collect the cache into a bundle in the private folder. */
static int collect_cache(struct work *work, struct tkb_error *err)
{
	struct image_push *push = work->push;
	struct tkb_collect_options chosen =
		choices_for_collect(push->args, push->root);
	TKB_AUTO(text_free)
	char *path = text_format("%s/all.tkb", work->folder.path);
	struct follow follow;
	int rc;

	if (path == NULL)
		return cli_error_nomem(err);
	chosen.watch =
		remote_use_follow(push->use, &follow, "left_out", FOLLOW_BAD);
	chosen.is_dry_run = false;
	rc = tkb_collect_to_file(push->root->path, &chosen, path,
	                         &push->collected, err);
	follow_end(&follow);
	if (!cli_is_done(rc))
		return follow_missed(&follow, rc, err);
	work->left_out = rc;
	return tkb_bundle_open(path, &work->bundle, err);
}

static int open_bundle(struct work *work, struct tkb_error *err)
{
	const char *given = work->push->args->bundle;
	int rc;

	rc = given == NULL ? collect_cache(work, err)
	                   : source_open_bundle(given, &work->bundle, err);
	if (rc == 0 && tkb_bundle_entry_count(work->bundle) == 0)
		return cli_error(err, TKB_MISS,
		                 "there is nothing to push as an image");
	return rc;
}

/*
 * Write the caches with the paths that they will have when the image is
 * mounted.
 */
static int emit_layer(struct work *work, struct tkb_error *err)
{
	struct image_push *push = work->push;
	struct tkb_emit_options chosen = {
		.struct_size = sizeof(chosen),
		.layout = TKB_LAYOUT_TRITON,
		.threads = push->args->jobs.value,
		.trees = work->stage.trees,
		.tree_count = work->stage.tree_count,
		.staged_in = work->folder.files,
	};
	struct follow follow;
	int rc;

	chosen.watch =
		remote_use_follow(push->use, &follow, "entries", FOLLOW_BAD);
	rc = tkb_emit(work->bundle, work->stage.kernels, &chosen,
	              &push->emitted, err);
	follow_end(&follow);
	if (rc == TKB_ERR_PARTIAL)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot make the image: see above");
	return rc;
}

static bool has_zstd(const struct image_push *push)
{
	return push->args->format.is_set && push->args->format.value == 1;
}

static int pack_layer(struct work *work, struct tkb_error *err)
{
	struct image_push *push = work->push;
	const struct archive_export_options how = {
		.cli = push->use->cli,
		.name = push->args->bundle != NULL ? push->args->bundle
		                                   : push->root->path,
		.folder = work->stage.root,
		.format = has_zstd(push) ? "tar.zst" : "tar.gz",
		.deadline = &push->use->deadline,
		.has_sum = true,
	};
	TKB_AUTO(fd_close) int fd = -1;
	struct stat status;
	int rc;

	work->layer = text_format("%s/layer", work->folder.path);
	if (work->layer == NULL)
		return cli_error_nomem(err);
	fd = open(work->layer, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return cli_error_errno(err, "make", work->layer);
	rc = archive_export_pack(&how, fd, &push->packed, err);
	if (rc != 0)
		return rc;
	if (fstat(fd, &status) < 0)
		return cli_error_errno(err, "read", work->layer);
	push->layer_size = (uint64_t)status.st_size;
	return 0;
}

static int add_labels(struct work *work, struct tkb_error *err)
{
	const struct labels *labels = work->push->labels;
	const char *repository = strrchr(work->push->name, '/');
	TKB_AUTO(text_free)
	char *title = strdup(repository != NULL ? repository + 1 : "");

	if (title == NULL)
		return cli_error_nomem(err);
	title[strcspn(title, ":")] = '\0';
	if (json_object_set_new(work->labels, "org.opencontainers.image.title",
	                        json_string(title)) < 0)
		return cli_error_nomem(err);
	for (size_t i = 0; i < labels->count; i++) {
		if (json_object_set_new(work->labels, labels->items[i].name,
		                        json_string(labels->items[i].value)) <
		    0)
			return cli_error_nomem(err);
	}
	return 0;
}

/* Hash the parts of the image, then make its documents. */
struct parts {
	struct file_source file;
	struct tkb_bytes config;
	struct tkb_digest digests[2]; /* digests of the layer and of the
	                                 configuration */
	struct tkb_blob blobs[2];
	struct tkb_digest manifest;
};

static void parts_close(struct parts *parts)
{
	file_source_close(&parts->file);
}

static int describe_image(struct work *work, struct parts *parts,
                          struct tkb_error *err)
{
	struct image_push *push = work->push;
	const struct remote_library *library = &push->use->library;
	const struct image_part layer = {
		has_zstd(push) ? IMAGE_MEDIA "layer.v1.tar+zstd"
			       : IMAGE_MEDIA "layer.v1.tar+gzip",
		&parts->digests[0], push->layer_size
	};
	struct image_part config = { IMAGE_MEDIA "config.v1+json",
		                     &parts->digests[1], 0 };
	char time[24];
	int rc;

	(void)archive_export_read_time(time);
	rc = file_source_open(work->layer, &parts->file, err);
	if (rc != 0)
		return rc;
	parts->blobs[0] = (struct tkb_blob){ push->layer_size,
		                             file_source_of(&parts->file) };
	work->config = image_config_text(work->labels, push->packed.sum,
	                                 strtoll(time, NULL, 10));
	if (work->config == NULL)
		return cli_error_nomem(err);
	parts->config =
		(struct tkb_bytes){ work->config, strlen(work->config) };
	parts->blobs[1] =
		(struct tkb_blob){ parts->config.size,
		                   tkb_memory_source(&parts->config) };
	config.size = parts->config.size;
	for (size_t i = 0; i < 2 && rc == 0; i++)
		rc = library->image_digest(&parts->blobs[i], &parts->digests[i],
		                           err);
	if (rc < 0)
		return rc;
	work->manifest = image_manifest_text(&config, &layer);
	if (work->manifest == NULL)
		return cli_error_nomem(err);
	rc = image_digest_text(library->image_digest, work->manifest,
	                       &parts->manifest, err);
	if (rc == 0)
		tkb_digest_to_hex(&parts->manifest, push->digest);
	return rc;
}

/* The tag comes last: what it names has its signatures. */
static int put_signed(struct image_push *push, const struct parts *parts,
                      const struct tkb_image_manifest *manifest,
                      struct tkb_error *err)
{
	struct tkb_image_manifest untagged = *manifest;
	char name[IMAGE_DIGEST_SIZE] = "sha256:";
	int rc;

	tkb_digest_to_hex(&parts->manifest, name + strlen(name));
	untagged.name = name;
	rc = push->use->library.image_put(push->use->remote, &untagged, NULL,
	                                  err);
	return rc != 0 ? rc
	               : image_sign(push->use, push->signers, push->name,
	                            &parts->manifest, manifest->text.size, err);
}

static int upload_image(struct work *work, const char *tag,
                        struct tkb_error *err)
{
	struct image_push *push = work->push;
	TKB_AUTO(parts_close) struct parts parts = { .file = FILE_SOURCE_INIT };
	struct tkb_image_manifest manifest = {
		.struct_size = sizeof(manifest),
		.name = tag,
		.media_type = IMAGE_MANIFEST,
		.digests = parts.digests,
		.blobs = parts.blobs,
		.blob_count = 2,
	};
	int rc;

	rc = describe_image(work, &parts, err);
	if (rc != 0 || push->args->is_dry_run)
		return rc;
	manifest.text =
		(struct tkb_bytes){ work->manifest, strlen(work->manifest) };
	if (signers_signing(push->signers) != NULL)
		rc = put_signed(push, &parts, &manifest, err);
	return rc != 0 ? rc
	               : push->use->library.image_put(push->use->remote,
	                                              &manifest, NULL, err);
}

int image_push(struct image_push *push, struct tkb_error *err)
{
	TKB_AUTO(work_release)
	struct work work = { .push = push, .folder = ARCHIVE_FOLDER_NONE };
	char tag[IMAGE_TAG_SIZE];
	int rc;

	rc = image_name_of_ref(push->use, push->use->ref, tag, push->name,
	                       sizeof(push->name), err);
	if (rc == 0)
		rc = archive_folder_make(NULL, &work.folder, err);
	if (rc == 0)
		rc = open_bundle(&work, err);
	if (rc == 0)
		rc = archive_stage_plan(work.bundle, push->args->mount,
		                        ARCHIVE_STAGE_IMAGE, &work.folder,
		                        &work.stage, err);
	if (rc == 0)
		rc = emit_layer(&work, err);
	if (rc == 0)
		rc = image_facts_write(work.bundle, &work.stage, &work.labels,
		                       err);
	if (rc == 0)
		rc = add_labels(&work, err);
	if (rc == 0)
		rc = pack_layer(&work, err);
	if (rc == 0)
		rc = upload_image(&work, tag, err);
	return rc == 0 ? work.left_out : rc;
}

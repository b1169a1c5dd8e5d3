/* SPDX-License-Identifier: Apache-2.0 */
#include "attest/sigstore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fd.h"
#include "cli/text.h"
#include "trust/key_file.h"

enum {
	SIZE_LIMIT = 256 * 1024, /* size of a file */
	SHOWN = 12               /* digits of a digest */
};

struct exporting {
	struct remote_use *use;
	const char *folder;
	char key[TKB_DIGEST_HEX_SIZE];
	uint64_t count;
};

/*
 * Each file has a name of its own: refs that hold the same record may be signed in
 * the same second.
 */
static int write_one(void *self, const struct tkb_digest *record,
                     uint64_t sequence, struct tkb_bytes text,
                     struct tkb_error *err)
{
	struct exporting *const exporting = self;
	const struct tkb_blob blob = { text.size, tkb_memory_source(&text) };
	TKB_AUTO(text_free) char *path = NULL;
	struct tkb_digest digest;
	char own[TKB_DIGEST_HEX_SIZE];
	char id[TKB_DIGEST_HEX_SIZE];
	int rc;

	rc = exporting->use->library.image_digest(&blob, &digest, err);
	if (rc != 0)
		return rc;
	tkb_digest_to_hex(&digest, own);
	tkb_digest_to_hex(record, id);
	path = text_format("%s/%.*s-%.*s-%" PRIu64 "-%.*s.sigstore.json",
	                   exporting->folder, SHOWN, id, SHOWN, exporting->key,
	                   sequence, SHOWN, own);
	if (path == NULL)
		return cli_error_nomem(err);
	rc = cli_write_file(path, text, 0644, err);
	if (rc != 0)
		return rc;
	json_out_text(&exporting->use->cli->json, NULL, path);
	exporting->count++;
	return 0;
}

static enum status end_exchange(struct remote_use *use, int rc,
                                const struct tkb_error *err, const char *member,
                                uint64_t count, const char *where)
{
	json_out_number(&use->cli->json, member, count);
	/*
	 * A miss means that a file does not exist here, and not that the remote
	 * lacks something.
	 */
	if (rc == TKB_MISS && err->message[0] != '\0')
		return cli_failed(use->cli, rc, err, use->ref);
	if (rc != 0)
		return remote_use_failed(use, rc, err, use->ref);
	if (!use->cli->json.is_wanted)
		text_line(use->cli->out, "%s %" PRIu64 " %s: %s", member, count,
		          text_plural(count, "signature", "signatures"), where);
	return STATUS_DONE;
}

static int make_folder(const char *path, struct tkb_error *err)
{
	struct stat status;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST || stat(path, &status) < 0)
		return cli_error_errno(err, "make", path);
	return S_ISDIR(status.st_mode)
	               ? 0
	               : cli_error(err, TKB_ERR_INVALID,
	                           "'%.300s' is not a folder", path);
}

enum status sigstore_export(struct remote_use *use,
                            const struct tkb_signing *keys, const char *folder)
{
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	struct exporting exporting = { .use = use, .folder = folder };
	const struct tkb_signature_visitor visitor = { write_one, &exporting };
	struct tkb_error err = { .status = 0 };
	int rc;

	rc = make_folder(folder, &err);
	json_out_open_array(&use->cli->json, "files");
	for (size_t i = 0; i < keys->key_count && rc == 0; i++) {
		rc = use->library.key_look(keys->keys[i], &info, &err);
		tkb_digest_to_hex(&info.id, exporting.key);
		if (rc == 0)
			rc = use->library.signatures_export(
				use->remote, use->ref, keys->keys[i], &visitor,
				&err);
	}
	json_out_close(&use->cli->json);
	return end_exchange(use, rc, &err, "exported", exporting.count, folder);
}

/* If no key fits, return the answer for the last one. */
static int import_text(struct remote_use *use, const struct tkb_signing *keys,
                       struct tkb_bytes text, struct tkb_error *err)
{
	int rc = TKB_ERR_UNTRUSTED;

	for (size_t i = 0; i < keys->key_count && rc == TKB_ERR_UNTRUSTED; i++)
		rc = use->library.signature_import(use->remote, use->ref, text,
		                                   keys->keys[i], err);
	return rc;
}

static int import_file(struct remote_use *use, const struct tkb_signing *keys,
                       const char *path, struct tkb_error *err)
{
	TKB_AUTO(fd_close) const int fd = open(path, O_RDONLY | O_CLOEXEC);
	TKB_AUTO(text_free) char *text = malloc(SIZE_LIMIT + 1);
	struct tkb_error why = { .status = 0 };
	ssize_t size;
	int rc;

	if (text == NULL)
		return cli_error_nomem(err);
	if (fd < 0 && errno == ENOENT)
		return cli_error(err, TKB_MISS, "there is no file '%.300s'",
		                 path);
	size = fd < 0 ? -1 : fd_read(fd, text, SIZE_LIMIT + 1);
	if (size < 0)
		return cli_error_errno(err, "read", path);
	rc = import_text(use, keys, (struct tkb_bytes){ text, (size_t)size },
	                 &why);
	return rc < 0 ? cli_error(err, (enum tkb_status)rc, "'%.300s': %s",
	                          path, why.message)
	              : rc;
}

enum status sigstore_import(struct remote_use *use,
                            const struct tkb_signing *keys,
                            const struct texts *files)
{
	struct tkb_error err = { .status = 0 };
	uint64_t count = 0;
	int rc = 0;

	for (size_t i = 0; i < files->count && rc == 0; i++) {
		rc = import_file(use, keys, files->items[i], &err);
		count += rc == 0;
	}
	return end_exchange(use, rc, &err, "imported", count, use->ref);
}

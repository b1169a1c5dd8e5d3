/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/auto.h"
#include "cli/fd.h"
#include "cli/text.h"
#include "trust/policy.h"

enum {
	SIGNATURE_LIMIT = 16 * 1024
};

/* The bytes of a file, in memory. */
struct contents {
	struct tkb_bytes bytes; /* owned */
};

static void contents_release(struct contents *contents)
{
	free((void *)(uintptr_t)contents->bytes.data);
}

/* Read the file, do not map it: another process may cut it short meanwhile. */
static int read_file(const char *path, struct contents *out,
                     struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	ssize_t got;
	void *data;

	if (fd < 0 && errno == ENOENT)
		return cli_error(err, TKB_MISS, "there is no file '%.300s'",
		                 path);
	if (fd < 0 || fstat(fd, &status) < 0)
		return cli_error_errno(err, "read", path);
	if (!S_ISREG(status.st_mode))
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.300s' is not a file, which could have a "
		                 "signature beside it",
		                 path);
	data = malloc((size_t)status.st_size + 1);
	if (data == NULL)
		return cli_error_nomem(err);
	out->bytes = (struct tkb_bytes){ data, (size_t)status.st_size };
	got = fd_read(fd, data, (size_t)status.st_size + 1);
	if (got < 0)
		return cli_error_errno(err, "read", path);
	if (got != status.st_size)
		return cli_error(err, TKB_ERR_IO,
		                 "'%.300s' was changed while it was read",
		                 path);
	return 0;
}

static int read_signature(const char *path, const char *signature, char *out,
                          size_t *size_out, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd =
		open(signature, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	ssize_t size;

	if (fd < 0 && errno == ENOENT)
		return cli_error(err, TKB_ERR_UNTRUSTED,
		                 "'%.300s' is not trusted: there is no "
		                 "signature '%.300s'",
		                 path, signature);
	if (fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
		return cli_error(err, TKB_ERR_INVALID,
		                 "the signature '%.300s' is not a file",
		                 signature);
	size = fd < 0 ? -1 : fd_read(fd, out, SIGNATURE_LIMIT);
	if (size < 0)
		return cli_error_errno(err, "read", signature);
	*size_out = (size_t)size;
	return 0;
}

static int check_beside(const struct policy *policy,
                        const struct remote_library *library, const char *path,
                        const char **signer_out, struct tkb_error *err)
{
	TKB_AUTO(contents_release) struct contents file = { .bytes = { 0 } };
	TKB_AUTO(text_free) char *beside = text_format("%s.minisig", path);
	char signature[SIGNATURE_LIMIT];
	size_t size = 0;
	int rc;

	if (beside == NULL)
		return cli_error_nomem(err);
	rc = read_file(path, &file, err);
	if (rc == 0)
		rc = read_signature(path, beside, signature, &size, err);
	return rc != 0 ? rc
	               : library->check_file(
				 policy_trust(policy), file.bytes,
				 (struct tkb_bytes){ signature, size }, path,
				 signer_out, err);
}

enum status detached_check(struct cli *cli, const struct arguments *args,
                           const char *path)
{
	struct remote_library library = { .key_close = NULL };
	struct policy policy = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	const char *signer = NULL;
	int rc;

	rc = remote_library_load(&library, &err);
	if (rc == 0)
		rc = policy_load(&policy, cli, &library, args->trust.policy,
		                 &err);
	if (rc == 0)
		rc = check_beside(&policy, &library, path, &signer, &err);
	if (rc == 0)
		json_out_text(&cli->json, "signer", signer);
	if (rc == 0)
		cli_print(cli, "signed by '%s'", signer);
	policy_release(&policy, &library);
	return rc == 0 ? STATUS_DONE : cli_failed(cli, rc, &err, path);
}

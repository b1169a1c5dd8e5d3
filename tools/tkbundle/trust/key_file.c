/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"

enum {
	SIZE_LIMIT = 64 * 1024
};

bool key_id_read(const char *text, struct tkb_digest *out)
{
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != TKB_DIGEST_HEX_SIZE - 1 ||
	    strspn(text, digits) != TKB_DIGEST_HEX_SIZE - 1)
		return false;
	for (size_t i = 0; i < sizeof(out->bytes); i++)
		out->bytes[i] =
			(unsigned char)((strchr(digits, text[2 * i]) - digits)
		                                << 4 |
		                        (strchr(digits, text[2 * i + 1]) -
		                         digits));
	return true;
}

static void warn_of_readers(const struct cli *cli, const char *path,
                            const struct stat *status, bool is_private,
                            bool is_encrypted)
{
	if (is_private && !is_encrypted && S_ISREG(status->st_mode) &&
	    (status->st_mode & S_IROTH) != 0)
		cli_say(cli,
		        "'%s' is a private key, not encrypted, that everybody "
		        "on this machine may read",
		        path);
}

int key_file_read(const struct cli *cli, const struct remote_library *library,
                  const char *path, const struct passphrase *passphrase,
                  struct tkb_key **out, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	struct passphrase own;
	struct tkb_passphrase asked = { passphrase_ask, &own };
	char *data = calloc(1, SIZE_LIMIT + 1);
	struct stat status = { .st_mode = 0 };
	ssize_t size = -1;
	int rc;

	if (data == NULL)
		return cli_error_nomem(err);
	if (fd >= 0 && fstat(fd, &status) == 0)
		size = fd_read(fd, data, SIZE_LIMIT + 1);
	if (passphrase != NULL)
		own = *passphrase;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		rc = cli_error(err, TKB_MISS, "there is no key '%.300s'", path);
	else if (size < 0)
		rc = cli_error_errno(err, "read", path);
	else
		rc = library->key_read((struct tkb_bytes){ data, (size_t)size },
		                       path, passphrase != NULL ? &asked : NULL,
		                       out, err);
	if (rc == 0)
		rc = library->key_look(*out, &info, err);
	if (rc == 0)
		warn_of_readers(cli, path, &status, info.is_private,
		                strstr(data, "ENCRYPTED") != NULL);
	explicit_bzero(data, SIZE_LIMIT + 1);
	free(data);
	return rc;
}

/* A file that is being written, and its name in messages. */
struct key_file {
	const char *path;
	int fd;
};

static int to_file(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct key_file *const file = self;

	return fd_write(file->fd, bytes)
	               ? 0
	               : cli_error_errno(err, "write", file->path);
}

static int is_there(const char *path, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_INVALID,
	                 "'%.300s' is there already: a key that is written "
	                 "over is lost",
	                 path);
}

/* Make the file `path`, which must not exist. */
static int make_file(const char *path, mode_t mode, struct tkb_error *err)
{
	const int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0 && errno == EEXIST)
		return is_there(path, err);
	return fd < 0 ? cli_error_errno(err, "make", path) : fd;
}

/* Ask for the passphrase of a new key; NULL: the key gets none. */
static int ask_new(const struct passphrase *passphrase,
                   char text[TKB_PASSPHRASE_LIMIT], size_t *size_out,
                   struct tkb_error *err)
{
	struct passphrase own;

	if (passphrase == NULL)
		return 0;
	own = *passphrase;
	own.is_new = true;
	return passphrase_ask(&own, text, size_out, err);
}

static int write_files(const struct remote_library *library,
                       const struct tkb_key *key, const char *path,
                       const char *public_path, struct tkb_bytes passphrase,
                       struct tkb_error *err)
{
	TKB_AUTO(fd_close) int fd = make_file(path, 0600, err);
	TKB_AUTO(fd_close) int public_fd = -1;
	struct key_file file = { path, fd };
	struct key_file public_file = { public_path, -1 };
	const struct tkb_sink sink = { to_file, &file };
	const struct tkb_sink public_sink = { to_file, &public_file };
	int rc;

	if (fd < 0)
		return fd;
	public_fd = make_file(public_path, 0644, err);
	public_file.fd = public_fd;
	rc = public_fd < 0 ? public_fd : 0;
	if (rc == 0)
		rc = library->key_write(key, passphrase, &sink, err);
	if (rc == 0)
		rc = library->key_write_public(key, &public_sink, err);
	if (rc == 0 && (fsync(fd) < 0 || fsync(public_fd) < 0))
		rc = cli_error_errno(err, "sync", path);
	if (rc != 0) {
		(void)unlink(path);
		if (public_fd >= 0)
			(void)unlink(public_path);
	}
	return rc;
}

int key_file_write(const struct remote_library *library,
                   const struct tkb_key *key, const char *path,
                   const struct passphrase *passphrase, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *public_path = text_format("%s.pub", path);
	char text[TKB_PASSPHRASE_LIMIT];
	size_t size = 0;
	int rc;

	if (public_path == NULL)
		return cli_error_nomem(err);
	if (access(path, F_OK) == 0)
		return is_there(path, err);
	/* Ask first: the user may interrupt this, and then no file is left. */
	rc = ask_new(passphrase, text, &size, err);
	if (rc == 0)
		rc = write_files(library, key, path, public_path,
		                 (struct tkb_bytes){ text, size }, err);
	explicit_bzero(text, sizeof(text));
	return rc;
}

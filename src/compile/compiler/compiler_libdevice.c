/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"
#include "compile/pool/fields.h"
#include "base/fd.h"

/* A libdevice has no version: if the IR may call it, the key has its digest. */

enum {
	LIBRARY_LIMIT = 256 * TKB_MIB
};

static int hash_file(const char *path, struct tkb_digest *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf contents = TKB_BUF_INIT(LIBRARY_LIMIT);
	int rc;

	rc = tkb_fd_read_path(path, &contents, err);
	return rc == 0 ? tkb_digest_of(tkb_buf_bytes(&contents), out, err) : rc;
}

/* Get the digest of a libdevice; each file is read only once. */
static int get_digest(struct tkb_compiler *compiler, const char *path,
                      struct tkb_digest *out, struct tkb_error *err)
{
	int rc = 0;

	if (compiler->libdevice == NULL ||
	    strcmp(compiler->libdevice, path) != 0) {
		compiler->libdevice = NULL;
		rc = hash_file(path, &compiler->libdevice_digest, err);
		if (rc == 0)
			compiler->libdevice =
				path; /* belongs to struct tkb_tools */
	}
	*out = compiler->libdevice_digest;
	return rc;
}

int tkb_libdevice_add(struct tkb_compiler *compiler, const char *path,
                      struct tkb_buf *out, struct tkb_error *err)
{
	struct tkb_digest digest;
	int rc;

	if (path[0] == '\0') {
		tkb_field_add_text(out, TKB_FIELD_LIBDEVICE, "");
		return 0;
	}
	(void)pthread_mutex_lock(&compiler->lock);
	rc = get_digest(compiler, path, &digest, err);
	(void)pthread_mutex_unlock(&compiler->lock);
	if (rc == 0)
		tkb_field_add(out, TKB_FIELD_LIBDEVICE,
		              (struct tkb_bytes){ &digest, sizeof(digest) });
	return rc;
}

static bool range_begins_with(const char *at, const char *end, const char *text)
{
	const size_t length = strlen(text);

	return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

/* `at` is after the word `declare`: is the function an intrinsic of LLVM? */
static bool is_intrinsic(const char *at, const char *end)
{
	while (at < end && *at != '@' && *at != ';')
		at++;
	return range_begins_with(at, end, "@llvm.") ||
	       range_begins_with(at, end, "@\"llvm.");
}

/* Bitcode, which has a NUL unlike text, is assumed to call libdevice. */
bool tkb_libdevice_is_called(struct tkb_bytes ir)
{
	static const char word[] = "declare";
	const char *at = ir.data;
	const char *end;

	if (ir.size == 0)
		return false;
	end = at + ir.size;
	if (range_begins_with(at, end, "BC") ||
	    memchr(at, '\0', ir.size) != NULL)
		return true;
	for (;;) {
		at = memmem(at, (size_t)(end - at), word, strlen(word));
		if (at == NULL)
			return false;
		at += strlen(word);
		if (!is_intrinsic(at, end))
			return true;
	}
}

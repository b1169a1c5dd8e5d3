/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/fd.h"
#include "cli/text.h"

enum {
	SIZE_LIMIT = 512 * 1024 * 1024
};

static const struct {
	const char *ending;
	enum tkb_source_kind kind;
} kinds[] = {
	{ ".ll", TKB_SOURCE_KIND_LLIR }, { ".llir", TKB_SOURCE_KIND_LLIR },
	{ ".bc", TKB_SOURCE_KIND_LLIR }, { ".ptx", TKB_SOURCE_KIND_PTX },
	{ ".cu", TKB_SOURCE_KIND_CUDA },
};

/* The file's name from its last dot on; "" if it has none. */
static const char *ending_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash == NULL ? path : slash, '.');

	return dot == NULL ? "" : dot;
}

bool compile_input_kind(const char *path, enum tkb_source_kind *out)
{
	const char *ending = ending_of(path);

	for (size_t i = 0; i < TKB_COUNT_OF(kinds); i++) {
		if (strcmp(ending, kinds[i].ending) == 0) {
			*out = kinds[i].kind;
			return true;
		}
	}
	return false;
}

int compile_input_file(const char *path, struct tkb_bytes *out,
                       struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t size;
	ssize_t got;
	char *data;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TKB_MISS;
	if (fd < 0 || fstat(fd, &status) < 0)
		return cli_error_errno(err, "read", path);
	if (!S_ISREG(status.st_mode))
		return cli_error(err, TKB_ERR_IO, "'%s' is not a file", path);
	if (status.st_size > SIZE_LIMIT)
		return cli_error(err, TKB_ERR_TOO_LARGE, "'%s' is too large",
		                 path);
	size = (size_t)status.st_size;
	data = calloc(1, size + 1);
	if (data == NULL)
		return cli_error_nomem(err);
	got = fd_read(fd, data, size);
	if (got != (ssize_t)size) {
		free(data);
		return cli_error(err, TKB_ERR_IO, "cannot read '%s': %s", path,
		                 got < 0 ? strerror(errno)
		                         : "it became shorter");
	}
	*out = (struct tkb_bytes){ data, size };
	return 0;
}

/* Accept only Triton's own metadata; another file may have the same name. */
static bool is_metadata(struct tkb_bytes text)
{
	return text.data != NULL && strstr(text.data, "\"num_warps\"") != NULL;
}

/* Read "<kernel>.json" beside "<kernel>.llir", if it exists. */
static int read_beside(const char *path, struct tkb_bytes *out,
                       struct tkb_error *err)
{
	const size_t length = strlen(path) - strlen(ending_of(path));
	struct tkb_bytes text = { NULL, 0 };
	char *const beside = text_format("%.*s.json", (int)length, path);
	int rc;

	if (beside == NULL)
		return cli_error_nomem(err);
	rc = compile_input_file(beside, &text, err);
	free(beside);
	if (rc == 0 && is_metadata(text))
		*out = text;
	else
		free((void *)(uintptr_t)text.data);
	return rc < 0 ? rc : 0;
}

int compile_input_metadata(const char *path, const char *named,
                           struct tkb_bytes *out, struct tkb_error *err)
{
	static const char *const endings[] = { ".llir", ".ptx", ".ttir",
		                               ".ttgir", ".glir" };
	const char *ending = ending_of(path);
	int rc;

	if (named != NULL) {
		rc = compile_input_file(named, out, err);
		return cli_missed(err, rc, "metadata", named);
	}
	for (size_t i = 0; i < TKB_COUNT_OF(endings); i++) {
		if (strcmp(ending, endings[i]) == 0)
			return read_beside(path, out, err);
	}
	return 0;
}

int compile_input_read(const char *path, const char *metadata,
                       struct compile_input *out, struct tkb_error *err)
{
	TKB_AUTO(compile_input_release)
	struct compile_input input = { .path = path };
	int rc;

	if (!compile_input_kind(path, &input.kind))
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is nothing to compile: its name ends "
		                 "in none of " COMPILE_INPUT_ENDINGS,
		                 path);
	rc = compile_input_file(path, &input.source, err);
	if (rc == TKB_MISS)
		return cli_error(err, TKB_MISS, "there is no '%s'", path);
	if (rc == 0 && input.source.size == 0)
		return cli_error(err, TKB_ERR_IO, "'%s' is empty", path);
	if (rc == 0)
		rc = compile_input_metadata(path, metadata, &input.metadata,
		                            err);
	if (rc != 0)
		return rc;
	*out = input;
	input = (struct compile_input){ .path = path };
	return 0;
}

void compile_input_release(struct compile_input *input)
{
	free((void *)(uintptr_t)input->source.data);
	free((void *)(uintptr_t)input->metadata.data);
	*input = (struct compile_input){ .path = input->path };
}

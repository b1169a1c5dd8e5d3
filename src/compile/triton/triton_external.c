/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_external.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/triton_compile.h>

#include "base/fd.h"
#include "base/path.h"
#include "compile/pool/libexec.h"

enum {
	PATH_LIMIT = 4096
};

/* Append "<folder>/<name>" if that is a program. */
static bool try_program(struct tkb_bytes folder, const char *name,
                        struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);

	tkb_buf_add(&path, folder);
	tkb_print(&path, "/%s", name);
	if (path.failure != 0 || !tkb_path_is_program((const char *)path.data))
		return false;
	tkb_buf_add(out, tkb_buf_bytes(&path));
	return true;
}

static bool find_on_path(const char *name, struct tkb_buf *out)
{
	const char *rest = getenv("PATH");

	while (rest != NULL && *rest != '\0') {
		const size_t length = strcspn(rest, ":");

		if (length != 0 &&
		    try_program((struct tkb_bytes){ rest, length }, name, out))
			return true;
		rest += length;
		if (*rest == ':')
			rest++;
	}
	return false;
}

int tkb_triton_find_python(const char *given, struct tkb_buf *out,
                           struct tkb_error *err)
{
	const char *venv = getenv("VIRTUAL_ENV");
	const char *name = given == NULL ? "python3" : given;

	if (strchr(name, '/') != NULL) {
		if (!tkb_path_is_program(name))
			return tkb_fail(err, TKB_ERR_IO,
			                "there is no Python at '%s'", name);
		tkb_buf_add_text(out, name);
	} else if ((given != NULL || venv == NULL || venv[0] == '\0' ||
	            !try_program(tkb_text(venv), "bin/python3", out)) &&
	           !find_on_path(name, out)) {
		return tkb_fail(err, TKB_ERR_IO, "there is no '%s' on $PATH",
		                name);
	}
	return tkb_buf_check(out, err);
}

int tkb_triton_find_worker(const char *given, struct tkb_buf *out,
                           struct tkb_error *err)
{
	char path[TKB_LIBEXEC_PATH_SIZE];
	int rc = 0;

	if (given == NULL)
		rc = tkb_libexec_find("triton_worker.py", path, err);
	else if (access(given, R_OK) != 0)
		rc = tkb_fail_errno(err, "cannot read '%s'", given);
	if (rc < 0)
		return rc;
	tkb_buf_add_text(out, given == NULL ? path : given);
	return tkb_buf_check(out, err);
}

/* Find "NAME=value" in the environment; if it is not set, return `name`. */
static const char *find_variable(const char *name)
{
	const size_t length = strlen(name);

	for (char **item = environ; item != NULL && *item != NULL; item++) {
		if (strncmp(*item, name, length) == 0 && (*item)[length] == '=')
			return *item;
	}
	return name;
}

/* Make "NAME=value"; NULL if out of memory. */
static const char *make_variable(const char *name, const char *value,
                                 struct tkb_arena *memory)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf text = TKB_BUF_INIT(SIZE_MAX);

	tkb_print(&text, "%s=%s", name, value);
	if (text.failure != 0)
		return NULL;
	return tkb_arena_string(memory, tkb_buf_bytes(&text));
}

int tkb_triton_environment(const char *cache_root, const char *ptxas,
                           struct tkb_arena *memory, const char *const **out,
                           struct tkb_error *err)
{
	const struct {
		const char *name;
		const char *value;
	} chosen[] = {
		{ "TRITON_CACHE_DIR", cache_root },
		{ "TRITON_PTXAS_PATH", ptxas },
		{ "TRITON_PTXAS_BLACKWELL_PATH", ptxas },
	};
	const struct tkb_triton_variable *listed;
	size_t count = TKB_COUNT_OF(chosen) + 1;
	const char **variables;

	for (size_t i = 0; tkb_triton_variable(i) != NULL; i++)
		count++;
	for (char **item = environ; item != NULL && *item != NULL; item++)
		count++;
	variables = tkb_arena_alloc(memory, count, sizeof(*variables));
	if (variables == NULL)
		return tkb_fail_nomem(err);
	*out = variables;
	for (size_t i = 0; (listed = tkb_triton_variable(i)) != NULL; i++) {
		if (!tkb_begins_with(listed->name, "TRITON_"))
			*variables++ = find_variable(listed->name);
	}
	for (char **item = environ; item != NULL && *item != NULL; item++) {
		if (tkb_begins_with(*item, "TRITON_"))
			*variables++ = *item;
	}
	/* Later texts take precedence. */
	for (size_t i = 0; i < TKB_COUNT_OF(chosen); i++) {
		if (chosen[i].value == NULL)
			continue;
		*variables =
			make_variable(chosen[i].name, chosen[i].value, memory);
		if (*variables++ == NULL)
			return tkb_fail_nomem(err);
	}
	return 0;
}

int tkb_triton_read_file(const char *path, struct tkb_buf *out,
                         struct tkb_error *err)
{
	struct stat status;
	const bool is_there = stat(path, &status) == 0;

	if (!is_there && (errno == ENOENT || errno == ENOTDIR))
		return TKB_MISS;
	if (is_there && !S_ISREG(status.st_mode))
		return tkb_fail(err, TKB_ERR_INVALID, "'%s' is not a file",
		                path);
	return tkb_fd_read_path(path, out, err);
}

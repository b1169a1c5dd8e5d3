/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_key.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

enum {
	PATH_LIMIT = 4096
};

/* Is it a variable that Python or one of the worker's libraries reads? */
static bool is_of_libraries(const char *variable)
{
	static const char *const begins[] = {
		"AMD",  "CUDA",    "HIP",   "HOME=",   "LC_",          "LANG",
		"LD_",  "LLVM",    "MLIR",  "NVPTX",   "PATH=",        "PYTHON",
		"ROCM", "TMPDIR=", "TORCH", "PYTORCH", "VIRTUAL_ENV=",
	};

	return tkb_begins_with_any(variable, begins, TKB_COUNT_OF(begins));
}

static void add_texts(struct tkb_buf *out, const char *const *texts,
                      bool (*is_wanted)(const char *text))
{
	for (; texts != NULL && *texts != NULL; texts++) {
		if (is_wanted != NULL && !is_wanted(*texts))
			continue;
		tkb_buf_add_text(out, *texts);
		tkb_buf_add_byte(out, '\0');
	}
}

/*
 * Add facts that a source may query and that are in no file: the working folder, the
 * machine, and the driver of its GPUs.
 */
static void add_place(struct tkb_buf *out)
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(AT_FDCWD, "/proc/driver/nvidia/version", O_RDONLY,
	                     0);
	char room[PATH_LIMIT];
	struct utsname name;
	ssize_t size;

	if (getcwd(room, sizeof(room)) != NULL)
		tkb_buf_add_text(out, room);
	tkb_buf_add_byte(out, '\0');
	if (uname(&name) == 0)
		tkb_buf_add(out, (struct tkb_bytes){ &name, sizeof(name) });
	size = fd < 0 ? 0 : tkb_fd_read_full(fd, room, sizeof(room));
	if (size > 0)
		tkb_buf_add(out, (struct tkb_bytes){ room, (size_t)size });
}

int tkb_triton_key_make(const char *python, struct tkb_bytes request,
                        const char *const *environment,
                        char out[TKB_DIGEST_HEX_SIZE],
                        struct tkb_digest *query_out, struct tkb_error *err)
{
	const char *const program[] = { python, NULL };
	TKB_AUTO(tkb_buf_release) struct tkb_buf all = TKB_BUF_INIT(SIZE_MAX);
	struct tkb_digest digest;
	int rc;

	tkb_buf_add(&all, request);
	add_texts(&all, environment, NULL);
	rc = tkb_buf_check(&all, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&all), &digest, err);
	if (rc < 0)
		return rc;
	tkb_digest_to_hex(&digest, out);
	add_texts(&all, program, NULL);
	add_place(&all);
	add_texts(&all, (const char *const *)environ, is_of_libraries);
	rc = tkb_buf_check(&all, err);
	return rc < 0 ? rc : tkb_digest_of(tkb_buf_bytes(&all), query_out, err);
}

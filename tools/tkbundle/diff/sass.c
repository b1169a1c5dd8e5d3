/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/sass.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/fd.h"
#include "cli/text.h"

enum {
	FOLDERS_LIMIT = 4
};

#define CHILD_FD 3
#define CHILD_PATH "/proc/self/fd/3"

/*
 * Tools in order of preference, each with the options that print the code, and,
 * if possible, the lines of the source.
 */
struct tool {
	const char *name;
	const char *options[2];
};

static const struct tool tools[] = {
	{ "nvdisasm", { "-gi", "-c" } },
	{ "cuobjdump", { "-sass", NULL } },
};

static int write_fd(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const int *const fd = self;

	if (!fd_write(*fd, bytes))
		return cli_error(err, TKB_ERR_IO, "cannot keep the cubin: %s",
		                 strerror(errno));
	return 0;
}

/* Copy `fd` to `to`. */
static int relay(int fd, const struct tkb_sink *to, struct tkb_error *err)
{
	char bytes[16384];
	int rc = 0;

	while (rc == 0) {
		const ssize_t size = read(fd, bytes, sizeof(bytes));

		if (size == 0)
			return 0;
		if (size > 0)
			rc = to->write(
				to->self,
				(struct tkb_bytes){ bytes, (size_t)size }, err);
		else if (errno != EINTR)
			rc = cli_error(err, TKB_ERR_IO,
			               "cannot read what it prints: %s",
			               strerror(errno));
	}

	return rc;
}

/*
 * Give the child its output, and the cubin as a descriptor with a fixed number.
 */
static int redirect_child(posix_spawn_file_actions_t *actions, int out_fd,
                          int cubin_fd)
{
	int rc = posix_spawn_file_actions_init(actions);

	if (rc != 0)
		return rc;

	/* Keep this order: out_fd may be CHILD_FD; cubin_fd is not 1. */
	rc = posix_spawn_file_actions_adddup2(actions, out_fd, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, cubin_fd,
		                                      CHILD_FD);
	if (rc != 0)
		(void)posix_spawn_file_actions_destroy(actions);
	return rc;
}

/* Start `tool` from `folder`, or from the PATH if that is NULL. */
static int start_disassembler(const struct tool *tool, const char *folder,
                              const posix_spawn_file_actions_t *actions,
                              pid_t *out)
{
	TKB_AUTO(text_free) char *path = NULL;
	char cubin[] = CHILD_PATH;
	char options[2][8] = { "", "" };
	char *argv[5] = { NULL };
	size_t count = 1;

	path = text_format("%s%s%s", folder != NULL ? folder : "",
	                   folder != NULL ? "/" : "", tool->name);
	if (path == NULL)
		return ENOMEM;
	for (size_t i = 0; i < 2 && tool->options[i] != NULL; i++) {
		(void)snprintf(options[i], sizeof(options[i]), "%s",
		               tool->options[i]);
		argv[count++] = options[i];
	}
	argv[count] = cubin;

	/* Without a slash in the name, posix_spawnp() searches the PATH. */
	argv[0] = path;
	return posix_spawnp(out, path, actions, NULL, argv, environ);
}

/* Folders to search after the PATH; each is owned. */
struct folders {
	char *items[FOLDERS_LIMIT];
	size_t count;
};

static void folders_release(struct folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->items[i]);
}

/* Add "<path><rest>"; nothing if there is no path. */
static int add_tools_folder(struct folders *folders, const char *path,
                            size_t length, const char *rest,
                            struct tkb_error *err)
{
	char *folder;

	if (path == NULL)
		return 0;
	folder = text_format("%.*s%s", (int)length, path, rest);
	if (folder == NULL)
		return cli_error_nomem(err);
	folders->items[folders->count++] = folder;
	return 0;
}

/* Triton's wheels have nvdisasm beside their ptxas. */
static int list_folders(struct folders *out, struct tkb_error *err)
{
	const char *const homes[] = { cli_variable("CUDA_HOME"),
		                      cli_variable("CUDA_PATH") };
	const char *const ptxas = cli_variable("TRITON_PTXAS_PATH");
	const char *const slash = ptxas == NULL ? NULL : strrchr(ptxas, '/');
	const char usual[] = "/usr/local/cuda/bin";
	int rc = 0;

	for (size_t i = 0; i < 2 && rc == 0; i++)
		rc = add_tools_folder(out, homes[i],
		                      homes[i] == NULL ? 0 : strlen(homes[i]),
		                      "/bin", err);
	if (rc == 0 && slash != NULL)
		rc = add_tools_folder(out, ptxas, (size_t)(slash - ptxas), "",
		                      err);
	return rc == 0 ? add_tools_folder(out, usual, strlen(usual), "", err)
	               : rc;
}

/*
 * If $TRITON_NVDISASM_PATH names a tool, use only that; if it cannot be
 * started, fail.
 */
static int start_named(const char *path,
                       const posix_spawn_file_actions_t *actions, pid_t *out,
                       const char **name_out, struct tkb_error *err)
{
	const struct tool named = {
		path, { tools[0].options[0], tools[0].options[1] }
	};
	const int number =
		strchr(path, '/') == NULL
			? ENOENT
			: start_disassembler(&named, NULL, actions, out);

	*name_out = tools[0].name;
	if (number != 0)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot start '%s', which "
		                 "TRITON_NVDISASM_PATH names: %s",
		                 path, strerror(number));
	return 0;
}

/* Start the first tool that exists. `*name_out` receives its name. */
static int start_any(const posix_spawn_file_actions_t *actions, pid_t *out,
                     const char **name_out, struct tkb_error *err)
{
	TKB_AUTO(folders_release) struct folders folders = { .count = 0 };
	const char *const named = cli_variable("TRITON_NVDISASM_PATH");
	int rc;

	if (named != NULL)
		return start_named(named, actions, out, name_out, err);
	rc = list_folders(&folders, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < TKB_COUNT_OF(tools); i++) {
		*name_out = tools[i].name;
		if (start_disassembler(&tools[i], NULL, actions, out) == 0)
			return 0;
		for (size_t k = 0; k < folders.count; k++) {
			if (start_disassembler(&tools[i], folders.items[k],
			                       actions, out) == 0)
				return 0;
		}
	}

	return cli_error(err, TKB_ERR_UNSUPPORTED,
	                 "there is no nvdisasm or cuobjdump to show sass with; "
	                 "both come with the CUDA toolkit");
}

static int wait_for_disassembler(pid_t child, const char *name,
                                 struct tkb_error *err)
{
	int state = 0;
	pid_t ended;

	do {
		ended = waitpid(child, &state, 0);
	} while (ended < 0 && errno == EINTR);

	if (ended < 0)
		return cli_error(err, TKB_ERR_IO, "cannot wait for %s: %s",
		                 name, strerror(errno));
	if (WIFSIGNALED(state))
		return cli_error(err, TKB_ERR_IO, "%s was killed by signal %d",
		                 name, WTERMSIG(state));
	if (WEXITSTATUS(state) != 0)
		return cli_error(err, TKB_ERR_IO, "%s exited with status %d",
		                 name, WEXITSTATUS(state));
	return 0;
}

/* Start a tool whose output is `out_fd`. */
static int run_tool(int cubin_fd, int out_fd, pid_t *out, const char **name_out,
                    struct tkb_error *err)
{
	posix_spawn_file_actions_t actions;
	int rc = redirect_child(&actions, out_fd, cubin_fd);

	if (rc != 0)
		return cli_error(err, TKB_ERR_IO, "cannot start a program: %s",
		                 strerror(rc));

	rc = start_any(&actions, out, name_out, err);
	(void)posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/*
 * Disassemble the file `cubin_fd`. The output passes through us, because the
 * tools do not notice if it cannot be written.
 */
static int disassemble(int cubin_fd, const struct tkb_sink *out,
                       struct tkb_error *err)
{
	const char *name = NULL;
	pid_t child = 0;
	int ends[2];
	int relayed;
	int rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return cli_error(err, TKB_ERR_IO, "cannot make a pipe: %s",
		                 strerror(errno));

	rc = run_tool(cubin_fd, ends[1], &child, &name, err);
	(void)close(ends[1]);
	if (rc != 0) {
		(void)close(ends[0]);
		return rc;
	}

	/*
	 * Close the pipe first: a tool that still writes is killed by SIGPIPE.
	 */
	relayed = relay(ends[0], out, err);
	(void)close(ends[0]);
	rc = wait_for_disassembler(child, name, relayed == 0 ? err : NULL);
	return relayed != 0 ? relayed : rc;
}

/*
 * The tools need a file with a name in which they can seek. A file in memory
 * has a name only for the child, and never stays behind.
 */
int sass_print(struct cli *cli, const struct source *source, size_t index,
               size_t file, struct tkb_error *err)
{
	TKB_AUTO(fd_close) int cubin = memfd_create("cubin", MFD_CLOEXEC);
	const struct tkb_sink sink = { .write = write_fd, .self = &cubin };
	const struct tkb_sink out = cli_sink(cli);
	int rc;

	if (cubin < 0)
		return cli_error(err, TKB_ERR_IO, "cannot keep the cubin: %s",
		                 strerror(errno));

	rc = source_read(source, index, file, &sink, err);
	if (rc != 0)
		return rc;
	return disassemble(cubin, &out, err);
}

int sass_write(struct tkb_bytes cubin, const struct tkb_sink *out,
               struct tkb_error *err)
{
	TKB_AUTO(fd_close) int fd = memfd_create("cubin", MFD_CLOEXEC);

	if (fd < 0)
		return cli_error(err, TKB_ERR_IO, "cannot keep the cubin: %s",
		                 strerror(errno));
	if (write_fd(&fd, cubin, err) < 0)
		return TKB_ERR_IO;
	return disassemble(fd, out, err);
}

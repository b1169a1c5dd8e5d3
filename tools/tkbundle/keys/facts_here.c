/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/facts_here.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "config/engine_version.h"
#include "keys/variables.h"
#include "config/python.h"
#include "keys/ir.h"
#include "keys/wheel.h"

enum {
	TEXT_SIZE = 4096
};

/*
 * Variables
 */

/*
 * Add the variables that are part of keys, and the one that says which GPUs are
 * visible.
 */
static void take_variables(struct facts *out)
{
	TKB_AUTO(key_variables_release)
	struct key_variables variables = { .count = 0 };
	struct key_variable found;
	char name[128];

	key_variables_load(&variables);
	for (size_t i = 0; environ[i] != NULL; i++) {
		const char *const equals = strchr(environ[i], '=');
		const char *const own = name + strlen("env.");

		if (equals == NULL ||
		    snprintf(name, sizeof(name), "env.%.*s",
		             (int)(equals - environ[i]),
		             environ[i]) >= (int)sizeof(name) ||
		    (!key_variable_find(&variables, own, &found) &&
		     strcmp(own, "CUDA_VISIBLE_DEVICES") != 0))
			continue;
		facts_set(out, name,
		          key_variable_is_secret(own, equals + 1) ? FACTS_SECRET
		                                                  : equals + 1);
	}
}

/*
 * Programs
 */

/* The version of a ptxas, read from its file. */
static bool version_in_ptxas(const char *path, char out[IR_TEXT_SIZE])
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	bool is_found = false;
	void *bytes;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_size <= 0)
		return false;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd,
	             0);
	if (bytes == MAP_FAILED)
		return false;
	is_found = ir_ptxas_of_cubin(
		(struct tkb_bytes){ bytes, (size_t)status.st_size }, out);
	(void)munmap(bytes, (size_t)status.st_size);
	return is_found;
}

static void take_ptxas(struct facts *out, const char *name, const char *path)
{
	char version[IR_TEXT_SIZE];
	char text[FACT_SIZE];

	if (path == NULL || path[0] == '\0')
		return;
	if (!version_in_ptxas(path, version))
		(void)snprintf(version, sizeof(version), "unknown");
	(void)snprintf(text, sizeof(text), "%s %.400s", version, path);
	facts_set(out, name, text);
}

static void take_program(struct facts *out, const char *name, const char *file,
                         const char *command, const char *engine)
{
	char path[TEXT_SIZE];

	engine_file_find(file, command, engine, path, sizeof(path));
	take_ptxas(out, name, path);
}

/*
 * Builds of the same version, such as those for two Pythons, differ in this
 * file.
 */
static void take_libtriton(struct facts *out, const char *command,
                           const char *engine)
{
	static const char folder[] = "triton/_C";
	const char *const version = facts_find(out, "triton");
	char path[TEXT_SIZE];
	char list[128];
	char digest[WHEEL_DIGEST_SIZE];

	engine_file_find(folder, command, engine, path, sizeof(path));
	if (version == NULL || path[0] == '\0')
		return;
	path[strlen(path) - strlen(folder) - 1] = '\0';
	(void)snprintf(list, sizeof(list), "triton-%.100s.dist-info", version);
	if (wheel_digest(path, list, "triton/_C/libtriton.so", digest))
		facts_set(out, "libtriton", digest);
}

static void take_version(struct facts *out, const char *name,
                         const char *package, const char *command,
                         const char *engine)
{
	char version[ENGINE_VERSION_SIZE];

	engine_version_of_package(package, command, engine, version);
	facts_set(out, name, version);
}

static void take_engine(struct facts *out, const char *command,
                        const char *engine, const char *package)
{
	char version[ENGINE_VERSION_SIZE] = "";
	char text[FACT_SIZE];

	if (engine[0] == '\0')
		return;
	if (package[0] != '\0')
		engine_version_of_package(package, command, engine, version);
	(void)snprintf(text, sizeof(text), "%.200s%s%s", engine,
	               version[0] != '\0' ? " " : "", version);
	facts_set(out, "engine", text);
}

/*
 * The GPU
 */

static void take_fact_line(struct facts *out, const char *name,
                           const char *from)
{
	char text[FACT_SIZE];

	from += strspn(from, " \t");
	(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(from, "\n"),
	               from);
	facts_set(out, name, text);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul ..." */
static void take_driver(struct facts *out, int folder)
{
	char text[TEXT_SIZE];
	const char *at = text;

	if (fd_read_file(folder, "version", text, sizeof(text)) <= 0)
		return;
	while (*at != '\0' && *at != '\n') {
		const size_t length = strspn(at, "0123456789.");

		if (length > 4 && memchr(at, '.', length) != NULL) {
			text[at - text + (long)length] = '\0';
			facts_set(out, "driver", at);
			return;
		}
		at += strcspn(at, " \t\n");
		at += strspn(at, " \t");
	}
}

/* "NVIDIA H200,580" */
static void take_told(struct facts *out, const char *told)
{
	const char *const comma = strrchr(told, ',');
	char name[FACT_SIZE];

	(void)snprintf(name, sizeof(name), "%.*s",
	               (int)(comma != NULL ? comma - told : 0), told);
	facts_set(out, "gpu", name);
	facts_set(out, "driver", comma != NULL ? comma + 1 : NULL);
}

static void take_gpu(struct facts *out)
{
	static const char driver[] = "/proc/driver/nvidia";
	const char *const told = cli_variable("TKBUNDLE_GPU");
	TKB_AUTO(folder_close) DIR *gpus = NULL;
	TKB_AUTO(fd_close)
	const int folder = open(driver, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *item;
	char path[512];
	char text[TEXT_SIZE];

	if (told != NULL) {
		take_told(out, told);
		return;
	}
	if (folder < 0)
		return;
	take_driver(out, folder);
	gpus = folder_open(folder, "gpus", 0);
	while (gpus != NULL && (item = readdir(gpus)) != NULL) {
		const char *model;

		(void)snprintf(path, sizeof(path), "gpus/%s/information",
		               item->d_name);
		model = fd_read_file(folder, path, text, sizeof(text)) > 0
		                ? strstr(text, "Model:")
		                : NULL;
		if (model != NULL)
			take_fact_line(out, "gpu", model + strlen("Model:"));
	}
}

void facts_here_find_triton(struct facts *out, const char *command,
                            const char *engine)
{
	take_version(out, "triton", "triton", command, engine);
	take_libtriton(out, command, engine);
}

void facts_here_find(struct facts *out, const char *command, const char *engine,
                     const char *package)
{
	char python[PYTHON_PATH_SIZE];

	take_variables(out);
	facts_set(out, "home", cli_variable("HOME"));
	if (python_find(command, engine, python))
		facts_set(out, "python", python);
	facts_here_find_triton(out, command, engine);
	take_version(out, "torch", "torch", command, engine);
	take_engine(out, command, engine, package);
	take_program(out, "ptxas.triton", ENGINE_FILE_PTXAS, command, engine);
	take_program(out, "ptxas.torch", "torch/bin/ptxas", command, engine);
	take_ptxas(out, "ptxas", cli_variable("TRITON_PTXAS_PATH"));
	take_gpu(out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/gpu.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

#define MARK "gpu "

enum {
	NAME_LIMIT = 100,
	MAJOR_LIMIT = 9, /* digits */
	TEXT_SIZE = 4096
};

bool tkb_gpu_is_platform(const char *platform)
{
	return tkb_begins_with(platform, MARK);
}

bool tkb_gpu_fits(const char *platform, const struct tkb_gpu_here *here)
{
	return here->platform[0] != '\0' &&
	       strcmp(platform, here->platform) == 0;
}

static bool is_printed(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return length != 0 && length <= NAME_LIMIT;
}

/* Format a platform, with the part of `version` before its first dot. */
static bool format(const char *name, size_t length, const char *version,
                   char out[TKB_GPU_PLATFORM_SIZE])
{
	const size_t digits = strspn(version, "0123456789");

	if (!is_printed(name, length) || digits == 0 || digits > MAJOR_LIMIT ||
	    (version[digits] != '.' && version[digits] != '\0'))
		return false;
	(void)snprintf(out, TKB_GPU_PLATFORM_SIZE, MARK "%.*s, driver %.*s",
	               (int)length, name, (int)digits, version);
	return true;
}

int tkb_gpu_ask(struct tkb_gpu_here *here, struct tkb_error *err)
{
	const char *value = getenv("TKBUNDLE_GPU");
	const char *comma = value == NULL ? NULL : strrchr(value, ',');

	if (here->is_asked)
		return 0;
	if (value == NULL)
		tkb_gpu_read("/proc/driver/nvidia", here->platform);
	else if (value[0] != '\0' &&
	         (comma == NULL ||
	          !format(value, (size_t)(comma - value),
	                  comma + 1 + strspn(comma + 1, " "), here->platform)))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "TKBUNDLE_GPU is '%.200s', and not a GPU's "
		                "name and a driver, as in 'NVIDIA H200,580'",
		                value);
	here->is_asked = true;
	return 0;
}

/*
 * What the driver says
 */

/* Read the start of a file, with a zero; "" if it cannot be read. */
static void read_proc_text(int dir_fd, const char *name, char out[TEXT_SIZE])
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open_quietly(dir_fd, name);
	const ssize_t size =
		fd < 0 ? -1 : tkb_fd_read_full(fd, out, TEXT_SIZE - 1);

	out[size < 0 ? 0 : size] = '\0';
}

/* The first word that is a version, as in "... Module  580.65.06  Sun Jul ..." */
static const char *find_version_word(const char *text)
{
	while (*text != '\0') {
		const size_t digits = strspn(text, "0123456789");

		if (digits != 0 && text[digits] == '.')
			return text;
		text += strcspn(text, " \t\n");
		text += strspn(text, " \t\n");
	}
	return NULL;
}

/* Read the name in the line "Model: <name>" of one GPU. */
static bool read_gpu_name(int dir_fd, const char *gpu, char out[NAME_LIMIT + 1])
{
	static const char label[] = "Model:";
	char path[NAME_MAX + sizeof("/information")];
	char text[TEXT_SIZE];
	const char *name;
	size_t length;

	(void)snprintf(path, sizeof(path), "%s/information", gpu);
	read_proc_text(dir_fd, path, text);
	name = strstr(text, label);
	if (name == NULL)
		return false;
	name += strlen(label);
	name += strspn(name, " \t");
	length = strcspn(name, "\n");
	while (length > 0 && name[length - 1] == ' ')
		length--;
	if (!is_printed(name, length))
		return false;
	memcpy(out, name, length);
	out[length] = '\0';
	return true;
}

/*
 * Read the name of the GPUs in the folder; false if there are none, or their
 * names differ.
 */
static bool read_names(int dir_fd, char out[NAME_LIMIT + 1])
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	char name[NAME_LIMIT + 1];
	int rc;

	out[0] = '\0';
	rc = tkb_dir_open(dir_fd, "gpus", &dir, NULL);
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, NULL);
		if (rc != 0 || item->d_name[0] == '.')
			continue;
		if (!read_gpu_name(dirfd(dir), item->d_name, name) ||
		    (out[0] != '\0' && strcmp(out, name) != 0))
			return false;
		memcpy(out, name, sizeof(name));
	}
	return rc == TKB_MISS && out[0] != '\0';
}

void tkb_gpu_read(const char *folder, char out[TKB_GPU_PLATFORM_SIZE])
{
	TKB_AUTO(tkb_fd_close_at)
	int fd = tkb_fd_open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0);
	char name[NAME_LIMIT + 1];
	char text[TEXT_SIZE];
	const char *version;

	out[0] = '\0';
	if (fd < 0 || !read_names(fd, name))
		return;
	read_proc_text(fd, "version", text);
	version = find_version_word(text);
	if (version != NULL)
		(void)format(name, strlen(name), version, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/libexec.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Find "<folder of `program`>/<between><name>"; false if it does not exist. */
static bool find_beside(const char *program, const char *between,
                        const char *name, char out[TKB_LIBEXEC_PATH_SIZE])
{
	const char *slash = strrchr(program, '/');
	int length;

	if (slash == NULL)
		return false;
	length = snprintf(out, TKB_LIBEXEC_PATH_SIZE, "%.*s/%s%s",
	                  (int)(slash - program), program, between, name);
	return length > 0 && length < TKB_LIBEXEC_PATH_SIZE &&
	       access(out, R_OK) == 0;
}

/* The file that contains this code: the library, or the program itself. */
static bool find_library(char out[TKB_LIBEXEC_PATH_SIZE])
{
	Dl_info info;

	return dladdr((const void *)__func__, &info) != 0 &&
	       info.dli_fname != NULL && realpath(info.dli_fname, out) != NULL;
}

/* For messages: "/usr/bin/tkbundle" and "../libexec" give "/usr/libexec". */
static void name_folder(const char *program, const char *between,
                        char out[TKB_LIBEXEC_PATH_SIZE])
{
	static const char up[] = "../";
	const char *end = strrchr(program, '/');

	while (end != NULL && tkb_begins_with(between, up)) {
		end = memrchr(program, '/', (size_t)(end - program));
		between += strlen(up);
	}
	(void)snprintf(out, TKB_LIBEXEC_PATH_SIZE, "%.*s%s%s",
	               end == NULL ? 0 : (int)(end - program), program,
	               between[0] == '\0' ? "" : "/", between);
}

int tkb_libexec_find(const char *name, char out[TKB_LIBEXEC_PATH_SIZE],
                     struct tkb_error *err)
{
	char here[TKB_LIBEXEC_PATH_SIZE];
	char beside[TKB_LIBEXEC_PATH_SIZE] = "";
	char installed[TKB_LIBEXEC_PATH_SIZE] = "";
	const ssize_t length = readlink("/proc/self/exe", here, sizeof(here));

	if (length > 0 && (size_t)length < sizeof(here)) {
		here[length] = '\0';
		if (find_beside(here, "", name, out) ||
		    find_beside(here, TKB_LIBEXEC_FROM_BIN "/", name, out))
			return 0;
		name_folder(here, "", beside);
		name_folder(here, TKB_LIBEXEC_FROM_BIN, installed);
	}
	if (find_library(here)) {
		if (find_beside(here, "", name, out) ||
		    find_beside(here, TKB_LIBEXEC_FROM_LIB "/", name, out))
			return 0;
		name_folder(here, TKB_LIBEXEC_FROM_LIB, installed);
	}
	return tkb_fail(err, TKB_ERR_IO,
	                "there is no %s: install the package tkbundle-compile "
	                "(looked for in '%s' and '%s')",
	                name, beside, installed);
}

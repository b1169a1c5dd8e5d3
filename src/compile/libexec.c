/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/libexec.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "<folder of `program`>/<between><name>", if it is there. */
static bool look_beside(const char *program, const char *between,
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

/* The file that has this code in it: the library, or the program itself. */
static bool find_library(char out[TKB_LIBEXEC_PATH_SIZE])
{
	Dl_info info;

	return dladdr((const void *)__func__, &info) != 0 &&
	       info.dli_fname != NULL && realpath(info.dli_fname, out) != NULL;
}

int tkb_libexec_find(const char *name, char out[TKB_LIBEXEC_PATH_SIZE],
                     struct tkb_error *err)
{
	char here[TKB_LIBEXEC_PATH_SIZE];
	const ssize_t length = readlink("/proc/self/exe", here, sizeof(here));

	if (length > 0 && (size_t)length < sizeof(here)) {
		here[length] = '\0';
		if (look_beside(here, "", name, out) ||
		    look_beside(here, TKB_LIBEXEC_FROM_BIN "/", name, out))
			return 0;
	}
	if (find_library(here) &&
	    (look_beside(here, "", name, out) ||
	     look_beside(here, TKB_LIBEXEC_FROM_LIB "/", name, out)))
		return 0;
	return tkb_fail(err, TKB_ERR_IO,
	                "there is no %s beside the program, nor in libexec",
	                name);
}

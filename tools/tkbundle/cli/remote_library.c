/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remote_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include <tkbundle/tkbundle.h>

#include "cli/cli.h"

#define FUNCTION(member, function)                                             \
	{ #function, offsetof(struct remote_library, member) },

static const struct {
	const char *name;
	size_t offset; /* in struct remote_library */
} functions[] = { REMOTE_FUNCTIONS(FUNCTION) };

/*
 * The library is in the same folder as the one that the program is linked with.
 */
static void *open_library(void)
{
	Dl_info linked = { .dli_fname = NULL };
	const char *slash = NULL;
	char path[PATH_MAX];
	int length = 0;

	if (dladdr(tkb_version(), &linked) != 0 && linked.dli_fname != NULL)
		slash = strrchr(linked.dli_fname, '/');
	if (slash != NULL)
		length = (int)(slash + 1 - linked.dli_fname);

	(void)snprintf(path, sizeof(path), "%.*s%s", length, linked.dli_fname,
	               TKB_REMOTE_LIBRARY);
	return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

int remote_library_load(struct remote_library *out, struct tkb_error *err)
{
	void *const library = open_library();

	if (library == NULL)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot load the library for remotes: %s",
		                 dlerror());

	for (size_t i = 0; i < TKB_COUNT_OF(functions); i++) {
		void *const function = dlsym(library, functions[i].name);

		if (function == NULL)
			return cli_error(err, TKB_ERR_IO,
			                 "cannot use the library for remotes: "
			                 "%s",
			                 dlerror());
		/*
		 * ISO C cannot convert an object pointer to a function pointer.
		 */
		(void)memcpy((char *)out + functions[i].offset, &function,
		             sizeof(function));
	}
	return 0;
}

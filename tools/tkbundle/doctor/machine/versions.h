/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_VERSIONS_H
#define TKBUNDLE_VERSIONS_H

#include "cli/ask.h"
#include "config/python.h"
#include "doctor/machine/finding.h"

/*
 * The versions of a Python and its packages. They are read from the metadata
 * beside the packages, which are only imported if requested.
 */
enum {
	VERSIONS_LIMIT = 16,
	VERSION_SIZE = 64,
	VERSIONS_ANSWER_SIZE = 8192
};

struct version {
	const char *package;     /* as pip calls it; static, or the profile's */
	char text[VERSION_SIZE]; /* "" if it is not installed */
	char imported[VERSION_SIZE]; /* the version in its module; "": not
	                                imported */
	char fault[256];             /* why it cannot be imported */
};

struct versions {
	char python[PYTHON_PATH_SIZE]; /* "": none is found */
	char text[VERSION_SIZE];       /* "3.12.3" */
	char tag[VERSION_SIZE];        /* "cpython-312" */
	char script
		[PYTHON_PATH_SIZE];  /* the engine's, if its Python is gone, */
	char gone[PYTHON_PATH_SIZE]; /* which was here; else both are "" */
	bool is_late;                /* it did not answer */
	bool has_answered;
	struct version items[VERSIONS_LIMIT];
	size_t count;
	const char *engine; /* the package that the server must have, or NULL */
	const char *argv[VERSIONS_LIMIT + 8];
	char answer[VERSIONS_ANSWER_SIZE];
};

/* Add a package before the child begins; each package is kept once. */
void versions_add(struct versions *versions, const char *package);

/*
 * @param engine   whose Python it is; NULL: any
 * @param is_deep  import them
 * @return false if there is no Python
 */
bool versions_begin(struct versions *versions, const char *engine, bool is_deep,
                    struct ask *ask);
void versions_end(struct versions *versions, const struct ask *ask);

/* The version of a package; "" if it is not installed or unknown. */
const char *versions_find(const struct versions *versions, const char *package);

void versions_print(const struct versions *versions, struct cli *cli,
                    struct findings *findings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TOOLS_H
#define TKBUNDLE_TOOLS_H

#include "cli/ask.h"
#include "config/python.h"
#include "doctor/machine/finding.h"

/*
 * Each ptxas that a process here may use. Which one made a kernel is part of its key:
 * Triton takes its own, PyTorch's compile workers PyTorch's, and both that of
 * TRITON_PTXAS_PATH where it is set.
 */
enum {
	TOOLS_LIMIT = 8,
	TOOL_ANSWER_SIZE = 1024
};

struct tool {
	const char *whose; /* "Triton's" */
	char path[PYTHON_PATH_SIZE];
	bool is_used; /* Triton or PyTorch compiles kernels with it */
	bool has_answered;
	uint32_t ptx; /* 87; 0: not told */
	char version[32];
	const char *argv[3];
	char answer[TOOL_ANSWER_SIZE];
};

struct tools {
	struct tool items[TOOLS_LIMIT];
	size_t count;
	bool is_set;   /* TRITON_PTXAS_PATH is set */
	bool is_valid; /* and it names a program */
};

/*
 * Find them.
 *
 * @param engine  whose Python's packages are looked into; NULL: any
 * @param asks    receives what to ask, one for each of `count`
 */
void tools_begin(struct tools *tools, const char *engine, struct ask *asks);
void tools_end(struct tools *tools, const struct ask *asks);

/* Is a kernel whose PTX is of `ptx` made by one that is used here, or unknown? */
bool tools_have(const struct tools *tools, uint32_t ptx);

/* Two that are used, and do not agree. */
bool tools_disagree(const struct tools *tools, const struct tool **one,
                    const struct tool **other);

/* The one used here, or else any, by which kernels of this PTX are made; or NULL. */
const struct tool *tools_find(const struct tools *tools, uint32_t ptx);

void tools_print(const struct tools *tools, struct cli *cli, bool is_json,
                 struct findings *findings);

#endif

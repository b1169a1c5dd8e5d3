/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TOOLS_H
#define TKBUNDLE_TOOLS_H

#include "cli/ask.h"
#include "config/python.h"
#include "doctor/machine/finding.h"

/*
 * The ptxas programs that processes here may use. The one that made a kernel is
 * part of its key: Triton uses its own, PyTorch's compile workers use
 * PyTorch's, and both use TRITON_PTXAS_PATH if it is set. For newer GPUs, from
 * Blackwell on, or with Triton 3.9 from Hopper on, Triton has a second one.
 */
enum {
	TOOLS_LIMIT = 9,
	TOOL_ANSWER_SIZE = 1024
};

struct tool {
	const char *whose; /* "Triton's" */
	char path[PYTHON_PATH_SIZE];
	bool is_used;      /* Triton or PyTorch compiles kernels with it */
	bool is_for_newer; /* only for newer GPUs */
	bool has_answered;
	uint32_t ptx; /* 87; 0: unknown */
	char version[32];
	const char *argv[3];
	char answer[TOOL_ANSWER_SIZE];
};

struct tools {
	struct tool items[TOOLS_LIMIT];
	size_t count;
	bool is_set;   /* TRITON_PTXAS_PATH is set */
	bool is_valid; /* TRITON_PTXAS_PATH names a program */
};

/*
 * Find the ptxas programs.
 *
 * @param engine  the engine whose Python's packages are searched; NULL: any
 * @param asks  receives the questions, one for each of `count`
 */
void tools_begin(struct tools *tools, const char *engine, struct ask *asks);
void tools_end(struct tools *tools, const struct ask *asks);

/*
 * Does a ptxas that is used here make kernels with this version of PTX? True if
 * that is unknown.
 */
bool tools_have(const struct tools *tools, uint32_t ptx);

/* Find two used ptxas that do not agree, though both are for the same GPUs. */
bool tools_disagree(const struct tools *tools, const struct tool **one,
                    const struct tool **other);

/*
 * The ptxas, preferably a used one, that makes kernels with this version of
 * PTX; or NULL.
 */
const struct tool *tools_find(const struct tools *tools, uint32_t ptx);

void tools_print(const struct tools *tools, struct cli *cli,
                 struct findings *findings);

#endif

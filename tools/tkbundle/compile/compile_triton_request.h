/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_TRITON_ORDER_H
#define TKBUNDLE_COMPILE_TRITON_ORDER_H

#include <tkbundle/triton_compile.h>

#include "cli/args.h"
#include "cli/deadline.h"

/*
 * Is it FILE.py:KERNEL, FILE.json, Triton's IR, a module of Inductor's, or
 * compiled kernels?
 */
bool compile_triton_is_input(const char *operand);

/* Is it FILE.json? Such a list names signatures, and may name targets. */
bool compile_triton_is_list(const char *operand);

/* Is it FILE.py, a module of Inductor's, or a folder of modules? */
bool compile_triton_is_module(const char *operand);

/* Is it FILE.tkb, or a folder of entries: kernels to be compiled anew? */
bool compile_triton_is_recorded(const char *operand);

/* Is it Triton's IR? */
bool compile_triton_is_ir(const char *operand);

/* Is it IR that names its warps: .ttgir or .glir? */
bool compile_triton_has_layouts(const char *operand);

/* What to compile. Everything is borrowed; zero means the default. */
struct compile_triton_request {
	const char *const *inputs; /* inputs for which the functions above are
	                              true */
	size_t input_count;
	const char *signature;      /* signature for FILE.py:KERNEL, which needs
	                               one */
	const char *const *pythons; /* paths or names; none: the default one */
	size_t python_count;
	const char *ptxas;      /* a path; NULL: the one that Triton finds */
	const char *cache_root; /* NULL: Triton's own */
	const char *metadata;   /* for IR: a file; NULL: the file beside the
	                           IR */
	bool has_only_winners;  /* for modules of Inductor's */
	const struct arguments
		*emitted;   /* NULL: make entries; else the stage of --emit */
	uint32_t num_warps; /* 0: Triton's default, or the list's */
	uint32_t num_stages;
	const struct tkb_target *targets; /* for all; a kernel of a list may
	                                     name its own */
	size_t target_count;
	uint32_t worker_count;
	struct deadline deadline; /* for all of it */
	bool keeps_going;         /* go on after a failure */
	bool is_verbose;          /* print a line for each, and Triton's
	                             output */
	bool has_pass_output;
	bool is_json;     /* print no lines of results */
	const char *name; /* what messages call a recorded input; NULL: its
	                        path */
	/*
	 * Called with the key of each recorded kernel that fails, and why;
	 * NULL: that is printed.
	 */
	void (*on_failed)(void *self, const char *key, const char *why);
	void *self;
	struct tkb_sink log; /* as in tkb_triton_options */
};

#endif

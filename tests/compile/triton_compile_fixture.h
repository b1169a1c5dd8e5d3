/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_TRITON_COMPILE_FIXTURE_H
#define TKB_TESTS_TRITON_COMPILE_FIXTURE_H

#include <tkbundle/triton_compile.h>

#include "harness.h"

/* Triton from PyPI, as ./bootstrap test installs it, and kernels for it. */

extern const char *const triton_python;
extern const char *const triton_worker;

/* The usual one. */
#define TRITON_USUAL "3.6.0"

/* Skip the test where there is no Triton of this version; else use it. */
void need_triton(const char *version);

/* Is that Python a CPython 3.`minor` on x86-64? A wheel's own library, of which
 * keys depend, is another one for each. */
bool is_python(unsigned minor);

/* Workers for entries in "cache". Files that they leave go with the test. */
struct tkb_triton *open_triton(void);
/* With the usual Triton, for these kernels in "kernels.py". */
struct tkb_triton *open_triton_for(const char *kernels);
struct tkb_triton *open_triton_of(const struct tkb_triton_options *options);

/* One that its block closes. */
#define TRITON(name) TKB_AUTO(close_triton_at) struct tkb_triton *name
TKB_AUTO_POINTER(close_triton_at, struct tkb_triton, tkb_triton_close)

/* What came of one; borrowed from the test. */
struct made {
	int rc;
	struct tkb_error err;
	struct tkb_triton_compiled compiled;
	const char *log;
};

struct made make(struct tkb_triton *triton, const struct tkb_triton_unit *unit);

/* The same, of "kernels.py", for cuda:90. */
struct made make_kernel(struct tkb_triton *triton, const char *kernel,
                        const char *signature);

/* It must be compiled, or be a hit. */
struct tkb_triton_compiled must_make(struct tkb_triton *triton,
                                     const char *kernel, const char *signature);
struct tkb_triton_compiled must_make_unit(struct tkb_triton *triton,
                                          const struct tkb_triton_unit *unit);

/* The file of an entry whose name has this ending, as a text. */
const char *file_of(const struct tkb_triton_compiled *made, const char *ending);

/* A unit of "kernels.py" for cuda:90. */
struct tkb_triton_unit unit_of(const char *kernel, const char *signature);

/* It must fail, and say `part`. */
void must_refuse(struct tkb_triton *triton, const struct tkb_triton_unit *unit,
                 int status, const char *part);
void must_fail(struct tkb_triton *triton, const char *kernel,
               const char *signature, int status, const char *part);

/* "kernels.py": a few lines that import Triton, and `rest`. */
void write_kernels(const char *rest);

/* copy_kernel, which has a parameter of each kind: x, out, n, SIZE. */
extern const char *const copy_kernel;
#define COPY_SIGNATURE "*fp32:16, *fp32:16, i32, 128"

/* These files must be the same but for where the source lies. */
void check_same_cubin(const char *a, const char *b);

/*
 * Each kernel below `theirs`, a cache root, must have one below `ours` that is the
 * same but for paths, and under the same key if `has_keys`. Returns their count.
 */
size_t check_same_kernels(const char *theirs, const char *ours, bool has_keys);

#endif

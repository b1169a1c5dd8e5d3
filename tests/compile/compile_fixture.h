/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_COMPILE_FIXTURE_H
#define TKB_TESTS_COMPILE_FIXTURE_H

/*
 * What the tests of compiles share.
 *
 *     COMPILER(compiler) = NULL;
 *     const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
 *
 *     compiler = open_compiler(&(struct tkb_compiler_options){
 *             .cache_root = "root" });
 *     made = compile(compiler, &unit);
 *
 * The kernels are those of a cache that an H100 left, the tools the real ones; a
 * test that needs what is not there is skipped.
 */

#include <tkbundle/compile.h>

#include "harness.h"

#define OPTIONS(...) CHOSEN(tkb_compiler_options, __VA_ARGS__)

/* What its block lets go of. */
#define COMPILER(name) TKB_AUTO(close_compiler_at) struct tkb_compiler *name
#define COMPILE(name) TKB_AUTO(free_compile_at) struct tkb_compile *name
TKB_AUTO_POINTER(close_compiler_at, struct tkb_compiler, tkb_compiler_close)
TKB_AUTO_POINTER(free_compile_at, struct tkb_compile, tkb_compile_free)

/*
 * A ptxas that writes a line to the file "count" for each time it compiles, and
 * to "asked" for each time it only tells its version.
 */
const char *counting_ptxas(void);
size_t count_lines(const char *path);

/* Open with the worker, and with a real ptxas where none is named. */
struct tkb_compiler *open_compiler(const struct tkb_compiler_options *options);

/*
 * Open with a worker that compiles nothing (answer_worker.c), and has tools of
 * these versions.
 */
struct versions {
	const char *llvm;
	const char *nvrtc;
	const char *ptxas;
	const char *nvjitlink;
	const char *worker_sources;
};
struct tkb_compiler *open_answering(const struct tkb_compiler_options *options,
                                    const struct versions *tools);

/* Skip the test where the worker has no LLVM. */
void need_llvm(void);

/* A kernel of the fixtures for cuda:90: "add", "softmax" or "matmul". */
struct tkb_unit unit_of(const char *kernel, enum tkb_source_kind kind);

/* A unit for cuda:90 without metadata. */
struct tkb_unit unit_from(const char *name, enum tkb_source_kind kind,
                          struct tkb_bytes source);

/* The path of its file, which is there then. */
const char *path_of(const char *kernel, const char *extension);

/* What came of a compile, copied. */
struct made {
	int rc;
	struct tkb_error err;
	const char *key;
	const char *kernel;
	const char *tools;
	const char *maker;
	const char *log;
	bool is_hit;
	struct tkb_bytes llir;
	struct tkb_bytes ptx;
	struct tkb_bytes cubin;
};

/* Compile one; it may fail. */
struct made try_compile(struct tkb_compiler *compiler,
                        const struct tkb_unit *unit);

/* Compile one; it must not fail. */
struct made compile(struct tkb_compiler *compiler, const struct tkb_unit *unit);

/* Compile one; it must fail so, and say `part`. */
void must_fail(struct tkb_compiler *compiler, const struct tkb_unit *unit,
               int status, const char *part);

/* The key that it has or would have. */
const char *key_of(struct tkb_compiler *compiler, const struct tkb_unit *unit);

/* Of a cache root. */
size_t count_entries(const char *root);

/* `tkbundle verify` says so. */
void check_whole(const char *root);

#endif

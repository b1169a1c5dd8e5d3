/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_STAGE_FIXTURE_H
#define TKB_TESTS_STAGE_FIXTURE_H

/*
 * What the tests of the worker program's stages share: jobs as a pool gives them.
 *
 *     made = stage(&(struct stage_request){
 *             .input = TKB_INPUT_LLIR,
 *             .source = tkb_text(ir),
 *             .product = TKB_PRODUCT_PTX,
 *             .fields = { { TKB_FIELD_FUSION_OFF, "1" } } });
 *
 * The tools of this machine take no part but where a test names them.
 */

#include <tkbundle/pool.h>

#include "compile/pool/fields.h"
#include "harness.h"

enum {
	STAGE_FIELDS = 12,
	STAGE_VARIABLES = 8
};

struct stage_field {
	enum tkb_field field;
	const char *text;
};

struct stage_request {
	enum tkb_input input;
	struct tkb_bytes source;
	enum tkb_product product; /* 0: cubin */
	const char *arch;         /* NULL: "90" */
	const char *ptxas;        /* NULL: none is named */
	struct stage_field fields[STAGE_FIELDS];
	const char *variables[STAGE_VARIABLES]; /* "NAME=value", "NAME" */
	const char *worker; /* NULL: the one that was built */
	bool has_pass_output;
	bool with_tools;     /* of $TKB_TEST_CUDA, or as the environment says */
	uint32_t timeout_ms; /* 0: the default */
	uint32_t tries;
};

/* What came of it; the bytes are copies with a zero behind them. */
struct stage_made {
	int rc;
	struct tkb_error err;
	struct tkb_bytes llir;
	struct tkb_bytes ptx;
	struct tkb_bytes cubin;
	const char *kernel; /* these are NULL where they were not answered */
	const char *llvm;
	const char *worker_sources;
	const char *nvrtc;
	const char *ptxas;
	const char *nvjitlink;
	const char *tools;
	const char *log;
};

/* Do one job; it may fail. */
struct stage_made stage(const struct stage_request *order);

/* The same for some at once, on two workers. */
void stage_all(const struct stage_request *orders, size_t count,
               struct stage_made *out);

/* It must have failed so, and say `part`. */
#define CHECK_STAGE_FAILED(made, status, part)                                 \
	do {                                                                   \
		CHECK_INT((made).rc, status);                                  \
		CHECK_CONTAINS((made).err.message, part);                      \
	} while (0)

#define CHECK_STAGE_FAILS(order, status, part)                                 \
	do {                                                                   \
		const struct stage_made failed = stage(order);                 \
		CHECK_STAGE_FAILED(failed, status, part);                      \
	} while (0)

/* It must not have failed; and is its PTX. */
const char *ptx_of(const struct stage_made *made);

/* Skip the test where the worker has no LLVM. */
void need_llvm(void);

/*
 * The worker on a machine whose loader knows no folders but its own: nothing of
 * a toolkit is found by its name alone. Skips the test where there is no glibc.
 */
const char *worker_without_cache(void);

/* A ptxas that tells version 12.8, and otherwise does what `body` says. */
const char *fake_ptxas(const char *body);

/* Field `index` of an order; those before it must be set. */
void set_field(struct stage_request *order, size_t index, enum tkb_field field,
               const char *text);

/* The files in the fixture `name`, which is unpacked then, that end so. */
const char **fixture_files(const char *name, const char *ending);

#endif

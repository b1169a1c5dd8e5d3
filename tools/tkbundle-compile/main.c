/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The worker program: runs one compile after another for a pool. libtkbundle
 * starts it; users do not. Only this program contains LLVM, because LLVM ends
 * the process on some inputs.
 */

#include <tkbundle/pool.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "worker/fatal.h"
#include "ir/ir.h"
#include "stages.h"

static int handle_request(void *self, struct tkb_bytes bytes,
                          const struct tkb_sink *sink,
                          const struct tkb_sink *log, struct tkb_error *err)
{
	const struct stages *const stages = self;
	struct compile_request request = { .arch = NULL };
	int rc;

	rc = compile_request_read(bytes, &request, err);
	request.finalize.is_printed = stages->is_printing;
	if (rc == 0)
		rc = stages_run(self, &request, sink, log, err);
	compile_request_release(&request);
	return rc;
}

/* Crashes are expected, and core files would not help the user. */
static void forbid_cores(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return;
	limit.rlim_cur = 0;
	(void)setrlimit(RLIMIT_CORE, &limit);
}

int main(int argc, char **argv)
{
	struct stages stages = { .ptxas = { .path = "" } };
	const struct tkb_worker_handler handler = { handle_request, &stages };
	struct tkb_error err = { .status = 0 };
	int rc;

	forbid_cores();
	stages.is_printing =
		argc > 1 && strcmp(argv[1], "--print-after-all") == 0;
	ir_start(stages.is_printing, fatal_end);
	rc = tkb_worker_serve(&handler, &err);
	stages_release(&stages);
	if (rc == 0)
		return 0;
	(void)fprintf(stderr, "tkbundle-compile: %s\n", err.message);
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_STAGES_H
#define TKB_COMPILE_STAGES_H

/* Runs the stages of a compile. */

#include "toolchain/nvjitlink.h"
#include "toolchain/nvrtc.h"
#include "request.h"
#include "toolchain/ptxas.h"

/* Tools that are found once and kept between jobs. Zeroed is empty. */
struct stages {
	struct ptxas ptxas;
	struct nvjitlink nvjitlink; /* owned */
	struct nvrtc nvrtc;         /* owned */
	bool is_printing;           /* show the IR after each pass */
};

void stages_release(struct stages *stages);

/*
 * Run `request`. The answer, as fields, goes to `answer`; the tools' output to
 * `log`.
 *
 * @return 0; TKB_ERR_INVALID (the input, in the tool's words), TKB_ERR_IO,
 *         TKB_ERR_UNSUPPORTED (a tool is missing), TKB_ERR_NOMEM, or a sink's
 *         own error
 */
int stages_run(struct stages *stages, const struct compile_request *request,
               const struct tkb_sink *answer, const struct tkb_sink *log,
               struct tkb_error *err);

#endif

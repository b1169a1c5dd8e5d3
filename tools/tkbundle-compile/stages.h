/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_STAGES_H
#define TKB_COMPILE_STAGES_H

/* One stage of a compile after another. */

#include "toolchain/nvjitlink.h"
#include "toolchain/nvrtc.h"
#include "request.h"
#include "toolchain/ptxas.h"

/* What is found out once and kept from job to job. Zeroed knows nothing. */
struct stages {
	struct ptxas ptxas;
	struct nvjitlink nvjitlink; /* owned */
	struct nvrtc nvrtc;         /* owned */
};

void stages_release(struct stages *stages);

/*
 * Do what `order` asks for. The answer, of fields, goes to `answer`; what the
 * tools say to `log`.
 *
 * @return 0; TKB_ERR_INVALID (the input: in the tool's words), TKB_ERR_IO,
 *         TKB_ERR_UNSUPPORTED (a tool is not there), TKB_ERR_NOMEM, or what a
 *         sink returned
 */
int stages_run(struct stages *stages, const struct order *order,
               const struct tkb_sink *answer, const struct tkb_sink *log,
               struct tkb_error *err);

#endif

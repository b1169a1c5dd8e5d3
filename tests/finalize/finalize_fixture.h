/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FINALIZE_FIXTURE_H
#define TKB_TESTS_FINALIZE_FIXTURE_H

/* Modules that are finalized in this process. */

#include "ir_text.h"

#include <tkbundle/finalize.h>

#include "finalize/finalize.h"
#include "llvm/llvm_handles.h"

/* What is bound to an argument: a number, or bytes of a type. */
#define NUMBER(argument, value)                                                \
	{                                                                      \
		(argument), (value), { NULL, 0 }, NULL                         \
	}
#define ARRAY(argument, type, bytes)                                           \
	{                                                                      \
		(argument), (type), { (bytes), sizeof(bytes) - 1 }, NULL       \
	}

/* tests/finalize/<name>. */
struct tkb_bytes ir_file(const char *name);

/* sm_90a, as the worker has it but for short pointers; the test's. */
LLVMTargetMachineRef nvptx(void);

/* The module as a text, without its name. */
const char *print_ir(LLVMModuleRef module);

/* Leave out all steps but `step` and the last, which verifies. */
void choose_only(const char *step, const char *names[32],
                 struct finalize_request *order);

/* Finalize, and give what the log says. */
const char *finalize_ok(LLVMModuleRef module, LLVMTargetMachineRef machine,
                        const struct finalize_request *order);

#endif

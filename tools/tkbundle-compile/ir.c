/* SPDX-License-Identifier: Apache-2.0 */
#include "ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Support.h>
#include <llvm/Config/llvm-config.h>

#include "fail.h"
#include "llvm_handles.h"

/* The steps, flags and their order are those of Triton's NVIDIA backend. */

enum {
	PTX_KERNEL = 71, /* LLVM's number of the calling convention */
	NAMES_SIZE = 300
};

static const char triple[] = "nvptx64-nvidia-cuda";

void ir_start(bool prints_passes)
{
	const char *const arguments[] = { "tkbundle-compile",
		                          "--nvptx-short-ptr",
		                          "--nvptx-mad-wide-opt",
		                          "--print-after-all" };
	const int count = prints_passes ? 4 : 3;

	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
	LLVMParseCommandLineOptions(count, arguments, NULL);
}

const char *ir_version(void)
{
	return LLVM_VERSION_STRING;
}

/* The first error that LLVM reports; warnings are its own business. */
struct diagnosis {
	bool has_error;
	struct tkb_error error;
};

static void diagnose(LLVMDiagnosticInfoRef info, void *self)
{
	struct diagnosis *diagnosis = self;
	AUTO_LLVM_MESSAGE text = LLVMGetDiagInfoDescription(info);

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError ||
	    diagnosis->has_error)
		return;
	diagnosis->has_error = true;
	(void)fail(&diagnosis->error, TKB_ERR_INVALID, "LLVM: %s", text);
}

static int check_diagnosis(const struct diagnosis *diagnosis,
                           struct tkb_error *err)
{
	if (!diagnosis->has_error)
		return 0;
	*err = diagnosis->error;
	return TKB_ERR_INVALID;
}

/* sm_90 has features that later ones lack, so from there on it is sm_90a. */
static void name_cpu(const char *arch, char out[32])
{
	const long number = strtol(arch, NULL, 10);

	(void)snprintf(out, 32, "sm_%.16s%s", arch, number >= 90 ? "a" : "");
}

static int make_machine(const struct ir_options *options,
                        LLVMTargetMachineRef *out, struct tkb_error *err)
{
	AUTO_LLVM(LLVMTargetMachineOptionsRef)
	chosen = LLVMCreateTargetMachineOptions();
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMTargetRef target = NULL;
	char features[32];
	char cpu[32];

	if (LLVMGetTargetFromTriple(triple, &target, &message))
		return fail(err, TKB_ERR_UNSUPPORTED, "LLVM: %s", message);
	name_cpu(options->arch, cpu);
	(void)snprintf(features, sizeof(features), "+ptx%u",
	               options->ptx_version);
	LLVMTargetMachineOptionsSetCPU(chosen, cpu);
	LLVMTargetMachineOptionsSetFeatures(chosen, features);
	LLVMTargetMachineOptionsSetCodeGenOptLevel(chosen,
	                                           LLVMCodeGenLevelAggressive);
	LLVMTargetMachineOptionsSetRelocMode(chosen, LLVMRelocPIC);
	*out = LLVMCreateTargetMachineWithOptions(target, triple, chosen);
	if (*out == NULL)
		return fail(err, TKB_ERR_UNSUPPORTED,
		            "LLVM cannot compile for %s", cpu);
	return 0;
}

static int parse(LLVMContextRef context, struct tkb_bytes ir,
                 LLVMModuleRef *out, struct tkb_error *err)
{
	AUTO_LLVM_MESSAGE message = NULL;
	/* LLVMParseIRInContext() takes it over. */
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
		ir.data, ir.size, "the input");

	if (LLVMParseIRInContext(context, buffer, out, &message)) {
		*out = NULL;
		return fail(err, TKB_ERR_INVALID, "bad IR: %s", message);
	}
	if (LLVMVerifyModule(*out, LLVMReturnStatusAction, &message))
		return fail(err, TKB_ERR_INVALID, "bad IR: %s", message);
	return 0;
}

static void set_layout(LLVMModuleRef module, LLVMTargetMachineRef machine)
{
	AUTO_LLVM(LLVMTargetDataRef)
	data = LLVMCreateTargetDataLayout(machine);

	LLVMSetTarget(module, triple);
	LLVMSetModuleDataLayout(module, data);
}

/* Denormals are flushed where a kernel leaves that open, as Triton wants it. */
static void set_reflect(LLVMContextRef context, LLVMModuleRef module)
{
	static const char name[] = "nvvm-reflect-ftz";
	LLVMValueRef one =
		LLVMConstInt(LLVMInt32TypeInContext(context), 1, false);

	if (LLVMGetModuleFlag(module, name, strlen(name)) == NULL)
		LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, name,
		                  strlen(name), LLVMValueAsMetadata(one));
}

static bool is_kernel(LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) &&
	       LLVMGetFunctionCallConv(function) == PTX_KERNEL;
}

/* What kernels there are, for a message. */
static void list_kernels(LLVMModuleRef module, char names[NAMES_SIZE],
                         size_t *count_out)
{
	size_t used = 0;
	size_t count = 0;

	names[0] = '\0';
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		size_t size = 0;

		if (!is_kernel(at))
			continue;
		if (used < NAMES_SIZE)
			used += (size_t)snprintf(names + used,
			                         NAMES_SIZE - used, "%s%s",
			                         count == 0 ? "" : ", ",
			                         LLVMGetValueName2(at, &size));
		count++;
	}
	*count_out = count;
}

static LLVMValueRef only_kernel(LLVMModuleRef module)
{
	LLVMValueRef at = LLVMGetFirstFunction(module);

	while (!is_kernel(at))
		at = LLVMGetNextFunction(at);
	return at;
}

static int find_kernel(LLVMModuleRef module, const char *wanted,
                       char kernel[1024], struct tkb_error *err)
{
	LLVMValueRef found = NULL;
	char names[NAMES_SIZE];
	size_t count = 0;
	size_t size = 0;

	list_kernels(module, names, &count);
	if (count == 0)
		return fail(err, TKB_ERR_INVALID, "the IR has no kernel");
	if (wanted != NULL)
		found = LLVMGetNamedFunction(module, wanted);
	if (wanted != NULL && (found == NULL || !is_kernel(found)))
		return fail(err, TKB_ERR_INVALID,
		            "the IR has no kernel '%s', but %s", wanted, names);
	if (wanted == NULL && count > 1)
		return fail(err, TKB_ERR_INVALID,
		            "the IR has several kernels: name one of %s",
		            names);
	if (found == NULL)
		found = only_kernel(module);
	(void)snprintf(kernel, 1024, "%s", LLVMGetValueName2(found, &size));
	return 0;
}

static int run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine,
                      const char *passes, struct tkb_error *err)
{
	AUTO_LLVM(LLVMPassBuilderOptionsRef)
	options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error;

	LLVMPassBuilderOptionsSetSLPVectorization(options, true);
	error = LLVMRunPasses(module, passes, machine, options);
	if (error != NULL) {
		char *text = LLVMGetErrorMessage(error);

		(void)fail(err, TKB_ERR_INVALID, "LLVM: %s", text);
		LLVMDisposeErrorMessage(text);
		return TKB_ERR_INVALID;
	}
	return 0;
}

/* Is a function called that is defined nowhere, and is no intrinsic? */
static const char *find_external(LLVMModuleRef module)
{
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		size_t size = 0;
		const char *name = LLVMGetValueName2(at, &size);

		if (LLVMIsDeclaration(at) && LLVMGetIntrinsicID(at) == 0 &&
		    LLVMGetFirstUse(at) != NULL &&
		    strcmp(name, "vprintf") != 0 &&
		    strcmp(name, "__assertfail") != 0)
			return name;
	}
	return NULL;
}

static int read_libdevice(LLVMContextRef context, const char *path,
                          LLVMModuleRef *out, struct tkb_error *err)
{
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMMemoryBufferRef buffer = NULL;

	if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message))
		return fail(err, TKB_ERR_IO, "libdevice '%s': %s", path,
		            message);
	if (LLVMParseIRInContext(context, buffer, out, &message)) {
		*out = NULL;
		return fail(err, TKB_ERR_INVALID, "libdevice '%s': %s", path,
		            message);
	}
	return 0;
}

/* Of libdevice only what is used stays, as if it had been written there. */
static int link_libdevice(LLVMContextRef context, LLVMModuleRef module,
                          LLVMTargetMachineRef machine,
                          const struct ir_options *options, const char *kernel,
                          struct tkb_error *err)
{
	const char *external = find_external(module);
	AUTO_LLVM(LLVMModuleRef) library = NULL;
	char passes[1280];
	int rc;

	if (external == NULL)
		return 0;
	if (options->libdevice == NULL)
		return fail(err, TKB_ERR_INVALID,
		            "'%s' is defined nowhere: name a libdevice",
		            external);
	rc = read_libdevice(context, options->libdevice, &library, err);
	if (rc < 0)
		return rc;
	set_layout(library, machine);
	if (LLVMLinkModules2(module, library)) {
		library = NULL;
		return fail(err, TKB_ERR_INVALID, "cannot link '%s'",
		            options->libdevice);
	}
	library = NULL; /* LLVMLinkModules2() took it over */
	external = find_external(module);
	if (external != NULL)
		return fail(err, TKB_ERR_INVALID,
		            "'%s' is defined nowhere, and not in '%s'",
		            external, options->libdevice);
	(void)snprintf(passes, sizeof(passes),
	               "internalize<preserve-gv=%s>,globaldce,nvvm-reflect",
	               kernel);
	rc = run_passes(module, machine, passes, err);
	return rc < 0 ? rc : run_passes(module, machine, "default<O3>", err);
}

/* Multiplications and additions may become one, where the kernel lets them. */
static void allow_fusion(LLVMModuleRef module)
{
	for (LLVMValueRef function = LLVMGetFirstFunction(module);
	     function != NULL; function = LLVMGetNextFunction(function)) {
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
		     block != NULL; block = LLVMGetNextBasicBlock(block)) {
			for (LLVMValueRef at = LLVMGetFirstInstruction(block);
			     at != NULL; at = LLVMGetNextInstruction(at)) {
				if (LLVMCanValueUseFastMathFlags(at))
					LLVMSetFastMathFlags(
						at,
						LLVMGetFastMathFlags(at) |
							LLVMFastMathAllowContract);
			}
		}
	}
}

static int emit(LLVMModuleRef module, LLVMTargetMachineRef machine,
                const struct diagnosis *diagnosis, const struct tkb_sink *ptx,
                struct tkb_error *err)
{
	AUTO_LLVM(LLVMMemoryBufferRef) text = NULL;
	AUTO_LLVM_MESSAGE message = NULL;
	int rc;

	if (LLVMTargetMachineEmitToMemoryBuffer(
		    machine, module, LLVMAssemblyFile, &message, &text))
		return fail(err, TKB_ERR_INVALID, "LLVM cannot emit PTX: %s",
		            message);
	rc = check_diagnosis(diagnosis, err);
	if (rc < 0)
		return rc;
	return ptx->write(ptx->self,
	                  (struct tkb_bytes){ LLVMGetBufferStart(text),
	                                      LLVMGetBufferSize(text) },
	                  err);
}

int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *ptx, char kernel[1024],
               struct tkb_error *err)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMTargetMachineRef) machine = NULL;
	AUTO_LLVM(LLVMModuleRef) module = NULL; /* goes before its context */
	struct diagnosis diagnosis = { .has_error = false };
	int rc;

	LLVMContextSetDiagnosticHandler(context, diagnose, &diagnosis);
	rc = make_machine(options, &machine, err);
	if (rc == 0)
		rc = parse(context, ir, &module, err);
	if (rc == 0)
		rc = find_kernel(module, options->kernel, kernel, err);
	if (rc < 0)
		return rc;
	set_layout(module, machine);
	set_reflect(context, module);
	rc = link_libdevice(context, module, machine, options, kernel, err);
	if (rc == 0 && options->is_optimized)
		rc = run_passes(module, machine, "default<O3>", err);
	if (rc == 0)
		rc = check_diagnosis(&diagnosis, err);
	if (rc < 0)
		return rc;
	if (!options->no_fusion)
		allow_fusion(module);
	return emit(module, machine, &diagnosis, ptx, err);
}

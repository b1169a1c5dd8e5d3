/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/IRReader.h>
#include <llvm/Config/llvm-config.h>

#include "base/base.h"
#include "base/buf.h"

#include "worker/fail.h"
#include "finalize/finalize.h"
#include "toolchain/gpu.h"
#include "ir/ir_internal.h"
#include "ir/ir_newer.h"
#include "llvm/llvm_module.h"
#include "toolchain/ptx.h"

/* Passes and flags, and their order, are those of Triton's NVIDIA backend. */

static const char triple[] = "nvptx64-nvidia-cuda";

void ir_start(bool has_pass_output, void (*on_fatal)(const char *reason))
{
	const char *const options[] = { "--nvptx-short-ptr",
		                        "--nvptx-mad-wide-opt",
		                        "--print-after-all" };

	LLVMInstallFatalErrorHandler(on_fatal);
	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
	llvm_set_options(options, has_pass_output ? 3 : 2);
}

const char *ir_version(void)
{
	return LLVM_VERSION_STRING;
}

/* The object that has LLVM's code, and its build's id. */
struct library {
	uintptr_t inside; /* an address in it */
	const char *path; /* borrowed from the loader; NULL: this program */
	char build[17];   /* in hex; "": it has none */
};

/* Read the id in the notes at `at`. */
static void read_build(const char *at, size_t size, struct library *library)
{
	const ElfW(Nhdr) * note;

	while (size >= sizeof(*note)) {
		size_t length;

		note = (const void *)at;
		length = sizeof(*note) + ((note->n_namesz + 3U) & ~3U) +
		         ((note->n_descsz + 3U) & ~3U);
		if (length > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(at + sizeof(*note), "GNU", 4) == 0) {
			const unsigned char *id =
				(const void *)(at + sizeof(*note) + 4);

			for (size_t i = 0; i < 8 && i < note->n_descsz; i++)
				(void)snprintf(library->build + 2 * i, 3,
				               "%02x", id[i]);
			return;
		}
		at += length;
		size -= length;
	}
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *self)
{
	struct library *library = self;
	bool is_it = false;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const uintptr_t from = info->dlpi_addr + part->p_vaddr;

		is_it |= part->p_type == PT_LOAD && library->inside >= from &&
		         library->inside - from < part->p_memsz;
	}
	for (size_t i = 0; is_it && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_NOTE)
			read_build((const char *)info->dlpi_addr +
			                   part->p_vaddr,
			           part->p_memsz, library);
	}
	if (is_it && info->dlpi_name[0] != '\0')
		library->path = info->dlpi_name;
	return is_it;
}

static struct library find_library(void)
{
	struct library library = { .inside = (uintptr_t)LLVMContextCreate };

	(void)dl_iterate_phdr(look_at_object, &library);
	return library;
}

const char *ir_build(char out[IR_BUILD_SIZE])
{
	const struct library library = find_library();

	(void)snprintf(out, IR_BUILD_SIZE, "%s%s%s", ir_version(),
	               library.build[0] == '\0' ? "" : ", build ",
	               library.build);
	return out;
}

const char *ir_library(void)
{
	return find_library().path;
}

/* Sends LLVM's diagnostics to the log, and keeps the first error. */
struct diagnosis {
	const struct tkb_sink *log;
	bool has_error;
	struct tkb_error error;
};

static void log_line(const struct tkb_sink *log, const char *kind,
                     const char *words)
{
	struct tkb_error ignored;
	char *line = NULL;
	const int size = asprintf(&line, "LLVM: %s%s\n", kind, words);

	if (size < 0)
		return; /* a failure to log must not fail the job */
	(void)log->write(log->self, (struct tkb_bytes){ line, (size_t)size },
	                 &ignored);
	free(line);
}

static void diagnose(LLVMDiagnosticInfoRef info, void *self)
{
	struct diagnosis *diagnosis = self;
	AUTO_LLVM_MESSAGE words = LLVMGetDiagInfoDescription(info);
	const LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);

	if (severity == LLVMDSWarning)
		log_line(diagnosis->log, "warning: ", words);
	if (severity != LLVMDSError)
		return;
	log_line(diagnosis->log, "", words);
	if (!diagnosis->has_error)
		(void)fail(&diagnosis->error, TKB_ERR_INVALID, "LLVM: %s",
		           words);
	diagnosis->has_error = true;
}

static int check_diagnosis(const struct diagnosis *diagnosis,
                           struct tkb_error *err)
{
	if (!diagnosis->has_error)
		return 0;
	*err = diagnosis->error;
	return TKB_ERR_INVALID;
}

static int make_machine(const struct ir_options *options,
                        LLVMTargetMachineRef *out, struct tkb_error *err)
{
	AUTO_LLVM(LLVMTargetMachineOptionsRef)
	chosen = LLVMCreateTargetMachineOptions();
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMTargetRef target = NULL;
	char cpu[GPU_NAME_SIZE];
	char features[32];
	uint32_t version = 0;
	int rc;

	rc = gpu_choose_ptx(options->arch, options->ptx_version, &version, err);
	if (rc < 0)
		return rc;
	if (LLVMGetTargetFromTriple(triple, &target, &message))
		return fail(err, TKB_ERR_UNSUPPORTED, "LLVM: %s", message);
	gpu_name(options->arch, cpu);
	(void)snprintf(features, sizeof(features), "+ptx%u", version);
	LLVMTargetMachineOptionsSetCPU(chosen, cpu);
	LLVMTargetMachineOptionsSetFeatures(chosen, features);
	LLVMTargetMachineOptionsSetCodeGenOptLevel(chosen,
	                                           LLVMCodeGenLevelAggressive);
	LLVMTargetMachineOptionsSetRelocMode(chosen, LLVMRelocPIC);
	*out = LLVMCreateTargetMachineWithOptions(target, triple, chosen);
	if (*out == NULL)
		return fail(err, TKB_ERR_UNSUPPORTED,
		            "LLVM cannot compile for %s", cpu);
	LLVMSetTargetMachineAsmVerbosity(*out, true);
	return 0;
}

static bool parse_module(LLVMContextRef context, struct tkb_bytes ir,
                         LLVMModuleRef *out, char **message)
{
	/* LLVMParseIRInContext() takes it over */
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
		ir.data, ir.size, "the input");
	const bool is_parsed =
		!LLVMParseIRInContext(context, buffer, out, message);

	if (!is_parsed)
		*out = NULL;
	return is_parsed;
}

/* Read IR of this LLVM version, an older one, or text of the next one. */
static int read_module(LLVMContextRef context, struct tkb_bytes ir,
                       LLVMModuleRef *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf older = TKB_BUF_INIT(SIZE_MAX / 2);
	AUTO_LLVM_MESSAGE message = NULL;
	AUTO_LLVM_MESSAGE ignored = NULL;
	bool is_parsed;

	is_parsed = parse_module(context, ir, out, &message);
	if (!is_parsed && ir_newer_translate(ir, &older) != 0 &&
	    tkb_buf_check(&older, err) == 0)
		is_parsed = parse_module(context, tkb_buf_bytes(&older), out,
		                         &ignored);
	if (!is_parsed)
		return fail(err, TKB_ERR_INVALID, "bad IR: %s", message);
	release_message(&message);
	message = NULL;
	if (LLVMVerifyModule(*out, LLVMReturnStatusAction, &message))
		return fail(err, TKB_ERR_INVALID, "bad IR: %s", message);
	return 0;
}

/* Flush denormals unless the kernel says otherwise, as Triton does. */
static void set_reflect(LLVMModuleRef module)
{
	static const char name[] = "nvvm-reflect-ftz";
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef one =
		LLVMConstInt(LLVMInt32TypeInContext(context), 1, false);

	if (LLVMGetModuleFlag(module, name, strlen(name)) == NULL)
		LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorOverride, name,
		                  strlen(name), LLVMValueAsMetadata(one));
}

static int send(LLVMMemoryBufferRef buffer, const struct tkb_sink *sink,
                struct tkb_error *err)
{
	return sink->write(sink->self,
	                   (struct tkb_bytes){ LLVMGetBufferStart(buffer),
	                                       LLVMGetBufferSize(buffer) },
	                   err);
}

/* Write the module as text or bitcode. */
static int send_module(LLVMModuleRef module, const struct ir_options *options,
                       const struct tkb_sink *llir, struct tkb_error *err)
{
	AUTO_LLVM(LLVMMemoryBufferRef) bitcode = NULL;
	AUTO_LLVM_MESSAGE text = NULL;
	size_t size = 0;
	const char *name = LLVMGetSourceFileName(module, &size);

	LLVMSetModuleIdentifier(module, name, size);
	if (options->is_bitcode) {
		bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
		return send(bitcode, llir, err);
	}
	text = LLVMPrintModuleToString(module);
	return llir->write(llir->self, (struct tkb_bytes){ text, strlen(text) },
	                   err);
}

static int send_ptx(LLVMModuleRef module, LLVMTargetMachineRef machine,
                    const struct ir_options *options,
                    const struct diagnosis *diagnosis,
                    const struct tkb_sink *ptx, struct tkb_error *err)
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
	return ptx_finish((struct tkb_bytes){ LLVMGetBufferStart(text),
	                                      LLVMGetBufferSize(text) },
	                  options->ptx_version, ptx, err);
}

/* Compile a module to PTX. */
static int compile_module(LLVMModuleRef module, LLVMTargetMachineRef machine,
                          const struct ir_options *options,
                          const struct diagnosis *diagnosis,
                          const struct ir_products *products,
                          struct tkb_error *err)
{
	int rc;

	rc = ir_find_kernel(module, options->kernel, products->kernel, err);
	if (rc < 0)
		return rc;
	llvm_set_layout(module, machine);
	set_reflect(module);
	rc = ir_link_libdevice(module, machine, options->libdevice,
	                       products->kernel, options->is_fusion_off, err);
	if (rc == 0 && options->is_optimized)
		rc = llvm_run_passes(module, machine, "default<O3>", err);
	if (rc == 0)
		rc = check_diagnosis(diagnosis, err);
	if (rc < 0)
		return rc;
	ir_prepare(module, options->is_fusion_off);
	return send_ptx(module, machine, options, diagnosis, &products->ptx,
	                err);
}

int ir_compile(struct tkb_bytes ir, const struct ir_options *options,
               const struct tkb_sink *log, const struct ir_products *products,
               struct tkb_error *err)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMTargetMachineRef) machine = NULL;
	AUTO_LLVM(LLVMModuleRef)
	module = NULL; /* released before its context */
	struct diagnosis diagnosis = { .log = log };
	const bool is_changed = options->finalize->is_wanted;
	struct finalize_request finalize = *options->finalize;
	int rc;

	finalize.is_fusion_off = options->is_fusion_off;
	LLVMContextSetDiagnosticHandler(context, diagnose, &diagnosis);
	rc = make_machine(options, &machine, err);
	if (rc == 0)
		rc = read_module(context, ir, &module, err);
	if (rc == 0 && is_changed)
		rc = finalize_module(module, machine, &finalize, log, err);
	if (rc == 0)
		rc = check_diagnosis(&diagnosis, err);
	if (rc == 0 && (is_changed || options->is_llir_only))
		rc = send_module(module, options, &products->llir, err);
	if (rc < 0 || options->is_llir_only)
		return rc;
	return compile_module(module, machine, options, &diagnosis, products,
	                      err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"

#include <stdlib.h>

#include "compile/pool/fields.h"
#include "compile/compiler/publish.h"
#include "compile/compiler/tools_memory.h"

/*
 * Fail if the tool was replaced after its version went into the key, or if it
 * is a script that now starts another tool. A second try reads the version
 * again.
 */
static int check_version(const struct tkb_compile *compile, const char *name,
                         const char *known, struct tkb_bytes version,
                         struct tkb_error *err)
{
	if (tkb_bytes_equal(tkb_text(known), version))
		return 0;
	if (compile->cache_root != NULL)
		tkb_tools_forget(compile->cache_root);
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "%s %s became %.*s while it was in use: try again",
	                name, known, (int)version.size,
	                (const char *)version.data);
}

static int read_compiled_field(struct tkb_compile *compile,
                               enum tkb_field field, struct tkb_bytes bytes,
                               struct tkb_error *err)
{
	struct tkb_compiled *compiled = &compile->compiled;
	const struct tkb_versions *known = &compile->versions;

	switch (field) {
	case TKB_FIELD_KERNEL:
		return tkb_arena_copy(&compile->arena, bytes, &compiled->kernel,
		                      err);
	case TKB_FIELD_TOOLS:
		return tkb_arena_copy(&compile->arena, bytes, &compiled->tools,
		                      err);
	case TKB_FIELD_PTXAS_VERSION:
		return check_version(compile, "ptxas", known->ptxas, bytes,
		                     err);
	case TKB_FIELD_NVJITLINK:
		return check_version(compile, "nvJitLink", known->nvjitlink,
		                     bytes, err);
	case TKB_FIELD_LLVM:
		return check_version(compile, "LLVM", known->llvm, bytes, err);
	case TKB_FIELD_NVRTC:
		/* A worker that has opened it names it always. */
		return compile->kind != TKB_SOURCE_KIND_CUDA
		               ? 0
		               : check_version(compile, "NVRTC", known->nvrtc,
		                               bytes, err);
	case TKB_FIELD_WORKER:
		return check_version(compile, "tkbundle-compile", known->worker,
		                     bytes, err);
	case TKB_FIELD_LLIR:
		compiled->llir = bytes;
		return 0;
	case TKB_FIELD_PTX:
		compiled->ptx = bytes;
		return 0;
	case TKB_FIELD_CUBIN:
		compiled->cubin = bytes;
		return 0;
	default:
		return 0;
	}
}

static int check_answer(const struct tkb_compile *compile,
                        struct tkb_error *err)
{
	const struct tkb_compiled *compiled = &compile->compiled;
	const struct tkb_bytes products[] = {
		[TKB_PRODUCT_LLIR] = compiled->llir,
		[TKB_PRODUCT_PTX] = compiled->ptx,
		[TKB_PRODUCT_CUBIN] = compiled->cubin,
	};

	if (products[compile->product].size != 0 &&
	    (compiled->kernel[0] != '\0' ||
	     compile->product == TKB_PRODUCT_LLIR))
		return 0;
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "a worker's answer lacks the requested product");
}

static int read_compile_answer(struct tkb_compile *compile,
                               struct tkb_bytes answer, struct tkb_error *err)
{
	struct tkb_fields fields = { .bytes = answer };
	unsigned field;
	struct tkb_bytes bytes;
	int rc;

	do {
		rc = tkb_fields_next(&fields, &field, &bytes, err);
		if (rc == 0)
			rc = read_compiled_field(compile, field, bytes, err);
	} while (rc == 0);
	if (rc < 0)
		return rc;
	rc = check_answer(compile, err);
	compile->is_read = rc == 0;
	return rc;
}

/* Is it bitcode? Triton reads every file beside a cubin as text. */
static bool is_bitcode(struct tkb_bytes ir)
{
	return ir.size >= 2 && memcmp(ir.data, "BC", 2) == 0;
}

/* List the files by extension. Bitcode, which would be last, is not kept. */
static size_t list_stage_files(const struct tkb_compile *compile,
                               struct tkb_stage_file files[3])
{
	const struct tkb_compiled *compiled = &compile->compiled;
	const struct tkb_bytes source = tkb_buf_bytes(&compile->source);

	files[0] = (struct tkb_stage_file){ "cubin", compiled->cubin };
	files[1] = (struct tkb_stage_file){ "ptx", compiled->ptx };
	if (compile->kind == TKB_SOURCE_KIND_PTX)
		return 2;
	if (compile->kind == TKB_SOURCE_KIND_CUDA) {
		files[2] = (struct tkb_stage_file){ "cu", source };
		return 3;
	}
	files[2] = (struct tkb_stage_file){ "llir", compiled->llir.size != 0
		                                            ? compiled->llir
		                                            : source };
	return is_bitcode(files[2].bytes) ? 2 : 3;
}

/* The number after `word`, from `at` up to the function's body; 0: none. */
static uint64_t number_after(const char *at, const char *end, const char *word)
{
	const size_t length = strlen(word);
	uint64_t number = 0;

	while (at < end && *at != '{') {
		if ((size_t)(end - at) > length &&
		    memcmp(at, word, length) == 0) {
			for (at += length; at < end && *at == ' '; at++)
				;
			for (; at < end && *at >= '0' && *at <= '9' &&
			       number < UINT32_MAX;
			     at++)
				number = number * 10 + (uint64_t)(*at - '0');
			return number;
		}
		at++;
	}
	return 0;
}

/*
 * The number of warps that the kernel's PTX requires (".reqntid 128" after the
 * declaration of the entry); 0: any.
 */
static uint32_t warps_of(const struct tkb_compiled *compiled)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf head = TKB_BUF_INIT(4096);
	const char *const text = compiled->ptx.data;
	const char *at;

	tkb_print(&head, ".entry %s(", compiled->kernel);
	if (head.failure != 0 || text == NULL)
		return 0;
	at = memmem(text, compiled->ptx.size, head.data, head.size);
	if (at == NULL)
		return 0;
	return (uint32_t)(number_after(at, text + compiled->ptx.size,
	                               ".reqntid") /
	                  32);
}

static int publish_entry(struct tkb_compile *compile, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf metadata = TKB_BUF_INIT(2 * TKB_COMPILE_TEXT_LIMIT);
	const struct tkb_compiled *compiled = &compile->compiled;
	const uint32_t warps = warps_of(compiled);
	struct tkb_stage_file files[3];
	const struct tkb_metadata_request request = {
		.given = tkb_buf_bytes(&compile->metadata),
		.hash = compile->hash,
		.kernel = compiled->kernel,
		.arch = compile->arch,
		.bound = compile->bound,
		.num_warps = compile->num_warps,
		.default_warps = warps,
	};
	struct tkb_publication publication = {
		.root = compile->cache_root,
		.key = compile->key,
		.kernel = compiled->kernel,
		.files = files,
		.file_count = list_stage_files(compile, files),
	};
	int rc;

	if (warps != 0 && compile->num_warps != 0 &&
	    warps != compile->num_warps)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' is made for %u warps, not %u",
		                compiled->kernel, warps, compile->num_warps);
	rc = tkb_metadata_write(&request, &metadata, err);
	if (rc < 0)
		return rc;
	publication.metadata = tkb_buf_bytes(&metadata);
	return tkb_publication_write(&publication, err);
}

int tkb_compile_wait(struct tkb_compile *compile, uint32_t timeout_ms,
                     const struct tkb_compiled **out, struct tkb_error *err)
{
	struct tkb_bytes answer;
	int rc = 0;

	if (compile->future != NULL && !compile->is_read) {
		rc = tkb_future_wait(compile->future, timeout_ms, &answer, err);
		if (rc == 0)
			rc = read_compile_answer(compile, answer, err);
	}
	if (rc == 0 && compile->future != NULL && compile->cache_root != NULL &&
	    !compile->is_published) {
		rc = publish_entry(compile, err);
		compile->is_published = rc == 0;
	}
	if (rc == 0 && out != NULL)
		*out = &compile->compiled;
	return rc;
}

struct tkb_bytes tkb_compile_log(struct tkb_compile *compile)
{
	if (compile->future == NULL)
		return (struct tkb_bytes){ NULL, 0 };
	return tkb_future_log(compile->future);
}

void tkb_compile_free(struct tkb_compile *compile)
{
	if (compile == NULL)
		return;
	tkb_future_free(compile->future);
	tkb_arena_release(&compile->arena);
	tkb_buf_release(&compile->source);
	tkb_buf_release(&compile->metadata);
	free(compile);
}

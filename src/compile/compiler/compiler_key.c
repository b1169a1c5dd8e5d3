/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"
#include "compile/pool/fields.h"
#include "compile/compiler/includes.h"
#include "compile/compiler/publish.h"

/*
 * The key is the hash of everything that determines the output, written as
 * fields. Paths, the number of workers, and unused tools are left out.
 */

enum {
	KEY_VERSION = 3 /* increase when a key covers other fields */
};

static void add_digest(struct tkb_buf *out, enum tkb_field field,
                       const struct tkb_digest *digest)
{
	tkb_field_add(out, field,
	              (struct tkb_bytes){ digest, sizeof(*digest) });
}

/* Add the entry's metadata, without the members that are not known yet. */
static int add_metadata(const struct tkb_unit *unit, const char *arch,
                        struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(2 * TKB_COMPILE_TEXT_LIMIT);
	const struct tkb_metadata_request request = {
		.given = unit->metadata,
		.hash = "",
		.kernel = "",
		.arch = arch,
		.num_warps = unit->num_warps,
	};
	int rc;

	rc = tkb_metadata_write(&request, &text, err);
	if (rc == 0)
		tkb_field_add(out, TKB_FIELD_METADATA, tkb_buf_bytes(&text));
	return rc;
}

/* A user's rule may add a call to libdevice where there was none. */
static int add_ir(struct tkb_compiler *compiler, const struct tkb_unit *unit,
                  const struct tkb_tools *tools, struct tkb_buf *out,
                  struct tkb_error *err)
{
	tkb_field_add_text(out, TKB_FIELD_LLVM, tools->versions.llvm);
	tkb_buf_add(out, tkb_buf_bytes(&compiler->key_ir));
	if (!compiler->has_rules && !tkb_libdevice_is_called(unit->source))
		return 0;
	return tkb_libdevice_add(compiler, tools->libdevice, out, err);
}

static int add_cuda(const struct tkb_compiler *compiler,
                    const struct tkb_unit *unit, const struct tkb_tools *tools,
                    struct tkb_buf *out, struct tkb_error *err)
{
	const char *name = unit->name == NULL ? "" : unit->name;

	tkb_field_add_text(out, TKB_FIELD_NVRTC, tools->versions.nvrtc);
	tkb_buf_add(out, tkb_buf_bytes(&compiler->key_cuda));
	if (!compiler->is_line_info_off) /* line information has the file's
	                                    name */
		tkb_field_add_text(out, TKB_FIELD_NAME, name);
	return tkb_includes_add(unit->source, name, compiler->folders, out,
	                        err);
}

/* Add the tool for cubins. It also determines the PTX version. */
static void add_cubin(const struct tkb_compiler *compiler,
                      const struct tkb_unit *unit,
                      const struct tkb_tools *tools, struct tkb_buf *out)
{
	const bool is_linked = compiler->cubin_with == TKB_CUBIN_TOOL_NVJITLINK;

	if (compiler->product == TKB_PRODUCT_CUBIN ||
	    unit->kind == TKB_SOURCE_KIND_LLIR)
		tkb_field_add_text(out,
		                   is_linked ? TKB_FIELD_NVJITLINK
		                             : TKB_FIELD_PTXAS_VERSION,
		                   is_linked ? tools->versions.nvjitlink
		                             : tools->versions.ptxas);
	if (compiler->product == TKB_PRODUCT_CUBIN)
		tkb_buf_add(out, tkb_buf_bytes(&compiler->key_cubin));
}

static int write_key_fields(struct tkb_compiler *compiler,
                            const struct tkb_unit *unit,
                            const struct tkb_tools *tools, struct tkb_buf *out,
                            struct tkb_error *err)
{
	struct tkb_digest source;
	const char *arch = NULL;
	size_t index = 0;
	int rc;

	rc = tkb_target_find(unit->target, &index, &arch, err);
	if (rc == 0)
		rc = tkb_digest_of(unit->source, &source, err);
	if (rc < 0)
		return rc;
	tkb_print(out, "tkbundle compile %d", KEY_VERSION);
	tkb_field_add_number(out, TKB_FIELD_INPUT, (uint64_t)unit->kind);
	tkb_field_add_number(out, TKB_FIELD_PRODUCT,
	                     (uint64_t)compiler->product);
	tkb_field_add_text(out, TKB_FIELD_ARCH, arch);
	tkb_field_add_text(out, TKB_FIELD_KERNEL, unit->kernel);
	add_digest(out, TKB_FIELD_SOURCE, &source);
	tkb_field_add_flag(out, TKB_FIELD_FUSION_OFF, compiler->is_fusion_off);
	tkb_field_add_text(out, TKB_FIELD_WORKER, tools->versions.worker);
	add_cubin(compiler, unit, tools, out);
	if (unit->kind == TKB_SOURCE_KIND_LLIR)
		rc = add_ir(compiler, unit, tools, out, err);
	if (unit->kind == TKB_SOURCE_KIND_CUDA)
		rc = add_cuda(compiler, unit, tools, out, err);
	return rc == 0 ? add_metadata(unit, arch, out, err) : rc;
}

int tkb_unit_key(struct tkb_compiler *compiler, const struct tkb_unit *unit,
                 const struct tkb_tools *tools, char key[TKB_KEY_SIZE],
                 char hash[TKB_DIGEST_HEX_SIZE], struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(8 * TKB_COMPILE_TEXT_LIMIT);
	struct tkb_digest digest;
	int rc;

	rc = write_key_fields(compiler, unit, tools, &text, err);
	if (rc == 0)
		rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&text), &digest, err);
	if (rc < 0)
		return rc;
	tkb_digest_to_hex(&digest, hash);
	tkb_key_encode(&digest, key);
	return 0;
}

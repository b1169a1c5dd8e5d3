/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"

#include <stdio.h>

#include "base/utf8.h"
#include "collect/makers.h"
#include "compile/compiler/includes.h"
#include "compile/compiler/steps.h"
#include "compile/pool/fields.h"
#include "tree/secret_name.h"

/*
 * Writes the text of a maker: what the key of a unit covers, but the files of its
 * entry do not tell. It has no paths and no secrets, only digests of them.
 */

enum {
	SHORT_DIGITS = 16,  /* digits of a short digest */
	OPTIONS_LIMIT = 600 /* bytes; a longer text is replaced by a digest */
};

#define BETWEEN "; "

static void add_short(struct tkb_bytes bytes, struct tkb_buf *out)
{
	struct tkb_digest digest;

	if (tkb_digest_of(bytes, &digest, NULL) < 0)
		return;
	tkb_buf_add(out, (struct tkb_bytes){ tkb_digest_hex(&digest).text,
	                                     SHORT_DIGITS });
}

/* Add a member, unless its value is empty. */
static void add_member(const char *name, struct tkb_bytes value,
                       struct tkb_buf *out)
{
	if (value.size == 0)
		return;
	if (out->size != 0)
		tkb_buf_add_text(out, BETWEEN);
	tkb_print(out, "%s=", name);
	tkb_buf_add(out, value);
}

static void add_hashed(const char *name, struct tkb_bytes value,
                       struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf text = TKB_BUF_INIT(64);

	if (value.size != 0)
		add_short(value, &text);
	add_member(name, tkb_buf_bytes(&text), out);
}

/* Add "-DX=1"; the value of a secret is replaced by its digest. */
static void add_define(struct tkb_bytes option, struct tkb_buf *out)
{
	const char *const text = option.data;
	const char *const value = memchr(text, '=', option.size);
	const size_t name_size =
		value == NULL ? option.size : (size_t)(value - text);

	if (value == NULL || option.size < 2 ||
	    !tkb_secret_name_bytes(tkb_bytes_slice(option, 2, name_size))) {
		tkb_buf_add(out, option);
		return;
	}
	tkb_buf_add(out, tkb_bytes_slice(option, 0, name_size + 1));
	add_short(tkb_bytes_slice(option, name_size + 1, option.size), out);
}

static bool text_begins_with(struct tkb_bytes text, const char *begin)
{
	return text.size >= strlen(begin) &&
	       memcmp(text.data, begin, strlen(begin)) == 0;
}

static bool is_include(struct tkb_bytes option)
{
	return text_begins_with(option, "-I") ||
	       text_begins_with(option, "--include-path=");
}

/* Add an option of the command line, or equivalent words. */
static void add_maker_word(const char *word, struct tkb_buf *out)
{
	tkb_print(out, "%s%s", out->size != 0 ? " " : "", word);
}

/* The name of a scheme; this process wrote the field, so it is one digit. */
static const char *quant_name(struct tkb_bytes digit)
{
	return tkb_quant_name(
		(enum tkb_quant)(*(const char *)digit.data - '0'));
}

static void add_option(enum tkb_field field, struct tkb_bytes value,
                       struct tkb_buf *out)
{
	static const struct {
		unsigned field;
		const char *text;
		bool has_value;
	} texts[] = {
		{ TKB_FIELD_OPTIMIZED, "--optimize", false },
		{ TKB_FIELD_FINALIZE, "--finalize", false },
		{ TKB_FIELD_FINALIZE_KEEP, "--keep ", true },
		{ TKB_FIELD_FINALIZE_WITHOUT, "--without ", true },
		{ TKB_FIELD_FINALIZE_FAST, "--fast", false },
		{ TKB_FIELD_PTXAS_OPTION, "--ptxas-option ", true },
		{ TKB_FIELD_LINE_INFO_OFF, "without line numbers", false },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(texts); i++) {
		if (texts[i].field != field)
			continue;
		add_maker_word(texts[i].text, out);
		if (texts[i].has_value)
			tkb_buf_add(out, value);
	}
	if (field == TKB_FIELD_FINALIZE_QUANT) {
		add_maker_word("--quant ", out);
		tkb_buf_add_text(out, quant_name(value));
	}
	if (field == TKB_FIELD_FINALIZE_RULE) {
		add_maker_word("--rules ", out);
		add_short(value, out);
	}
	if (field == TKB_FIELD_NVRTC_OPTION && !is_include(value)) {
		add_maker_word("", out);
		add_define(value, out);
	}
}

static void add_options_of(const struct tkb_buf *key, struct tkb_buf *out)
{
	struct tkb_fields fields = { .bytes = tkb_buf_bytes(key) };
	unsigned field;
	struct tkb_bytes value;

	while (tkb_fields_next(&fields, &field, &value, NULL) == 0)
		add_option(field, value, out);
}

static void add_options(const struct tkb_compiler *compiler,
                        enum tkb_source_kind kind, struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf options = TKB_BUF_INIT(2 * TKB_COMPILE_TEXT_LIMIT);
	struct tkb_bytes text;

	if (kind == TKB_SOURCE_KIND_LLIR)
		add_options_of(&compiler->key_ir, &options);
	if (kind == TKB_SOURCE_KIND_CUDA)
		add_options_of(&compiler->key_cuda, &options);
	add_options_of(&compiler->key_cubin, &options);
	if (compiler->is_fusion_off)
		add_maker_word("without fusing multiply and add", &options);
	if (options.size == 0)
		tkb_buf_add_text(&options, "none");
	text = tkb_buf_bytes(&options);
	tkb_buf_add_byte(&options, '\0');
	if (options.failure != 0)
		return;
	text.data = options.data;
	if (text.size < OPTIONS_LIMIT && tkb_utf8_is_shown(text.data) &&
	    strlen(text.data) == text.size &&
	    strstr(text.data, BETWEEN) == NULL)
		add_member("options", text, out);
	else
		add_hashed("options", text, out);
}

/* Add the include folders, and the name of the source for line information. */
static void add_search_folders(const struct tkb_compiler *compiler,
                               const struct tkb_unit *unit, struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf places = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);

	if (compiler->is_line_info_off)
		return;
	tkb_field_add_text(&places, TKB_FIELD_NAME,
	                   unit->name == NULL ? "" : unit->name);
	for (size_t i = 0; compiler->folders[i] != NULL; i++)
		tkb_field_add_text(&places, TKB_FIELD_NVRTC_OPTION,
		                   compiler->folders[i]);
	add_hashed("places", tkb_buf_bytes(&places), out);
}

static void add_headers(const struct tkb_compiler *compiler,
                        const struct tkb_unit *unit, struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf headers = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);

	if (tkb_includes_add(unit->source, unit->name == NULL ? "" : unit->name,
	                     compiler->folders, &headers, NULL) == 0)
		add_hashed("headers", tkb_buf_bytes(&headers), out);
}

static void add_libdevice(struct tkb_compiler *compiler,
                          const struct tkb_unit *unit,
                          const struct tkb_tools *tools, struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf field = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);

	if ((compiler->has_rules || tkb_libdevice_is_called(unit->source)) &&
	    tkb_libdevice_add(compiler, tools->libdevice, &field, NULL) == 0)
		add_hashed("libdevice", tkb_buf_bytes(&field), out);
}

static void add_members(struct tkb_compiler *compiler,
                        const struct tkb_unit *unit,
                        const struct tkb_tools *tools, struct tkb_buf *out)
{
	static const char *const inputs[] = {
		[TKB_SOURCE_KIND_LLIR] = "LLVM IR",
		[TKB_SOURCE_KIND_PTX] = "PTX",
		[TKB_SOURCE_KIND_CUDA] = "CUDA C",
	};
	const bool is_ir = unit->kind == TKB_SOURCE_KIND_LLIR;
	const bool is_cuda = unit->kind == TKB_SOURCE_KIND_CUDA;
	const bool is_linked = compiler->cubin_with == TKB_CUBIN_TOOL_NVJITLINK;

	if (is_cuda)
		add_headers(compiler, unit, out);
	add_member("input", tkb_text(inputs[unit->kind]), out);
	if (is_ir) {
		add_libdevice(compiler, unit, tools, out);
		add_member("llvm", tkb_text(tools->versions.llvm), out);
	}
	if (is_linked)
		add_member("nvjitlink", tkb_text(tools->versions.nvjitlink),
		           out);
	if (is_cuda)
		add_member("nvrtc", tkb_text(tools->versions.nvrtc), out);
	add_options(compiler, unit->kind, out);
	if (is_cuda)
		add_search_folders(compiler, unit, out);
	if (!is_linked)
		add_member("ptxas", tkb_text(tools->versions.ptxas), out);
	add_member("worker", tkb_text(tools->versions.worker), out);
}

int tkb_unit_maker(struct tkb_compiler *compiler, const struct tkb_unit *unit,
                   const struct tkb_tools *tools, struct tkb_arena *arena,
                   const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	const char *maker = "";
	int rc;

	add_members(compiler, unit, tools, &text);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(arena, &text, &maker, err);
	if (rc == 0)
		*out = tkb_maker_is_valid(maker) ? maker : "";
	return rc;
}

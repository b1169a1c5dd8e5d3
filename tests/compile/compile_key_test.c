/* SPDX-License-Identifier: Apache-2.0 */

/* What decides the key of a compiled entry, and what does not. */

#include "compile_fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/finalize.h>

typedef struct tkb_compiler_options options;

static unsigned failing; /* the digest that fails, counted from 1; 0: none */

/* In place of libcrypto's SHA256_Final(). */
int SHA256_Final(unsigned char *out, void *context);
int SHA256_Final(unsigned char *out, void *context)
{
	int (*real)(unsigned char *, void *) = NULL;
	void *symbol = dlsym(RTLD_NEXT, "SHA256_Final");

	if (failing != 0 && --failing == 0)
		return 0;
	memcpy(&real, &symbol, sizeof(real));
	return real(out, context);
}

/* The key of `unit` with these options. */
static const char *key_with(const options *chosen, const struct tkb_unit *unit)
{
	COMPILER(compiler) = open_compiler(chosen);

	return key_of(compiler, unit);
}

static struct tkb_unit cuda_unit(void)
{
	static const char source[] =
		"/* one */\r\n"
		"  #  include \"own.h\" /* what it says */\n"
		"#include <cuda_fp16.h>\n"
		"extern \"C\" __global__ void one(float *x) { *x = ONE; }\n";

	return unit_from("one.cu", TKB_SOURCE_KIND_CUDA, tkb_text(source));
}

/* A ptxas that says it is another one. */
static const char *other_ptxas(const char *version)
{
	return write_script(text("ptxas-%s", version),
	                    "exec echo release 13.0, V%s\n", version);
}

/* All of these keys differ from each other. */
static void check_all_differ(const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(keys[i], keys[j]) == 0)
				fail_msg("keys %zu and %zu are the same", j, i);
		}
	}
}

TEST(compile_key, changes_with_every_option_that_decides)
{
	const char *const fast[] = { "-O1", NULL };
	const char *const faster[] = { "-O2", NULL };
	const char *const two[] = { "-O1", "-O2", NULL };
	const char *const without[] = { "dce", NULL };
	const struct tkb_bytes rule = { "define", 6 };
	const struct tkb_finalize_options plain = { SIZED(plain) };
	const struct tkb_finalize_options less = { SIZED(less),
		                                   .without = without };
	const struct tkb_finalize_options ruled = { SIZED(ruled),
		                                    .rules = &rule,
		                                    .rule_count = 1 };
	const struct tkb_finalize_options quick = { SIZED(quick),
		                                    .is_fast = true };
	const struct tkb_finalize_options dynamic = {
		SIZED(dynamic), .quant = TKB_QUANT_DYNAMIC
	};
	const struct tkb_finalize_options fixed = { SIZED(fixed),
		                                    .quant = TKB_QUANT_STATIC };
	const char *const ptxas = other_ptxas("13.0.1");
	const options all[] = {
		{ SIZED(options), .ptxas = ptxas },
		{ SIZED(options), .ptxas = other_ptxas("13.0.2") },
		{ SIZED(options), .ptxas = ptxas, .ptxas_options = fast },
		{ SIZED(options), .ptxas = ptxas, .ptxas_options = faster },
		{ SIZED(options), .ptxas = ptxas, .ptxas_options = two },
		{ SIZED(options), .ptxas = ptxas, .is_optimized = true },
		{ SIZED(options), .ptxas = ptxas, .is_fusion_off = true },
		{ SIZED(options), .ptxas = ptxas, .is_line_info_off = true },
		{ SIZED(options), .ptxas = ptxas, .finalize = &plain },
		{ SIZED(options), .ptxas = ptxas, .finalize = &less },
		{ SIZED(options), .ptxas = ptxas, .finalize = &ruled },
		{ SIZED(options), .ptxas = ptxas, .finalize = &quick },
		{ SIZED(options), .ptxas = ptxas, .finalize = &dynamic },
		{ SIZED(options), .ptxas = ptxas, .finalize = &fixed },
	};
	const char *keys[TKB_COUNT_OF(all)];
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_LLIR);

	(void)real_ptxas();
	EACH(i, all)
		keys[i] = key_with(&all[i], &unit);

	check_all_differ(keys, TKB_COUNT_OF(all));
}

TEST(compile_key, changes_with_everything_of_the_unit_that_decides)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_LLIR);
	struct tkb_unit others[8];
	const char *keys[8];

	for (size_t i = 0; i < 8; i++)
		others[i] = unit;
	others[1].target = "cuda:100";
	others[2].kind = TKB_SOURCE_KIND_PTX;
	others[3].source.size--;
	others[4].metadata = (struct tkb_bytes){ NULL, 0 };
	others[5].kernel = "add_kernel";
	others[6].num_warps = 8;
	others[7].metadata = (struct tkb_bytes){ "{\"shared\": 9}", 13 };
	for (size_t i = 0; i < 8; i++)
		keys[i] = key_of(compiler, &others[i]);

	check_all_differ(keys, 8);
}

TEST(compile_key, stays_with_what_does_not_decide)
{
	const char *const nvrtc[] = { "-DONE=1", "-Isomewhere", NULL };
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_LLIR);
	const char *const ptxas = other_ptxas("13.0.1");
	struct tkb_unit renamed = unit;
	const options plain = { SIZED(plain), .ptxas = ptxas,
		                .libdevice = "a.bc" };
	const options all[] = {
		{ SIZED(options), .ptxas = ptxas, .libdevice = "b.bc" },
		{ SIZED(options), .ptxas = "copy", .libdevice = "a.bc" },
		{ SIZED(options), .ptxas = ptxas, .libdevice = "a.bc",
		  .worker_count = 2 },
		{ SIZED(options), .ptxas = ptxas, .libdevice = "a.bc",
		  .cache_root = "root" },
		{ SIZED(options), .ptxas = ptxas, .libdevice = "a.bc",
		  .timeout_ms = 50000 },
		{ SIZED(options), .ptxas = ptxas, .libdevice = "a.bc",
		  .has_pass_output = true },
		{ SIZED(options), .ptxas = ptxas, .libdevice = "a.bc",
		  .nvrtc_options = nvrtc },
	};

	(void)real_ptxas();
	write_text("a.bc", "the same");
	write_text("b.bc", "the same");
	SYS(symlink(ptxas, "copy"));
	const char *key = key_with(&plain, &unit);
	EACH(i, all)
		CHECK_STR(key_with(&all[i], &unit), key);

	renamed.name = "elsewhere.ll";
	renamed.target = "cuda:90:32";
	CHECK_STR(key_with(&plain, &renamed), key);
}

static const struct versions plain_tools = { "1", "1", "1", "1", "1" };

/* The key that `unit` has where the tools are those. */
static const char *key_by(const options *chosen, const struct tkb_unit *unit,
                          const struct versions *tools)
{
	COMPILER(compiler) = open_answering(chosen, tools);

	return key_of(compiler, unit);
}

TEST(compile_key, covers_the_version_of_each_tool_that_takes_part)
{
	const options by_ptxas = { SIZED(by_ptxas),
		                   .cubin_with = TKB_CUBIN_TOOL_PTXAS };
	const options by_linker = { SIZED(by_linker),
		                    .cubin_with = TKB_CUBIN_TOOL_NVJITLINK };
	const struct tkb_unit units[] = { unit_of("add", TKB_SOURCE_KIND_LLIR),
		                          unit_of("add", TKB_SOURCE_KIND_PTX),
		                          cuda_unit() };
	/* By unit, and then whether nvJitLink links: which of five count. */
	static const char *const parts[3][2] = { { "lsp", "lsj" },
		                                 { "sp", "sj" },
		                                 { "nsp", "nsj" } };

	for (size_t i = 0; i < 6; i++) {
		const options *chosen = i % 2 == 0 ? &by_ptxas : &by_linker;
		const char *part = parts[i / 2][i % 2];
		const char *key = key_by(chosen, &units[i / 2], &plain_tools);

		for (const char *tool = "lsnpj"; *tool != '\0'; tool++) {
			struct versions tools = plain_tools;

			if (*tool == 'l')
				tools.llvm = "2";
			else if (*tool == 's')
				tools.worker_sources = "2";
			else if (*tool == 'n')
				tools.nvrtc = "2";
			else if (*tool == 'p')
				tools.ptxas = "2";
			else
				tools.nvjitlink = "2";
			bool is_same =
				strcmp(key_by(chosen, &units[i / 2], &tools),
			               key) == 0;
			CHECK_INT(is_same, strchr(part, *tool) == NULL);
		}
	}
}

TEST(compile_key, of_ptx_is_not_touched_by_what_is_done_to_ir)
{
	const struct tkb_finalize_options plain = { SIZED(plain) };
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	const char *const key = key_with(&OPTIONS(.worker = NULL), &unit);

	write_text("a.bc", "any");
	CHECK_STR(key_with(&OPTIONS(.is_optimized = true, .libdevice = "a.bc",
	                            .finalize = &plain),
	                   &unit),
	          key);
}

TEST(compile_key, does_not_see_what_the_entry_has_anew)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	static const char one[] =
		"{\"hash\": \"a\", \"shared\": 8, "
		"\"target\": {\"arch\": 80}, \"name\": \"x\"}";
	static const char same[] = "{\"hash\": \"b\", \"shared\": 8}";

	unit.metadata = (struct tkb_bytes){ one, sizeof(one) - 1 };
	const char *key = key_of(compiler, &unit);
	unit.metadata = (struct tkb_bytes){ same, sizeof(same) - 1 };
	CHECK_STR(key_of(compiler, &unit), key);
}

/* IR that calls what it does not define, or only says that it may. */
static struct tkb_unit calling(const char *declaration)
{
	const char *const ir =
		text("define void @k() {\n  ret void\n}\n%s\n", declaration);

	return unit_from("k.ll", TKB_SOURCE_KIND_LLIR, tkb_text(ir));
}

TEST(compile_key, of_the_environment_is_that_of_what_it_names)
{
	const struct tkb_unit unit = calling("declare float @__nv_sinf(float)");

	write_text("a.bc", "a library");
	const char *named = key_with(&OPTIONS(.libdevice = "a.bc"), &unit);
	const char *key = key_with(&OPTIONS(.worker = NULL), &unit);
	CHECK(strcmp(named, key) != 0);

	SYS(setenv("TRITON_LIBDEVICE_PATH", "a.bc", 1));
	key = key_with(&OPTIONS(.worker = NULL), &unit);
	SYS(unsetenv("TRITON_LIBDEVICE_PATH"));
	CHECK_STR(key, named);
}

TEST(compile_key, covers_the_contents_of_the_libdevice_that_would_be_linked)
{
	const struct tkb_unit unit = calling("declare float @__nv_sinf(float)");
	const char *const toolkit = text("%s/cuda", test_folder());
	const char *const path = "cuda/nvvm/libdevice/libdevice.10.bc";
	const char *keys[4];

	make_folders("cuda/nvvm/libdevice");
	SYS(setenv("CUDA_HOME", toolkit, 1));
	keys[0] = key_with(&OPTIONS(.worker = NULL), &unit);
	write_text(path, "one");
	keys[1] = key_with(&OPTIONS(.worker = NULL), &unit);
	write_text(path, "two");
	keys[2] = key_with(&OPTIONS(.worker = NULL), &unit);
	write_text("a.bc", "three");
	keys[3] = key_with(&OPTIONS(.libdevice = "a.bc"), &unit);
	check_all_differ(keys, 4);
	write_text("a.bc", "two");
	CHECK_STR(key_with(&OPTIONS(.libdevice = "a.bc"), &unit), keys[2]);
	SYS(unsetenv("CUDA_HOME"));
}

static bool covers_libdevice(struct tkb_bytes ir)
{
	struct tkb_unit unit = calling("");
	const options chosen = { SIZED(chosen), .libdevice = "a.bc" };

	unit.source = ir;
	write_text("a.bc", "one");
	const char *const key = key_by(&chosen, &unit, &plain_tools);
	write_text("a.bc", "two");
	return strcmp(key_by(&chosen, &unit, &plain_tools), key) != 0;
}

TEST(compile_key, covers_a_libdevice_only_where_the_ir_can_call_it)
{
	static const char *const no[] = {
		"",
		"declare void @llvm.nvvm.barrier0() #1",
		"declare float @\"llvm.fabs.f32\"(float)",
		"declare\n i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
	};
	static const char *const yes[] = {
		"declare float @__nv_sinf(float)",
		"declare void @llvm.nvvm.barrier0()\ndeclare i32 @f()",
		"declare ; @llvm.\n i32 @f()",
		"declare i32 @\"\\5F_nv_sinf\"()", "declare"
	};

	EACH(i, no)
		CHECK(!covers_libdevice(calling(no[i]).source));
	EACH(i, yes)
		CHECK(covers_libdevice(calling(yes[i]).source));
	CHECK(covers_libdevice(
		(struct tkb_bytes){ "BC\xC0\xDE and more", 13 }));
	CHECK(!covers_libdevice((struct tkb_bytes){ NULL, 0 }));
	CHECK(!covers_libdevice(
		unit_of("softmax", TKB_SOURCE_KIND_LLIR).source));
}

TEST(compile_key, covers_a_libdevice_where_a_rule_may_call_it)
{
	const struct tkb_bytes rule = { "define", 6 };
	const struct tkb_finalize_options ruled = { SIZED(ruled),
		                                    .rules = &rule,
		                                    .rule_count = 1 };
	const struct tkb_unit unit = calling("");
	const options one = { SIZED(one), .libdevice = "a.bc",
		              .finalize = &ruled };

	write_text("a.bc", "one");
	const char *key = key_with(&one, &unit);
	write_text("a.bc", "two");
	CHECK(strcmp(key_with(&one, &unit), key) != 0);
}

TEST(compile_key, of_cuda_covers_what_is_included)
{
	const char *const here[] = { "-Iinc", "-DONE=1", NULL };
	const options chosen = { SIZED(chosen), .nvrtc_options = here };
	const struct tkb_unit unit = cuda_unit();
	const char *keys[4];

	SYS(mkdir("inc", 0755));
	keys[0] = key_with(&chosen, &unit); /* own.h is nowhere */
	write_text("inc/own.h", "#include \"deep.h\"\n");
	keys[1] = key_with(&chosen, &unit);
	write_text("inc/deep.h", "#include \"own.h\"\n");
	keys[2] = key_with(&chosen, &unit);
	write_text("own.h", "/* found first */\n");
	keys[3] = key_with(&chosen, &unit);

	check_all_differ(keys, 4);
	CHECK_STR(key_with(&chosen, &unit), keys[3]);
}

TEST(compile_key, of_cuda_covers_each_file_that_an_include_may_mean)
{
	static const char source[] = "#include \"lib/a.h\"\n"
				     "#include <sub/b.h>\n";
	static const char *const files[] = { "src/common.h", "inc/cfg.h",
		                             "inc/sub/cfg.h" };
	const char *const here[] = { "-Iinc", NULL };
	const options chosen = { SIZED(chosen), .nvrtc_options = here };
	struct tkb_unit unit = cuda_unit();

	unit.name = "src/one.cu";
	unit.source = (struct tkb_bytes){ source, sizeof(source) - 1 };
	SYS(mkdir("src", 0755));
	SYS(mkdir("src/lib", 0755));
	SYS(mkdir("inc", 0755));
	SYS(mkdir("inc/sub", 0755));
	write_text("src/lib/a.h", "#include \"common.h\"\n");
	write_text("inc/sub/b.h", "#include <cfg.h>\n");
	for (size_t i = 0; i < TKB_COUNT_OF(files); i++)
		write_text(files[i], "int one;\n");
	const char *const key = key_with(&chosen, &unit);

	EACH(i, files) {
		write_text(files[i], "int other;\n");
		CHECK(strcmp(key_with(&chosen, &unit), key) != 0);
		write_text(files[i], "int one;\n");
	}
	CHECK_STR(key_with(&chosen, &unit), key);
}

TEST(compile_key, of_cuda_covers_an_include_behind_a_comment)
{
	static const char *const sources[] = {
		"/**/ #include \"own.h\"\n",
		"/* of two\n lines */ # /* and */ include /**/ \"own.h\"\n",
	};

	for (size_t i = 0; i < 2; i++) {
		struct tkb_unit unit = cuda_unit();

		unit.source = tkb_text(sources[i]);
		write_text("own.h", "int one;\n");
		const char *key = key_with(&OPTIONS(.worker = NULL), &unit);
		write_text("own.h", "int other;\n");
		CHECK(strcmp(key_with(&OPTIONS(.worker = NULL), &unit), key) !=
		      0);
	}
}

TEST(compile_key, of_cuda_has_no_paths_where_no_lines_are_wanted)
{
	const char *const one[] = { "-Ione", NULL };
	const char *const other[] = { "--include-path=other", NULL };
	const struct tkb_unit unit = cuda_unit();
	struct tkb_unit renamed = unit;

	SYS(mkdir("one", 0755));
	SYS(mkdir("other", 0755));
	write_text("one/own.h", "/* the same */\n");
	write_text("other/own.h", "/* the same */\n");
	const char *key = key_with(
		&OPTIONS(.nvrtc_options = one, .is_line_info_off = true),
		&unit);
	renamed.name = "two.cu";

	CHECK_STR(key_with(&OPTIONS(.nvrtc_options = other,
	                            .is_line_info_off = true),
	                   &renamed),
	          key);
	CHECK(strcmp(key_with(&OPTIONS(.nvrtc_options = one), &unit),
	             key_with(&OPTIONS(.nvrtc_options = other), &unit)) != 0);
	CHECK(strcmp(key_with(&OPTIONS(.nvrtc_options = one), &unit),
	             key_with(&OPTIONS(.nvrtc_options = one), &renamed)) != 0);
}

TEST(compile_key, of_cuda_without_a_name_is_that_of_an_empty_one)
{
	struct tkb_unit unit = cuda_unit();
	const char *const named = key_with(&OPTIONS(.worker = NULL), &unit);

	unit.name = "";
	const char *const key = key_with(&OPTIONS(.worker = NULL), &unit);
	unit.name = NULL;
	CHECK_STR(key_with(&OPTIONS(.worker = NULL), &unit), key);
	CHECK(strcmp(key, named) != 0);
}

TEST(compile_key, of_cuda_is_refused_where_an_include_is_computed)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	struct tkb_unit unit = cuda_unit();
	char key[TKB_ENTRY_KEY_SIZE];

	unit.source = (struct tkb_bytes){ "#include NAME\n", 14 };
	FAILS(tkb_compiler_key(compiler, &unit, key, ERR), TKB_ERR_UNSUPPORTED,
	      "'#include NAME' is computed");
}

TEST(compile_key, is_none_where_a_digest_fails)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_LLIR);
	const char *const wanted = key_of(compiler, &unit);
	char key[TKB_ENTRY_KEY_SIZE] = "";
	unsigned count = 0;

	for (failing = 1;; failing = count + 1) {
		struct tkb_error err = { 0 };
		const int rc = tkb_compiler_key(compiler, &unit, key, &err);

		if (failing != 0)
			break;
		CHECK_FAILS(rc, TKB_ERR_NOMEM, &err, "OpenSSL cannot hash");
		count++;
	}
	failing = 0;

	CHECK(count >= 2); /* the source's, and the key's */
	CHECK_STR(key, wanted);
}

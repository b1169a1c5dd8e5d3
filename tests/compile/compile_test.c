/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels become entries: tkbundle/compile.h. */

#include "compile_fixture.h"

#include <tkbundle/finalize.h>

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tkb_compiler_options options;

TEST(compile, of_ptx_makes_a_whole_entry_with_the_metadata)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.cache_root = "root"));
	const struct tkb_unit unit = unit_of("matmul", TKB_SOURCE_KIND_PTX);

	struct made made = compile(compiler, &unit);

	const char *folder = text("root/%s", made.key);
	CHECK_INT(count_entries("root"), 1);
	CHECK_INT(count_names(folder), 4);
	const char *metadata =
		read_file(text("%s/matmul_kernel.json", folder)).data;
	CHECK_CONTAINS(metadata, "\"name\": \"matmul_kernel\"");
	CHECK_CONTAINS(metadata, "\"arch\": 90");
	CHECK_CONTAINS(metadata, "\"shared\": ");
	CHECK(strstr(metadata, "\"shared\": 0,") == NULL);
	CHECK_STR(made.kernel, "matmul_kernel");
	CHECK_CONTAINS(made.tools, "ptxas 1");
	CHECK(!made.is_hit);
	check_whole("root");
}

static const char ptx_of_64_threads[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry other(.param .u64 a)\n.reqntid 32\n{ ret; }\n"
	".visible .entry one(\n	.param .u64 a\n)\n.reqntid 64, 1, 1\n{ ret; }\n"
	".visible .entry free()\n{ ret; }\n";

/* Compile kernel `name` of that PTX, with this JSON beside it. */
static struct made compile_threads(const char *name, uint32_t warps,
                                   const char *given)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.cache_root = "root"));
	struct tkb_unit unit = unit_from("some.ptx", TKB_SOURCE_KIND_PTX,
	                                 tkb_text(ptx_of_64_threads));

	unit.metadata = tkb_text(given);
	unit.kernel = name;
	unit.num_warps = warps;
	return try_compile(compiler, &unit);
}

static const char *metadata_of(const char *name, uint32_t warps,
                               const char *given)
{
	const struct made made = compile_threads(name, warps, given);

	CHECK_OK(made.rc, &made.err);
	return read_file(text("root/%s/%s.json", made.key, name)).data;
}

TEST(compile, takes_the_number_of_warps_from_who_knows_it)
{
	CHECK_CONTAINS(metadata_of("one", 0, ""), "\"num_warps\": 2,");
	CHECK_CONTAINS(metadata_of("other", 0, ""), "\"num_warps\": 1,");
	CHECK_CONTAINS(metadata_of("free", 0, ""), "\"num_warps\": 4,");
	CHECK_CONTAINS(metadata_of("free", 0, "{\"num_warps\": 16}"),
	               "\"num_warps\": 16,");
	CHECK_CONTAINS(metadata_of("free", 8, "{\"num_warps\": 16}"),
	               "\"num_warps\": 8,");
	CHECK(strstr(metadata_of("free", 8, "{\"num_warps\": 16}"),
	             "\"num_warps\": 16") == NULL);
	CHECK_CONTAINS(metadata_of("one", 2, ""), "\"num_warps\": 2,");
	check_whole("root");

	struct made made = compile_threads("one", 8, "");
	CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err,
	            "'one' is made for 2 warps, not 8");
}

TEST(compile, of_ir_keeps_the_ir_in_the_entry)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.cache_root = "root"));
	const struct tkb_unit unit = unit_of("softmax", TKB_SOURCE_KIND_LLIR);

	need_llvm();
	struct made made = compile(compiler, &unit);

	CHECK_INT(count_names(text("root/%s", made.key)), 5);
	CHECK_CONTAINS(
		read_file(text("root/%s/softmax_kernel.llir", made.key)).data,
		"softmax_kernel");
	CHECK_CONTAINS(made.ptx.data, ".entry softmax_kernel");
	CHECK_CONTAINS(made.tools, "LLVM 2");
	check_whole("root");
}

TEST(compile, of_the_same_again_is_a_hit_and_starts_no_tool)
{
	const options chosen = { SIZED(chosen), .cache_root = "root",
		                 .ptxas = counting_ptxas() };
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	struct made made;

	for (size_t i = 0; i < 2; i++) {
		COMPILER(compiler) = open_compiler(&chosen);

		made = compile(compiler, &unit);
		CHECK_INT(made.is_hit, i == 1);
		made = compile(compiler, &unit);
		CHECK(made.is_hit);
	}

	CHECK_INT(count_lines("count"), 1);
	CHECK_INT(count_lines("asked"), 1); /* the second one remembers */
	CHECK_STR(made.kernel, "");
	CHECK_INT(made.cubin.size, 0);
}

TEST(compile, repairs_an_entry_that_is_torn)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.cache_root = "root"));
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	struct made made = compile(compiler, &unit);
	const char *cubin = text("root/%s/add_kernel.cubin", made.key);

	SYS(truncate(cubin, 100));
	made = compile(compiler, &unit);

	CHECK(!made.is_hit);
	check_whole("root");
}

TEST(compile, into_a_root_that_was_moved_is_done_again)
{
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	struct tkb_compiler *compiler =
		open_compiler(&OPTIONS(.cache_root = "root"));
	struct made made = compile(compiler, &unit);

	tkb_compiler_close(compiler);
	SYS(rename("root", "moved"));
	compiler = open_compiler(&OPTIONS(.cache_root = "moved"));
	made = compile(compiler, &unit);
	CHECK(!made.is_hit);
	made = compile(compiler, &unit);
	CHECK(made.is_hit);
	tkb_compiler_close(compiler);

	const char *group = text("moved/%s/__grp__add_kernel.json", made.key);
	CHECK_CONTAINS(read_file(group).data, text("%s/moved/", test_folder()));
}

TEST(compile, of_equal_units_at_the_same_time_is_done_once)
{
	COMPILER(compiler) = open_compiler(
		&OPTIONS(.ptxas = counting_ptxas(), .worker_count = 2));
	const struct tkb_unit unit = unit_of("matmul", TKB_SOURCE_KIND_PTX);
	struct tkb_compile *compiles[8] = { NULL };

	for (size_t i = 0; i < 8; i++)
		OK(tkb_compiler_submit(compiler, &unit, &compiles[i], ERR));
	for (size_t i = 0; i < 8; i++) {
		const struct tkb_compiled *compiled = NULL;

		OK(tkb_compile_wait(compiles[i], TKB_FOREVER, &compiled, ERR));
		CHECK(compiled->cubin.size != 0);
	}
	for (size_t i = 0; i < 8; i++)
		tkb_compile_free(compiles[i]);

	CHECK_INT(count_lines("count"), 1);
}

/* What one of several at work has; memory of the test is not for threads. */
struct racer {
	struct tkb_compiler *compiler; /* of all, or NULL: one of its own */
	const options *chosen;
	const struct tkb_unit *units;
	size_t count;
	int rc;
};

static void *race(void *self)
{
	struct racer *racer = self;
	struct tkb_compiler *own = NULL;

	if (racer->compiler == NULL)
		racer->rc = tkb_compiler_open(racer->chosen, &own, NULL);
	for (size_t i = 0; i < racer->count && racer->rc == 0; i++) {
		struct tkb_compile *compile = NULL;

		racer->rc =
			tkb_compiler_submit(own == NULL ? racer->compiler : own,
		                            &racer->units[i], &compile, NULL);
		if (racer->rc == 0)
			racer->rc = tkb_compile_wait(compile, TKB_FOREVER, NULL,
			                             NULL);
		tkb_compile_free(compile);
	}
	tkb_compiler_close(own);
	return NULL;
}

static void race_all(struct tkb_compiler *compiler, const options *chosen)
{
	const struct tkb_unit units[] = {
		unit_of("add", TKB_SOURCE_KIND_PTX),
		unit_of("softmax", TKB_SOURCE_KIND_PTX),
		unit_of("matmul", TKB_SOURCE_KIND_PTX)
	};
	struct racer racers[4];
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++) {
		racers[i] = (struct racer){ compiler, chosen, units, 3, 0 };
		SYS(pthread_create(&threads[i], NULL, race, &racers[i]));
	}
	for (size_t i = 0; i < 4; i++) {
		SYS(pthread_join(threads[i], NULL));
		CHECK_INT(racers[i].rc, 0);
	}
	CHECK_INT(count_entries("root"), 3);
	check_whole("root");
}

TEST(compile, of_several_into_one_root_at_the_same_time_leaves_whole_entries)
{
	race_all(NULL, &OPTIONS(.worker = compile_worker(), .worker_count = 1,
	                        .ptxas = real_ptxas(), .cache_root = "root"));
}

TEST(compile, is_for_any_thread)
{
	COMPILER(compiler) = open_compiler(
		&OPTIONS(.cache_root = "root", .worker_count = 2));

	race_all(compiler, NULL);
}

/* Looks at an entry's folder while it is published. */
struct watcher {
	const char *folder;
	_Atomic bool is_over;
	size_t seen;
	size_t torn; /* times that the folder was there, and a file was not */
};

static void *look(void *self)
{
	struct watcher *watcher = self;
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/__grp__add_kernel.json",
	               watcher->folder);
	while (!watcher->is_over || watcher->seen == 0) {
		if (access(watcher->folder, F_OK) != 0)
			continue;
		watcher->seen++;
		watcher->torn += access(path, F_OK) != 0;
	}
	return NULL;
}

TEST(compile, publishes_an_entry_in_one_step)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.cache_root = "root"));
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	struct watcher watcher = { .is_over = false };
	pthread_t thread;

	watcher.folder = text("root/%s", key_of(compiler, &unit));
	SYS(pthread_create(&thread, NULL, look, &watcher));
	(void)compile(compiler, &unit);
	watcher.is_over = true;
	SYS(pthread_join(thread, NULL));

	CHECK(watcher.seen != 0);
	CHECK_INT(watcher.torn, 0);
}

/* A sink that keeps what it gets, and may refuse. */
struct kept {
	char bytes[64];
	size_t size;
	int rc;
};

static int keep(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct kept *kept = self;

	kept->size = bytes.size;
	memcpy(kept->bytes, bytes.data, bytes.size < 64 ? bytes.size : 64);
	return kept->rc == 0 ? 0 : tkb_fail(err, kept->rc, "it is full");
}

TEST(compile, logs_the_source_before_it_fails)
{
	struct kept kept = { .size = 0 };
	COMPILER(compiler) = open_compiler(&OPTIONS(.log = { keep, &kept }));
	const struct tkb_unit unit =
		unit_from("bad.ptx", TKB_SOURCE_KIND_PTX, tkb_text("no PTX"));
	struct made made = try_compile(compiler, &unit);

	CHECK_INT(made.rc, TKB_ERR_INVALID);
	CHECK_INT(kept.size, 6);
	CHECK(memcmp(kept.bytes, "no PTX", 6) == 0);

	kept.rc = TKB_ERR_IO;
	must_fail(compiler, &unit, TKB_ERR_IO, "it is full");
}

TEST(compile, outlives_its_compiler)
{
	struct tkb_compiler *compiler = open_compiler(&OPTIONS(.worker = NULL));
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	COMPILE(done) = NULL;
	const struct tkb_compiled *compiled = NULL;

	OK(tkb_compiler_submit(compiler, &unit, &done, ERR));
	OK(tkb_compile_wait(done, TKB_FOREVER, NULL, ERR));
	tkb_compiler_close(compiler);

	OK(tkb_compile_wait(done, 0, &compiled, ERR));
	CHECK(compiled->cubin.size != 0);
}

TEST(compile, for_an_unknown_target_says_what_would_be_right)
{
	static const struct {
		const char *target;
		const char *message;
	} cases[] = {
		{ "cuda:91", "there are cuda:75, 80, 86" },
		{ "cuda:", "there are cuda:75, 80, 86" },
		{ "cuda", "there are cuda:75, 80, 86" },
		{ "cuda:90:64", "there are cuda:75, 80, 86" },
		{ "cuda:9", "there are cuda:75, 80, 86" },
		{ "cuda:90a", "write cuda:90;" },
		{ "90", "write cuda:90" },
		{ "sm_90", "targets are cuda:90 and the like" },
		{ "hip:gfx942", "is a target for Triton's kernels only" },
		{ "", "targets are cuda:90 and the like" },
	};
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);

	EACH(i, cases) {
		unit.target = cases[i].target;
		must_fail(compiler, &unit, TKB_ERR_INVALID, cases[i].message);
	}
	unit.target = "cuda:90:32";
	(void)compile(compiler, &unit);
}

TEST(compile, finds_no_target_in_what_is_shorter_than_one)
{
	static const char *const texts[] = { "", "c", "cuda",
		                             "cuda:", "cuda:9" };

	EACH(i, texts) {
		char *exact = test_alloc(strlen(texts[i]) + 1);

		strcpy(exact, texts[i]);
		FAILS(tkb_target_check(exact, ERR), TKB_ERR_INVALID, "target");
	}
}

TEST(compile, does_not_take_for_a_cubin_what_is_none)
{
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	const char *ptxas =
		write_script("ptxas",
	                     "[ \"$1\" != --version ] || exec %s \"$@\"\n"
	                     "%s \"$@\" | head -c 2000\n",
	                     real_ptxas(), real_ptxas());

	COMPILER(compiler) =
		open_compiler(&OPTIONS(.cache_root = "root", .ptxas = ptxas));
	must_fail(compiler, &unit, TKB_ERR_CORRUPT,
	          "'the cubin that was made' is cut short");
	CHECK(!exists("root"));
}

TEST(compile, notices_that_a_tool_was_replaced)
{
	const char *const ptxas = counting_ptxas();
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);

	COMPILER(compiler) =
		open_compiler(&OPTIONS(.cache_root = "root", .ptxas = ptxas));
	(void)key_of(compiler, &unit);
	(void)write_script("ptxas",
	                   "[ \"$1\" != --version ] || exec echo "
	                   "release 12.0, V12.0.1\n"
	                   "exec %s \"$@\"\n",
	                   real_ptxas());
	must_fail(compiler, &unit, TKB_ERR_UNAVAILABLE,
	          "became 12.0.1 while it was in use");
	CHECK(!exists("root"));
}

TEST(compile, refuses_metadata_that_are_none)
{
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);

	unit.metadata = (struct tkb_bytes){ "[1]", 3 };
	must_fail(compiler, &unit, TKB_ERR_INVALID, "not a JSON object");
	unit.metadata = (struct tkb_bytes){ "{\"a\": ", 6 };
	must_fail(compiler, &unit, TKB_ERR_INVALID, "the metadata");
}

/* Triton would launch with them. */
TEST(compile, refuses_metadata_that_no_kernel_has)
{
	static const char *const cases[][2] = {
		{ "num_warps", "0" },     { "num_warps", "-1" },
		{ "num_warps", "\"4\"" }, { "num_warps", "null" },
		{ "num_warps", "[4]" },   { "num_warps", "65" },
		{ "num_warps", "4.0" },   { "num_ctas", "0" },
		{ "num_ctas", "17" },     { "num_stages", "{}" },
		{ "shared", "-1" },       { "shared", "4294967296" },
	};
	COMPILER(compiler) = open_compiler(&OPTIONS(.worker = NULL));
	struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);

	EACH(i, cases) {
		const char *given =
			text("{\"%s\": %s}", cases[i][0], cases[i][1]);

		unit.metadata = tkb_text(given);
		must_fail(compiler, &unit, TKB_ERR_INVALID,
		          text("the metadata's '%s' has a value that",
		               cases[i][0]));
	}
	CHECK(!exists("root"));
}

TEST(compile, without_tools_says_which_in_one_sentence)
{
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);
	struct tkb_compiler *compiler = NULL;

	FAILS(tkb_compiler_open(&OPTIONS(.worker = "/nowhere/worker"),
	                        &compiler, ERR),
	      TKB_ERR_IO, "/nowhere/worker");
	FAILS(tkb_compiler_open(&OPTIONS(.worker = compile_worker(),
	                                 .libdevice = "/nowhere.bc"),
	                        &compiler, ERR),
	      TKB_ERR_IO, "/nowhere.bc");
	compiler = open_compiler(&OPTIONS(.ptxas = "/nowhere/ptxas"));
	struct made made = try_compile(compiler, &unit);
	tkb_compiler_close(compiler);
	CHECK_FAILS(made.rc, TKB_ERR_IO, &made.err, "'/nowhere/ptxas'");
}

/* Asks for the tools of a worker that never answers. */
struct asker {
	struct tkb_compiler *compiler;
	uint32_t timeout_ms;
	int rc;
};

static void *ask(void *argument)
{
	struct asker *asker = argument;
	const char *tools = NULL;

	asker->rc = tkb_compiler_tools(asker->compiler, "cuda:90",
	                               asker->timeout_ms, &tools, NULL);
	return NULL;
}

TEST(compile, that_waits_for_tools_holds_up_nobody_who_waits_for_less_long)
{
	COMPILER(compiler) = NULL;
	struct asker patient = { .timeout_ms = 4000 };
	struct asker hasty = { .timeout_ms = 100 };
	uint64_t start;
	pthread_t thread;

	OK(tkb_compiler_open(
		&OPTIONS(.worker = write_script("worker", "exec sleep 60\n")),
		&compiler, ERR));
	patient.compiler = hasty.compiler = compiler;
	SYS(pthread_create(&thread, NULL, ask, &patient));
	nap_ms(200);
	start = now_ms();
	(void)ask(&hasty);
	CHECK_INT(hasty.rc, TKB_MISS);
	CHECK(now_ms() - start < 3000);
	SYS(pthread_join(thread, NULL));
	CHECK_INT(patient.rc, TKB_MISS);
}

/* Of each kind, a unit is refused with the words that are wanted; NULL: it is not. */
static void check_choices(const options *chosen, const char *const wanted[3])
{
	COMPILER(compiler) = open_compiler(chosen);

	for (size_t i = 0; i < 3; i++) {
		const struct tkb_unit unit =
			unit_from("some input", (enum tkb_source_kind)(i + 1),
		                  tkb_text("nothing"));
		COMPILE(begun) = NULL;
		struct tkb_error err = { .status = 0 };
		const int rc =
			tkb_compiler_submit(compiler, &unit, &begun, &err);

		if (wanted[i] == NULL) {
			CHECK_OK(rc, &err);
			continue;
		}
		CHECK_FAILS(rc, TKB_ERR_INVALID, &err, wanted[i]);
		CHECK_CONTAINS(err.message, "has no meaning for 'some input'");
		CHECK(begun == NULL);
	}
}

TEST(compile, a_choice_without_a_meaning_for_the_unit_is_refused)
{
	static const char *const nvrtc[] = { "-DX=1", NULL };
	static const char *const fast[] = { "--fmad=true", NULL };
	static const struct tkb_finalize_options plain = { SIZED(plain) };
	static const char libdevice[] = "an empty libdevice";
	const struct {
		options options;
		const char *wanted[3]; /* for IR, PTX and CUDA C */
	} cases[] = {
		{ { SIZED(options), .finalize = &plain },
		  { NULL, "finalize", "finalize" } },
		{ { SIZED(options), .is_optimized = true },
		  { NULL, "optimize", "optimize" } },
		{ { SIZED(options), .has_pass_output = true },
		  { NULL, "passes", "passes" } },
		{ { SIZED(options), .libdevice = libdevice },
		  { NULL, "libdevice", "libdevice" } },
		{ { SIZED(options), .nvrtc_options = nvrtc },
		  { "NVRTC", "NVRTC", NULL } },
		{ { SIZED(options), .ptxas_options = fast },
		  { NULL, NULL, NULL } },
		{ { SIZED(options), .ptxas_options = fast,
		    .product = TKB_PRODUCT_PTX },
		  { "ptxas", "ptxas", "ptxas" } },
	};

	write_text(libdevice, "");
	EACH(i, cases)
		check_choices(&cases[i].options, cases[i].wanted);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

#include <stdlib.h>

/* Real kernels, all of them, against what Triton itself made of them. */

/* Files of LLVM IR. */
static const char **paths;
static size_t path_count;

static void find_kernels(const char *fixture)
{
	paths = fixture_files(fixture, ".llir");
	for (path_count = 0; paths[path_count] != NULL; path_count++)
		continue;
	CHECK(path_count > 0);
}

/* What Triton made of the kernel at `path`. */
static struct tkb_bytes made_by_triton(const char *path, const char *extension)
{
	return read_file(
		text("%.*s%s", (int)(strlen(path) - 4), path, extension));
}

/* Compile all that were found. */
static struct stage_made *compile_all(enum tkb_product product,
                                      const char *ptxas)
{
	struct stage_request *orders = test_alloc(path_count * sizeof(*orders));
	struct stage_made *made = test_alloc(path_count * sizeof(*made));

	for (size_t i = 0; i < path_count; i++)
		orders[i] = (struct stage_request){
			.input = TKB_INPUT_LLIR,
			.source = read_file(paths[i]),
			.product = product,
			.ptxas = ptxas,
		};
	stage_all(orders, path_count, made);
	for (size_t i = 0; i < path_count; i++)
		CHECK_STR(made[i].err.message, "");
	return made;
}

/* Is it of no matter what a line says: a version, a name, line numbers? */
static bool is_noise(const char *line)
{
	line += strspn(line, " \t");
	return *line == '\n' || *line == '\0' || tkb_begins_with(line, "//") ||
	       tkb_begins_with(line, ".version") ||
	       tkb_begins_with(line, ".target") ||
	       tkb_begins_with(line, ".loc") ||
	       tkb_begins_with(line, ".file") ||
	       tkb_begins_with(line, "$L__tmp") ||
	       tkb_begins_with(line, "$L__func");
}

/* The next line that matters, without its comment; NULL at the end. */
static const char *next_line(const char **at, size_t *length)
{
	static const char debug[] = "\t.section\t.debug";

	while (**at != '\0') {
		const char *line = *at;
		const char *comment = strstr(line, "//");

		if (tkb_begins_with(line, debug)) {
			*at = strchr(line, '}');
			CHECK(*at != NULL);
		}
		*length = strcspn(line, "\n");
		*at += strcspn(*at, "\n");
		*at += **at == '\n';
		if (is_noise(line) || tkb_begins_with(line, debug))
			continue;
		if (comment != NULL && comment < line + *length)
			*length = (size_t)(comment - line);
		while (*length > 0 && strchr(" \t", line[*length - 1]))
			--*length;
		return line;
	}
	*length = 0;
	return NULL;
}

static bool is_same_code(const char *a, const char *b)
{
	size_t a_length;
	size_t b_length;
	const char *a_line;
	const char *b_line;

	do {
		a_line = next_line(&a, &a_length);
		b_line = next_line(&b, &b_length);
		if ((a_line == NULL) != (b_line == NULL) ||
		    a_length != b_length ||
		    (a_line != NULL && memcmp(a_line, b_line, a_length) != 0))
			return false;
	} while (a_line != NULL);
	return true;
}

/* How many of the fixture's kernels become the code that Triton made. */
static size_t count_equal(const char *fixture)
{
	size_t count = 0;

	find_kernels(fixture);
	struct stage_made *made =
		compile_all(TKB_PRODUCT_PTX, fake_ptxas("exit 1"));
	for (size_t i = 0; i < path_count; i++)
		count += is_same_code(made[i].ptx.data,
		                      made_by_triton(paths[i], "ptx").data);
	return count;
}

/*
 * Triton 3.6 and 3.7 have an LLVM much like ours; 3.8 and 3.9 have its successor,
 * which orders the blocks of gelu otherwise.
 */
TEST(stage_kernels, of_triton_3_6_and_later_become_the_code_of_triton)
{
	need_llvm();
	CHECK_INT(count_equal("triton-3.6.0-cpu"), 4);
	CHECK_INT(count_equal("triton-3.7.1-cpu"), 4);
	CHECK_INT(count_equal("triton-3.8.0-cpu"), 2);
	CHECK_INT(count_equal("triton-3.9.0-cpu"), 2);
	CHECK_INT(path_count, 4);
}

/* Does `ptx` have each constant, as "0f3F3504F3", that `theirs` has? */
static bool has_the_constants_of(const char *ptx, const char *theirs)
{
	for (const char *at = strstr(theirs, "0f"); at != NULL;
	     at = strstr(at + 2, "0f")) {
		if (strspn(at + 2, "0123456789ABCDEF") != 8)
			continue;
		if (strstr(ptx, text("%.10s", at)) == NULL)
			return false;
	}
	return true;
}

TEST(stage_kernels, of_a_newer_llvm_keep_the_value_of_every_constant)
{
	static const char *const fixtures[] = { "triton-3.8.0-cpu",
		                                "triton-3.9.0-cpu" };

	need_llvm();
	for (size_t k = 0; k < 2; k++) {
		find_kernels(fixtures[k]);
		struct stage_made *made =
			compile_all(TKB_PRODUCT_PTX, fake_ptxas("exit 1"));
		for (size_t i = 0; i < path_count; i++) {
			const char *ours = made[i].ptx.data;
			const char *theirs =
				made_by_triton(paths[i], "ptx").data;

			CHECK(has_the_constants_of(ours, theirs));
			CHECK(has_the_constants_of(theirs, ours));
		}
	}
}

TEST(stage_kernels, of_an_h100_become_the_code_of_triton_but_for_matmul)
{
	need_llvm();
	CHECK_INT(count_equal("triton-3.6.0-h100"), 7);
	CHECK_INT(path_count, 13);
}

TEST(stage_kernels, of_inductor_become_the_code_of_triton_in_16_of_23_cases)
{
	need_llvm();
	CHECK_INT(count_equal("inductor-2.11-llama4-h100"), 16);
	CHECK_INT(path_count, 23);
}

TEST(stage_kernels, of_older_tritons_compile)
{
	static const char *const fixtures[] = {
		"triton-3.0.0-cpu", "triton-3.1.0-cpu", "triton-3.2.0-cpu",
		"triton-3.3.1-cpu", "triton-3.4.0-cpu", "triton-3.5.1-cpu"
	};
	const char *ptxas = fake_ptxas("exit 1");

	need_llvm();
	for (size_t i = 0; i < 6; i++) {
		find_kernels(fixtures[i]);
		(void)compile_all(TKB_PRODUCT_PTX, ptxas);
	}
}

TEST(stage_kernels, are_byte_for_byte_tritons_where_its_llvm_is_like_ours)
{
	size_t count = 0;

	need_llvm();
	find_kernels("triton-3.6.0-h100");
	struct stage_made *made =
		compile_all(TKB_PRODUCT_PTX, fake_ptxas("exit 1"));
	for (size_t i = 0; i < path_count; i++)
		count += tkb_bytes_equal(made[i].ptx,
		                         made_by_triton(paths[i], "ptx"));
	CHECK_INT(count, 7);
}

TEST(stage_kernels, of_an_h100_become_cubins)
{
	const char *ptxas = real_ptxas();

	need_llvm();
	find_kernels("triton-3.6.0-h100");
	struct stage_made *made = compile_all(TKB_PRODUCT_CUBIN, ptxas);
	for (size_t i = 0; i < path_count; i++) {
		CHECK(made[i].cubin.size > 1000);
		CHECK_CONTAINS(made[i].log, "registers");
	}
}

TEST(stage_kernels, that_call_libdevice_compile_with_it_inlined)
{
	struct stage_request order = { .input = TKB_INPUT_LLIR,
		                       .product = TKB_PRODUCT_PTX };
	const char *llir =
		*fixture_files("triton-3.6.0-cpu", "gelu_kernel.llir");

	need_llvm();
	order.source = read_file(llir);
	order.ptxas = fake_ptxas("exit 1");
	struct stage_made made = stage(&order);
	CHECK_CONTAINS(ptx_of(&made), ".entry gelu_kernel(");
	CHECK_INT(count_parts(made.ptx.data, "call"), 0);
	CHECK_CONTAINS(made.ptx.data, "fma.rn.ftz.f32");
}

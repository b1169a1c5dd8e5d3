/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/build.h"

#include "harness.h"

static int read_build(struct tkb_bytes given, struct tkb_ninja_build *out,
                      struct tkb_error *err)
{
	const struct tkb_bytes copy = test_exact(given);
	const int rc = tkb_ninja_build_read(copy, out, err);

	test_spoil(copy);
	return rc;
}

static const char *joined(const char *const *items, size_t count)
{
	const char *all = "";

	for (size_t i = 0; i < count; i++)
		all = text("%s%s%s", all, i == 0 ? "" : "; ", items[i]);
	return all;
}

static void must_name(const char *given, const char *inputs,
                      const char *outputs)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build build = { 0 };

	OK(read_build(tkb_text(given), &build, ERR));
	CHECK_STR(joined(build.inputs, build.input_count), inputs);
	CHECK_STR(joined(build.outputs, build.output_count), outputs);
}

static void must_refuse(const char *given, const char *says)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build build = { 0 };

	FAILS(read_build(tkb_text(given), &build, ERR), TKB_ERR_CORRUPT, says);
	CHECK_INT(ERR->reason, TKB_REASON_METADATA);
}

TEST(ninja_build, all_kinds_of_inputs_are_named)
{
	must_name("build o | p: cc b a | c d || e f |@ g\n",
	          "a; b; c; d; e; f; g", "o; p");
	must_name("build o: cc || e\nbuild p: cc |@ g\nbuild q: cc |i\n"
	          "build r:cc\n",
	          "e; g; i", "o; p; q; r");
	must_name("build o: cc a ||e|@g", "a; e; g", "o");
}

TEST(ninja_build, what_a_statement_makes_is_no_input)
{
	must_name("build a.o: cc a.c\nbuild b.o: cc b.c gen.h | a.o\n"
	          "build all: phony lib src.txt\nbuild lib: link a.o ./b.o | "
	          "x/../all\nbuild gen.h: gen\ndefault all\n",
	          "a.c; b.c; src.txt", "a.o; b.o; gen.h; lib");
}

TEST(ninja_build, variables_and_escapes_are_as_ninja_reads_them)
{
	must_name("d = s\ne = $d/t\nd = u\nbuild $d/o: cc ${e}/a $d/b\n"
	          "d = v\n",
	          "s/t/a; u/b", "u/o");
	must_name("d = s\nbuild $d/o: cc $d/a $x.c\n  d = t\n  x = $d\n",
	          "s.c; t/a", "t/o");
	must_name("build a$ b$:c$$: cc x$ y\n", "x y", "a b:c$");
	must_name("p = x y\nbuild o: cc $p ${p}z\n", "x y; x yz", "o");
	must_name("build o: $\n   cc a $\n   b$\n  c\n", "a; bc", "o");
	must_name("v.w = x\nbuild o: cc ${v.w}\n", "x", "o");
	must_name("build o: cc a\r\n  x = y\r\nbuild p: cc b\r\n", "a; b",
	          "o; p");
}

TEST(ninja_build, paths_are_tidied)
{
	must_name("build ./o//p: cc ../a ../../b x/./y/../z /c/../../d e/. f/ "
	          "g/..\n",
	          ".; ../../b; ../a; /d; e; f; x/z", "o/p");
}

TEST(ninja_build, what_else_stands_there_is_skipped)
{
	must_name("# build x: cc y $\nninja_required_version = 1.3\n\n"
	          "rule cc\n  command = $cxx $in -o $out && x: y | z\n"
	          "  # a comment $\n  depfile = $out.d\n  deps = gcc\n\n"
	          "pool p\n  depth = 1\n   \n  # c\nbuild o: cc a\n  # c\n"
	          "  flags = build z: cc q $\n     more\ndefault o\n"
	          "build p: cc b",
	          "a; b", "o; p");
	must_name("", "", "");
	must_name("# only", "", "");
}

TEST(ninja_build, what_it_alone_does_not_tell_is_refused)
{
	must_refuse("build o: cc a\ninclude rules.ninja\n",
	            "line 2 of build.ninja: it reads another file");
	must_refuse("subninja x\n", "it reads another file");
	must_refuse("rule cc\n  command = x\n  depfile = $out.d\nbuild o: cc\n",
	            "a rule with \"depfile\" and without \"deps\"");
	must_refuse("rule cc\n  dyndep = x\n", "a dyndep");
	must_refuse("build o: cc a || x\n  dyndep = x\n",
	            "that only a rule may set");
	must_refuse("build o: cc a\n  depfile = x\n",
	            "that only a rule may set");
	must_refuse("build o: cc a\n  deps =\n", "that only a rule may set");
	must_refuse("depfile = x\n", "that only a rule may set");
}

TEST(ninja_build, what_is_not_ninja_is_refused)
{
	must_refuse("build\n", "outputs or a colon are missing");
	must_refuse("build : cc a\n", "outputs or a colon are missing");
	must_refuse("build o cc a\n", "outputs or a colon are missing");
	must_refuse("build o:\n", "a word is missing");
	must_refuse("build o: cc a | b | c\n", "something follows the inputs");
	must_refuse("build o: cc a: b\n", "something follows the inputs");
	must_refuse("build o: cc $x\n", "an empty path");
	must_refuse("build o: cc $%\n", "a \"$\" with no meaning");
	must_refuse("build o: cc ${x\n", "a \"$\" with no meaning");
	must_refuse("x = $", "a \"$\" with no meaning");
	must_refuse("x y\n", "not a statement");
	must_refuse("x\n", "not a statement");
	must_refuse("rule cc\n  x y\n", "line 2 of build.ninja: no \"=\"");
	must_refuse("rule cc\n  x = y\nbuild o: cc\n  x y\n",
	            "line 4 of build.ninja: no \"=\"");
	must_refuse("  x = y\n", "an indented line without a statement");
	must_refuse("\tx = y\n", "a word is missing");
	must_refuse("x = a\rb\n", "a byte that is not allowed");
}

TEST(ninja_build, what_grows_without_end_is_refused)
{
	BUF(build, 16 * TKB_MIB);
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build out = { 0 };

	tkb_buf_add_text(&build, "a = xxxxxxxxxxxxxxxx\n");
	for (int i = 0; i < 60; i++)
		tkb_buf_add_text(&build, "a = $a$a\n");
	FAILS(read_build(tkb_buf_bytes(&build), &out, ERR), TKB_ERR_TOO_LARGE,
	      "limit of 1048576 bytes");

	tkb_buf_reset(&build);
	tkb_buf_add_text(&build, "a = xxxxxxxxxxxxxxxx\n");
	for (int i = 0; i < 15; i++)
		tkb_buf_add_text(&build, "a = $a$a\n");
	for (int i = 0; i < 200; i++)
		tkb_buf_add_text(&build, "b = $a\n");
	FAILS(read_build(tkb_buf_bytes(&build), &out, ERR), TKB_ERR_CORRUPT,
	      "its variables become too long");

	tkb_buf_reset(&build);
	for (int i = 0; i < 1000; i++)
		tkb_buf_add_text(&build, text("v%d = x\n", i));
	FAILS(read_build(tkb_buf_bytes(&build), &out, ERR), TKB_ERR_CORRUPT,
	      "more variables than 256");
}

TEST(ninja_build, a_zero_byte_is_refused)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build out = { 0 };
	static const char given[] = "build o: cc a\0b\n";

	FAILS(read_build((struct tkb_bytes){ given, sizeof(given) - 1 }, &out,
	                 ERR),
	      TKB_ERR_CORRUPT, "a byte that is not allowed");
}

TEST(ninja_build, nothing_is_read_past_its_end)
{
	static const char given[] =
		"d = s$ $:\nrule cc\n  deps = gcc\n  depfile = $\n x\n"
		"build $d/o | p: cc ${d}/a $\n b | c || d |@ e\n  d = t\n"
		"default o\n# c\n";

	for (size_t size = 0; size < sizeof(given); size++) {
		for (unsigned bit = 0; bit <= 8; bit++) {
			TKB_AUTO(tkb_ninja_build_release)
			struct tkb_ninja_build out = { 0 };
			struct tkb_error err = { 0 };
			char copy[sizeof(given)];
			int rc;

			memcpy(copy, given, sizeof(given));
			if (bit < 8 && size > 0)
				copy[size - 1] ^= (char)(1 << bit);
			rc = read_build(
				(struct tkb_bytes){
					copy, bit % 2 == 0
						      ? size
						      : sizeof(given) - 1 },
				&out, &err);
			CHECK(rc == 0 || err.message[0] != '\0');
		}
	}
}

static void must_run(const char *given, const char *command)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build build = { 0 };

	OK(read_build(tkb_text(given), &build, ERR));
	CHECK_INT(build.edge_count, 1);
	CHECK_STR(build.edges[0].command, command);
}

TEST(ninja_build, commands_are_expanded_as_ninja_does)
{
	must_run("rule r\n command = c $in -o $out $x$y\n x = $y!\n"
	         "y = 1\nbuild o p | q: r a 'b c | d || e\ny = 2\n",
	         "c a ''\\''b' c -o o p 2!2");
	must_run("rule r\n command = $x $y $z\n x = rule\n y = rule\n"
	         "x = file\ny = file\nz = file\n"
	         "build o: r\n  y = own\n",
	         "rule own file");
	must_run("rule r\n command = $x\n x = rule\nx = file\nbuild o: r\n",
	         "file");
	must_run("rule r\n command = c @$rspfile\n rspfile = $out.rsp\n"
	         " rspfile_content = $in_newline\nbuild o: r a b$ c\n",
	         "c @o.rsp;rspfile=a\n'b c'");
	must_refuse("rule r\n command = $a\n a = $b\n b = $a\nbuild o: r\n",
	            "variables of a rule that refer to each other");
}

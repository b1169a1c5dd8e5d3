/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <tkbundle/makers.h>

/* What made entries, as it is noted beside them. */

#define ONE "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define TWO "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define FIRST "libtriton=3f2a; triton=3.6.0"
#define SECOND "libtriton=90c1; triton=3.6.0"
#define UNIT "torch_compile_cache/1cb2/model"

static struct tkb_makers *noted(const char *root)
{
	struct tkb_makers *makers = NULL;

	OK(tkb_makers_open(root, &makers, ERR));
	return makers;
}

static void note(const char *maker, const char *tree, const char *name)
{
	const struct tkb_made made = { tree, name };

	OK(tkb_makers_note(".", maker, &made, 1, ERR));
}

static void check_maker(const char *tree, const char *name, const char *wanted)
{
	struct tkb_makers *makers = noted(".");
	const char *found = tkb_makers_find(makers, tree, name);

	if (wanted == NULL)
		CHECK(found == NULL);
	else
		CHECK_STR(found, wanted);
	tkb_makers_close(makers);
}

TEST(makers, are_none_where_nothing_is_noted)
{
	check_maker(NULL, ONE, NULL);
	CHECK(tkb_makers_find(NULL, NULL, ONE) == NULL);
	tkb_makers_close(NULL);
}

TEST(makers, of_kernels_and_units_are_told_and_the_first_stays)
{
	note(FIRST, NULL, ONE);
	note(SECOND, NULL, ONE);
	note(SECOND, NULL, TWO);
	note(SECOND, "vllm", UNIT);
	check_maker(NULL, ONE, FIRST);
	check_maker(NULL, TWO, SECOND);
	check_maker("vllm", UNIT, SECOND);
	check_maker("other", UNIT, NULL);
}

TEST(makers, of_many_entries_stand_in_one_line)
{
	const struct tkb_made made[] = { { NULL, TWO }, { NULL, ONE } };

	OK(tkb_makers_note(".", FIRST, made, 2, ERR));
	OK(tkb_makers_note(".", FIRST, made, 2, ERR));
	CHECK_STR(read_file(".tkbundle/makers").data,
	          "\n" TWO " " ONE " = " FIRST "\n");
}

TEST(makers, that_cannot_be_noted_are_refused)
{
	const struct tkb_made made = { NULL, ONE };

	FAILS(tkb_makers_note(".", "", &made, 1, ERR), TKB_ERR_INVALID,
	      "noted");
	FAILS(tkb_makers_note(".", "a\x1b[1m", &made, 1, ERR), TKB_ERR_INVALID,
	      "noted");
	note(FIRST, NULL, "no key");
	check_maker(NULL, "no key", NULL);
	CHECK(!exists(".tkbundle/makers"));
}

TEST(makers, of_lines_that_make_no_sense_are_passed_over)
{
	note(FIRST, NULL, ONE);
	write_text(".tkbundle/makers",
	           "\n\n = \n = " FIRST "\nx" TWO " = " FIRST "\n" TWO "\n" TWO
	           " = \x1b\n" ONE " no = " FIRST "\n" TWO " = torn");
	check_maker(NULL, ONE, FIRST);
	check_maker(NULL, TWO, NULL);
}

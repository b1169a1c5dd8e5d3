/* SPDX-License-Identifier: Apache-2.0 */

/* Fails as a test program of cmocka's can: run_tests_test.py looks at what is
 * told of it. The argument is what the last test does. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *end = "";

static void holds(void **state)
{
	(void)state;
}

static void is_skipped(void **state)
{
	(void)state;
	skip();
}

static void counts_wrongly(void **state)
{
	(void)state;
	assert_int_equal(1, 2);
}

static void has_its_own_words(void **state)
{
	(void)state;
	print_error("tkb_emit(root)\n  returned -1\n");
	fail();
}

static void ends(void **state)
{
	(void)state;
	if (strcmp(end, "abort") == 0)
		abort();
	if (strcmp(end, "hang") == 0)
		pause();
}

static int cannot(void **state)
{
	(void)state;
	return -1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest bad[] = {
		cmocka_unit_test(holds),
		cmocka_unit_test(is_skipped),
		cmocka_unit_test(has_its_own_words),
		cmocka_unit_test(counts_wrongly),
		cmocka_unit_test_setup_teardown(ends, cannot, NULL),
	};
	const struct CMUnitTest worse[] = {
		cmocka_unit_test(holds),
		cmocka_unit_test(ends),
	};

	if (argc < 2)
		return cmocka_run_group_tests(bad, NULL, NULL);
	end = argv[1];
	return cmocka_run_group_tests(worse, NULL, NULL);
}

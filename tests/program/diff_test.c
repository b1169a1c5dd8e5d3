/* SPDX-License-Identifier: Apache-2.0 */
#include "forge.h"

#define ADD "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define SOFTMAX "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

/* What the program says of bundles that it could not have made itself. */

TKB_AUTO_POINTER(free_at, struct tkb_recorder, tkb_recorder_free)

/* A launcher of add_kernel. */
static struct tkb_launcher_spec launcher(const char *cache_key,
                                         const char *payload)
{
	static const char *const needs[] = { ADD, SOFTMAX };

	return CHOSEN(tkb_launcher_spec, .cache_key = cache_key,
	              .name = "add_kernel", .payload = tkb_text(payload),
	              .needs = needs, .need_count = 1);
}

/* A bundle of add_kernel and softmax_kernel with these launchers. */
static void save(const struct tkb_launcher_spec *launchers, size_t count,
                 const char *path)
{
	TKB_AUTO(free_at) struct tkb_recorder *recorder = NULL;
	struct tkb_collect_report report = { SIZED(report) };

	if (!exists("unpacked"))
		unpack("triton-3.6.0-cpu", "unpacked");
	OK(tkb_recorder_new(NULL, &recorder, ERR));
	OK(tkb_recorder_begin_compile(recorder, ERR));
	OK(tkb_recorder_put(recorder, ADD, 0, ERR));
	OK(tkb_recorder_put(recorder, SOFTMAX, 0, ERR));
	for (size_t i = 0; i < count; i++)
		OK(tkb_recorder_put_launcher(recorder, &launchers[i], ERR));
	OK(tkb_recorder_collect_to_file(recorder, "unpacked/.triton/cache",
	                                NULL, path, &report, ERR));
	CHECK_INT(report.launcher_count, count);
	CHECK_INT(report.collected_count, 2);
}

static void check_diff(const char *a, const char *b, int status,
                       const char *wanted)
{
	const struct outcome outcome = run(program(), "diff", a, b, NULL);

	CHECK_STR(outcome.err, "");
	CHECK_STR(outcome.out, wanted);
	CHECK_INT(outcome.status, status);
}

TEST(diff, of_equal_launchers_says_equal)
{
	const struct tkb_launcher_spec one[] = { launcher("x", "payload"),
		                                 launcher("y", "other") };
	const struct tkb_launcher_spec other[] = { one[1], one[0] };

	save(one, 2, "a.tkb");
	save(other, 2, "b.tkb");

	check_diff("a.tkb", "b.tkb", 0, "2 entries equal\n");
}

TEST(diff, tells_what_launchers_only_one_has)
{
	const struct tkb_launcher_spec one[] = { launcher("x", "payload"),
		                                 launcher("y", "other") };
	const struct tkb_launcher_spec other[] = { launcher("y", "other"),
		                                   launcher("z", "") };

	save(one, 2, "a.tkb");
	save(other, 2, "b.tkb");

	check_diff("a.tkb", "b.tkb", 4,
	           "- launcher x of add_kernel, 7 bytes\n"
	           "+ launcher z of add_kernel, 0 bytes\n"
	           "2 entries equal\n");
}

TEST(diff, tells_how_launchers_differ)
{
	struct tkb_launcher_spec one[] = {
		launcher("name", "1"),  launcher("need", "2"),
		launcher("needs", "3"), launcher("payload", "4"),
		launcher("size", "5"),
	};
	struct tkb_launcher_spec other[TKB_COUNT_OF(one)];

	memcpy(other, one, sizeof(one));
	other[0].name = "sub_kernel";
	other[1].need = TKB_NEED_ANY;
	other[2].needs++;
	other[3].payload = tkb_text("6");
	other[4].payload = tkb_text("55");
	other[4].need_count = 2;
	save(one, TKB_COUNT_OF(one), "a.tkb");
	save(other, TKB_COUNT_OF(other), "b.tkb");

	check_diff("a.tkb", "b.tkb", 4,
	           "~ launcher name of add_kernel, 1 bytes\n"
	           "    name     add_kernel -> sub_kernel\n"
	           "~ launcher need of add_kernel, 1 bytes\n"
	           "    needs    all of 1 -> any of 1, not the same\n"
	           "~ launcher needs of add_kernel, 1 bytes\n"
	           "    needs    all of 1 -> all of 1, not the same\n"
	           "~ launcher payload of add_kernel, 1 bytes\n"
	           "    payload  1 bytes, not the same\n"
	           "~ launcher size of add_kernel, 1 bytes\n"
	           "    needs    all of 1 -> all of 2\n"
	           "    payload  1 -> 2 bytes\n"
	           "2 entries equal\n");
}

TEST(diff, puts_launchers_into_the_document)
{
	const struct tkb_launcher_spec one[] = { launcher("x", "payload"),
		                                 launcher("y", "1") };
	const struct tkb_launcher_spec other = launcher("y", "2");
	struct outcome outcome;

	save(one, 2, "a.tkb");
	save(&other, 1, "b.tkb");
	outcome = run(program(), "diff", "--json", "a.tkb", "b.tkb", NULL);

	CHECK_INT(outcome.status, 4);
	CHECK_CONTAINS(outcome.out, "\"equal\":false,");
	CHECK_CONTAINS(outcome.out,
	               "\"launchers\":{\"only_a\":[\"x\"],\"only_b\":[],"
	               "\"differ\":[{\"cache_key\":\"y\",\"a\":{\"name\":"
	               "\"add_kernel\",\"need\":\"all\",\"needs\":[\"" ADD
	               "\"],\"size\":1,\"sha256\":\"6b86b273");
	CHECK_CONTAINS(outcome.out, "\"sha256\":\"d4735e3a");
	CHECK_CONTAINS(outcome.out, "}}],\"equal_count\":0}}\n");
}

/* A cache cannot hold what a framework saved. */
TEST(diff, of_a_cache_does_not_miss_launchers)
{
	const struct tkb_launcher_spec one = launcher("x", "payload");

	save(&one, 1, "a.tkb");
	CHECK_INT(run(program(), "emit", "a.tkb", "cache", NULL).status, 0);

	check_diff("a.tkb", "cache", 0, "2 entries equal\n");
}

TEST(stats, counts_launchers)
{
	const struct tkb_launcher_spec both[] = { launcher("x", "payload"),
		                                  launcher("y", "1") };
	struct outcome outcome;

	save(both, 2, "a.tkb");
	outcome = run(program(), "stats", "a.tkb", NULL);
	CHECK_CONTAINS(outcome.out, "\nlaunchers 2 payloads, 8 B\n");
	outcome = run(program(), "stats", "--json", "--paths", "a.tkb", NULL);
	CHECK_CONTAINS(outcome.out, "\"launchers\":{\"count\":2,\"size\":8}");
	CHECK_INT(outcome.status, 0);
}

/* A bundle may hold anything that its manifest says. */
TEST(diff, of_what_is_no_cubin_says_so_and_goes_on)
{
	struct forge *forge;
	struct outcome outcome;

	forge_single("a.tkb");
	forge = forge_open("a.tkb");
	forge_put_file(forge, "add_kernel.cubin", tkb_text("/no/cubin"));
	forge_write(forge, "b.tkb");

	check_diff("a.tkb", "b.tkb", 4,
	           "~ 5DJUWXT22BVR  kernel    add_kernel  cuda:90    0     3 "
	           " 8.2 kB\n"
	           "    add_kernel.cubin  6936 -> 9 bytes\n"
	           "      'add_kernel.cubin' is not an ELF file\n"
	           "0 entries equal, different 1\n");
	outcome = run(program(), "diff", "--json", "a.tkb", "b.tkb", NULL);
	CHECK_CONTAINS(outcome.out,
	               "\"parts\":[{\"file\":\"add_kernel.cubin\",\"error\":"
	               "\"'add_kernel.cubin' is not an ELF file\"}]");
}

TEST(stats, counts_a_file_of_no_bytes)
{
	struct forge *forge;
	struct outcome outcome;

	forge_single("a.tkb");
	forge = forge_open("a.tkb");
	forge_put_file(forge, "add_kernel.cubin", tkb_text(""));
	forge_write(forge, "b.tkb");

	outcome = run(program(), "stats", "--paths", "b.tkb", NULL);
	CHECK_INT(outcome.status, 0);
	CHECK_CONTAINS(outcome.out,
	               "\n      1     0 B     0%       0  cubin\n");
}

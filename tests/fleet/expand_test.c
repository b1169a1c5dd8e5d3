/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

/* A ref's name from a pattern, by a made-up NVML and real caches. */

#define H100 "9.0:GPU-aaaa-1:NVIDIA H100 80GB HBM3"
#define H100_TOO "9.0:GPU-bbbb-2:NVIDIA H100 80GB HBM3"
#define T4 "7.5:GPU-cccc-3:Tesla T4"

/* What the machine has, for one test. */
static void set_gpus(const char *gpus)
{
	(void)setenv("FAKE_NVML", gpus, 1);
	(void)unsetenv("FAKE_NVML_FAILS");
	(void)unsetenv("CUDA_VISIBLE_DEVICES");
	(void)unsetenv("CUDA_DEVICE_ORDER");
}

static const struct tkb_ref_facts no_cache = { SIZED(no_cache),
	                                       .nvml = TKB_FAKE_NVML };
static const struct tkb_ref_facts no_gpu = {
	SIZED(no_gpu), .nvml = "/nowhere/libnvidia-ml.so.1",
	.cache_root = "root"
};

static void check_name(const char *pattern, const struct tkb_ref_facts *facts,
                       const char *wanted)
{
	char name[TKB_REF_SIZE] = "";

	OK(tkb_ref_expand(pattern, facts, name, ERR));
	CHECK_STR(name, wanted);
}

/* Every sentence says what to do. */
static void check_fails(const char *pattern, const struct tkb_ref_facts *facts,
                        const char *part, const char *advice)
{
	char name[TKB_REF_SIZE] = "untouched";

	FAILS(tkb_ref_expand(pattern, facts, name, ERR), TKB_ERR_INVALID, part);
	CHECK_CONTAINS(ERR->message, advice);
	CHECK_STR(name, "untouched");
}

static void make_cache(const char *fixture)
{
	unpack(fixture, "unpacked");
	SYS(rename("unpacked/.triton/cache", "root"));
}

TEST(expand, a_name_without_words_stays_as_it_is)
{
	check_name("team/model-7b@v1.2+x=y_z", NULL,
	           "team/model-7b@v1.2+x=y_z");
}

TEST(expand, the_gpu_fills_its_words)
{
	set_gpus(H100 "," H100_TOO);
	check_name("m/{arch}/{gpu}/{driver}", &no_cache,
	           "m/sm_90/NVIDIA-H100-80GB-HBM3/580.65.06");
}

TEST(expand, a_slash_in_a_gpus_name_makes_no_part)
{
	set_gpus("12.1:GPU-1:RTX (A/B) é");
	check_name("{gpu}-{arch}", &no_cache, "RTX--A-B-----sm_121");
}

TEST(expand, gpus_of_two_kinds_are_ambiguous)
{
	set_gpus(H100 "," T4);
	check_fails("{gpu}", &no_cache,
	            "this machine has NVIDIA H100 80GB HBM3 and Tesla T4",
	            "CUDA_VISIBLE_DEVICES");
	check_fails("{arch}", &no_cache, "this machine has sm_90 and sm_75",
	            "{env:NAME}");
	check_name("{driver}", &no_cache, "580.65.06");
}

TEST(expand, two_models_of_one_architecture_share_it)
{
	set_gpus("8.6:GPU-1:NVIDIA A10,8.6:GPU-2:NVIDIA RTX A6000");
	check_name("{arch}", &no_cache, "sm_86");
	check_fails("{gpu}", &no_cache, "is ambiguous", "{env:NAME}");
}

TEST(expand, visible_devices_choose_by_uuid)
{
	set_gpus(H100 "," T4);
	(void)setenv("CUDA_VISIBLE_DEVICES", "GPU-cccc", 1);
	check_name("{gpu}", &no_cache, "Tesla-T4");
	(void)setenv("CUDA_VISIBLE_DEVICES", "GPU-aaaa-1,GPU-cccc-3", 1);
	check_fails("{gpu}", &no_cache, "is ambiguous", "{env:NAME}");
	(void)setenv("CUDA_VISIBLE_DEVICES", "GPU-dddd", 1);
	check_fails("{gpu}", &no_cache, "CUDA_VISIBLE_DEVICES hides all",
	            "write the GPU's name, or {env:NAME}");
}

TEST(expand, visible_devices_choose_by_index_in_the_order_of_the_bus_alone)
{
	set_gpus(T4 "," H100);
	(void)setenv("CUDA_VISIBLE_DEVICES", "0", 1);
	check_fails("{gpu}", &no_cache, "is ambiguous", "{env:NAME}");
	(void)setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	check_name("{gpu}", &no_cache, "Tesla-T4");
	(void)setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	check_name("{gpu}", &no_cache, "NVIDIA-H100-80GB-HBM3");
	(void)setenv("CUDA_VISIBLE_DEVICES", "1,MIG-7", 1);
	check_fails("{gpu}", &no_cache, "is ambiguous", "{env:NAME}");
}

TEST(expand, hidden_gpus_leave_the_architecture_to_the_kernels)
{
	const struct tkb_ref_facts facts = { SIZED(facts),
		                             .nvml = TKB_FAKE_NVML,
		                             .cache_root = "root" };

	make_cache("triton-3.6.0-h100");
	set_gpus(T4);
	check_name("{arch}", &facts, "sm_75");
	(void)setenv("CUDA_VISIBLE_DEVICES", "", 1);
	check_name("{arch}", &facts, "sm_90");
	(void)setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	check_name("{arch}", &facts, "sm_90");
}

TEST(expand, a_machine_without_gpus_is_told_so)
{
	set_gpus("");
	check_fails("{gpu}", &no_cache, "has no NVIDIA GPU",
	            "write the GPU's name, or {env:NAME}");
	check_fails("{arch}", &no_cache,
	            "has no NVIDIA GPU, and no cache is named",
	            "write the architecture (sm_90), or {env:NAME}");
}

TEST(expand, a_machine_without_nvml_is_told_so)
{
	check_fails("{driver}", &no_gpu, "NVML cannot be loaded: /nowhere/",
	            "write the version, or {env:NAME}");
	check_fails("{gpu}", &no_gpu, "NVML cannot be loaded: /nowhere/",
	            "write the GPU's name, or {env:NAME}");
}

TEST(expand, an_nvml_that_fails_is_told_so)
{
	static const char *const functions[] = { "init",      "driver", "count",
		                                 "handle",    "name",   "uuid",
		                                 "capability" };

	set_gpus(H100);
	for (size_t i = 0; i < TKB_COUNT_OF(functions); i++) {
		(void)setenv("FAKE_NVML_FAILS", functions[i], 1);
		check_fails("{gpu}", &no_cache, "NVML fails: Unknown Error",
		            "{env:NAME}");
	}
}

TEST(expand, nvml_does_not_stay_loaded)
{
	set_gpus(H100);
	check_name("{arch}", &no_cache, "sm_90");
	const char *maps =
		run("/bin/cat", text("/proc/%d/maps", (int)getpid()), NULL).out;
	CHECK_CONTAINS(maps, "expand_test");
	CHECK(strstr(maps, "fake_nvml") == NULL);
}

TEST(expand, a_library_that_is_not_nvml_is_told_so)
{
	check_fails("{gpu}", &CHOSEN(tkb_ref_facts, .nvml = "libm.so.6"),
	            "no such function: nvmlInit_v2", "{env:NAME}");
}

TEST(expand, the_kernels_fill_their_words)
{
	make_cache("triton-3.6.0-h100");
	check_name("m/{arch}/{triton}", &no_gpu, "m/sm_90/3.6.0");
}

TEST(expand, kernels_that_do_not_agree_are_ambiguous)
{
	make_cache("triton-3.6.0-h100");
	unpack("triton-3.5.1-cpu", "more");
	CHECK_INT(run("/bin/sh", "-c", "cp -r more/.triton/cache/* root", NULL)
	                  .status,
	          0);
	check_fails("{triton}", &no_gpu, "'root' has kernels of 3.",
	            "write the version, or {env:NAME}");
}

TEST(expand, kernels_of_an_old_triton_do_not_tell_its_version)
{
	make_cache("triton-3.2.0-cpu");
	check_fails("{triton}", &no_gpu, "'root' do not say",
	            "write the version, or {env:NAME}");
}

TEST(expand, a_cache_without_kernels_is_told_so)
{
	check_fails("{triton}", &no_gpu, "there is no cache at 'root' yet",
	            "write the version, or {env:NAME}");
	SYS(mkdir("root", 0777));
	SYS(mkdir("root/KEY", 0777));
	write_text("root/KEY/file", "");
	check_fails("{triton}", &no_gpu, "'root' has no kernels yet",
	            "write the version, or {env:NAME}");
	check_fails("{triton}", NULL, "no cache is named",
	            "write the version, or {env:NAME}");
}

#define TIMINGS_KEY "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

struct follower {
	uint64_t done;
	uint64_t total;
	bool is_out;
};

static void follow(void *self, uint64_t done, uint64_t total)
{
	struct follower *follower = self;

	CHECK(done >= follower->done && done <= total);
	follower->done = done;
	follower->total = total;
}

static bool is_out(void *self)
{
	const struct follower *follower = self;

	return follower->is_out;
}

TEST(expand, ends_where_its_watch_says_so)
{
	struct follower follower = { 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = &follower,
		                         .on_progress = follow,
		                         .is_cancelled = is_out };
	struct tkb_ref_facts facts = no_gpu;
	char name[TKB_REF_SIZE] = "untouched";

	make_cache("triton-3.6.0-h100");
	facts.watch = &watch;
	check_name("{arch}", &facts, "sm_90");
	CHECK_INT(follower.done, 17);
	CHECK_INT(follower.total, 17);

	follower.is_out = true;
	FAILS(tkb_ref_expand("{arch}", &facts, name, ERR), TKB_ERR_CANCELLED,
	      "cancelled");
	FAILS(tkb_ref_expand("{triton}", &facts, name, ERR), TKB_ERR_CANCELLED,
	      "cancelled");
	CHECK_STR(name, "untouched");
}

static void dawdle(void *self, uint64_t done, uint64_t total)
{
	(void)self, (void)done, (void)total;
	CHECK_INT(usleep(3000), 0);
}

TEST(expand, ends_at_its_deadline)
{
	const struct tkb_watch watch = { SIZED(watch), .on_progress = dawdle };
	struct tkb_ref_facts facts = no_gpu;
	char name[TKB_REF_SIZE];

	make_cache("triton-3.6.0-h100");
	facts.watch = &watch;
	facts.deadline_ms = 2;
	FAILS(tkb_ref_expand("{triton}-{triton}", &facts, name, ERR),
	      TKB_ERR_CANCELLED, "the deadline of 2 ms ended it");
}

TEST(expand, timings_are_no_kernels)
{
	const char *folder = "root/" TIMINGS_KEY;

	SYS(mkdir("root", 0777));
	SYS(mkdir(folder, 0777));
	write_text(text("%s/add_kernel.autotune.json", folder), "{}");
	check_fails("{triton}", &no_gpu, "'root' has no kernels yet",
	            "write the version, or {env:NAME}");
}

TEST(expand, the_environment_fills_its_word)
{
	(void)setenv("EXPAND_TEST", "feature/a b:c", 1);
	check_name("m/{env:EXPAND_TEST}", NULL, "m/feature/a-b-c");
}

TEST(expand, a_value_is_not_expanded_again)
{
	(void)setenv("EXPAND_TEST", "{env:HOME}", 1);
	check_name("{env:EXPAND_TEST}", NULL, "-env-HOME-");
}

TEST(expand, a_variable_that_is_not_set_or_empty_is_refused)
{
	(void)unsetenv("EXPAND_TEST");
	check_fails("m{env:EXPAND_TEST}", NULL, "EXPAND_TEST is not set",
	            "set it");
	(void)setenv("EXPAND_TEST", "", 1);
	check_fails("m{env:EXPAND_TEST}", NULL, "EXPAND_TEST is empty",
	            "set it");
	check_fails("m{env:}", NULL, "names no variable", "write {env:NAME}");
}

TEST(expand, a_word_that_is_not_known_is_refused)
{
	static const char *const words[] = { "{}", "{Arch}", "{env}", "{gpu }",
		                             "{{arch}}" };

	for (size_t i = 0; i < TKB_COUNT_OF(words); i++)
		check_fails(words[i], NULL, "a ref cannot have '{",
		            "{arch}, {gpu}, {driver}, {triton} and {env:NAME}");
	check_fails(text("{%0200d}", 0), NULL, "a ref cannot have '{0",
	            "{arch}");
	check_fails("m/{arch", NULL, "has a '{' without its '}'", "{");
}

TEST(expand, what_is_no_name_of_a_ref_is_refused)
{
	static const char *const names[] = { "",   "a b",  "a//b", "/a",
		                             "a/", "a/.b", "a}",   "ä" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++)
		check_fails(names[i], NULL, "cannot be a ref's name",
		            "letters, digits");
	(void)setenv("EXPAND_TEST", "../up", 1);
	check_fails("m/{env:EXPAND_TEST}", NULL, "'m/../up' cannot be",
	            "letters, digits");
}

TEST(expand, a_name_may_have_200_bytes)
{
	const char *longest = text("%0200d", 0);

	check_name(longest, NULL, longest);
	check_fails(text("%s0", longest), NULL, "longer than 200 bytes", "");
	(void)setenv("EXPAND_TEST", "x", 1);
	check_fails(text("%s{env:EXPAND_TEST}", longest), NULL,
	            "longer than 200 bytes", "");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/gpu.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "harness.h"

#define MODEL(name) "Model: \t\t " name "\nIRQ:   \t\t 41\nGPU Excluded:\t No\n"
#define VERSION                                                                \
	"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "            \
	"580.159.04  Release Build  (user@host)\n"                             \
	"GCC version:  gcc version 15.3.0 (GCC) \n"

/* What the driver says of a GPU. */
static void has_gpu(const char *place, const char *words)
{
	(void)mkdir("gpus", 0777);
	CHECK_INT(mkdir(text("gpus/%s", place), 0777), 0);
	write_text(text("gpus/%s/information", place), words);
}

static const char *said(void)
{
	char out[TKB_GPU_PLATFORM_SIZE];

	tkb_gpu_read(".", out);
	return text("%s", out);
}

TEST(gpu, is_named_with_the_major_version_of_the_driver)
{
	has_gpu("0000:00:06.0", MODEL("NVIDIA H100 80GB HBM3"));
	write_text("version", VERSION);
	CHECK_STR(said(), "gpu NVIDIA H100 80GB HBM3, driver 580");
	has_gpu("0000:00:07.0", MODEL("NVIDIA H100 80GB HBM3"));
	CHECK_STR(said(), "gpu NVIDIA H100 80GB HBM3, driver 580");
	write_text("version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  "
	                      "470.82.01  Wed Oct 27 21:21:55 UTC 2021\n");
	CHECK_STR(said(), "gpu NVIDIA H100 80GB HBM3, driver 470");
}

TEST(gpu, is_not_known_where_gpus_differ_or_the_driver_is_silent)
{
	CHECK_STR(said(), "");
	write_text("version", VERSION);
	CHECK_STR(said(), "");
	has_gpu("0000:00:06.0", MODEL("NVIDIA H200"));
	CHECK_STR(said(), "gpu NVIDIA H200, driver 580");
	write_text("version", "NVRM version: none\n");
	CHECK_STR(said(), "");
	write_text("version", VERSION);
	has_gpu("0000:00:07.0", MODEL("NVIDIA H100"));
	CHECK_STR(said(), "");
	write_text("gpus/0000:00:07.0/information", "IRQ:   \t\t 41\n");
	CHECK_STR(said(), "");
	write_text("gpus/0000:00:07.0/information", MODEL("\x1b[31m"));
	CHECK_STR(said(), "");
	write_text("gpus/0000:00:07.0/information", MODEL("NVIDIA H200"));
	CHECK_STR(said(), "gpu NVIDIA H200, driver 580");
}

TEST(gpu, is_the_one_that_the_environment_names)
{
	static const struct {
		const char *value;
		const char *platform;
	} rows[] = {
		{ "NVIDIA H200,580", "gpu NVIDIA H200, driver 580" },
		{ "NVIDIA H200,580.65.06", "gpu NVIDIA H200, driver 580" },
		{ "a, b,7", "gpu a, b, driver 7" },
		{ "NVIDIA H200, 580.65.06", "gpu NVIDIA H200, driver 580" },
		{ "", "" },
	};

	EACH(i, rows) {
		struct tkb_gpu_here here = { 0 };

		CHECK_INT(setenv("TKBUNDLE_GPU", rows[i].value, 1), 0);
		OK(tkb_gpu_ask(&here, ERR));
		CHECK_STR(here.platform, rows[i].platform);
		/* It is asked once. */
		CHECK_INT(setenv("TKBUNDLE_GPU", "other,1", 1), 0);
		OK(tkb_gpu_ask(&here, ERR));
		CHECK_STR(here.platform, rows[i].platform);
	}
}

TEST(gpu, that_the_environment_names_badly_is_refused)
{
	static const char *const bad[] = {
		"NVIDIA H200", "NVIDIA H200,", ",580",    "H200,x580",
		"H200,580x",   "H\n200,580",   "H200, x",
	};

	EACH(i, bad) {
		struct tkb_gpu_here here = { 0 };

		CHECK_INT(setenv("TKBUNDLE_GPU", bad[i], 1), 0);
		FAILS(tkb_gpu_ask(&here, ERR), TKB_ERR_INVALID,
		      "TKBUNDLE_GPU is '");
		CHECK_STR(here.platform, "");
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/deepgemm.h"

#include <stdio.h>
#include <string.h>

enum {
	FLAGS_SIZE = 3 * 4096,
	DIGITS = 32 /* of the hash in hexadecimal */
};

static const char prefix[] = "kernel.";

/*
 * The hash: FNV-1a from two starts, each mixed as SplitMix64 does
 */

struct state {
	uint64_t halves[2];
};

static const struct state start = { { 0xc6a4a7935bd1e995,
	                              0x9e3779b97f4a7c15 } };

static void hash_bytes(struct state *state, struct tkb_bytes bytes)
{
	const unsigned char *data = bytes.data;
	uint64_t first = state->halves[0];
	uint64_t second = state->halves[1];

	for (size_t i = 0; i < bytes.size; i++) {
		first = (first ^ data[i]) * 0x100000001b3;
		second = (second ^ data[i]) * 0x100000001b3;
	}
	*state = (struct state){ { first, second } };
}

static uint64_t mix_half(uint64_t half)
{
	half = (half ^ half >> 30) * 0xbf58476d1ce4e5b9;
	half = (half ^ half >> 27) * 0x94d049bb133111eb;
	return half ^ half >> 31;
}

/*
 * Compilers and flags, as csrc/jit/compiler.hpp of DeepGEMM has them
 */

static const struct {
	unsigned major;
	unsigned minor;
} versions[] = {
	{ 12, 9 }, { 12, 8 }, { 13, 0 }, { 13, 1 }, { 13, 2 },
	{ 13, 3 }, { 13, 4 }, { 13, 5 }, { 12, 6 }, { 12, 4 },
	{ 12, 3 }, { 12, 5 }, { 12, 7 },
};

/*
 * For each GPU: its name before CUDA 12.9, and its name since. DeepGEMM's branch
 * nv_dev, which vLLM has copies of, gives nvcc those of the last two with
 * -gencode.
 */
static const struct {
	const char *names[2];
	bool has_gencode;
} archs[] = {
	{ { "90a", "90a" }, false },   { { "100a", "100f" }, false },
	{ { "110a", "110a" }, false }, { { "120a", "120a" }, false },
	{ { "121a", "121a" }, false }, { { "120a", "120f" }, true },
	{ { "121a", "121a" }, true },
};

static const char *const extras[] = {
	"",
	" --ptxas-options=--verbose,--warn-on-local-memory-usage",
	" -Xcompiler -rdynamic -lineinfo",
	(" --ptxas-options=--verbose,--warn-on-local-memory-usage"
	 " -Xcompiler -rdynamic -lineinfo"),
};

enum compiler {
	COMPILER_NVCC,
	COMPILER_NVRTC,
	COMPILER_NVRTC_DEBUG, /* if DG_JIT_DEBUG is set */
	COMPILER_COUNT
};

enum {
	WAY_COUNT = TKB_COUNT_OF(versions) * TKB_COUNT_OF(archs) *
	            TKB_COUNT_OF(extras) * COMPILER_COUNT
};

/* One combination of compiler, version, GPU and flags. */
struct way {
	enum compiler compiler;
	const char *extra;
	const char *arch;
	bool has_gencode;
	unsigned major;
	unsigned minor;
};

/* The combination with this number. Likely ones have low numbers. */
static struct way way_of(size_t number)
{
	const size_t version = number % TKB_COUNT_OF(versions);
	const size_t arch =
		number / TKB_COUNT_OF(versions) % TKB_COUNT_OF(archs);
	const size_t rest =
		number / TKB_COUNT_OF(versions) / TKB_COUNT_OF(archs);
	struct way way = {
		.compiler = (enum compiler)(rest / TKB_COUNT_OF(extras)),
		.extra = extras[rest % TKB_COUNT_OF(extras)],
		.has_gencode = archs[arch].has_gencode,
		.major = versions[version].major,
		.minor = versions[version].minor,
	};

	way.arch = archs[arch].names[way.major > 12 || way.minor >= 9];
	return way;
}

/*
 * Format "<compiler>$$<flags>$$". If the result is too long, no folder was
 * named after it.
 */
static int format_flags(const struct way *way,
                        const struct tkb_deepgemm_place *place,
                        char out[FLAGS_SIZE])
{
	const bool has_pch = way->major > 12 || way->minor >= 8;

	if (way->compiler == COMPILER_NVCC)
		return snprintf(
			out, FLAGS_SIZE,
			"NVCC%u.%u$$-std=c++20 "
			"--diag-suppress=39,161,174,177,186,940 "
			"--ptxas-options=--register-usage-level=10%s "
			"-I%s/include %s%s%ssm_%s "
			"--compiler-options=-fPIC,-O3,-fconcepts,"
			"-Wno-deprecated-declarations,-Wno-abi -O3 "
			"--expt-relaxed-constexpr --expt-extended-lambda$$",
			way->major, way->minor, way->extra, place->package,
			way->has_gencode ? "-gencode=arch=compute_" : "",
			way->has_gencode ? way->arch : "",
			way->has_gencode ? ",code=" : "--gpu-architecture=",
			way->arch);
	return snprintf(out, FLAGS_SIZE,
	                "NVRTC%u.%u$$-std=c++20 "
	                "--diag-suppress=39,161,174,177,186,940 "
	                "--ptxas-options=--register-usage-level=10%s "
	                "-I%s/include -I%s/include --gpu-architecture=sm_%s "
	                "-default-device %s%s --device-int128$$",
	                way->major, way->minor, way->extra, place->package,
	                place->cuda, way->arch, has_pch ? "--pch " : "",
	                has_pch && way->compiler == COMPILER_NVRTC_DEBUG
	                        ? "--pch-verbose=true "
	                        : "");
}

/*
 * Names
 */

/* The kernel's name: the part between "kernel." and the last dot. */
static struct tkb_bytes kernel_of_folder(const char *folder)
{
	const char *first = folder + strlen(prefix);

	return (struct tkb_bytes){ first,
		                   (size_t)(strrchr(folder, '.') - first) };
}

bool tkb_deepgemm_is_name(const char *folder)
{
	const char *dot = strrchr(folder, '.');

	return tkb_begins_with(folder, prefix) &&
	       strlen(folder) < TKB_DEEPGEMM_NAME_SIZE &&
	       dot >= folder + strlen(prefix) && strlen(dot + 1) == DIGITS &&
	       strspn(dot + 1, "0123456789abcdef") == DIGITS;
}

bool tkb_deepgemm_rename(const char *folder, struct tkb_bytes code,
                         const struct tkb_deepgemm_place *place, size_t way,
                         char out[TKB_DEEPGEMM_NAME_SIZE])
{
	const struct way chosen = way_of(way);
	const int length = (int)(strrchr(folder, '.') - folder);
	struct state state = start;
	char flags[FLAGS_SIZE];

	if ((chosen.compiler != COMPILER_NVCC && place->cuda == NULL) ||
	    format_flags(&chosen, place, flags) >= FLAGS_SIZE)
		return false;
	hash_bytes(&state, kernel_of_folder(folder));
	hash_bytes(&state, tkb_text("$$"));
	hash_bytes(&state, tkb_text(flags));
	hash_bytes(&state, code);
	(void)snprintf(out, TKB_DEEPGEMM_NAME_SIZE, "%.*s.%016llx%016llx",
	               length, folder,
	               (unsigned long long)mix_half(state.halves[0]),
	               (unsigned long long)mix_half(state.halves[1]));
	return true;
}

static bool is_way(const char *folder, struct tkb_bytes code,
                   const struct tkb_deepgemm_place *place, size_t way)
{
	char name[TKB_DEEPGEMM_NAME_SIZE];

	return tkb_deepgemm_rename(folder, code, place, way, name) &&
	       strcmp(name, folder) == 0;
}

bool tkb_deepgemm_reproduce(const char *folder, struct tkb_bytes code,
                            const struct tkb_deepgemm_place *place,
                            bool is_quick, size_t *way)
{
	if (*way < WAY_COUNT && is_way(folder, code, place, *way))
		return true;
	for (size_t i = 0; i < WAY_COUNT && !is_quick; i++) {
		if (is_way(folder, code, place, i)) {
			*way = i;
			return true;
		}
	}
	return false;
}

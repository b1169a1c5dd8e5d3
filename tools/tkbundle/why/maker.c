/* SPDX-License-Identifier: Apache-2.0 */
#include "why/maker.h"

#include <stdio.h>
#include <string.h>

#define BETWEEN "; "

/* Sorted by name, as in a maker. */
static const struct {
	const char *name;
	const char *shown; /* the name of the part */
	enum reason reason;
	bool is_of_kernels;
} members[] = {
	{ "engine", "engine", REASON_ENGINE, false },
	{ "gpu", "GPU", REASON_GPU, false },
	{ "headers", "headers (a hash)", REASON_SOURCE, true },
	{ "input", PARTS_INPUT, REASON_SOURCE, true },
	{ "libdevice", "libdevice (a hash)", REASON_COMPILER, true },
	{ "libtriton", "libtriton", REASON_LIBTRITON, true },
	{ "llvm", "LLVM", REASON_COMPILER, true },
	{ "nvjitlink", "nvJitLink", REASON_COMPILER, true },
	{ "nvrtc", "NVRTC", REASON_COMPILER, true },
	{ "options", PARTS_OPTIONS, REASON_OPTIONS, true },
	{ "places", PARTS_PLACES, REASON_PATH, true },
	{ "ptxas", "ptxas", REASON_PTXAS, true },
	{ "torch", "PyTorch", REASON_TORCH, false },
	{ "triton", "Triton", REASON_TRITON, false },
	{ "worker", "tkbundle-compile (a hash)", REASON_COMPILER, true },
};

enum {
	MEMBER_COUNT = TKB_COUNT_OF(members)
};

bool maker_write(const struct facts *facts, char out[TKB_MAKER_SIZE])
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		const char *const value = facts_find(facts, members[i].name);

		/*
		 * Leave out a value that contains the separator, such as an odd
		 * GPU name.
		 */
		if (value == NULL || strstr(value, BETWEEN) != NULL)
			continue;
		length += (size_t)snprintf(
			out + length, TKB_MAKER_SIZE - length, "%s%s=%.160s",
			length != 0 ? BETWEEN : "", members[i].name, value);
	}
	return length != 0;
}

bool maker_find(const char *maker, const char *member, char *out, size_t size)
{
	const size_t length = strlen(member);
	const char *at = maker;

	while (at != NULL &&
	       (strncmp(at, member, length) != 0 || at[length] != '=')) {
		at = strstr(at, BETWEEN);
		if (at != NULL)
			at += strlen(BETWEEN);
	}
	if (at == NULL)
		return false;
	at += length + 1;
	(void)snprintf(out, size, "%.*s",
	               strstr(at, BETWEEN) != NULL
	                       ? (int)(strstr(at, BETWEEN) - at)
	                       : (int)strlen(at),
	               at);
	return true;
}

/* "name=value" */
static int add_maker_part(const char *pair, size_t size, enum tkb_kind kind,
                          struct parts *parts, struct tkb_error *err)
{
	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		const size_t length = strlen(members[i].name);

		if (size <= length + 1 ||
		    strncmp(pair, members[i].name, length) != 0 ||
		    pair[length] != '=')
			continue;
		if ((kind == TKB_KIND_KERNEL && !members[i].is_of_kernels) ||
		    parts_find(parts, members[i].shown) != NULL)
			return 0;
		return parts_add(parts, members[i].reason, members[i].shown,
		                 pair + length + 1, size - length - 1, err);
	}
	return 0;
}

int maker_add(const char *maker, enum tkb_kind kind, struct parts *parts,
              struct tkb_error *err)
{
	int rc = 0;

	while (maker != NULL && *maker != '\0' && rc == 0) {
		const char *const end = strstr(maker, BETWEEN);
		const size_t size =
			end != NULL ? (size_t)(end - maker) : strlen(maker);

		rc = add_maker_part(maker, size, kind, parts, err);
		parts_sort(parts);
		maker += size + (end != NULL ? strlen(BETWEEN) : 0);
	}
	return rc;
}

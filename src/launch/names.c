/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/names.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/path.h"
#include "text/ascii.h"

enum {
	NAME_LIMIT = 512,
	FILE_NAME_LIMIT = 255
};

/*
 * Keywords of C11 and C++20, macros of GNU C, our own parameters, and the
 * functions that we call.
 */
static const char taken[] =
	"EOF NULL alignas alignof and and_eq asm auto bitand bitor bool "
	"break case catch char char16_t char32_t char8_t class co_await "
	"co_return co_yield compl concept const const_cast consteval "
	"constexpr constinit continue decltype default delete do double "
	"dynamic_cast else enum errno explicit export extern false float "
	"for friend gX gY gZ global_scratch goto i386 if inline int linux "
	"long main memcpy memset mutable namespace new noexcept not not_eq "
	"nullptr operator or or_eq private profile_scratch protected public "
	"register reinterpret_cast requires restrict return short signed "
	"sizeof static static_assert static_cast stream struct switch "
	"template this thread_local throw true try typedef typeid typename "
	"typeof union unix unsigned using virtual void volatile wchar_t "
	"while xor xor_eq";

/* Prefixes of names in <stdint.h>, <cuda.h> and our own code. */
static const char *const prefixes[] = { "CU",     "INT",   "PTRDIFF_",
	                                "SIG_",   "SIZE_", "UINT",
	                                "WCHAR_", "WINT_", "algo_id",
	                                "__cuda", "cu",    "tkb_" };

bool tkb_name_may_begin_with(char byte)
{
	return tkb_is_letter(byte) || byte == '_';
}

bool tkb_name_is_identifier(const char *name)
{
	if (!tkb_name_may_begin_with(name[0]))
		return false;
	for (; *name != '\0'; name++) {
		if (!tkb_name_may_begin_with(*name) && !tkb_is_digit(*name))
			return false;
	}
	return true;
}

bool tkb_name_is_taken(const char *name)
{
	if (tkb_name_is_in(taken, name) ||
	    tkb_begins_with_any(name, prefixes, TKB_COUNT_OF(prefixes)))
		return true;
	/* Names that are reserved for compilers, and names of types. */
	return (name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z') ||
	       strstr(name, "__") != NULL || tkb_name_ends_with(name, "_t");
}

bool tkb_name_is_made_up(const char *name)
{
	return tkb_begins_with(name, "arg") &&
	       strspn(name + 3, "0123456789") == strlen(name + 3);
}

const char *tkb_name_argument(const char *name, struct tkb_arena *arena)
{
	const size_t length = strlen(name);
	const bool is_taken = tkb_name_is_taken(name);
	char *const copy = tkb_arena_alloc(arena, length + 2, 1);

	if (copy == NULL)
		return NULL;
	(void)snprintf(copy, length + 2, "%s%s", name, is_taken ? "_" : "");
	return copy;
}

bool tkb_name_is_of_argument(const char *name)
{
	const size_t length = strlen(name);
	char stem[NAME_LIMIT];

	if (!tkb_name_is_identifier(name))
		return false;
	if (!tkb_name_is_taken(name))
		return true;
	/*
	 * A name that is reserved by its prefix, such as "cu_seqlens", is still
	 * reserved with "_" at its end.
	 */
	if (length > sizeof(stem) || name[length - 1] != '_')
		return false;
	memcpy(stem, name, length - 1);
	stem[length - 1] = '\0';
	return tkb_name_is_taken(stem);
}

int tkb_name_check_function(const char *name, struct tkb_error *err)
{
	if (!tkb_name_is_identifier(name))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' cannot be the name of a function in C: "
		                "give another one",
		                name);
	if (strlen(name) > NAME_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.64s...' is longer than the limit of %d "
		                "bytes: give another name",
		                name, NAME_LIMIT);
	return 0;
}

int tkb_name_check_file(const char *name, struct tkb_error *err)
{
	bool is_good = name[0] != '\0' && strlen(name) <= FILE_NAME_LIMIT;

	for (const char *at = name; *at != '\0'; at++)
		is_good = is_good && *at >= ' ' && *at <= '~' &&
		          strchr("\"\\/?*", *at) == NULL;
	if (!is_good)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.255s' cannot be included in C: the name "
		                "of a file may not have a slash, quote, "
		                "backslash, '?', '*' or non-ASCII character",
		                name);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "why/differences.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"

void differences_release(struct differences *differences)
{
	free(differences->items);
	*differences = (struct differences){ .count = 0 };
}

/*
 * Is it an option that a program chooses? All others depend on the version of
 * Triton.
 */
static bool is_chosen(const char *name)
{
	static const char *const names[] = {
		"enable_fp_fusion", "maxnreg",   "num_ctas",
		"num_stages",       "num_warps",
	};

	return text_is_among(name, names, TKB_COUNT_OF(names));
}

/* Does the target alone decide this part? */
static bool follows_target(const char *name)
{
	static const char *const names[] = {
		"allow_fp8e4b15",
		"allow_fp8e4nv",
		"allowed_dot_input_precisions",
		"arch",
		"backend_name",
		"default_dot_input_precision",
		"deprecated_fp8_dot_operand_dtypes",
		"deprecated_fp8_dtypes",
		"max_num_imprecise_acc_default",
		"supported_fp8_dtypes",
		"warp_size",
	};

	return text_is_among(name, names, TKB_COUNT_OF(names));
}

static uint64_t cost_of(const struct difference *difference)
{
	if (strcmp(difference->name, PARTS_GRAPH) == 0)
		return DIFFERENCES_OTHER_GRAPH;
	switch (difference->reason) {
	case REASON_SOURCE:
		return 10000;
	case REASON_SIGNATURE:
		return 3000;
	case REASON_CONSTANTS:
		return 2000;
	case REASON_OPTIONS:
		return DIFFERENCES_OTHER_KERNEL;
	default:
		return 1;
	}
}

/* The rank of a reason; the most important one has rank 0. */
static size_t rank_of(enum reason reason)
{
	static const enum reason order[] = {
		REASON_TARGET,      REASON_TRITON,    REASON_ENGINE,
		REASON_COMPILER,    REASON_SIGNATURE, REASON_CONSTANTS,
		REASON_SOURCE,      REASON_OPTIONS,   REASON_GPU,
		REASON_HOME,        REASON_PTXAS,     REASON_LIBTRITON,
		REASON_ENVIRONMENT, REASON_PATH,      REASON_TORCH,
		REASON_DRIVER,
	};
	const size_t count = TKB_COUNT_OF(order);
	size_t rank = 0;

	while (rank < count && order[rank] != reason)
		rank++;
	return rank;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct difference *const left = a;
	const struct difference *const right = b;
	const size_t one = rank_of(left->reason);
	const size_t other = rank_of(right->reason);

	if (one != other)
		return one < other ? -1 : 1;
	return strcmp(left->name, right->name);
}

static bool same_ptxas(const char *a, const char *b)
{
	const size_t a_size = strlen(a);
	const size_t b_size = strlen(b);
	const size_t size = a_size < b_size ? a_size : b_size;

	/* A less exact value counts as equal: "12.8" and "12.8.93". */
	return strncmp(a, b, size) == 0 &&
	       (a_size == b_size || a[size] == '.' || b[size] == '.');
}

/* A hidden value counts as equal. */
static bool same_value(const struct part *a, const struct part *b)
{
	if (strcmp(a->value, b->value) == 0 ||
	    (a->reason == REASON_PTXAS && same_ptxas(a->value, b->value)))
		return true;
	return (strcmp(a->value, FACTS_SECRET) == 0 ||
	        strcmp(b->value, FACTS_SECRET) == 0) &&
	       tkb_name_is_secret(a->name);
}

/* Do both have the part, with the same value? If not, `out` is filled in. */
static bool is_equal(const struct part *a, const struct part *b,
                     struct difference *out)
{
	if (same_value(a, b))
		return true;
	*out = (struct difference){ .reason = a->reason, .name = a->name };
	if (strcmp(a->name, PARTS_CODE) == 0) {
		if (difference_find_number(a->value, b->value, out))
			out->reason = REASON_CONSTANTS;
		else
			difference_copy_lines(a->value, b->value, out);
		return false;
	}
	difference_copy_value(a, out->a);
	difference_copy_value(b, out->b);
	if (a->reason == REASON_ENVIRONMENT)
		out->reason = difference_reason_of_variable(out->a, out->b);
	return false;
}

/* Parts that only come from a maker: many entries lack them. */
static bool is_of_maker(const struct part *part)
{
	return part->reason == REASON_LIBTRITON ||
	       part->reason == REASON_ENGINE || part->reason == REASON_TORCH ||
	       part->reason == REASON_GPU || part->reason == REASON_COMPILER ||
	       strcmp(part->name, PARTS_OPTIONS) == 0;
}

/* If only one entry has this part, is that a difference? */
static bool is_telling(const struct part *part)
{
	return part->reason == REASON_ENVIRONMENT ||
	       (part->reason == REASON_OPTIONS && !is_of_maker(part));
}

static void add_difference(struct differences *out,
                           const struct difference *difference)
{
	out->items[out->count++] = *difference;
}

/*
 * Add the name of a part that both have to the list, if people know that name.
 */
static void name_equal(const char *name, struct differences *out)
{
	static const char *const names[] = {
		PARTS_CODE,  "arch",  PARTS_LINES, "libtriton", "num_stages",
		"num_warps", "ptxas", "signature", "target",    "Triton",
	};
	const size_t length = strlen(out->equal);

	if (text_is_among(name, names, TKB_COUNT_OF(names)))
		(void)snprintf(out->equal + length, sizeof(out->equal) - length,
		               "%s%s", length != 0 ? ", " : "", name);
}

static void merge_parts(const struct parts *a, const struct parts *b,
                        struct differences *out)
{
	size_t i = 0;
	size_t j = 0;

	while (i < a->count || j < b->count) {
		const bool has_left = i < a->count;
		const bool has_right = j < b->count;
		const struct part *const left = has_left ? &a->items[i] : NULL;
		const struct part *const right =
			has_right ? &b->items[j] : NULL;
		const int order = !has_left ? 1
		                  : !has_right
		                          ? -1
		                          : strcmp(left->name, right->name);
		const struct part *const one = order <= 0 ? left : right;
		struct difference found = { .reason = one->reason,
			                    .name = one->name };

		if (order == 0 && strcmp(one->name, PARTS_MODULE) == 0)
			out->is_one_module =
				strcmp(left->value, right->value) == 0;
		else if (order == 0 && !is_equal(left, right, &found))
			add_difference(out, &found);
		else if (order == 0)
			name_equal(one->name, out);
		/*
		 * Prefer an entry that is known to differ to an entry about
		 * which nothing is known.
		 */
		if (order != 0 && is_of_maker(one))
			out->cost += 2;
		if (order != 0 && is_telling(one)) {
			difference_copy_value(one,
			                      order < 0 ? found.a : found.b);
			add_difference(out, &found);
		}
		i += order <= 0;
		j += order >= 0;
	}
}

static bool has_reason(const struct differences *differences,
                       enum reason reason)
{
	for (size_t i = 0; i < differences->count; i++) {
		if (differences->items[i].reason == reason)
			return true;
	}
	return false;
}

static bool has_part(const struct differences *differences, const char *name)
{
	for (size_t i = 0; i < differences->count; i++) {
		if (strcmp(differences->items[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Does a listed difference explain that the code is on other lines? */
static bool is_moved(const struct differences *all)
{
	return has_part(all, PARTS_CODE) || has_part(all, PARTS_FIRST_LINE) ||
	       has_reason(all, REASON_TRITON) ||
	       has_reason(all, REASON_SIGNATURE);
}

/*
 * Was only one entry finalized, or both by other steps? Then this explains the
 * difference of the IR.
 */
static bool is_finalized(const struct differences *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct difference *const at = &all->items[i];

		if (strcmp(at->name, PARTS_OPTIONS) == 0)
			return strstr(at->a, "--finalize") != NULL ||
			       strstr(at->b, "--finalize") != NULL;
	}
	return false;
}

/* Does a listed setting of Triton's decide this part? */
static bool follows_setting(const struct differences *all, const char *name)
{
	static const struct {
		const char *setting;
		const char *part;
	} decided[] = {
		{ "TRITON_DEFAULT_FP_FUSION", "enable_fp_fusion" },
		{ "TRITON_DISABLE_LINE_INFO", PARTS_CODE },
		{ "TRITON_DISABLE_LINE_INFO", PARTS_LINES },
		{ "TRITON_F32_DEFAULT", PARTS_CODE },
		{ "TRITON_F32_DEFAULT", "default_dot_input_precision" },
		/* Assertions are in the code. */
		{ "debug", PARTS_CODE },
		{ "sanitize_overflow", PARTS_CODE },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(decided); i++) {
		if (strcmp(decided[i].part, name) == 0 &&
		    has_part(all, decided[i].setting))
			return true;
	}
	return false;
}

/* Drop differences that follow from another one. */
static void drop_consequences(struct differences *all, bool is_kernel)
{
	const bool is_other_target = has_reason(all, REASON_TARGET) ||
	                             has_part(all, "TRITON_OVERRIDE_ARCH");
	const bool is_other_triton = has_reason(all, REASON_TRITON);
	/* A graph's options are the engine's own. */
	const bool brings_options = is_other_triton && is_kernel;
	const bool has_moved = is_moved(all);
	const bool is_other_ir = is_finalized(all);
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct difference *const at = &all->items[i];
		const bool is_option = at->reason == REASON_OPTIONS;
		const bool is_code = strcmp(at->name, PARTS_CODE) == 0;
		const bool is_lines = strcmp(at->name, PARTS_LINES) == 0;

		if ((is_other_target && follows_target(at->name)) ||
		    (is_other_triton && is_code) ||
		    (brings_options && is_option && !is_chosen(at->name)) ||
		    (is_lines && has_moved) || follows_setting(all, at->name))
			continue;
		/* An engine's hashes cover its version. */
		if (strstr(at->name, " (a hash)") != NULL &&
		    has_reason(all, REASON_ENGINE))
			continue;
		/* The code contains the types of arguments, too. */
		if (is_code &&
		    (has_reason(all, REASON_SIGNATURE) || is_other_ir))
			continue;
		/* The hash covers these. */
		if (strcmp(at->name, PARTS_COMPILER) == 0 &&
		    (has_reason(all, REASON_TORCH) || is_other_triton ||
		     has_reason(all, REASON_LIBTRITON) ||
		     has_reason(all, REASON_GPU)))
			continue;
		/* The hash covers all of system_info. */
		if (strcmp(at->name, "system_info[hash]") == 0 &&
		    (has_reason(all, REASON_GPU) ||
		     has_reason(all, REASON_LIBTRITON)))
			continue;
		all->items[kept++] = *at;
	}
	all->count = kept;
}

/*
 * Is it known which build of Triton made the entry, or that another tool made
 * it?
 */
static bool knows_build(const struct parts *parts)
{
	return parts_find(parts, "libtriton") != NULL ||
	       parts_find(parts, PARTS_INPUT) != NULL;
}

int differences_find(const struct parts *a, const struct parts *b,
                     struct differences *out, struct tkb_error *err)
{
	struct differences all = {
		.knows_builds = knows_build(a) && knows_build(b),
	};

	all.items = calloc(a->count + b->count + 1, sizeof(*all.items));
	if (all.items == NULL)
		return cli_error_nomem(err);
	merge_parts(a, b, &all);
	drop_consequences(&all, parts_find(a, "num_warps") != NULL);
	/* Its text is one, and that names the build of Triton. */
	if (all.count == 0 && all.is_one_module)
		add_difference(&all,
		               &(struct difference){ .reason = REASON_PTXAS,
		                                     .name = PARTS_KEY_PTXAS });
	for (size_t i = 0; i < all.count; i++)
		all.cost += cost_of(&all.items[i]);
	if (all.count > 1)
		qsort(all.items, all.count, sizeof(*all.items), compare_ranks);
	*out = all;
	return 0;
}

void differences_left(const struct differences *differences, char *out,
                      size_t size)
{
	(void)snprintf(out, size,
	               "what is recorded is equal%s%s%s; what is left is the "
	               "text of its source, where names and comments count, "
	               "constants that its code does not show, libdevice, the "
	               "ptxas whose version is in its key%s",
	               differences->equal[0] != '\0' ? " (" : "",
	               differences->equal,
	               differences->equal[0] != '\0' ? ")" : "",
	               differences->knows_builds
	                       ? ""
	                       : ", or another build of Triton, as that for "
	                         "another Python");
}

enum reason differences_reason(const struct differences *differences)
{
	return differences->count != 0 ? differences->items[0].reason
	                               : REASON_UNKNOWN;
}

void differences_show(const struct difference *difference,
                      const char *const where[2], char *out, size_t size)
{
	const char *const a = difference->a;
	const char *const b = difference->b;

	if (strcmp(difference->name, PARTS_KEY_PTXAS) == 0)
		(void)snprintf(out, size,
		               "%s, all else is equal: Inductor's workers have "
		               "the version of PyTorch's in their keys, the "
		               "process that starts them that of Triton's own",
		               difference->name);
	else if (strcmp(difference->name, PARTS_CODE) == 0 &&
	         difference->reason == REASON_CONSTANTS)
		(void)snprintf(out, size,
		               "the code differs only in numbers: %s %s, %s %s",
		               a, where[0], b, where[1]);
	else if (strcmp(difference->name, PARTS_LINES) == 0)
		(void)snprintf(out, size,
		               "the same code is at other places of its "
		               "source: a comment or white space changed");
	else if (difference->reason == REASON_ENVIRONMENT &&
	         strcmp(a, FACTS_SECRET) == 0 && strcmp(a, b) == 0)
		(void)snprintf(out, size, "%s: other values, not shown",
		               difference->name);
	else
		(void)snprintf(out, size, "%s: %s %s, %s %s", difference->name,
		               a[0] != '\0' ? a : "not set", where[0],
		               b[0] != '\0' ? b : "not set", where[1]);
}

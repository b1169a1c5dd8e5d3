/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/link.h"

#include <stdlib.h>

#include "launch/names.h"

enum {
	HEADER_LIMIT = 4096
};

/* Order kernels and their algos like the headers. */
static int compare_variants(const void *a, const void *b)
{
	const struct tkb_c_variant *const one = a;
	const struct tkb_c_variant *const other = b;
	int order = strcmp(one->name, other->name);

	if (order == 0)
		order = strcmp(one->algo, other->algo);
	if (order == 0 && one->hint_count != other->hint_count)
		order = one->hint_count > other->hint_count ? -1 : 1;
	if (order == 0)
		order = one->number < other->number ? -1 : 1;
	return order;
}

static int compare_algos(const void *a, const void *b)
{
	const struct tkb_c_algo *const one = a;
	const struct tkb_c_algo *const other = b;

	return one->number < other->number ? -1 : 1;
}

static int fail_pair(const struct tkb_c_variant *one,
                     const struct tkb_c_variant *other, const char *why,
                     struct tkb_error *err)
{
	return tkb_fail(
		err, TKB_ERR_INVALID,
		"'%s' and '%s' are both '%s', but %s; '--out-name' gives "
		"a kernel another name",
		one->header, other->header, one->name, why);
}

/* Launchers of a kernel must take the same arguments, apart from hints. */
static int check_pair(const struct tkb_c_variant *one,
                      const struct tkb_c_variant *other, struct tkb_error *err)
{
	static const char types[] = "take different arguments";

	if (one->argument_count != other->argument_count)
		return fail_pair(one, other, types, err);
	for (size_t i = 0; i < one->argument_count; i++) {
		const struct tkb_argument *const a = one->arguments[i].item;
		const struct tkb_argument *const b = other->arguments[i].item;

		if (a->what != b->what || a->type != b->type ||
		    a->is_pointer_to_pointer != b->is_pointer_to_pointer)
			return fail_pair(one, other, types, err);
	}
	if (one->has_grid != other->has_grid)
		return fail_pair(one, other, "only one has a grid", err);
	if (one->scratch != other->scratch)
		return fail_pair(one, other, "only one needs scratch memory",
		                 err);
	return 0;
}

/* Compare the constants of two launchers of one algo. */
static bool constants_equal(const struct tkb_signature *one,
                            const struct tkb_signature *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		const struct tkb_argument *const a = &one->items[i];
		const struct tkb_argument *const b = &other->items[i];

		if (a->what != b->what || (a->what == TKB_CLASS_CONSTANT &&
		                           strcmp(a->text, b->text) != 0))
			return false;
	}
	return true;
}

static bool hints_equal(const struct tkb_c_variant *one,
                        const struct tkb_c_variant *other)
{
	for (size_t i = 0; i < one->argument_count; i++) {
		if (one->arguments[i].item->hint !=
		    other->arguments[i].item->hint)
			return false;
	}
	return true;
}

static int check_algo(const struct tkb_c_link *link,
                      const struct tkb_c_algo *algo, struct tkb_error *err)
{
	const struct tkb_c_variant *const first = &link->variants[algo->first];

	for (size_t i = 1; i < algo->count; i++) {
		if (!constants_equal(&first->signature, &first[i].signature))
			return fail_pair(first, &first[i],
			                 "have different constants that one "
			                 "name stands for",
			                 err);
		for (size_t j = 0; j < i; j++) {
			if (hints_equal(&first[j], &first[i]))
				return fail_pair(&first[j], &first[i],
				                 "for the same arguments", err);
		}
	}
	return 0;
}

/* The number of arguments with made-up names. */
static size_t count_made_up(const struct tkb_c_variant *variant)
{
	size_t count = 0;

	for (size_t i = 0; i < variant->argument_count; i++) {
		if (tkb_name_is_made_up(variant->arguments[i].c))
			count++;
	}
	return count;
}

/*
 * Sort the algos in the order of their headers, check them, and pick the
 * variant with the best argument names.
 */
static int check_kernel(struct tkb_c_link *link, struct tkb_c_linked *kernel,
                        struct tkb_error *err)
{
	struct tkb_c_algo *const algos = &link->algos[kernel->first];
	int rc;

	qsort(algos, kernel->count, sizeof(*algos), compare_algos);
	kernel->best = &link->variants[algos[0].first];
	for (size_t i = 0; i < kernel->count; i++) {
		for (size_t j = 0; j < algos[i].count; j++) {
			const struct tkb_c_variant *const variant =
				&link->variants[algos[i].first + j];

			rc = check_pair(&link->variants[algos[0].first],
			                variant, err);
			if (rc < 0)
				return rc;
			if (count_made_up(variant) <
			    count_made_up(kernel->best))
				kernel->best = variant;
		}
		rc = check_algo(link, &algos[i], err);
		if (rc < 0)
			return rc;
	}
	rc = tkb_name_check_function(kernel->name, err);
	if (rc == 0 && (tkb_name_is_taken(kernel->name) ||
	                tkb_name_is_of_library(kernel->name)))
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              "'%s' already has a meaning in C: '--out-name' "
		              "gives a kernel another name",
		              kernel->name);
	return rc;
}

/* Find where algos and kernels begin among the sorted variants. */
static void group_variants(struct tkb_c_link *link)
{
	for (size_t i = 0; i < link->variant_count; i++) {
		const struct tkb_c_variant *const now = &link->variants[i];
		const bool is_kernel =
			i == 0 || strcmp(now->name, now[-1].name) != 0;
		struct tkb_c_algo *algo;

		if (is_kernel) {
			link->kernels[link->kernel_count] =
				(struct tkb_c_linked){
					.name = now->name,
					.first = link->algo_count,
				};
			link->kernel_count++;
		}
		if (is_kernel || strcmp(now->algo, now[-1].algo) != 0) {
			link->algos[link->algo_count] =
				(struct tkb_c_algo){ .first = i,
				                     .number = now->number };
			link->algo_count++;
			link->kernels[link->kernel_count - 1].count++;
		}
		algo = &link->algos[link->algo_count - 1];
		algo->count++;
		if (now->number < algo->number)
			algo->number = now->number;
	}
}

static int init_link(struct tkb_c_link *link,
                     const struct tkb_c_header *headers, size_t count,
                     struct tkb_error *err)
{
	int rc = 0;

	link->variants =
		tkb_arena_alloc(&link->arena, count, sizeof(*link->variants));
	link->algos =
		tkb_arena_alloc(&link->arena, count, sizeof(*link->algos));
	link->kernels =
		tkb_arena_alloc(&link->arena, count, sizeof(*link->kernels));
	if (link->variants == NULL || link->algos == NULL ||
	    link->kernels == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		link->variants[i].number = i;
		rc = tkb_c_variant_read(&headers[i], &link->arena,
		                        &link->variants[i], err);
	}
	if (rc < 0)
		return rc;
	link->variant_count = count;
	qsort(link->variants, count, sizeof(*link->variants), compare_variants);
	group_variants(link);
	for (size_t i = 0; i < link->kernel_count && rc == 0; i++)
		rc = check_kernel(link, &link->kernels[i], err);
	return rc;
}

TKB_AUTO_POINTER(free_at, struct tkb_c_link, tkb_c_link_free)

int tkb_c_link_new(const struct tkb_c_header *headers, size_t count,
                   const char *file_name, struct tkb_c_link **out,
                   struct tkb_error *err)
{
	TKB_AUTO(free_at)
	struct tkb_c_link *link = tkb_alloc_array(1, sizeof(*link));
	int rc;

	if (link == NULL)
		return tkb_fail_nomem(err);
	if (count == 0)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no header");
	if (count > HEADER_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "there are %zu headers; the limit is %d", count,
		                HEADER_LIMIT);
	rc = tkb_name_check_file(file_name, err);
	if (rc < 0)
		return rc;
	rc = tkb_arena_copy(&link->arena, tkb_text(file_name), &link->file_name,
	                    err);
	if (rc == 0)
		rc = init_link(link, headers, count, err);
	if (rc == 0)
		*out = tkb_take(link);
	return rc;
}

void tkb_c_link_free(struct tkb_c_link *link)
{
	if (link == NULL)
		return;
	tkb_arena_release(&link->arena);
	free(link);
}

size_t tkb_c_link_kernel_count(const struct tkb_c_link *link)
{
	return link->kernel_count;
}

const char *tkb_c_link_kernel(const struct tkb_c_link *link, size_t index)
{
	return link->kernels[index].name;
}

size_t tkb_c_link_algo_count(const struct tkb_c_link *link, size_t index)
{
	return link->kernels[index].count;
}

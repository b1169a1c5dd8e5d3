/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cache/scanned_entry.h"
#include "loop.h"
#include "world.h"

/* A look into a cache, and the results that somebody keeps. */
struct looked {
	struct tkb_cache_options options;
	struct tkb_cache *opened;
	size_t wanted_count;
	size_t wanted_left_out;
	struct tkb_bundle *bundle;
	struct tkb_results *results;
};

static struct looked looked;

static int call_open(struct tkb_error *err)
{
	return tkb_cache_open("cache", &looked.options, &looked.opened, err);
}

static const char *check_open(void)
{
	return tkb_cache_entry_count(looked.opened) == looked.wanted_count &&
	                       tkb_cache_left_out_count(looked.opened) ==
	                               looked.wanted_left_out
	               ? NULL
	               : "it has other entries";
}

static void close_opened(void)
{
	tkb_cache_close(looked.opened);
}

static void try_open(struct tkb_cache_options options)
{
	const struct fault_call call = { .call = call_open,
		                         .out = &looked.opened,
		                         .check = check_open,
		                         .release = close_opened };

	looked.options = options;
	OK(call_open(ERR));
	looked.wanted_count = tkb_cache_entry_count(looked.opened);
	looked.wanted_left_out = tkb_cache_left_out_count(looked.opened);
	tkb_cache_close(looked.opened);
	fault_each_allocation(&call);
}

TEST(cache, opens_or_says_that_an_allocation_failed)
{
	need_faults();
	world_cache();
	world_add(WORLD_OTHER);
	SYS(remove("cache/" WORLD_OTHER "/add_kernel.cubin"));
	tree_make_folder("cache/no-key");
	write_text("cache/no-key/__grp__add_kernel.json", "{}");
	try_open(CHOSEN(tkb_cache_options, .threads = 1));
	CHECK_INT(looked.wanted_left_out, 2);
}

TEST(cache, of_two_devices_opens_or_says_that_an_allocation_failed)
{
	need_faults();
	world_inductor();
	try_open(CHOSEN(tkb_cache_options, .threads = 2, .has_digests = true));
	CHECK_INT(looked.wanted_count, 2);
}

/* A load of an entry, into an arena with a block that has room for so much. */
struct load {
	struct tkb_roots roots;
	struct tkb_loader loader;
	struct tkb_scanned_entry found;
	size_t room;
};

static struct load load;

static int call_load(struct tkb_error *err)
{
	enum {
		BLOCK_SIZE = 64 * 1024
	};
	int rc;

	load.loader = (struct tkb_loader){ 0 };
	load.found = (struct tkb_scanned_entry){ 0 };
	rc = tkb_loader_open(&load.loader, false, false, err);
	if (rc == 0 && tkb_arena_alloc(&load.loader.arena, 1,
	                               BLOCK_SIZE - load.room) == NULL)
		rc = tkb_fail_nomem(err);
	if (rc == 0)
		rc = tkb_scanned_entry_load(&load.loader, &load.roots.items[0],
		                            WORLD_KERNEL, &load.found, err);
	if (rc != 0)
		tkb_loader_close(&load.loader);
	return rc;
}

static const char *check_load(void)
{
	return load.found.group_name != NULL &&
	                       strcmp(load.found.entry.key, WORLD_KERNEL) == 0
	               ? NULL
	               : "it is another entry";
}

static void close_load(void)
{
	tkb_loader_close(&load.loader);
}

TEST(load, of_a_kernel_says_that_an_allocation_failed_wherever_its_memory_ends)
{
	enum {
		ROOM_LIMIT = 1024,
		ROOM_STEP = 16 /* less than any string of the kernel */
	};
	const struct fault_call call = { .call = call_load,
		                         .check = check_load,
		                         .release = close_load };

	need_faults();
	world_cache();
	OK(tkb_roots_open("cache", &load.roots, ERR));
	for (; load.room <= ROOM_LIMIT; load.room += ROOM_STEP)
		fault_each_allocation(&call);
	tkb_roots_release(&load.roots);
}

static int call_emit(struct tkb_error *err)
{
	struct tkb_emit_options options =
		CHOSEN(tkb_emit_options, .threads = 1);
	int rc;

	looked.results = NULL;
	rc = tkb_results_new(&looked.results, err);
	if (rc < 0)
		return rc;
	options.watch = tkb_results_watch(looked.results);
	rc = tkb_emit(looked.bundle, "root", &options, NULL, err);
	if (rc < 0)
		tkb_results_free(looked.results);
	return rc;
}

static const char *look_at_results(enum fault_moment moment)
{
	if (moment == FAULT_DONE_YET && tkb_results_is_cut(looked.results))
		return NULL;
	return fault_is_done(moment) && tkb_results_count(looked.results) != 2
	               ? "results are missing, and it is not said"
	               : NULL;
}

static void free_results(void)
{
	tkb_results_free(looked.results);
}

TEST(results, are_all_there_or_it_is_said_that_some_are_missing)
{
	const struct fault_call call = { .call = call_emit,
		                         .look = look_at_results,
		                         .release = free_results };

	need_faults();
	world_cache();
	world_bundle("cache", "x.tkb");
	looked.bundle = test_bundle("x.tkb");
	OK(tkb_emit(looked.bundle, "root", NULL, NULL, ERR));
	fault_each_allocation(&call);
}

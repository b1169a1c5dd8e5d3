/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries that a compiler writes while they are looked at. */

#define KEY "KRJX2HQ7F5A3F5S77XLFZIGB7OJNLBQWMK7CXOIKV37EDNGX5SKA"

static const char *late; /* the name of a file that no listing tells */
static const char *last; /* the name of a file that a listing tells last */

/*
 * In place of the C library's readdir(): a folder is listed early, or in another
 * order. By an own name, as headers may call readdir() otherwise.
 */
struct dirent *list_differently(DIR *dir) __asm__("readdir");
struct dirent *list_differently(DIR *dir)
{
	static struct dirent kept;
	struct dirent *(*real)(DIR *) = NULL;
	void *symbol = dlsym(RTLD_NEXT, "readdir");
	struct dirent *item;

	memcpy(&real, &symbol, sizeof(real));
	for (;;) {
		item = real(dir);
		if (item == NULL && last != NULL) {
			last = NULL;
			return &kept;
		}
		if (item != NULL && last != NULL &&
		    strcmp(item->d_name, last) == 0)
			kept = *item;
		else if (item == NULL || late == NULL ||
		         strcmp(item->d_name, late) != 0)
			return item;
	}
}

TKB_AUTO_POINTER(close_cache, struct tkb_cache, tkb_cache_close)

static size_t count_strays(void)
{
	TKB_AUTO(close_cache) struct tkb_cache *cache = NULL;

	OK(tkb_cache_open("cache", NULL, &cache, ERR));
	CHECK_INT(tkb_cache_entry_count(cache), 1);
	return tkb_cache_stray_count(cache);
}

static void arrange(void)
{
	unpack("triton-3.6.0-h100", "unpacked");
	SYS(mkdir("cache", 0777));
	copy_folder("unpacked/.triton/cache/" KEY, "cache/" KEY);
}

TEST(scanned_entry, counts_what_else_is_in_the_folder)
{
	arrange();
	CHECK_INT(count_strays(), 0);
	write_text("cache/" KEY "/notes", "x");
	CHECK_INT(count_strays(), 1);
}

TEST(scanned_entry, counts_no_less_than_nothing_where_a_file_comes_late)
{
	arrange();
	const char **names = list("cache/" KEY);
	for (late = *names; strstr(late, ".ptx") == NULL; late = *++names)
		;
	CHECK_INT(count_strays(), 0);
	write_text("cache/" KEY "/notes", "x");
	CHECK_INT(count_strays(), 1);
	late = NULL;
}

/* What a device without a root lacks is missing from the first one. */
TEST(scanned_entry, in_roots_by_device_however_their_folder_is_listed)
{
	static const char *const names[] = { "2", "7" };

	shell("mkdir -p cache/triton/7 cache/triton/2");
	EACH(i, names) {
		RECORDER(recorder) = recording();
		RESULTS(results) = NULL;
		OK(tkb_results_new(&results, ERR));
		const struct tkb_collect_options options = {
			SIZED(options), .is_dry_run = true,
			.watch = tkb_results_watch(results)
		};

		put(recorder, ABSENT, 5);
		last = names[i];
		DONE(tkb_recorder_collect(recorder, "cache", &options, NULL,
		                          NULL, ERR),
		     true);
		CHECK(last == NULL);
		CHECK_STR(find_result(results, ABSENT)->root,
		          text("%s/cache/triton/2", test_folder()));
	}
}

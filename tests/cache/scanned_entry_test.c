/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/scanned_entry.h"

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

static size_t count_strays(void)
{
	TKB_AUTO(tkb_loader_close) struct tkb_loader loader = { 0 };
	TKB_AUTO(tkb_roots_release) struct tkb_roots roots = { 0 };
	struct tkb_scanned_entry found = { 0 };

	OK(tkb_roots_open("cache", &roots, ERR));
	OK(tkb_loader_open(&loader, false, false, ERR));
	OK(tkb_scanned_entry_load(&loader, &roots.items[0], KEY, &found, ERR));
	return found.stray_count;
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

TEST(scanned_entry, in_roots_by_device_however_their_folder_is_listed)
{
	static const char *const names[] = { "2", "7" };

	SYS(mkdir("cache", 0777));
	SYS(mkdir("cache/triton", 0777));
	SYS(mkdir("cache/triton/7", 0777));
	SYS(mkdir("cache/triton/2", 0777));
	EACH(i, names) {
		TKB_AUTO(tkb_roots_release) struct tkb_roots roots = { 0 };

		last = names[i];
		OK(tkb_roots_open("cache", &roots, ERR));
		CHECK_INT(roots.count, 2);
		CHECK_INT(roots.items[0].device, 2);
		CHECK_INT(roots.items[1].device, 7);
	}
}

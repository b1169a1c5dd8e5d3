/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
	KEY_SIZE = 52, /* what else is in a root has a shorter name */
	NO_ACCESS = 99
};

void pack(const char *root, const char *path)
{
	OK(tkb_collect_to_file(root, NULL, path, NULL, ERR));
}

void emit(const char *path, const char *root)
{
	struct tkb_bundle *bundle = test_bundle(path);
	OK(tkb_emit(bundle, root, NULL, NULL, ERR));
}

void arrange_emitted(const char *fixture)
{
	unpack(fixture, "unpacked");
	pack("unpacked/.triton/cache", "a.tkb");
	emit("a.tkb", "out");
}

struct tkb_collect_report look_at(const char *root)
{
	const struct tkb_collect_options dry = { SIZED(dry),
		                                 .is_dry_run = true };
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect(root, &dry, NULL, &report, ERR));
	return report;
}

static struct tkb_buf *listing;

static int list_one(const char *path, const struct stat *status, int type,
                    struct FTW *where)
{
	(void)type;
	(void)where;
	tkb_buf_add_text(listing,
	                 text("%s %o %lld %llu %lld.%09ld %lld.%09ld\n", path,
	                      status->st_mode, (long long)status->st_size,
	                      (unsigned long long)status->st_ino,
	                      (long long)status->st_mtim.tv_sec,
	                      status->st_mtim.tv_nsec,
	                      (long long)status->st_ctim.tv_sec,
	                      status->st_ctim.tv_nsec));
	return 0;
}

const char *tree(const char *path)
{
	struct tkb_buf *buf = test_buf(16 * TKB_MIB);

	listing = buf;
	SYS(nftw(path, list_one, 16, FTW_PHYS));
	return text("%.*s", (int)buf->size, (const char *)buf->data);
}

struct stat stat_of(const char *path)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		fail_msg("'%s' is not there", path);
	return status;
}

void remove_folder(const char *path)
{
	CHECK_INT(run("rm", "-rf", path, NULL).status, 0);
}

const char *stamp_of(const char *folder)
{
	const char **names = list(folder);

	CHECK(names[0] != NULL);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strncmp(names[i], "__grp__", 7) == 0)
			return text("%s/%s", folder, names[i]);
	}
	return text("%s/%s", folder, names[0]);
}

void date(const char *folder, time_t read_s, time_t written_s)
{
	const struct timespec times[] = { { .tv_sec = read_s },
		                          { .tv_sec = written_s } };

	SYS(utimensat(AT_FDCWD, stamp_of(folder), times, 0));
}

void date_all(const char *root)
{
	const char **all = keys(root);

	for (size_t i = 0; all[i] != NULL; i++)
		date(text("%s/%s", root, all[i]), 0, (time_t)i * 3600);
}

const char **arrange_dated(void)
{
	arrange_emitted("triton-3.6.0-h100");
	date_all("out");
	return keys("out");
}

void age(const char *path, time_t seconds)
{
	const time_t then = time(NULL) - seconds;
	const struct timespec times[] = { { .tv_sec = then },
		                          { .tv_sec = then } };

	SYS(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
}

void age_folder(const char *path, time_t seconds)
{
	const char **names = list(path);

	for (size_t i = 0; names[i] != NULL; i++)
		age(text("%s/%s", path, names[i]), seconds);
	age(path, seconds);
}

const char **keys(const char *root)
{
	const char **names = list(root);
	size_t kept = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strlen(names[i]) >= KEY_SIZE)
			names[kept++] = names[i];
	}
	names[kept] = NULL;
	return names;
}

static void note(void *self, const struct tkb_result *result)
{
	struct told *told = self;
	const size_t index = told->count++;

	if (index >= TKB_COUNT_OF(told->items))
		return;
	told->items[index].outcome = result->outcome;
	told->items[index].reason = result->reason;
	(void)snprintf(told->items[index].key, sizeof(told->items[index].key),
	               "%s", result->key);
	(void)snprintf(told->items[index].root, sizeof(told->items[index].root),
	               "%s", result->root);
	(void)snprintf(told->items[index].message,
	               sizeof(told->items[index].message), "%s",
	               result->message);
}

const struct tkb_watch *tell_to(struct told *told)
{
	told->watch = CHOSEN(tkb_watch, .self = told, .on_result = note);
	return &told->watch;
}

pid_t start(const char *name, ...)
{
	posix_spawn_file_actions_t actions;
	va_list rest;
	pid_t child;

	va_start(rest, name);
	char *const *arguments = arguments_of(name, rest);
	va_end(rest);
	(void)posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		(void)posix_spawn_file_actions_addopen(&actions, fd,
		                                       "/dev/null", O_RDWR, 0);
	CHECK_INT(
		posix_spawnp(&child, name, &actions, NULL, arguments, environ),
		0);
	(void)posix_spawn_file_actions_destroy(&actions);
	return child;
}

struct outcome run_powerless(const char *verb, const char *one,
                             const char *other)
{
	if (geteuid() != 0)
		return run(program(), verb, one, other, NULL);
	return run("setpriv", "--inh-caps=-all", "--bounding-set=-all",
	           program(), verb, one, other, NULL);
}

int lock_root(const char *root)
{
	const int fd = open(text("%s/.tkbundle/lock", root),
	                    O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	CHECK(fd >= 0);
	SYS(flock(fd, LOCK_EX));
	return fd;
}

static void refuse(void *self)
{
	struct refusal *refusal = self;

	refusal->rc = become_nobody(refusal->path) ? refusal->act(&refusal->err)
	                                           : NO_ACCESS;
}

struct refusal as_nobody(const char *path, int (*act)(struct tkb_error *err))
{
	struct refusal refusal = { .path = path, .act = act };

	SYS(chmod(test_folder(), 0755));
	in_child(refuse, &refusal, sizeof(refusal));
	if (refusal.rc == NO_ACCESS) {
		print_message("nobody cannot reach '%s'\n", test_folder());
		skip();
	}
	return refusal;
}

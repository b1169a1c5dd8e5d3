/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	NOBODY = 65534,
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
	char *const *arguments;
	va_list rest;
	pid_t child;

	va_start(rest, name);
	arguments = arguments_of(name, rest);
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

int finish(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		CHECK_INT(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int lock_root(const char *root)
{
	const int fd = open(text("%s/.tkbundle/lock", root),
	                    O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	CHECK(fd >= 0);
	SYS(flock(fd, LOCK_EX));
	return fd;
}

static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -1;
	return 0;
}

struct refusal as_nobody(const char *path, int (*act)(struct tkb_error *err))
{
	struct refusal refusal = { 0 };
	int ends[2];

	SYS(chmod(test_folder(), 0755));
	SYS(pipe(ends));
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		refusal.rc = NO_ACCESS;
		if (become_nobody() == 0 && access(path, X_OK) == 0)
			refusal.rc = act(&refusal.err);
		_exit(write(ends[1], &refusal, sizeof(refusal)) !=
		      sizeof(refusal));
	}
	(void)close(ends[1]);
	CHECK_INT(read(ends[0], &refusal, sizeof(refusal)), sizeof(refusal));
	(void)close(ends[0]);
	CHECK_INT(finish(child), 0);
	if (refusal.rc == NO_ACCESS) {
		print_message("nobody cannot reach '%s'\n", test_folder());
		skip();
	}
	return refusal;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_links.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <tkbundle/draft.h>
#include <tkbundle/maintain.h>

#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"
#include "report/source.h"
#include "run/run.h"
#include "run/run_engine.h"
#include "run/run_scan.h"

#define PATH_SIZE 4096
#define GROUP_LIMIT (1 << 20) /* size limit of a group file */

/* One entry, in its old folder and in its new one. */
struct move {
	const char *path;    /* of the old entry */
	char own[PATH_SIZE]; /* of the new one */
	int from_fd;
	int to_fd;
};

struct roots {
	const char *from;
	const char *to;
	bool is_inductor;
	const char *to_root; /* the new folder of keys */
};

/* Visit each item of the folder `fd`, which stays open. */
static bool each_item(int fd, bool (*visit)(void *self, const char *name),
                      void *self)
{
	TKB_AUTO(folder_close) DIR *folder = folder_open(fd, ".", 0);
	const struct dirent *item;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		if (item->d_name[0] != '.' && !visit(self, item->d_name))
			return false;
	}
	return folder != NULL;
}

static bool link_file(void *self, const char *name)
{
	const struct move *const move = self;
	char target[PATH_SIZE];
	struct stat status;

	if (source_is_group(name) ||
	    fstatat(move->from_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode))
		return true;
	if (linkat(move->from_fd, name, move->to_fd, name, 0) == 0 ||
	    errno == EEXIST)
		return true;
	return folder_join(target, sizeof(target), move->path, name) &&
	       (symlinkat(target, move->to_fd, name) == 0 || errno == EEXIST);
}

/* The last two parts of a path, if it names a file of this entry. */
static bool names_own_file(const char *value, const char *key, const char *name)
{
	char end[PATH_SIZE];
	const int length = snprintf(end, sizeof(end), "/%s/%s", key, name);

	return length < (int)sizeof(end) && text_ends_with(value, end);
}

/* Rewrite a group file so that it names the files in the new folder. */
static void rewrite(json_t *group, const struct move *move)
{
	const char *const key = strrchr(move->own, '/') + 1;
	json_t *const paths = json_object_get(group, "child_paths");
	const char *name;
	json_t *value;

	/* A list, as Triton 2 writes it, has no paths. */
	json_object_foreach(paths, name, value)
	{
		char place[PATH_SIZE];

		if (json_is_string(value) &&
		    names_own_file(json_string_value(value), key, name) &&
		    folder_join(place, sizeof(place), move->own, name))
			(void)json_string_set(value, place);
	}
}

static char *read_group(const struct move *move, const char *name)
{
	TKB_AUTO(fd_close)
	int fd = openat(move->from_fd, name,
	                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	json_auto_t *group = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > GROUP_LIMIT)
		return NULL;
	group = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	if (group == NULL)
		return NULL;
	rewrite(group, move);
	return json_dumps(group, JSON_ENSURE_ASCII);
}

static bool publish_file(void *self, const char *name)
{
	static const struct timespec never[] = { { .tv_sec = 0 },
		                                 { .tv_nsec = UTIME_OMIT } };
	struct move *const move = self;
	TKB_AUTO(text_free) char *text = NULL;
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	char path[PATH_SIZE];
	int fd;

	if (!source_is_group(name))
		return true;
	text = read_group(move, name);
	if (text == NULL || !folder_join(path, sizeof(path), move->own, name) ||
	    tkb_draft_open(path, &draft, NULL) < 0)
		return false;
	fd = tkb_draft_fd(draft);
	if (!fd_write(fd, (struct tkb_bytes){ text, strlen(text) }))
		return false;
	(void)futimens(fd, never); /* the use stamp */
	return tkb_draft_publish(draft, NULL) == 0;
}

static void link_entry(void *self, int root_fd, const char *path,
                       const char *key)
{
	const struct roots *const roots = self;
	char old[PATH_SIZE];
	struct move move = { .path = old };
	TKB_AUTO(fd_close) int from = -1;
	TKB_AUTO(fd_close) int to = -1;
	struct stat status;

	if (!folder_join(old, sizeof(old), path, key) ||
	    !folder_join(move.own, sizeof(move.own), roots->to_root, key) ||
	    !run_scan_stamp(root_fd, key, &status))
		return;
	from = openat(root_fd, key,
	              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0 || (mkdir(move.own, 0777) < 0 && errno != EEXIST))
		return;
	to = open(move.own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	move.from_fd = from;
	move.to_fd = to;
	if (to < 0 || run_scan_stamp(AT_FDCWD, move.own, &status))
		return; /* it exists already */
	if (each_item(from, link_file, &move))
		(void)each_item(from, publish_file, &move);
}

/* Does the target of the link exist? */
static bool is_good(void *self, const char *name)
{
	const int *const fd = self;
	struct stat status;

	return fstatat(*fd, name, &status, 0) == 0;
}

static bool retract(void *self, const char *name)
{
	const int *const fd = self;

	if (source_is_group(name))
		(void)unlinkat(*fd, name, 0);
	return true;
}

/* Remove the group file first, then dangling links. */
static bool drop_link(void *self, const char *name)
{
	const int *const fd = self;

	if (!is_good(self, name))
		(void)unlinkat(*fd, name, 0);
	return true;
}

static void check_entry(void *self, int root_fd, const char *path,
                        const char *key)
{
	TKB_AUTO(fd_close)
	int fd = openat(root_fd, key,
	                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	(void)self;
	(void)path;
	if (fd < 0 || each_item(fd, is_good, &fd))
		return;
	(void)each_item(fd, retract, &fd);
	(void)each_item(fd, drop_link, &fd);
}

static void check_root(void *self, const char *path)
{
	(void)self;
	run_scan_keys(path, check_entry, NULL);
}

static void link_root(void *self, const char *path)
{
	struct roots *const roots = self;
	char to[PATH_SIZE];
	char parent[PATH_SIZE];

	(void)snprintf(to, sizeof(to), "%.4000s%s", roots->to,
	               path + strlen(roots->from));
	if (roots->is_inductor) {
		(void)snprintf(parent, sizeof(parent), "%.4000s/triton",
		               roots->to);
		(void)mkdir(parent, 0777);
		(void)mkdir(to, 0777);
	}

	roots->to_root = to;
	run_scan_keys(path, link_entry, roots);
}

void run_links_make(const char *from, const char *to, bool is_inductor)
{
	struct roots roots = { .from = from,
		               .to = to,
		               .is_inductor = is_inductor };

	run_scan_roots(to, is_inductor, check_root, NULL);
	run_scan_roots(from, is_inductor, link_root, &roots);
}

void run_links_gather(void *self)
{
	struct run *const run = self;
	struct run_shared *const shared = run->shared;
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	struct tkb_gather_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { .status = 0 };
	struct tkb_gather_options options = { .struct_size = sizeof(options) };
	int rc;

	rc = run_engine_trees(run->args, &shared->plan, &trees, &err);
	if (rc == 0) {
		options.trees = trees.items;
		options.tree_count = trees.count;
		rc = tkb_gather_kernels(shared->plan.root, &options, &report,
		                        &err);
	}

	/* Ignore failures: a kernel that was not linked is compiled anew. */
	shared->linked_count = report.gathered_count;
	(void)snprintf(
		shared->links_error, sizeof(shared->links_error), "%s",
		cli_is_done(rc) && report.failed_count == 0 ? "" : err.message);
}

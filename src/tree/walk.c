/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/walk.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "base/path.h"

enum {
	PATH_SIZE = 4096,
	DEPTH_LIMIT = 64
};

struct walk {
	const struct tkb_tree_rules *rules;
	const struct tkb_tree_visitor *visitor;
	bool is_in_unit;
	size_t depth;
	char path[PATH_SIZE]; /* of the item that is visited */
};

static int report_item(const struct walk *walk, enum tkb_tree_thing thing,
                       const struct tkb_tree_rule *rule, struct tkb_error *err)
{
	const struct tkb_tree_item item = { .path = walk->path,
		                            .thing = thing,
		                            .rule = rule };

	return walk->visitor->visit(walk->visitor->self, &item, err);
}

static int tell_refused(const struct walk *walk, const struct tkb_error *why,
                        struct tkb_error *err)
{
	const struct tkb_tree_item item = { .path = walk->path,
		                            .thing = TKB_TREE_THING_REFUSED,
		                            .why = why };

	return walk->visitor->visit(walk->visitor->self, &item, err);
}

static int refuse_path(const struct walk *walk, enum tkb_reason reason,
                       const char *sentence, struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail_entry(&why, reason, "%s", sentence);
	return tell_refused(walk, &why, err);
}

static int walk_folder(struct walk *walk, int dir_fd, const char *name,
                       struct tkb_error *err);

/* Enter a folder. If it cannot be read, it is refused. */
static int enter_folder(struct walk *walk, int dir_fd, const char *name,
                        struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	int rc;

	if (walk->depth == DEPTH_LIMIT)
		return refuse_path(walk, TKB_REASON_LIMIT,
		                   "folders are nested too deeply", err);
	walk->depth++;
	rc = walk_folder(walk, dir_fd, name, &why);
	walk->depth--;
	if (rc == TKB_ERR_IO && why.reason == TKB_REASON_UNREADABLE)
		return tell_refused(walk, &why, err);
	return rc < 0 ? tkb_fail_as(err, rc, &why) : rc;
}

static int visit_item(struct walk *walk, int dir_fd, const char *name,
                      struct tkb_error *err)
{
	const struct tkb_tree_rule rule =
		tkb_tree_judge(walk->rules, walk->path);
	struct stat status;

	if (rule.action == TKB_TREE_ACTION_LEAVE)
		return 0;
	if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT /* it was removed meanwhile */
		               ? 0
		               : refuse_path(walk, TKB_REASON_UNREADABLE,
		                             "it cannot be read", err);
	if (S_ISLNK(status.st_mode))
		return refuse_path(walk, TKB_REASON_UNSAFE,
		                   "it is a symbolic link", err);
	if (S_ISREG(status.st_mode))
		return report_item(walk, TKB_TREE_THING_FILE, &rule, err);
	if (!S_ISDIR(status.st_mode))
		return 0;
	if (!walk->is_in_unit && (rule.action == TKB_TREE_ACTION_UNIT ||
	                          rule.action == TKB_TREE_ACTION_NINJA))
		return report_item(walk, TKB_TREE_THING_FOLDER, &rule, err);
	if (!walk->is_in_unit && rule.action == TKB_TREE_ACTION_KERNELS)
		return report_item(walk, TKB_TREE_THING_KERNELS, &rule, err);
	return enter_folder(walk, dir_fd, name, err);
}

static int walk_item(struct walk *walk, int dir_fd, const char *name,
                     struct tkb_error *err)
{
	const size_t length = strlen(walk->path);
	const size_t slash = length == 0 ? 0 : 1;
	int rc;

	if (tkb_name_is_dots(name))
		return 0;
	rc = walk->visitor->check == NULL
	             ? 0
	             : walk->visitor->check(walk->visitor->self, err);
	if (rc < 0)
		return rc;
	if (length + slash + strlen(name) >= sizeof(walk->path))
		return refuse_path(walk, TKB_REASON_LIMIT,
		                   "a path in it is too long", err);
	if (slash != 0)
		walk->path[length] = '/';
	memcpy(walk->path + length + slash, name, strlen(name) + 1);
	rc = visit_item(walk, dir_fd, name, err);
	walk->path[length] = '\0';
	return rc;
}

static int walk_folder(struct walk *walk, int dir_fd, const char *name,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	rc = tkb_dir_open(dir_fd, name, &dir, err);
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc < 0)
			break;
		if (rc == TKB_MISS)
			return 0;
		rc = walk_item(walk, dirfd(dir), item->d_name, err);
		if (rc != 0)
			return rc;
	}
	if (rc == TKB_ERR_IO && err != NULL)
		err->reason = TKB_REASON_UNREADABLE;
	return rc;
}

int tkb_tree_walk(int root_fd, const char *unit,
                  const struct tkb_tree_rules *rules,
                  const struct tkb_tree_visitor *visitor, struct tkb_error *err)
{
	struct walk walk = {
		.rules = rules,
		.visitor = visitor,
		.is_in_unit = unit != NULL,
	};

	if (unit == NULL)
		return walk_folder(&walk, root_fd, ".", err);
	if (strlen(unit) >= sizeof(walk.path))
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "its path is too long");
	memcpy(walk.path, unit, strlen(unit) + 1);
	return walk_folder(&walk, root_fd, unit, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/draft.h>

#include "archive/archive_walk.h"
#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/fd.h"
#include "image/image_roots.h"

enum {
	ROOTS_LIMIT = 64
};

/* The state of a copy of an image. */
struct image {
	const struct image_copy *copy;
	char roots[ROOTS_LIMIT][IMAGE_PATH_SIZE]; /* paths of all its roots */
	char names[ROOTS_LIMIT][IMAGE_VARIABLE_SIZE];
	size_t count;
};

static bool keep_root(void *self, const char *name, const char *path)
{
	struct image *const image = self;
	const size_t at = image->count;

	if (at == ROOTS_LIMIT || strlen(name) >= sizeof(image->names[at]) ||
	    snprintf(image->roots[at], IMAGE_PATH_SIZE, "%.2000s/%s",
	             image->copy->place, path) >= IMAGE_PATH_SIZE)
		return false;
	(void)memcpy(image->names[at], name, strlen(name) + 1);
	image->count++;
	return true;
}

/* The path in the copy for a path in the image. */
static bool find_own(const struct image *image, const char *path,
                     char out[IMAGE_PATH_SIZE])
{
	return snprintf(out, IMAGE_PATH_SIZE, "%s%s", image->copy->own,
	                path + strlen(image->copy->place)) < IMAGE_PATH_SIZE;
}

static bool send_file(int from, int to, off_t size)
{
	while (size > 0) {
		const ssize_t sent = sendfile(to, from, NULL, (size_t)size);

		if (sent <= 0)
			return false;
		size -= sent;
	}
	return true;
}

/* Copy a root. The copy appears whole, or not at all; an existing one stays. */
static bool copy_file(const char *path, const char *own)
{
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	TKB_AUTO(fd_close)
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (access(own, F_OK) == 0)
		return true;
	return from >= 0 && fstat(from, &status) == 0 &&
	       tkb_draft_open(own, &draft, NULL) == 0 &&
	       send_file(from, tkb_draft_fd(draft), status.st_size) &&
	       tkb_draft_publish(draft, NULL) == 0;
}

/* Is it another root, or a folder of kernels, which is linked instead? */
static bool is_apart(const struct image *image, const FTSENT *item,
                     const char *root, bool is_inductor)
{
	if (item->fts_level == 0)
		return false;
	if (is_inductor && item->fts_level == 1 &&
	    strcmp(item->fts_name, "triton") == 0)
		return true;
	for (size_t i = 0; i < image->count; i++) {
		if (strcmp(image->roots[i], root) != 0 &&
		    strcmp(image->roots[i], item->fts_path) == 0)
			return true;
	}
	return false;
}

static bool copy_item(const struct image *image, const FTSENT *item)
{
	char own[IMAGE_PATH_SIZE];

	if (!find_own(image, item->fts_path, own))
		return false;
	if (item->fts_info == FTS_D)
		return mkdir(own, 0777) == 0 || errno == EEXIST;
	return item->fts_info != FTS_F || copy_file(item->fts_path, own);
}

static bool copy_root(const struct image *image, const char *root)
{
	const struct image_copy *const copy = image->copy;
	const bool is_inductor = copy->is_inductor(copy->self, root);
	FTS *const walk = archive_walk_open(root, NULL);
	char own[IMAGE_PATH_SIZE];
	bool is_done = walk != NULL;
	FTSENT *item;

	while (is_done && (item = fts_read(walk)) != NULL) {
		if (item->fts_info == FTS_D &&
		    is_apart(image, item, root, is_inductor))
			(void)fts_set(walk, item, FTS_SKIP);
		else
			is_done = copy_item(image, item);
	}
	if (walk != NULL)
		(void)fts_close(walk);
	if (is_done && is_inductor && find_own(image, root, own))
		copy->link(copy->self, root, own);
	return is_done;
}

/*
 * Make the folders above a root in the copy: it may be inside a root that is
 * copied later.
 */
static bool make_above(const struct image *image, const char *root)
{
	char own[IMAGE_PATH_SIZE];

	if (!find_own(image, root, own))
		return false;
	for (char *slash = own + strlen(image->copy->own) + 1;
	     (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (mkdir(own, 0777) < 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return true;
}

/* May the variable be set to the copy? A value that the user has set stays. */
static bool is_ours(const char *variable, const char *root)
{
	const char *const value = cli_variable(variable);

	return variable[0] != '\0' &&
	       (value == NULL || strcmp(value, root) == 0);
}

static int use_root(const struct image *image, size_t index,
                    struct tkb_error *err)
{
	const struct image_copy *const copy = image->copy;
	const char *const root = image->roots[index];
	char variable[IMAGE_VARIABLE_SIZE];
	char own[IMAGE_PATH_SIZE];

	if (strcmp(image->names[index], IMAGE_KERNELS) == 0) {
		copy->kernels(copy->self, root);
		return 0;
	}
	image_root_variable(image->names[index], variable);
	if (!is_ours(variable, root))
		return 0;
	if (!make_above(image, root) || !copy_root(image, root) ||
	    !find_own(image, root, own))
		return cli_error(err, TKB_ERR_IO,
		                 "cannot copy '%.200s' to '%.200s': %s", root,
		                 copy->own, strerror(errno));
	copy->variable(copy->self, variable, own);
	return 0;
}

int image_copy(const struct image_copy *copy, struct tkb_error *err)
{
	struct image *image = calloc(1, sizeof(*image));
	const struct image_roots_visitor visitor = { image, keep_root };
	int rc;

	if (image == NULL)
		return cli_error_nomem(err);
	image->copy = copy;
	rc = image_roots_visit(copy->place, &visitor, err);
	if (rc == TKB_ERR_CANCELLED)
		rc = cli_error(err, TKB_ERR_TOO_LARGE,
		               "the image at '%.400s' has more than %d roots",
		               copy->place, ROOTS_LIMIT);
	for (size_t i = 0; i < image->count && rc == 0; i++)
		rc = use_root(image, i, err);
	free(image);
	return rc;
}

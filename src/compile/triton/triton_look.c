/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_look.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"

enum {
	CONTENTS_LIMIT = 4 * 1024 * 1024,
	LINKS_LIMIT = 40 /* limit of the Linux kernel */
};

#define NS_PER_S INT64_C(1000000000)

int64_t tkb_look_changed_ns(const struct tkb_file_identity *identity)
{
	return identity->ctime_s * NS_PER_S + identity->ctime_ns;
}

/* May it be the name of a module, or a file that names module folders? */
static bool is_importable(const char *name)
{
	static const char *const endings[] = { ".py", ".so", ".pyc", ".pth" };
	const char *dot = strrchr(name, '.');

	return dot != NULL ? tkb_is_among(dot, endings, TKB_COUNT_OF(endings))
	                   : strcmp(name, "__pycache__") != 0;
}

struct names {
	struct tkb_digests digests; /* digest of each name */
	int64_t newest_ns;          /* when one of them changed last */
};

static bool add_name(struct names *names, int folder, const char *name)
{
	struct tkb_digest digest;
	struct stat status;
	int64_t changed;

	if (tkb_digest_of(tkb_text(name), &digest, NULL) < 0 ||
	    tkb_digests_add(&names->digests, &digest, NULL) < 0)
		return false;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	changed = status.st_ctim.tv_sec * NS_PER_S + status.st_ctim.tv_nsec;
	if (changed > names->newest_ns && !S_ISDIR(status.st_mode))
		names->newest_ns = changed;
	return true;
}

/* The digest of the names in a folder, and when one of them changed last. */
static bool digest_folder(const char *path, bool is_searched,
                          struct tkb_digest *out, int64_t *newest_out)
{
	struct names names = { .newest_ns = 0 };
	TKB_AUTO(tkb_dir_close_at) DIR *dir = opendir(path);
	const struct dirent *item;
	bool is_whole = dir != NULL;
	int rc = 0;

	while (is_whole && (rc = tkb_dir_next(dir, &item, NULL)) == 0) {
		if (!is_searched ||
		    (item->d_name[0] != '.' && is_importable(item->d_name)))
			is_whole = add_name(&names, dirfd(dir), item->d_name);
	}
	tkb_digests_sort(&names.digests);
	is_whole = is_whole && rc == TKB_MISS &&
	           tkb_digest_of((struct tkb_bytes){ names.digests.items,
	                                             names.digests.count *
	                                                     sizeof(*out) },
	                         out, NULL) == 0;
	*newest_out = names.newest_ns;
	tkb_digests_release(&names.digests);
	return is_whole;
}

static bool digest_file(const char *path, struct tkb_digest *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf contents = TKB_BUF_INIT(CONTENTS_LIMIT);

	return tkb_fd_read_path(path, &contents, NULL) == 0 &&
	       tkb_digest_of(tkb_buf_bytes(&contents), out, NULL) == 0;
}

/* Note where a link leads, but no identity: that would be of the target. */
static bool look_link(const char *path, struct tkb_look *out)
{
	char target[TKB_FIELD_PATH_SIZE];
	const ssize_t length = readlink(path, target, sizeof(target));

	*out = (struct tkb_look){ .kind = length < 0 ? TKB_LOOK_ABSENT
		                                     : TKB_LOOK_COMPARED };
	return length < 0 ||
	       ((size_t)length < sizeof(target) &&
	        tkb_digest_of((struct tkb_bytes){ target, (size_t)length },
	                      &out->digest, NULL) == 0);
}

/* Look at a file. For a folder that was not listed, only the mode counts. */
static bool look_file(const char *path, struct tkb_look *out,
                      int64_t *newest_out)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	out->mode = status.st_mode;
	if (!S_ISREG(status.st_mode)) {
		*newest_out = 0;
		return true;
	}
	if (out->identity.size > CONTENTS_LIMIT)
		out->kind = TKB_LOOK_LARGE;
	return out->kind == TKB_LOOK_LARGE || digest_file(path, &out->digest);
}

/* Replace the first link in `path` by its target. False: none, or no room. */
static bool follow_link(char path[TKB_FIELD_PATH_SIZE], struct stat *status)
{
	char target[TKB_FIELD_PATH_SIZE];
	char made[TKB_FIELD_PATH_SIZE];
	char *end = path;
	char *name = path;
	ssize_t length = -1;
	int size;

	while (length < 0 && *end != '\0') {
		char kept;

		end += 1 + strcspn(end + 1, "/");
		kept = *end;
		*end = '\0';
		if (lstat(path, status) == 0 && S_ISLNK(status->st_mode))
			length = readlink(path, target, sizeof(target) - 1);
		*end = kept;
		if (length < 0)
			name = end;
	}
	if (length < 0)
		return false;
	target[length] = '\0';
	size = target[0] == '/'
	               ? snprintf(made, sizeof(made), "%s%s", target, end)
	               : snprintf(made, sizeof(made), "%.*s/%s%s",
	                          (int)(name - path), path, target, end);
	if (size < 0 || (size_t)size >= sizeof(made))
		return false;
	memcpy(path, made, (size_t)size + 1);
	return true;
}

/* When any of the links that lead to a path changed last. */
static int64_t newest_link_ns(const char *given)
{
	char path[TKB_FIELD_PATH_SIZE];
	struct stat status;
	int64_t newest = 0;
	int64_t changed;

	if ((size_t)snprintf(path, sizeof(path), "%s", given) >= sizeof(path))
		return INT64_MAX;
	for (size_t i = 0; i < LINKS_LIMIT && follow_link(path, &status); i++) {
		changed = status.st_ctim.tv_sec * NS_PER_S +
		          status.st_ctim.tv_nsec;
		if (changed > newest)
			newest = changed;
	}
	return newest;
}

/* Look at a path. A file that was searched for modules is an archive. */
static bool look_there(unsigned field, const char *path, struct tkb_look *out,
                       int64_t *newest_out)
{
	if (field == TKB_TRITON_READ ||
	    (field == TKB_TRITON_SEARCHED && !tkb_path_is_folder(path)))
		return look_file(path, out, newest_out);
	return digest_folder(path, field == TKB_TRITON_SEARCHED, &out->digest,
	                     newest_out);
}

bool tkb_look(unsigned field, const char *path, struct tkb_look *out,
              int64_t *newest_out)
{
	const int64_t newest_link = newest_link_ns(path);
	struct tkb_file_identity after;

	*out = (struct tkb_look){ .kind = TKB_LOOK_ABSENT };
	*newest_out = newest_link;
	if (field == TKB_TRITON_LINK)
		return look_link(path, out);
	if (!tkb_file_identify(path, &out->identity))
		return true;
	*newest_out = tkb_look_changed_ns(&out->identity);
	out->kind = TKB_LOOK_COMPARED;
	if (!look_there(field, path, out, newest_out))
		return false;
	if (newest_link > *newest_out)
		*newest_out = newest_link;
	return tkb_file_identify(path, &after) &&
	       tkb_file_is_same(&after, &out->identity);
}

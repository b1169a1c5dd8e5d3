/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"

#define LIMIT (16 << 20)

char *image_json_text(const json_t *value)
{
	return json_dumps(value,
	                  JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

json_t *image_json_read(const char *path)
{
	TKB_AUTO(fd_close)
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > LIMIT)
		return NULL;
	return json_loadfd(fd, 0, NULL);
}

int image_json_write(const json_t *value, const char *path,
                     struct tkb_error *err)
{
	TKB_AUTO(text_free) char *text = image_json_text(value);
	TKB_AUTO(text_free) char *folder = strdup(path);
	TKB_AUTO(fd_close) int fd = -1;
	char *slash;

	if (text == NULL || folder == NULL)
		return cli_error_nomem(err);
	slash = strrchr(folder, '/');
	*slash = '\0';
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return cli_error_errno(err, "write", path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || !fd_write(fd, (struct tkb_bytes){ text, strlen(text) }))
		return cli_error_errno(err, "write", path);
	return 0;
}

const char *image_json_string(const json_t *object, const char *name,
                              const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : otherwise;
}

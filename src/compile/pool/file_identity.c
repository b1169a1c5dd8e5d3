/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/file_identity.h"

#include <string.h>
#include <sys/stat.h>

bool tkb_file_identify(const char *path, struct tkb_file_identity *out)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	*out = (struct tkb_file_identity){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = (uint64_t)status.st_size,
		.mtime_s = status.st_mtim.tv_sec,
		.mtime_ns = status.st_mtim.tv_nsec,
		.ctime_s = status.st_ctim.tv_sec,
		.ctime_ns = status.st_ctim.tv_nsec,
	};
	return true;
}

bool tkb_file_is_same(const struct tkb_file_identity *a,
                      const struct tkb_file_identity *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

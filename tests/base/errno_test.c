/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/error.h"
#include "base/fd.h"

/* What the system said, and what becomes of it. */

/* A descriptor whose close fails, as on a file server that went away. */
static int bad_fd(void)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	SYS(close(fd));
	return fd;
}

TEST(errno, stays_where_a_descriptor_is_cleaned_up)
{
	int fd = bad_fd();

	errno = ENOENT;
	tkb_fd_close_at(&fd);
	CHECK_INT(errno, ENOENT);
}

TEST(errno, stays_where_a_folder_is_cleaned_up)
{
	DIR *dir = NULL;

	OK(tkb_dir_open(AT_FDCWD, ".", &dir, ERR));
	SYS(close(dirfd(dir)));
	errno = EACCES;
	tkb_dir_close_at(&dir);
	CHECK_INT(errno, EACCES);
}

TEST(errno, stays_where_a_draft_is_discarded)
{
	struct tkb_draft *draft = NULL;

	OK(tkb_draft_open("target", &draft, ERR));
	draft->is_named = true; /* and it is not there */
	errno = EROFS;
	tkb_draft_close(draft);
	CHECK_INT(errno, EROFS);
}

TEST(errno, of_memory_is_told_as_such)
{
	struct tkb_error err = { 0 };

	errno = ENOMEM;
	CHECK_INT(tkb_fail_errno(&err, "cannot read '%s'", "x"), TKB_ERR_NOMEM);
	CHECK_INT(err.status, TKB_ERR_NOMEM);
	CHECK_INT(err.reason, TKB_REASON_NONE);
	CHECK_CONTAINS(err.message, "cannot read 'x'");
}

TEST(errno, of_a_full_disk_is_told_with_a_remedy)
{
	static const int numbers[] = { ENOSPC, EDQUOT };
	struct tkb_error err = { 0 };

	for (size_t i = 0; i < TKB_COUNT_OF(numbers); i++) {
		errno = numbers[i];
		CHECK_INT(tkb_fail_errno(&err, "cannot write 'x'"), TKB_ERR_IO);
		CHECK_CONTAINS(err.message,
		               ": make room there, or use another folder");
	}
	errno = EIO;
	CHECK_INT(tkb_fail_errno(&err, "cannot write 'x'"), TKB_ERR_IO);
	CHECK_STR(err.message, "cannot write 'x': Input/output error");
}

TEST(errno, of_anything_else_is_told_as_the_systems_refusal)
{
	struct tkb_error err = { 0 };

	errno = EIO;
	CHECK_INT(tkb_fail_errno(&err, "cannot read '%s'", "x"), TKB_ERR_IO);
	CHECK_INT(err.status, TKB_ERR_IO);
	CHECK_INT(err.reason, TKB_REASON_IO);
	CHECK_INT(errno, EIO);
}

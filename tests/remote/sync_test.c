/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "remote_fixture.h"

/*
 * What a remote folder is given is on the disk before it appears, and its name
 * before the put returns. The calls that matter are ours here.
 */

static struct {
	char calls[64]; /* d: data synced, a: appeared, f: folder synced */
	size_t count;
	int failure; /* of syncing data */
} log_of;

static void note(char call)
{
	if (log_of.count + 1 < sizeof(log_of.calls))
		log_of.calls[log_of.count++] = call;
}

static void forget(void)
{
	memset(&log_of, 0, sizeof(log_of));
}

int fdatasync(int fd)
{
	(void)fd;
	note('d');
	errno = log_of.failure;
	return log_of.failure == 0 ? 0 : -1;
}

int fsync(int fd)
{
	struct stat status;

	note(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 'f' : 'd');
	return 0;
}

int linkat(int old_fd, const char *old, int new_fd, const char *new, int flags)
{
	const int rc =
		(int)syscall(SYS_linkat, old_fd, old, new_fd, new, flags);

	if (rc == 0)
		note('a');
	return rc;
}

static const char *remote_url(const char *rest)
{
	return text("file://%s/remote%s", test_folder(), rest);
}

static void open_folder(const char *rest, struct handle *handle)
{
	must_open(remote_url(rest), handle);
	forget();
}

TEST(sync, comes_before_a_blob_appears_and_then_of_its_folder)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	const char *calls = log_of.calls;

	open_folder("", &handle);
	(void)must_put(&handle, make_bytes(5000, 1));
	/* Of the folders that hold remote, cas, and ab: they are new. */
	CHECK_STR(calls, "fffdaf");
	forget();
	(void)must_put(&handle, make_bytes(5000, 1));
	/* It appears under another name first, to replace what is there. */
	CHECK_STR(calls, "daf");
	forget();
	(void)must_add(&handle, "team/model", make_bytes(100, 2));
	CHECK_STR(calls, "ffdaf");
	forget();
	(void)must_add(&handle, "team/model", make_bytes(100, 3));
	CHECK_STR(calls, "daf");
}

TEST(sync, that_fails_leaves_no_blob)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	const struct tkb_bytes bytes = make_bytes(5000, 1);
	const struct tkb_digest digest = digest_of(bytes);

	open_folder("", &handle);
	log_of.failure = EIO;
	FAILS(put_blob(&handle, &digest, &bytes, ERR), TKB_ERR_UNAVAILABLE,
	      "cannot write");
	CHECK(!is_there(&handle, &digest));
	/* Some file systems cannot: they keep what they keep. */
	log_of.failure = EINVAL;
	OK(put_blob(&handle, &digest, &bytes, ERR));
	CHECK(is_there(&handle, &digest));
}

TEST(sync, is_left_out_where_the_url_says_so)
{
	TKB_AUTO(close_handle) struct handle handle = { .self = NULL };
	TKB_AUTO(close_handle) struct handle other = { .self = NULL };
	const char *calls = log_of.calls;

	open_folder("?sync=false", &handle);
	(void)must_put(&handle, make_bytes(5000, 1));
	(void)must_add(&handle, "ref", make_bytes(100, 2));
	CHECK_STR(calls, "aa");
	FAILS(open_handle(remote_url("?sync=maybe"), &other, ERR),
	      TKB_ERR_INVALID, "'sync' wants 'true' or 'false'");
}

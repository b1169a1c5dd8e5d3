/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/memory.h>

#include "base/fd.h"
#include "cache/watch.h"
#include "format/reader.h"
#include "text/select.h"

TKB_AUTO_POINTER(close_at, struct tkb_bundle, tkb_bundle_close)

enum {
	ASK_MS = 100 /* between two calls of the watch */
};

/*
 * A bundle that comes through a pipe. A pipe cannot be read twice, nor by
 * several threads, so it is copied to a temporary file. Only what is needed is
 * copied: the header, the frames that it lists, the end, and one byte more,
 * which shows that the pipe goes on. So a pipe that never ends does not fill
 * the disk.
 */
struct pipe {
	const char *name;
	int fd;   /* by reference */
	int copy; /* owned */
	uint64_t size;
	bool has_ended;
	bool has_failed; /* it was the read that failed, not the bundle */
	const struct tkb_watch *watch;
};

static ssize_t read_some(int fd, void *data, size_t size)
{
	ssize_t got;

	do
		got = read(fd, data, size);
	while (got < 0 && errno == EINTR);
	return got;
}

static void pipe_close(struct pipe *pipe)
{
	tkb_fd_close_at(&pipe->copy);
}

/* Wait for input, if the watch can cancel the wait. */
static int await_bytes(struct pipe *pipe, struct tkb_error *err)
{
	const struct tkb_watch *watch = pipe->watch;
	struct pollfd poll_fd = { .fd = pipe->fd, .events = POLLIN };

	while (watch->is_cancelled != NULL) {
		if (watch->is_cancelled(watch->self)) {
			pipe->has_failed = true;
			return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
		}
		if (poll(&poll_fd, 1, ASK_MS) != 0)
			return 0;
	}
	return 0;
}

/* Copy until the file has `size` bytes, or the pipe ends. */
static int copy_more(struct pipe *pipe, uint64_t size, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(TKB_MIB);

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	while (pipe->size < size && !pipe->has_ended) {
		const uint64_t left = size - pipe->size;
		const size_t wanted = left < TKB_MIB ? (size_t)left : TKB_MIB;
		ssize_t got;
		int rc;

		rc = await_bytes(pipe, err);
		if (rc < 0)
			return rc;
		got = read_some(pipe->fd, chunk, wanted);
		if (got < 0) {
			pipe->has_failed = true;
			return tkb_fail_errno(err, "cannot read '%s'",
			                      pipe->name);
		}
		pipe->has_ended = got == 0;
		rc = tkb_fd_pwrite_all(pipe->copy,
		                       (struct tkb_bytes){ chunk, (size_t)got },
		                       pipe->size, err);
		if (rc < 0)
			return rc;
		pipe->size += (uint64_t)got;
	}
	return 0;
}

static int read_pipe(void *self, uint64_t offset, void *data, size_t size,
                     size_t *got_out, struct tkb_error *err)
{
	struct pipe *pipe = self;
	ssize_t got;
	int rc;

	rc = copy_more(pipe, offset + size, err);
	if (rc < 0)
		return rc;
	got = tkb_fd_pread_full(pipe->copy, data, size, offset);
	if (got < 0)
		return tkb_fail_errno(err, "cannot read a temporary file");
	*got_out = (size_t)got;
	return 0;
}

static int read_bundle_file(void *self, uint64_t offset, void *data,
                            size_t size, size_t *got_out, struct tkb_error *err)
{
	const struct tkb_bundle *bundle = self;
	const ssize_t got = tkb_fd_pread_full(bundle->fd, data, size, offset);

	if (got < 0)
		return tkb_fail_errno(err, "cannot read");
	*got_out = (size_t)got;
	return 0;
}

int tkb_bundle_pread(const struct tkb_bundle *bundle, uint64_t offset,
                     void *data, size_t size, size_t *got_out,
                     struct tkb_error *err)
{
	size_t got = 0;
	int rc;

	rc = bundle->source.read_at(bundle->source.self, offset, data, size,
	                            &got, err);
	if (rc < 0)
		return rc;
	if (got > size)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the source gave more than was asked for");
	*got_out = got;
	return 0;
}

/* An empty bundle, or NULL if there is no memory. */
static struct tkb_bundle *new_bundle(const char *name)
{
	struct tkb_bundle *bundle = tkb_alloc_array(1, sizeof(*bundle));

	if (bundle == NULL)
		return NULL;
	bundle->fd = -1;
	bundle->name = strdup(name);
	if (bundle->name != NULL)
		return bundle;
	tkb_bundle_close(bundle);
	return NULL;
}

/*
 * Is `fd` a regular file, which can be read repeatedly? Otherwise it is read as
 * a pipe.
 */
static int check_file(const struct tkb_bundle *bundle, int fd,
                      bool *is_pipe_out, struct tkb_error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return tkb_fail_errno(err, "cannot read '%s'", bundle->name);
	if (S_ISDIR(status.st_mode))
		return tkb_fail(err, TKB_ERR_INVALID, "'%s' is a folder",
		                bundle->name);
	*is_pipe_out = !S_ISREG(status.st_mode);
	return 0;
}

/* Read the header and hand over the bundle to the caller. */
static int finish_open(struct tkb_bundle **bundle, struct tkb_bundle **out,
                       struct tkb_error *err)
{
	int rc;

	rc = tkb_bundle_read_header(*bundle, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s'", (*bundle)->name);
	*out = tkb_take(*bundle);
	return 0;
}

/* Copy from a pipe the frames that the header lists, and no more. */
static int read_pipe_header(struct tkb_bundle *bundle, int fd,
                            const struct tkb_watch *watch,
                            struct tkb_error *err)
{
	TKB_AUTO(pipe_close)
	struct pipe pipe = {
		.name = bundle->name, .fd = fd, .copy = -1, .watch = watch
	};
	int rc;

	rc = tkb_fd_unlinked(NULL, &pipe.copy, err);
	if (rc < 0)
		return rc;
	bundle->source =
		(struct tkb_source){ .read_at = read_pipe, .self = &pipe };
	rc = tkb_bundle_read_header(bundle, err);
	if (rc < 0)
		return pipe.has_failed
		               ? rc
		               : tkb_fail_while(err, rc, "'%s'", bundle->name);
	bundle->fd = pipe.copy;
	bundle->owns_fd = true;
	pipe.copy = -1;
	return 0;
}

int tkb_bundle_open_fd(int fd, const char *name, const struct tkb_watch *watch,
                       struct tkb_bundle **out, struct tkb_error *err)
{
	TKB_AUTO(close_at) struct tkb_bundle *bundle = new_bundle(name);
	struct tkb_watch own;
	bool is_pipe = false;
	int rc;

	if (bundle == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_watch_read(&own, watch, err);
	if (rc == 0)
		rc = check_file(bundle, fd, &is_pipe, err);
	if (rc == 0 && is_pipe)
		rc = read_pipe_header(bundle, fd, &own, err);
	if (rc < 0)
		return rc;
	bundle->source = (struct tkb_source){ .read_at = read_bundle_file,
		                              .self = bundle };
	if (is_pipe) {
		*out = tkb_take(bundle);
		return 0;
	}
	bundle->fd = fd;
	return finish_open(&bundle, out, err);
}

int tkb_bundle_open(const char *path, struct tkb_bundle **out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int rc;

	fd = tkb_fd_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY, 0);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TKB_MISS;
	if (fd < 0)
		return tkb_fail_errno(err, "cannot open '%s'", path);
	rc = tkb_bundle_open_fd(fd, path, NULL, out, err);
	if (rc == 0 && (*out)->fd == fd) {
		(*out)->owns_fd = true;
		fd = -1;
	}
	return rc;
}

int tkb_bundle_open_memory(struct tkb_bytes bytes, const char *name,
                           struct tkb_bundle **out, struct tkb_error *err)
{
	TKB_AUTO(close_at) struct tkb_bundle *bundle = new_bundle(name);

	if (bundle == NULL)
		return tkb_fail_nomem(err);
	bundle->memory = bytes;
	bundle->source = tkb_memory_source(&bundle->memory);
	return finish_open(&bundle, out, err);
}

int tkb_bundle_open_source(const struct tkb_source *source, const char *name,
                           struct tkb_bundle **out, struct tkb_error *err)
{
	TKB_AUTO(close_at) struct tkb_bundle *bundle = new_bundle(name);

	if (bundle == NULL)
		return tkb_fail_nomem(err);
	bundle->source = *source;
	return finish_open(&bundle, out, err);
}

int tkb_bundle_open_pinned(const struct tkb_source *source, const char *name,
                           const struct tkb_digest *id,
                           const struct tkb_digest *frames,
                           struct tkb_bundle **out, struct tkb_error *err)
{
	TKB_AUTO(close_at) struct tkb_bundle *bundle = new_bundle(name);
	int rc;

	if (bundle == NULL)
		return tkb_fail_nomem(err);
	bundle->source = *source;
	bundle->is_pinned = true;
	rc = tkb_bundle_read_header(bundle, err);
	if (rc == 0 && (!tkb_digest_equal(&bundle->id, id) ||
	                !tkb_digest_equal(&bundle->frames_digest, frames)))
		rc = tkb_fail(err, TKB_ERR_CORRUPT,
		              "it is another bundle than was named");
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s'", name);
	*out = tkb_take(bundle);
	return 0;
}

void tkb_bundle_close(struct tkb_bundle *bundle)
{
	if (bundle == NULL)
		return;
	if (bundle->owns_fd)
		tkb_fd_close_at(&bundle->fd);
	free(bundle->name);
	tkb_manifest_release(&bundle->manifest);
	free(bundle);
}

const struct tkb_digest *tkb_bundle_id(const struct tkb_bundle *bundle)
{
	return &bundle->id;
}

const struct tkb_error *tkb_bundle_fault(const struct tkb_bundle *bundle)
{
	return bundle->fault.status != 0 ? &bundle->fault : NULL;
}

const char *tkb_bundle_profile(const struct tkb_bundle *bundle)
{
	return bundle->manifest.profile;
}

bool tkb_bundle_is_inductor(const struct tkb_bundle *bundle)
{
	return bundle->manifest.layout != NULL;
}

size_t tkb_bundle_frame_count(const struct tkb_bundle *bundle)
{
	return bundle->frame_count;
}

void tkb_bundle_frame_sizes(const struct tkb_bundle *bundle, size_t index,
                            uint64_t *packed_out, uint64_t *size_out,
                            uint64_t *item_count_out)
{
	const struct tkb_frame *frame = &bundle->frames[index];

	*packed_out = frame->packed_size;
	*size_out = frame->size;
	*item_count_out = frame->entry_count;
}

size_t tkb_bundle_entry_count(const struct tkb_bundle *bundle)
{
	return bundle->manifest.entry_count;
}

const struct tkb_entry *tkb_bundle_entry(const struct tkb_bundle *bundle,
                                         size_t index)
{
	return &bundle->manifest.entries[index];
}

static const char *entry_key(const void *list, size_t index)
{
	const struct tkb_bundle *bundle = list;

	return bundle->manifest.entries[index].key;
}

int tkb_bundle_find(const struct tkb_bundle *bundle, const char *prefix,
                    size_t *index_out, struct tkb_error *err)
{
	return tkb_select_key(bundle, bundle->manifest.entry_count, entry_key,
	                      prefix, index_out, err);
}

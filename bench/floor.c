/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The floor of an emit: decode the frames of a bundle on two threads and write
 * each entry into a folder of its own, with one rename. It computes no digest,
 * checks nothing against the manifest, and does not look at what exists in the
 * root. It trusts the bundle, which bench.py has made.
 *
 *     floor BUNDLE ROOT
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <zstd.h>

enum {
	THREADS = 2,
	MAX_FRAMES = 4096,
	MAX_ENTRIES = 4096, /* in one frame */
	MAX_NAME = 256
};

static const char SENTINEL[] = "[REPLACE]";

struct bytes {
	const char *data;
	size_t size;
};

struct frame {
	struct bytes packed;
	size_t size;
};

struct job {
	struct frame frames[MAX_FRAMES];
	size_t count;
	atomic_size_t next;
	const char *root; /* absolute */
	int root_fd;
	int stage_fd;
};

/* An entry on its way: its folder in the stage. */
struct folder {
	char key[MAX_NAME];
	int fd;
};

/* What one thread uses again for each frame. */
struct worker {
	struct job *job;
	ZSTD_DCtx *decoder;
	char *plain;
	size_t capacity;
	struct folder *folders;
	size_t folder_count;
};

static _Noreturn void die(const char *what)
{
	(void)fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *allocate(size_t size)
{
	void *place = malloc(size);

	if (place == NULL)
		die("malloc");
	return place;
}

static void write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		const ssize_t done = write(fd, data, size);

		if (done < 0)
			die("write");
		data += done;
		size -= (size_t)done;
	}
}

/* Write `text` with the entry's path in place of each sentinel. */
static void write_restored(int fd, const struct job *job, const char *key,
                           struct bytes text)
{
	const size_t mark = sizeof SENTINEL - 1;
	const size_t path_size = strlen(job->root) + 1 + strlen(key);
	char *out = allocate(text.size / mark * path_size + text.size + 1);
	size_t used = 0;
	const char *at = text.data;
	const char *const end = text.data + text.size;

	for (;;) {
		const char *hit =
			memmem(at, (size_t)(end - at), SENTINEL, mark);
		const size_t plain = (size_t)((hit ? hit : end) - at);

		memcpy(out + used, at, plain);
		used += plain;
		if (hit == NULL)
			break;
		used += (size_t)sprintf(out + used, "%s/%s", job->root, key);
		at = hit + mark;
	}
	write_all(fd, out, used);
	free(out);
}

static int folder_of(struct worker *worker, const char *key)
{
	const int stage = worker->job->stage_fd;
	struct folder *folder;

	for (size_t i = 0; i < worker->folder_count; i++) {
		if (strcmp(worker->folders[i].key, key) == 0)
			return worker->folders[i].fd;
	}
	if (worker->folder_count == MAX_ENTRIES || strlen(key) >= MAX_NAME)
		die("too large for this program");
	folder = &worker->folders[worker->folder_count++];
	(void)strcpy(folder->key, key);
	if (mkdirat(stage, key, 0777) < 0)
		die(key);
	folder->fd = openat(stage, key, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		die(key);
	return folder->fd;
}

/* Put the member "triton/<key>/<name>" into its entry's folder. */
static void write_member(struct worker *worker, const char *path,
                         struct bytes content)
{
	const char *key_start = strchr(path, '/');
	const char *name = strrchr(path, '/');
	const char *extension = strrchr(path, '.');
	char key[MAX_NAME];
	int fd;

	if (key_start == NULL || key_start == name)
		die(path);
	(void)snprintf(key, sizeof key, "%.*s", (int)(name - key_start - 1),
	               key_start + 1);
	fd = openat(folder_of(worker, key), name + 1,
	            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		die(path);
	if (extension != NULL && strcmp(extension, ".json") == 0)
		write_restored(fd, worker->job, key, content);
	else
		write_all(fd, content.data, content.size);
	(void)close(fd);
}

static void publish(struct worker *worker)
{
	const struct job *job = worker->job;

	for (size_t i = 0; i < worker->folder_count; i++) {
		const struct folder *folder = &worker->folders[i];

		(void)close(folder->fd);
		if (renameat2(job->stage_fd, folder->key, job->root_fd,
		              folder->key, RENAME_NOREPLACE) < 0)
			die(folder->key);
	}
	worker->folder_count = 0;
}

static void decode(struct worker *worker, const struct frame *frame)
{
	size_t size;

	if (worker->capacity < frame->size) {
		free(worker->plain);
		worker->plain = allocate(frame->size);
		worker->capacity = frame->size;
	}
	size = ZSTD_decompressDCtx(worker->decoder, worker->plain, frame->size,
	                           frame->packed.data, frame->packed.size);
	if (ZSTD_isError(size) || size != frame->size)
		die("a frame cannot be decoded");
}

/* The next member of `tar` and its content, which stays in its memory. */
static const char *next_member(struct archive *tar, struct bytes *content_out)
{
	struct archive_entry *entry;
	const void *data = NULL;
	la_int64_t offset;
	size_t size = 0;
	int rc = archive_read_next_header(tar, &entry);

	if (rc == ARCHIVE_EOF)
		return NULL;
	if (rc != ARCHIVE_OK)
		die(archive_error_string(tar));
	rc = archive_read_data_block(tar, &data, &size, &offset);
	if ((rc != ARCHIVE_OK && rc != ARCHIVE_EOF) ||
	    (la_int64_t)size != archive_entry_size(entry))
		die("a member is not in one piece");
	*content_out = (struct bytes){ data, size };
	return archive_entry_pathname(entry);
}

static struct archive *open_tar(const char *data, size_t size)
{
	struct archive *tar = archive_read_new();

	if (tar == NULL || archive_read_support_format_tar(tar) != ARCHIVE_OK ||
	    archive_read_open_memory(tar, data, size) != ARCHIVE_OK)
		die("libarchive");
	return tar;
}

static void emit_frame(struct worker *worker, const struct frame *frame)
{
	struct archive *tar;
	struct bytes content;
	const char *path;

	decode(worker, frame);
	tar = open_tar(worker->plain, frame->size);
	for (path = next_member(tar, &content); path != NULL;
	     path = next_member(tar, &content))
		write_member(worker, path, content);
	(void)archive_read_free(tar);
	publish(worker);
}

static void *work(void *argument)
{
	struct job *job = argument;
	struct worker worker = { .job = job, .decoder = ZSTD_createDCtx() };

	worker.folders = allocate(MAX_ENTRIES * sizeof *worker.folders);
	for (size_t i = atomic_fetch_add(&job->next, 1); i < job->count;
	     i = atomic_fetch_add(&job->next, 1))
		emit_frame(&worker, &job->frames[i]);
	free(worker.folders);
	free(worker.plain);
	(void)ZSTD_freeDCtx(worker.decoder);
	return NULL;
}

/*
 * Read `tkbundle.frames`: after its first line, one line per data frame that
 * begins with a digest, the compressed size and the size. The frames follow
 * each other from `offset` on.
 */
static void read_frames(struct job *job, struct bytes bundle, size_t offset,
                        struct bytes list)
{
	const char *const end = list.data + list.size;
	const char *line = memchr(list.data, '\n', list.size);

	while (line != NULL && ++line < end) {
		unsigned long long packed_size;
		unsigned long long size;

		if (job->count == MAX_FRAMES ||
		    sscanf(line, "%*s %llu %llu", &packed_size, &size) != 2 ||
		    packed_size > bundle.size - offset)
			die("the list of frames is wrong");
		job->frames[job->count++] = (struct frame){
			.packed = { bundle.data + offset, packed_size },
			.size = size,
		};
		offset += packed_size;
		line = memchr(line, '\n', (size_t)(end - line));
	}
}

static void read_header(struct job *job, struct bytes bundle)
{
	const size_t packed_size =
		ZSTD_findFrameCompressedSize(bundle.data, bundle.size);
	const unsigned long long size =
		ZSTD_getFrameContentSize(bundle.data, bundle.size);
	struct archive *tar;
	struct bytes content;
	const char *path;
	char *plain;

	if (ZSTD_isError(packed_size) || size >= ZSTD_CONTENTSIZE_ERROR)
		die("it is no bundle");
	plain = allocate(size);
	if (ZSTD_decompress(plain, size, bundle.data, packed_size) != size)
		die("the header frame cannot be decoded");
	tar = open_tar(plain, size);
	for (path = next_member(tar, &content); path != NULL;
	     path = next_member(tar, &content)) {
		if (strcmp(path, "tkbundle.frames") == 0)
			read_frames(job, bundle, packed_size, content);
	}
	(void)archive_read_free(tar);
	free(plain);
	if (job->count == 0)
		die("the bundle has no frames");
}

static struct bytes map_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *data;

	if (fd < 0 || fstat(fd, &status) < 0)
		die(path);
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd,
	            0);
	if (data == MAP_FAILED)
		die(path);
	(void)close(fd);
	return (struct bytes){ data, (size_t)status.st_size };
}

int main(int argc, char **argv)
{
	static struct job job;
	static const char stage[] = ".stage";
	pthread_t threads[THREADS];

	if (argc != 3) {
		(void)fputs("usage: floor BUNDLE ROOT\n", stderr);
		return 2;
	}
	job.root = realpath(argv[2], NULL);
	if (job.root == NULL)
		die(argv[2]);
	job.root_fd = open(job.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (job.root_fd < 0 || mkdirat(job.root_fd, stage, 0777) < 0)
		die(job.root);
	job.stage_fd =
		openat(job.root_fd, stage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (job.stage_fd < 0)
		die(stage);
	read_header(&job, map_file(argv[1]));
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, work, &job) != 0)
			die("pthread_create");
	}
	for (size_t i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	if (unlinkat(job.root_fd, stage, AT_REMOVEDIR) < 0)
		die(stage);
	return 0;
}

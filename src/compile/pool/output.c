/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "compile/pool/message.h"

/* So much output may stay in memory in addition to what a reader may want. */
#define SLACK ((off_t)(4 * TKB_MIB))

int tkb_output_raise(int fd)
{
	int copy = fd;

	if (fd >= 0 && fd <= TKB_MESSAGE_FD) {
		copy = fcntl(fd, F_DUPFD_CLOEXEC, TKB_MESSAGE_FD + 1);
		(void)close(fd);
	}
	return copy;
}

int tkb_output_open(struct tkb_output *out, struct tkb_error *err)
{
	*out = (struct tkb_output){
		.fd = tkb_output_raise(
			memfd_create("tkbundle-worker", MFD_CLOEXEC)),
	};
	/*
	 * The file is truncated between jobs: with O_APPEND a process that is
	 * still writing continues at its end.
	 */
	if (out->fd < 0 || fcntl(out->fd, F_SETFL, O_APPEND) < 0)
		return tkb_fail_errno(err, "cannot make a file in memory");
	return 0;
}

void tkb_output_close(struct tkb_output *output)
{
	tkb_fd_close_at(&output->fd);
}

static off_t output_size(const struct tkb_output *output)
{
	struct stat about;

	return fstat(output->fd, &about) < 0 ? 0 : about.st_size;
}

void tkb_output_mark(struct tkb_output *output)
{
	output->kept = 0;
	if (ftruncate(output->fd, 0) == 0)
		output->start = 0;
	else
		output->start = output_size(output);
}

void tkb_output_trim(struct tkb_output *output, size_t size)
{
	const off_t end = output_size(output);
	const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	if ((uint64_t)(end - output->kept) <= (uint64_t)size + SLACK)
		return;
	/* If that fails, the output stays in memory. */
	(void)fallocate(output->fd, mode, output->kept,
	                end - (off_t)size - output->kept);
	output->kept = end - (off_t)size;
}

void tkb_output_read(const struct tkb_output *output, size_t size,
                     struct tkb_buf *out)
{
	const off_t end = output_size(output);
	off_t start = output->start;
	unsigned char *room;
	ssize_t got;

	if (end <= start)
		return;
	if ((uint64_t)(end - start) > size)
		start = end - (off_t)size;
	room = tkb_buf_reserve(out, (size_t)(end - start));
	if (room == NULL)
		return;
	got = tkb_fd_pread_full(output->fd, room, (size_t)(end - start),
	                        (uint64_t)start);
	if (got > 0)
		out->size += (size_t)got;
}

static bool has_letter(const char *line)
{
	for (; *line != '\0'; line++) {
		if ((*line >= 'a' && *line <= 'z') ||
		    (*line >= 'A' && *line <= 'Z'))
			return true;
	}
	return false;
}

void tkb_output_first_line(const struct tkb_output *output, char out[256])
{
	char text[1024];
	char *line = text;
	ssize_t got;

	out[0] = '\0';
	got = tkb_fd_pread_full(output->fd, text, sizeof(text) - 1,
	                        (uint64_t)output->start);
	text[got < 0 ? 0 : got] = '\0';
	while (*line != '\0') {
		const size_t length = strcspn(line, "\n");
		const bool is_last = line[length] == '\0';

		line[length] = '\0';
		if (has_letter(line)) {
			(void)snprintf(out, 256, "%.255s", line);
			return;
		}
		line += is_last ? length : length + 1;
	}
}

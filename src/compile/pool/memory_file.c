/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/memory_file.h"

#include <string.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "emit/stage.h"

/* Read the contents of a file in the folder `own_fd`. */
static struct tkb_bytes read_contents(const struct tkb_memory_file *file,
                                      int own_fd, struct tkb_buf *buf)
{
	const struct tkb_bytes nothing = { "", 0 };
	const size_t magic_size = strlen(file->magic);
	const size_t head_size = magic_size + sizeof(struct tkb_digest);
	struct tkb_digest digest;
	struct tkb_bytes all;
	struct stat status;

	if (tkb_fd_read_file(own_fd, file->name, file->limit, buf, &status,
	                     NULL) < 0 ||
	    buf->failure != 0 || buf->size < head_size ||
	    memcmp(buf->data, file->magic, magic_size) != 0)
		return nothing;
	all = tkb_bytes_slice(tkb_buf_bytes(buf), head_size, buf->size);
	if (tkb_digest_of(all, &digest, NULL) < 0 ||
	    memcmp(&digest, buf->data + magic_size, sizeof(digest)) != 0)
		return nothing;
	return all;
}

struct tkb_bytes tkb_memory_file_read(const struct tkb_memory_file *file,
                                      const char *root, struct tkb_buf *buf)
{
	TKB_AUTO(tkb_fd_close_at) int own = tkb_own_folder_open_at(root);

	return own < 0 ? (struct tkb_bytes){ "", 0 }
	               : read_contents(file, own, buf);
}

/* Write the contents to a file in the stage, then rename it. */
static void write_contents(const struct tkb_memory_file *file,
                           const struct tkb_stage *stage, struct tkb_bytes all)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf bytes = TKB_BUF_INIT(file->limit);
	struct tkb_digest digest;

	if (tkb_digest_of(all, &digest, NULL) < 0)
		return;
	tkb_buf_add_text(&bytes, file->magic);
	tkb_buf_add(&bytes, (struct tkb_bytes){ &digest, sizeof(digest) });
	tkb_buf_add(&bytes, all);
	fd = tkb_fd_open(stage->fd, file->name,
	                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
	if (fd < 0 || bytes.failure != 0)
		return;
	tkb_share_apply(&stage->share, fd);
	if (tkb_fd_write_all(fd, tkb_buf_bytes(&bytes), file->name, NULL) < 0)
		return;
	(void)renameat(stage->fd, file->name, stage->own_fd, file->name);
}

void tkb_memory_file_update(const struct tkb_memory_file *file,
                            const char *root, tkb_memory_merge merge,
                            void *self)
{
	static const struct tkb_digest nothing = { { 0 } };
	TKB_AUTO(tkb_roots_release) struct tkb_roots roots = { 0 };
	TKB_AUTO(tkb_stage_close) struct tkb_stage stage = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf old = TKB_BUF_INIT(file->limit + 1);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf all = TKB_BUF_INIT(file->limit);

	tkb_stage_init(&stage, NULL);
	if (tkb_root_make(root, false, 0, false, &roots, NULL) < 0 ||
	    roots.items[0].fd < 0)
		return;
	tkb_stage_init(&stage, &roots.items[0]);
	tkb_stage_begin(&stage, &nothing, true);
	if (tkb_stage_open(&stage, NULL) < 0)
		return;
	merge(self, read_contents(file, stage.own_fd, &old), &all);
	if (all.failure == 0)
		write_contents(file, &stage, tkb_buf_bytes(&all));
}

void tkb_memory_file_remove(const struct tkb_memory_file *file,
                            const char *root)
{
	TKB_AUTO(tkb_fd_close_at) int own = tkb_own_folder_open_at(root);

	if (own >= 0)
		(void)unlinkat(own, file->name, 0);
}

bool tkb_memory_next(struct tkb_fields *fields, struct tkb_digest *query_out,
                     struct tkb_bytes *answer_out)
{
	unsigned field;
	struct tkb_bytes bytes;

	if (tkb_fields_next(fields, &field, &bytes, NULL) != 0 ||
	    field != TKB_FIELD_QUERY || bytes.size != sizeof(*query_out))
		return false;
	memcpy(query_out, bytes.data, bytes.size);
	return tkb_fields_next(fields, &field, answer_out, NULL) == 0 &&
	       field == TKB_FIELD_ANSWER;
}

bool tkb_memory_find(struct tkb_bytes all, const struct tkb_digest *query,
                     struct tkb_bytes *answer_out)
{
	struct tkb_fields fields = { .bytes = all };
	struct tkb_digest found;

	while (tkb_memory_next(&fields, &found, answer_out)) {
		if (tkb_digest_equal(&found, query))
			return true;
	}
	return false;
}

void tkb_memory_add(struct tkb_buf *out, const struct tkb_digest *query,
                    struct tkb_bytes answer)
{
	tkb_field_add(out, TKB_FIELD_QUERY,
	              (struct tkb_bytes){ query, sizeof(*query) });
	tkb_field_add(out, TKB_FIELD_ANSWER, answer);
}

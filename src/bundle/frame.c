/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/frame.h"

#include <stdlib.h>

#include <zstd.h>

#include "base/fd.h"

enum {
	STREAM_CHUNK = 256 * 1024
};

static int open_packer(struct tkb_packer *packer, struct tkb_error *err)
{
	ZSTD_CCtx *context;

	if (packer->context != NULL)
		return 0;
	context = ZSTD_createCCtx();
	if (context == NULL)
		return tkb_fail_nomem(err);
	packer->context = context;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(
		    context, ZSTD_c_compressionLevel, TKB_FRAME_LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog,
	                                        TKB_FRAME_WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag,
	                                        1)) ||
	    ZSTD_isError(
		    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)))
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "libzstd refuses the format's settings");
	return 0;
}

void tkb_packer_close(struct tkb_packer *packer)
{
	(void)ZSTD_freeCCtx(packer->context);
	*packer = (struct tkb_packer){ 0 };
}

int tkb_packer_pack(struct tkb_packer *packer, struct tkb_bytes bytes,
                    struct tkb_buf *out, struct tkb_error *err)
{
	const size_t bound = ZSTD_compressBound(bytes.size);
	unsigned char *place;
	size_t size;
	int rc;

	rc = open_packer(packer, err);
	if (rc < 0)
		return rc;
	place = tkb_buf_reserve(out, bound);
	if (place == NULL)
		return tkb_buf_check(out, err);
	size = ZSTD_compress2(packer->context, place, bound, bytes.data,
	                      bytes.size);
	if (ZSTD_isError(size))
		return tkb_fail(err, TKB_ERR_NOMEM, "cannot compress: %s",
		                ZSTD_getErrorName(size));
	out->size += size;
	return 0;
}

static int open_unpacker(struct tkb_unpacker *unpacker, struct tkb_error *err)
{
	if (unpacker->context == NULL)
		unpacker->context = ZSTD_createDCtx();
	if (unpacker->context == NULL)
		return tkb_fail_nomem(err);
	(void)ZSTD_DCtx_reset(unpacker->context,
	                      ZSTD_reset_session_and_parameters);
	return 0;
}

void tkb_unpacker_close(struct tkb_unpacker *unpacker)
{
	(void)ZSTD_freeDCtx(unpacker->context);
	*unpacker = (struct tkb_unpacker){ 0 };
}

int tkb_unpacker_unpack(struct tkb_unpacker *unpacker, struct tkb_bytes frame,
                        size_t size, struct tkb_buf *out, struct tkb_error *err)
{
	unsigned char *place;
	size_t got;
	int rc;

	if (ZSTD_getFrameContentSize(frame.data, frame.size) != size ||
	    ZSTD_findFrameCompressedSize(frame.data, frame.size) != frame.size)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "it is not one zstd frame of %zu bytes", size);
	rc = open_unpacker(unpacker, err);
	if (rc < 0)
		return rc;
	place = tkb_buf_reserve(out, size);
	if (place == NULL)
		return tkb_buf_check(out, err);
	got = ZSTD_decompressDCtx(unpacker->context, place, size, frame.data,
	                          frame.size);
	if (ZSTD_isError(got) || got != size)
		return tkb_fail(err, TKB_ERR_CORRUPT, "cannot decompress: %s",
		                ZSTD_isError(got) ? ZSTD_getErrorName(got)
		                                  : "too short");
	out->size += size;
	return 0;
}

/* Decode all of `input`; `*left_out` is 0 once the frame has ended. */
static int feed(struct tkb_unpacker *unpacker, ZSTD_inBuffer *input,
                struct tkb_buf *out, size_t *left_out, struct tkb_error *err)
{
	ZSTD_outBuffer output = { 0 };

	/* A full output may hold back more than the input has left. */
	while (input->pos < input->size || output.pos == output.size) {
		size_t left;

		output.dst = tkb_buf_reserve(out, 1);
		if (output.dst == NULL)
			return tkb_buf_check(out, err);
		output.size = out->capacity - out->size;
		output.pos = 0;
		left = ZSTD_decompressStream(unpacker->context, &output, input);
		if (ZSTD_isError(left))
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "cannot decompress: %s",
			                ZSTD_getErrorName(left));
		out->size += output.pos;
		*left_out = left;
		if (left == 0)
			return 0;
	}
	return 0;
}

int tkb_unpacker_stream(struct tkb_unpacker *unpacker, int fd, uint64_t offset,
                        struct tkb_buf *out, uint64_t *end_out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(STREAM_CHUNK);
	size_t left = 1;
	int rc;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	rc = open_unpacker(unpacker, err);
	if (rc < 0)
		return rc;
	if (ZSTD_isError(ZSTD_DCtx_setParameter(unpacker->context,
	                                        ZSTD_d_windowLogMax,
	                                        TKB_FRAME_WINDOW_LOG)))
		return tkb_fail_nomem(err);

	while (left != 0) {
		ZSTD_inBuffer input = { .src = chunk };
		const ssize_t got =
			tkb_fd_pread_full(fd, chunk, STREAM_CHUNK, offset);

		if (got < 0)
			return tkb_fail_errno(err, "cannot read");
		if (got == 0)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "it ends in its first frame");
		input.size = (size_t)got;
		rc = feed(unpacker, &input, out, &left, err);
		if (rc < 0)
			return rc;
		offset += input.pos;
	}
	*end_out = offset;
	return 0;
}

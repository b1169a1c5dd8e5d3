/* SPDX-License-Identifier: Apache-2.0 */
#include "format/frame.h"

/* For ZSTD_d_forceIgnoreChecksum; a libzstd without it still checks. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

static int open_packer(struct tkb_packer *packer, struct tkb_error *err)
{
	const int level = packer->level != 0 ? packer->level : TKB_FRAME_LEVEL;
	ZSTD_CCtx *context;

	if (packer->context != NULL)
		return 0;
	context = ZSTD_createCCtx();
	if (context == NULL)
		return tkb_fail_nomem(err);
	if (ZSTD_isError(ZSTD_CCtx_setParameter(
		    context, ZSTD_c_compressionLevel, level)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog,
	                                        TKB_FRAME_WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag,
	                                        1)) ||
	    ZSTD_isError(
		    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
		(void)ZSTD_freeCCtx(context);
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "libzstd refuses the format's settings");
	}
	packer->context = context;
	return 0;
}

void tkb_packer_close(struct tkb_packer *packer)
{
	(void)ZSTD_freeCCtx(packer->context);
	packer->context = NULL;
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
	if (ZSTD_isError(size)) {
		/* After a failure the context's state is unspecified: close
		   it, and open a new one next time. */
		tkb_packer_close(packer);
		return tkb_fail(err, TKB_ERR_NOMEM, "cannot compress: %s",
		                ZSTD_getErrorName(size));
	}
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
	if (unpacker->has_digest)
		(void)ZSTD_DCtx_setParameter(unpacker->context,
		                             ZSTD_d_forceIgnoreChecksum,
		                             ZSTD_d_ignoreChecksum);
	return 0;
}

void tkb_unpacker_close(struct tkb_unpacker *unpacker)
{
	(void)ZSTD_freeDCtx(unpacker->context);
	unpacker->context = NULL;
}

/* The slice that `bytes` begin with; false if they begin with none. */
static bool find_slice(struct tkb_bytes bytes, size_t offset,
                       struct tkb_slice *out)
{
	const unsigned long long size =
		ZSTD_getFrameContentSize(bytes.data, bytes.size);
	const size_t packed =
		ZSTD_findFrameCompressedSize(bytes.data, bytes.size);

	/* A frame that decoders skip has no content. */
	if (ZSTD_isError(packed) || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size == ZSTD_CONTENTSIZE_ERROR || size == 0 || size > SIZE_MAX)
		return false;
	*out = (struct tkb_slice){ .packed = { bytes.data, packed },
		                   .offset = offset,
		                   .size = (size_t)size };
	return true;
}

int tkb_slices_find(struct tkb_bytes frame, size_t size, struct tkb_slices *out,
                    struct tkb_error *err)
{
	size_t found = 0; /* bytes */
	size_t at = 0;

	out->count = 0;
	do {
		struct tkb_slice *slice = &out->items[out->count];

		if (out->count == TKB_SLICE_LIMIT ||
		    !find_slice(tkb_bytes_slice(frame, at, frame.size), found,
		                slice) ||
		    slice->size > size - found)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "it is not %zu bytes in zstd frames",
			                size);
		out->count++;
		found += slice->size;
		at += slice->packed.size;
	} while (at < frame.size);
	return found == size ? 0
	                     : tkb_fail(err, TKB_ERR_CORRUPT,
	                                "it has %zu bytes in zstd frames, not "
	                                "%zu",
	                                found, size);
}

int tkb_unpacker_unpack_slice(struct tkb_unpacker *unpacker,
                              const struct tkb_slice *slice, unsigned char *out,
                              struct tkb_error *err)
{
	size_t got;
	int rc;

	rc = open_unpacker(unpacker, err);
	if (rc < 0)
		return rc;
	got = ZSTD_decompressDCtx(unpacker->context, out + slice->offset,
	                          slice->size, slice->packed.data,
	                          slice->packed.size);
	if (ZSTD_isError(got) || got != slice->size) {
		tkb_unpacker_close(unpacker);
		return tkb_fail(err, TKB_ERR_CORRUPT, "cannot decompress: %s",
		                ZSTD_isError(got) ? ZSTD_getErrorName(got)
		                                  : "too short");
	}
	return 0;
}

int tkb_unpacker_unpack(struct tkb_unpacker *unpacker, struct tkb_bytes frame,
                        size_t size, struct tkb_buf *out, struct tkb_error *err)
{
	struct tkb_slice whole;
	unsigned char *place;
	int rc;

	if (!find_slice(frame, 0, &whole) || whole.size != size ||
	    whole.packed.size != frame.size)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "it is not one zstd frame of %zu bytes", size);
	place = tkb_buf_reserve(out, size);
	if (place == NULL)
		return tkb_buf_check(out, err);
	rc = tkb_unpacker_unpack_slice(unpacker, &whole, place, err);
	if (rc == 0)
		out->size += size;
	return rc;
}

int tkb_frame_measure(struct tkb_bytes bytes, size_t *packed_out,
                      uint64_t *size_out, struct tkb_error *err)
{
	const unsigned long long size =
		ZSTD_getFrameContentSize(bytes.data, bytes.size);
	const size_t packed =
		ZSTD_findFrameCompressedSize(bytes.data, bytes.size);

	if (ZSTD_isError(packed) &&
	    ZSTD_getErrorCode(packed) == ZSTD_error_srcSize_wrong)
		return TKB_MISS;
	if (ZSTD_isError(packed))
		return tkb_fail(err, TKB_ERR_CORRUPT, "cannot decompress: %s",
		                ZSTD_getErrorName(packed));
	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "its first frame does not tell its size");
	*packed_out = packed;
	*size_out = size;
	return 0;
}

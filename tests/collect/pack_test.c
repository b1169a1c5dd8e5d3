/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include "base/blob_buffer.h"
#include "format/frame.h"
#include "collect/pack.h"

/* What is packed, and where it waits, after something went wrong. */

enum {
	SIZE = 100 * 1000
};

/* Bytes that tell where they belong. */
static struct tkb_bytes make_bytes(unsigned char seed)
{
	unsigned char *bytes = test_alloc(SIZE);

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (unsigned char)(seed + i / 251 + i);
	return (struct tkb_bytes){ bytes, SIZE };
}

/* Files may have so many bytes, or RLIM_INFINITY: what is more is a short write. */
static void limit_files(rlim_t size)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	SYS(getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	SYS(setrlimit(RLIMIT_FSIZE, &limit));
}

TEST(blob_buffer, gives_each_piece_back_though_a_write_was_short)
{
	const struct tkb_bytes pieces[] = { make_bytes(1), make_bytes(2),
		                            make_bytes(3) };
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(0, 10 * SIZE);
	unsigned char *all = test_alloc(2 * SIZE);
	uint64_t offsets[3];
	size_t count = 0;

	hold.folder = ".";
	OK(tkb_blob_buffer_put(&hold, pieces[0], &offsets[0], ERR));
	limit_files(SIZE + SIZE / 2);
	CHECK_INT(tkb_blob_buffer_put(&hold, pieces[1], &offsets[1], ERR),
	          TKB_ERR_IO);
	limit_files(RLIM_INFINITY);
	OK(tkb_blob_buffer_put(&hold, pieces[2], &offsets[2], ERR));
	OK(tkb_blob_buffer_read(&hold, 0, all, 2 * SIZE, &count, ERR));
	CHECK_INT(count, 2 * SIZE);
	for (size_t i = 0; i < 3; i += 2) {
		struct tkb_buf *got = test_buf(SIZE);
		const struct tkb_sink sink = tkb_buf_sink(got);

		OK(tkb_blob_buffer_send(&hold, offsets[i], SIZE, &sink, ERR));
		CHECK(tkb_bytes_equal(tkb_buf_bytes(got), pieces[i]));
		CHECK_INT(memcmp(all + offsets[i], pieces[i].data, SIZE), 0);
	}
}

/* The linker gives us libzstd's calls: of the settings this one is refused. */
static unsigned refused;

size_t __real_ZSTD_CCtx_setParameter(ZSTD_CCtx *context,
                                     ZSTD_cParameter parameter, int value);
size_t __wrap_ZSTD_CCtx_setParameter(ZSTD_CCtx *context,
                                     ZSTD_cParameter parameter, int value);

size_t __wrap_ZSTD_CCtx_setParameter(ZSTD_CCtx *context,
                                     ZSTD_cParameter parameter, int value)
{
	if (refused != 0 && --refused == 0)
		return (size_t)-1;
	return __real_ZSTD_CCtx_setParameter(context, parameter, value);
}

static void pack(struct tkb_packer *packer, struct tkb_bytes bytes,
                 struct tkb_buf *out)
{
	OK(tkb_packer_pack(packer, bytes, out, ERR));
}

TEST(frame, is_as_ever_after_a_setting_was_refused)
{
	const struct tkb_bytes bytes = make_bytes(5);

	for (unsigned i = 2; i <= 4; i++) {
		TKB_AUTO(tkb_packer_close) struct tkb_packer good = { 0 };
		TKB_AUTO(tkb_packer_close) struct tkb_packer bad = { 0 };
		struct tkb_buf *wanted = test_buf(2 * SIZE);
		struct tkb_buf *got = test_buf(2 * SIZE);

		refused = i;
		CHECK_INT(tkb_packer_pack(&bad, bytes, got, ERR),
		          TKB_ERR_UNSUPPORTED);
		refused = 0;
		pack(&bad, bytes, got);
		pack(&good, bytes, wanted);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(got),
		                      tkb_buf_bytes(wanted)));
	}
}

TKB_AUTO_POINTER(close_cache, struct tkb_cache, tkb_cache_close)

/*
 * One entry proves bad when all are packed: they are packed again, and so is the
 * frame of payloads, which was good.
 */
TEST(pack, that_begins_anew_needs_no_more_room)
{
	static const char *const root = "made/.triton/cache";
	static const struct tkb_watch nobody = { SIZED(nobody) };
	const struct tkb_cache_options options = { SIZED(options),
		                                   .watch = &nobody };
	const struct tkb_scan scan = { .options = &options };
	TKB_AUTO(close_cache) struct tkb_cache *cache = NULL;
	TKB_AUTO(tkb_watcher_release) struct tkb_watcher watcher;
	TKB_AUTO(tkb_pack_close) struct tkb_pack packed;
	struct tkb_saving saving = { .payload = make_bytes(9) };
	uint64_t size = 0;

	unpack("triton-3.6.0-h100", "made");
	tkb_watcher_init(&watcher, &nobody, 0);
	OK(tkb_cache_scan(root, &scan, &cache, ERR));
	const char **keys = list(root);
	write_text(text("%s/%s/new", root, keys[0]), "");
	for (const char **name = list(text("%s/%s", root, keys[0]));
	     *name != NULL; name++)
		(void)truncate(text("%s/%s/%s", root, keys[0], *name), 1);

	saving.saved = (struct tkb_saved_launcher){ .cache_key = "conf",
		                                    .name = "kernel",
		                                    .need = TKB_NEED_ALL,
		                                    .needs = &keys[1],
		                                    .need_count = 1,
		                                    .size = SIZE };

	tkb_pack_init(&packed, &watcher, ".");
	packed.cache = cache;
	packed.savings = &saving;
	packed.saving_count = 1;
	OK(tkb_pack(&packed, ERR));
	CHECK_INT(tkb_cache_left_out_count(cache), 1);
	for (size_t i = 0; i < packed.frame_count; i++)
		size += packed.frames[i].packed_size;
	CHECK_INT(packed.hold.size, size);
}

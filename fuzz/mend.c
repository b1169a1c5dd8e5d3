/* SPDX-License-Identifier: Apache-2.0 */
#include "mend.h"

enum {
	BLOCK_SIZE = 512
};

/* The size in a tar header: octal digits. */
static uint64_t header_size(const unsigned char *header)
{
	uint64_t size = 0;

	for (size_t i = 124; i < 135; i++)
		size = size << 3 | (header[i] & 7);
	return size;
}

static void write_checksum(unsigned char *header)
{
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < BLOCK_SIZE; i++)
		sum += header[i];
	for (size_t i = 0; i < 6; i++)
		header[148 + i] =
			(unsigned char)('0' + (sum >> (15 - 3 * i) & 7));
	header[154] = '\0';
}

void fuzz_mend_tar(struct tkb_bytes contents, struct tkb_buf *out)
{
	static const unsigned char zeros[BLOCK_SIZE];
	size_t at = 0;

	tkb_buf_add(out, contents);
	while (out->size - at >= BLOCK_SIZE) {
		unsigned char *header = out->data + at;
		uint64_t size;

		if (memcmp(header, zeros, BLOCK_SIZE) == 0)
			break;
		write_checksum(header);
		size = (header_size(header) + BLOCK_SIZE - 1) / BLOCK_SIZE *
		       BLOCK_SIZE;
		at += BLOCK_SIZE;
		if (size > out->size - at)
			break;
		at += (size_t)size;
	}
}

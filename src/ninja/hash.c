/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/hash.h"

/* Up to 8 bytes at `data` as a number, little-endian. */
static uint64_t little_endian(const unsigned char *data, size_t size)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word |= (uint64_t)data[i] << 8 * i;
	return word;
}

/* Austin Appleby's MurmurHash64A, with ninja's seed. */
static uint64_t murmur(const unsigned char *data, size_t size)
{
	const uint64_t factor = UINT64_C(0xc6a4a7935bd1e995);
	uint64_t hash = UINT64_C(0xdecafbaddecafbad) ^ (size * factor);

	for (; size >= 8; data += 8, size -= 8) {
		uint64_t word = little_endian(data, 8) * factor;

		word ^= word >> 47;
		hash = (hash ^ (word * factor)) * factor;
	}
	if (size != 0)
		hash = (hash ^ little_endian(data, size)) * factor;
	hash ^= hash >> 47;
	hash *= factor;
	return hash ^ hash >> 47;
}

/* Nicolas De Carli's rapidhash, version 1 */

static const uint64_t secrets[] = { UINT64_C(0x2d358dccaa6c78a5),
	                            UINT64_C(0x8bb84b93962eacc9),
	                            UINT64_C(0x4b33a62ed433d4a3) };

/* The lower and the upper half of the product. */
static void multiply_wide(uint64_t a, uint64_t b, uint64_t *low, uint64_t *high)
{
	const uint64_t a0 = (uint32_t)a;
	const uint64_t a1 = a >> 32;
	const uint64_t b0 = (uint32_t)b;
	const uint64_t b1 = b >> 32;
	const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	const uint64_t other = a0 * b1 + (uint32_t)middle;

	*low = a * b;
	*high = a1 * b1 + (middle >> 32) + (other >> 32);
}

static uint64_t mix_words(uint64_t a, uint64_t b)
{
	uint64_t low;
	uint64_t high;

	multiply_wide(a, b, &low, &high);
	return low ^ high;
}

static uint64_t mix_at(const unsigned char *data, uint64_t secret,
                       uint64_t state)
{
	return mix_words(little_endian(data, 8) ^ secret,
	                 little_endian(data + 8, 8) ^ state);
}

/* Read the last 16 bytes; of a shorter text, read everything. */
static void read_end(const unsigned char *data, size_t size, uint64_t *a,
                     uint64_t *b)
{
	const size_t delta = (size & 24) >> (size >> 3);

	*a = 0;
	*b = 0;
	if (size > 16) {
		*a = little_endian(data + size - 16, 8);
		*b = little_endian(data + size - 8, 8);
	} else if (size >= 4) {
		*a = little_endian(data, 4) << 32 |
		     little_endian(data + size - 4, 4);
		*b = little_endian(data + delta, 4) << 32 |
		     little_endian(data + size - 4 - delta, 4);
	} else if (size != 0) {
		*a = (uint64_t)data[0] << 56 | (uint64_t)data[size >> 1] << 32 |
		     data[size - 1];
	}
}

static uint64_t rapid(const unsigned char *data, size_t size)
{
	uint64_t state = UINT64_C(0xbdd89aa982704029);
	size_t left = size;
	uint64_t a;
	uint64_t b;

	state ^= mix_words(state ^ secrets[0], secrets[1]) ^ size;
	if (size > 48) {
		uint64_t second = state;
		uint64_t third = state;

		for (; left >= 48; data += 48, left -= 48) {
			state = mix_at(data, secrets[0], state);
			second = mix_at(data + 16, secrets[1], second);
			third = mix_at(data + 32, secrets[2], third);
		}
		state ^= second ^ third;
	}
	if (size > 16 && left > 16)
		state = mix_at(data, secrets[2], state ^ secrets[1]);
	if (size > 16 && left > 32)
		state = mix_at(data + 16, secrets[2], state);
	/* The last 16 bytes may overlap with the blocks before. */
	if (size > 16)
		read_end(data + left - 17, 17, &a, &b);
	else
		read_end(data, size, &a, &b);
	multiply_wide(a ^ secrets[1], b ^ state, &a, &b);
	return mix_words(a ^ secrets[0] ^ size, b ^ secrets[1]);
}

uint64_t tkb_ninja_hash(int version, struct tkb_bytes command)
{
	return (version < 7 ? murmur : rapid)(command.data, command.size);
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_ELF_IMAGE_H
#define TKB_TESTS_ELF_IMAGE_H

/* ELF files that a test may change: put(&image, HEADER(e_type), ET_REL). */

#include <elf.h>

#include "harness.h"

struct image {
	unsigned char *data;
	size_t size;
	const char *name;
};

/* File `name` of whichever entry of a fixture has it. */
struct image load_image(const char *fixture, const char *name);

/* Fields of `size` bytes at `at`, little-endian. */
void put(struct image *image, uint64_t at, size_t size, uint64_t value);
uint64_t get(const struct image *image, uint64_t at, size_t size);

/* Where such a field is, and its size. */
#define FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)
#define HEADER(field) FIELD(Elf64_Ehdr, field)
#define SECTION(image, index, field)                                           \
	section_at(image, index) + offsetof(Elf64_Shdr, field),                \
		sizeof(((Elf64_Shdr *)0)->field)

uint64_t section_at(const struct image *image, uint64_t index);

/* The first section of `type`. */
uint64_t find_section(const struct image *image, uint64_t type);

#endif

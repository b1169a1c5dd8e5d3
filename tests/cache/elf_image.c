/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_image.h"

struct image load_image(const char *fixture, const char *name)
{
	const char **paths;

	if (!exists(fixture))
		unpack(fixture, fixture);
	paths = files_below(fixture, text("/%s", name));
	CHECK(*paths != NULL);
	const struct tkb_bytes bytes = read_file(*paths);
	return (struct image){ (unsigned char *)test_bytes(bytes), bytes.size,
		               name };
}

void put(struct image *image, uint64_t at, size_t size, uint64_t value)
{
	CHECK(at + size <= image->size);
	for (size_t i = 0; i < size; i++)
		image->data[at + i] = (unsigned char)(value >> 8 * i);
}

uint64_t get(const struct image *image, uint64_t at, size_t size)
{
	uint64_t value = 0;

	CHECK(at + size <= image->size);
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)image->data[at + i] << 8 * i;
	return value;
}

uint64_t section_at(const struct image *image, uint64_t index)
{
	return get(image, HEADER(e_shoff)) + index * sizeof(Elf64_Shdr);
}

uint64_t find_section(const struct image *image, uint64_t type)
{
	uint64_t index = 0;

	while (get(image, SECTION(image, index, sh_type)) != type)
		index++;
	return index;
}

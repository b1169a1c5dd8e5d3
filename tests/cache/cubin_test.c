/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>

#include "harness.h"

/* A cubin that a test may change. */
struct image {
	unsigned char *data;
	size_t size;
};

/* The parts that were told, copied while they were. */
struct told {
	struct tkb_cubin_part *parts;
	size_t count;
	size_t limit;       /* then `failure` is returned */
	struct image image; /* what the bytes must lie in */
};

/* add_kernel's out of the one entry that has it. */
static struct image load(const char *fixture)
{
	const char **keys;
	struct image image = { .size = 0 };

	unpack(fixture, fixture);
	for (keys = list(text("%s/.triton/cache", fixture)); *keys != NULL;
	     keys++) {
		const char *path = text("%s/.triton/cache/%s/add_kernel.cubin",
		                        fixture, *keys);

		if (!exists(path))
			continue;
		struct tkb_bytes bytes = read_file(path);
		image.size = bytes.size;
		image.data = test_alloc(bytes.size);
		memcpy(image.data, bytes.data, bytes.size);
		return image;
	}
	fail_msg("there is no add_kernel in '%s'", fixture);
	return image;
}

static Elf64_Ehdr header_of(struct image image)
{
	Elf64_Ehdr header;

	memcpy(&header, image.data, sizeof(header));
	return header;
}

/* Section `index`; as this machine is little-endian, fields are as they lie. */
static Elf64_Shdr section_of(struct image image, size_t index)
{
	Elf64_Shdr section;

	memcpy(&section,
	       image.data + header_of(image).e_shoff + index * sizeof(section),
	       sizeof(section));
	return section;
}

static void set_section(struct image image, size_t index, Elf64_Shdr section)
{
	memcpy(image.data + header_of(image).e_shoff + index * sizeof(section),
	       &section, sizeof(section));
}

static const char *name_of(struct image image, Elf64_Shdr section)
{
	const Elf64_Shdr names = section_of(image, header_of(image).e_shstrndx);

	return (const char *)image.data + names.sh_offset + section.sh_name;
}

/* The first section of `type`. */
static size_t find_type(struct image image, uint32_t type)
{
	size_t index = 0;

	while (section_of(image, index).sh_type != type)
		index++;
	return index;
}

static size_t find_name(struct image image, const char *name)
{
	size_t index = 1;

	while (strcmp(name_of(image, section_of(image, index)), name) != 0)
		index++;
	return index;
}

static int keep_part(void *self, const struct tkb_cubin_part *part,
                     struct tkb_error *err)
{
	struct told *told = self;
	struct tkb_cubin_part *kept = &told->parts[told->count];

	if (told->count == told->limit) {
		*err = (struct tkb_error){ .status = TKB_ERR_TOO_LARGE,
			                   .message = "enough" };
		return TKB_ERR_TOO_LARGE;
	}
	*kept = *part;
	kept->name = text("%s", part->name);
	told->count++;

	if (part->bytes.size > 0) {
		const unsigned char *begin = part->bytes.data;
		const unsigned char *end = told->image.data + told->image.size;

		CHECK(begin >= told->image.data && begin <= end);
		CHECK(part->bytes.size <= (size_t)(end - begin));
		CHECK_INT(begin - told->image.data, part->offset);
	}
	return 0;
}

static int tell(struct image image, struct told *told, struct tkb_error *err)
{
	const struct tkb_cubin_visitor visitor = { keep_part, told };
	const size_t limit =
		image.size >= sizeof(Elf64_Ehdr) ? header_of(image).e_shnum : 0;

	*told = (struct told){ .parts = test_alloc((limit + 1) *
		                                   sizeof(*told->parts)),
		               .limit = limit,
		               .image = image };
	return tkb_cubin_parts((struct tkb_bytes){ image.data, image.size },
	                       "k.cubin", &visitor, err);
}

static struct told must_tell(struct image image)
{
	struct told told;

	OK(tell(image, &told, ERR));
	return told;
}

static void must_refuse(struct image image, const char *message)
{
	struct told told;

	FAILS(tell(image, &told, ERR), TKB_ERR_CORRUPT, message);
	CHECK_INT(told.count, 0);
}

/* Names as `readelf -SW` lists them. */
TEST(cubin, parts_are_its_sections_in_the_order_of_the_file)
{
	static const char *const names[] = { ".shstrtab",
		                             ".strtab",
		                             ".symtab",
		                             ".debug_frame",
		                             ".debug_line",
		                             ".nv_debug_line_sass",
		                             ".nv_debug_ptx_txt",
		                             ".nv.info",
		                             ".nv.info.add_kernel",
		                             ".nv.callgraph",
		                             ".rela.debug_line",
		                             ".rela.nv_debug_line_sass",
		                             ".rela.debug_frame",
		                             ".text.add_kernel",
		                             ".nv.shared.reserved.0",
		                             ".nv.constant0.add_kernel" };
	const struct told told = must_tell(load("triton-3.6.0-cpu"));

	CHECK_INT(told.count, TKB_COUNT_OF(names));
	for (size_t i = 0; i < told.count; i++)
		CHECK_STR(told.parts[i].name, names[i]);
}

/* CUDA 12's and CUDA 13's: ABI versions 7 and 8. */
TEST(cubin, parts_have_the_bytes_that_the_section_headers_name)
{
	const char *const fixtures[] = { "triton-3.0.0-cpu",
		                         "triton-3.9.0-cpu" };

	EACH(i, fixtures) {
		const struct image image = load(fixtures[i]);
		const struct told told = must_tell(image);
		const size_t count = header_of(image).e_shnum;
		size_t at = 0;

		for (size_t j = 0; j < count; j++) {
			const Elf64_Shdr section = section_of(image, j);
			const struct tkb_cubin_part *part = &told.parts[at];

			if (section.sh_type == SHT_NULL)
				continue;
			CHECK(at < told.count);
			CHECK_STR(part->name, name_of(image, section));
			CHECK_INT(part->offset, section.sh_offset);
			CHECK_INT(part->bytes.size,
			          section.sh_type == SHT_NOBITS
			                  ? 0
			                  : section.sh_size);
			at++;
		}
		CHECK_INT(told.count, at);
		CHECK(at > 10);
	}
}

TEST(cubin, parts_without_bytes_in_the_file_are_empty)
{
	const struct image image = load("triton-3.9.0-cpu");
	const size_t index = find_type(image, SHT_NOBITS);
	Elf64_Shdr section = section_of(image, index);

	section.sh_size = (uint64_t)1 << 40;
	section.sh_offset = UINT64_MAX;
	set_section(image, index, section);
	struct told told = must_tell(image);

	CHECK_STR(told.parts[index - 1].name, name_of(image, section));
	CHECK_INT(told.parts[index - 1].bytes.size, 0);
	CHECK(told.parts[index - 1].offset == UINT64_MAX);
}

TEST(cubin, sections_of_no_type_are_no_parts)
{
	const struct image image = load("triton-3.6.0-cpu");
	const size_t index = find_name(image, ".debug_line");
	const size_t count = must_tell(image).count;
	Elf64_Shdr section = section_of(image, index);

	section.sh_type = SHT_NULL;
	section.sh_offset = UINT64_MAX;
	set_section(image, index, section);
	struct told told = must_tell(image);

	CHECK_INT(told.count, count - 1);
	for (size_t i = 0; i < told.count; i++)
		CHECK(strcmp(told.parts[i].name, ".debug_line") != 0);
}

TEST(cubin, a_part_whose_name_is_nowhere_has_an_empty_one)
{
	const struct image image = load("triton-3.6.0-cpu");
	const size_t index = find_name(image, ".text.add_kernel");
	Elf64_Shdr section = section_of(image, index);
	const Elf64_Shdr names = section_of(image, header_of(image).e_shstrndx);

	section.sh_name = (uint32_t)names.sh_size;
	set_section(image, index, section);
	struct told told = must_tell(image);
	CHECK_STR(told.parts[index - 1].name, "");
	CHECK_STR(told.parts[index - 2].name, ".rela.debug_frame");

	section.sh_name = UINT32_MAX;
	set_section(image, index, section);
	CHECK_STR(must_tell(image).parts[index - 1].name, "");
}

TEST(cubin, names_must_end_within_their_table)
{
	const struct image image = load("triton-3.6.0-cpu");
	const size_t table = header_of(image).e_shstrndx;
	const size_t index = find_name(image, ".text.add_kernel");
	const Elf64_Shdr section = section_of(image, index);
	Elf64_Shdr names = section_of(image, table);

	names.sh_size = section.sh_name + strlen(".text.add_kernel");
	set_section(image, table, names);
	CHECK_STR(must_tell(image).parts[index - 1].name, "");

	names.sh_size++;
	set_section(image, table, names);
	CHECK_STR(must_tell(image).parts[index - 1].name, ".text.add_kernel");
}

TEST(cubin, without_a_table_of_names_no_part_has_one)
{
	static const uint16_t indices[] = { 0, 0xfff0, 0xffff };
	const struct image image = load("triton-3.6.0-cpu");
	Elf64_Ehdr header = header_of(image);

	EACH(i, indices) {
		header.e_shstrndx = indices[i];
		memcpy(image.data, &header, sizeof(header));
		struct told told = must_tell(image);
		CHECK(told.count > 10);
		for (size_t j = 0; j < told.count; j++)
			CHECK_STR(told.parts[j].name, "");
	}
}

/* What has no bytes in the file may have any offset: it is not followed. */
TEST(cubin, a_table_of_names_far_behind_the_file_is_not_read)
{
	const struct image image = load("triton-3.6.0-cpu");
	const size_t table = header_of(image).e_shstrndx;
	Elf64_Shdr names = section_of(image, table);

	names.sh_type = SHT_NOBITS;
	names.sh_offset = (uint64_t)1 << 40;
	names.sh_size = UINT64_MAX;
	set_section(image, table, names);
	struct told told = must_tell(image);

	for (size_t i = 0; i < told.count; i++)
		CHECK_STR(told.parts[i].name, "");
}

TEST(cubin, a_visitor_that_fails_ends_it_with_its_own_words)
{
	const struct image image = load("triton-3.6.0-cpu");
	struct told told = { .parts = test_alloc(4 * sizeof(*told.parts)),
		             .limit = 3,
		             .image = image };
	const struct tkb_cubin_visitor visitor = { keep_part, &told };

	FAILS(tkb_cubin_parts((struct tkb_bytes){ image.data, image.size },
	                      "k.cubin", &visitor, ERR),
	      TKB_ERR_TOO_LARGE, "enough");
	CHECK_INT(told.count, 3);
}

TEST(cubin, what_is_no_elf_file_has_no_parts)
{
	struct image image = load("triton-3.6.0-cpu");

	must_refuse((struct image){ NULL, 0 }, "'k.cubin' is not an ELF file");
	must_refuse((struct image){ test_alloc(1000), 1000 },
	            "'k.cubin' is not an ELF file");
	image.data[EI_CLASS] = ELFCLASS32;
	must_refuse(image, "is not a 64-bit little-endian ELF file");
}

/* Each is given alone: a sanitizer sees a byte read behind it. */
TEST(cubin, cut_short_anywhere_is_refused)
{
	const struct image whole = load("triton-3.6.0-cpu");

	for (size_t size = 0; size < whole.size; size += 13) {
		struct image alone = { malloc(size == 0 ? 1 : size), size };
		struct told told;

		CHECK(alone.data != NULL);
		memcpy(alone.data, whole.data, size);
		int rc = tell(alone, &told, ERR);
		free(alone.data);
		if (rc != TKB_ERR_CORRUPT)
			fail_msg("cut to %zu bytes it is accepted", size);
		CHECK_INT(told.count, 0);
	}
}

/* keep_part() sees whether a part lies outside. */
TEST(cubin, with_any_bit_of_its_headers_flipped_parts_lie_within)
{
	const struct image whole = load("triton-3.9.0-cpu");
	const size_t table = header_of(whole).e_shoff;
	size_t refused = 0;

	for (size_t bit = 0; bit < 8 * whole.size; bit++) {
		const size_t at = bit / 8;
		struct told told;

		if (at >= sizeof(Elf64_Ehdr) && at < table)
			continue;
		whole.data[at] ^= (unsigned char)(1 << bit % 8);
		int rc = tell(whole, &told, ERR);
		whole.data[at] ^= (unsigned char)(1 << bit % 8);
		CHECK(rc == 0 || (rc == TKB_ERR_CORRUPT && told.count == 0));
		refused += rc != 0;
	}
	CHECK(refused > 100);
}

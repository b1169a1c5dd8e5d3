/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "elf_image.h"

/* The parts that were told, copied while they were. */
struct told {
	struct tkb_cubin_part *parts;
	size_t count;
	size_t limit;       /* then `failure` is returned */
	struct image image; /* what the bytes must lie in */
};

static struct image load(const char *fixture)
{
	return load_image(fixture, "add_kernel.cubin");
}

/* The index of the table of names. */
static uint64_t name_table(const struct image *image)
{
	return get(image, HEADER(e_shstrndx));
}

static const char *name_of(const struct image *image, uint64_t index)
{
	return (const char *)image->data +
	       get(image, SECTION(image, name_table(image), sh_offset)) +
	       get(image, SECTION(image, index, sh_name));
}

static uint64_t find_name(const struct image *image, const char *name)
{
	uint64_t index = 1;

	while (strcmp(name_of(image, index), name) != 0)
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
	const size_t limit = image.size >= sizeof(Elf64_Ehdr)
	                             ? get(&image, HEADER(e_shnum))
	                             : 0;

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
		const uint64_t count = get(&image, HEADER(e_shnum));
		size_t at = 0;

		for (uint64_t j = 0; j < count; j++) {
			const uint64_t type =
				get(&image, SECTION(&image, j, sh_type));
			const struct tkb_cubin_part *part = &told.parts[at];

			if (type == SHT_NULL)
				continue;
			CHECK(at < told.count);
			CHECK_STR(part->name, name_of(&image, j));
			CHECK_INT(part->offset,
			          get(&image, SECTION(&image, j, sh_offset)));
			CHECK_INT(part->bytes.size,
			          type == SHT_NOBITS
			                  ? 0
			                  : get(&image,
			                        SECTION(&image, j, sh_size)));
			at++;
		}
		CHECK_INT(told.count, at);
		CHECK(at > 10);
	}
}

TEST(cubin, parts_without_bytes_in_the_file_are_empty)
{
	struct image image = load("triton-3.9.0-cpu");
	const uint64_t index = find_section(&image, SHT_NOBITS);

	put(&image, SECTION(&image, index, sh_size), (uint64_t)1 << 40);
	put(&image, SECTION(&image, index, sh_offset), UINT64_MAX);
	struct told told = must_tell(image);

	CHECK_STR(told.parts[index - 1].name, name_of(&image, index));
	CHECK_INT(told.parts[index - 1].bytes.size, 0);
	CHECK(told.parts[index - 1].offset == UINT64_MAX);
}

TEST(cubin, sections_of_no_type_are_no_parts)
{
	struct image image = load("triton-3.6.0-cpu");
	const uint64_t index = find_name(&image, ".debug_line");
	const size_t count = must_tell(image).count;

	put(&image, SECTION(&image, index, sh_type), SHT_NULL);
	put(&image, SECTION(&image, index, sh_offset), UINT64_MAX);
	struct told told = must_tell(image);

	CHECK_INT(told.count, count - 1);
	for (size_t i = 0; i < told.count; i++)
		CHECK(strcmp(told.parts[i].name, ".debug_line") != 0);
}

TEST(cubin, a_part_whose_name_is_nowhere_has_an_empty_one)
{
	struct image image = load("triton-3.6.0-cpu");
	const uint64_t index = find_name(&image, ".text.add_kernel");
	const uint64_t table = name_table(&image);

	put(&image, SECTION(&image, index, sh_name),
	    get(&image, SECTION(&image, table, sh_size)));
	struct told told = must_tell(image);
	CHECK_STR(told.parts[index - 1].name, "");
	CHECK_STR(told.parts[index - 2].name, ".rela.debug_frame");

	put(&image, SECTION(&image, index, sh_name), UINT32_MAX);
	CHECK_STR(must_tell(image).parts[index - 1].name, "");
}

TEST(cubin, names_must_end_within_their_table)
{
	struct image image = load("triton-3.6.0-cpu");
	const uint64_t table = name_table(&image);
	const uint64_t index = find_name(&image, ".text.add_kernel");
	const uint64_t end = get(&image, SECTION(&image, index, sh_name)) +
	                     strlen(".text.add_kernel");

	put(&image, SECTION(&image, table, sh_size), end);
	CHECK_STR(must_tell(image).parts[index - 1].name, "");
	put(&image, SECTION(&image, table, sh_size), end + 1);
	CHECK_STR(must_tell(image).parts[index - 1].name, ".text.add_kernel");
}

TEST(cubin, without_a_table_of_names_no_part_has_one)
{
	static const uint16_t indices[] = { 0, 0xfff0, 0xffff };
	struct image image = load("triton-3.6.0-cpu");

	EACH(i, indices) {
		put(&image, HEADER(e_shstrndx), indices[i]);
		struct told told = must_tell(image);
		CHECK(told.count > 10);
		for (size_t j = 0; j < told.count; j++)
			CHECK_STR(told.parts[j].name, "");
	}
}

/* What has no bytes in the file may have any offset: it is not followed. */
TEST(cubin, a_table_of_names_far_behind_the_file_is_not_read)
{
	struct image image = load("triton-3.6.0-cpu");
	const uint64_t table = name_table(&image);

	put(&image, SECTION(&image, table, sh_type), SHT_NOBITS);
	put(&image, SECTION(&image, table, sh_offset), (uint64_t)1 << 40);
	put(&image, SECTION(&image, table, sh_size), UINT64_MAX);
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

	must_refuse((struct image){ NULL, 0, "" },
	            "'k.cubin' is not an ELF file");
	must_refuse((struct image){ test_alloc(1000), 1000, "" },
	            "'k.cubin' is not an ELF file");
	image.data[EI_CLASS] = ELFCLASS32;
	must_refuse(image, "is not a 64-bit little-endian ELF file");
}

/* Each is given alone: a sanitizer sees a byte read behind it. */
TEST(cubin, cut_short_anywhere_is_refused)
{
	const struct image whole = load("triton-3.6.0-cpu");

	for (size_t size = 0; size < whole.size; size += 13) {
		struct image alone = { malloc(size == 0 ? 1 : size), size, "" };
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
	const uint64_t table = get(&whole, HEADER(e_shoff));
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

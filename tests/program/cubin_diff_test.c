/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>

#include "diff/cubin_diff.h"
#include "harness.h"

/* A cubin, and one that is to differ from it. */
struct pair {
	unsigned char *a;
	unsigned char *b;
	size_t size;
};

/* Two copies of add_kernel's. */
static struct pair load(void)
{
	const char **keys;
	struct pair pair = { .size = 0 };

	unpack("triton-3.6.0-cpu", "cache");
	for (keys = list("cache/.triton/cache"); *keys != NULL; keys++) {
		const char *path =
			text("cache/.triton/cache/%s/add_kernel.cubin", *keys);
		struct tkb_bytes bytes;

		if (!exists(path))
			continue;
		bytes = read_file(path);
		pair.size = bytes.size;
		pair.a = test_alloc(bytes.size);
		pair.b = test_alloc(bytes.size);
		memcpy(pair.a, bytes.data, bytes.size);
		memcpy(pair.b, bytes.data, bytes.size);
	}
	CHECK(pair.size > 0);
	return pair;
}

/* Where the header of section `name` lies. */
static size_t header_at(const unsigned char *data, const char *name)
{
	Elf64_Ehdr header;
	Elf64_Shdr names;
	size_t at;

	memcpy(&header, data, sizeof(header));
	memcpy(&names,
	       data + header.e_shoff + header.e_shstrndx * sizeof(names),
	       sizeof(names));
	for (at = header.e_shoff;; at += sizeof(names)) {
		Elf64_Shdr section;

		memcpy(&section, data + at, sizeof(section));
		if (strcmp((const char *)data + names.sh_offset +
		                   section.sh_name,
		           name) == 0)
			return at;
	}
}

static Elf64_Shdr section_of(const unsigned char *data, const char *name)
{
	Elf64_Shdr section;

	memcpy(&section, data + header_at(data, name), sizeof(section));
	return section;
}

static void set_section(unsigned char *data, const char *name,
                        Elf64_Shdr section)
{
	memcpy(data + header_at(data, name), &section, sizeof(section));
}

static struct cubin_diff compare(const struct pair *pair)
{
	struct cubin_diff diff = { .count = 0 };

	OK(cubin_diff_compare((struct tkb_bytes){ pair->a, pair->size },
	                      (struct tkb_bytes){ pair->b, pair->size },
	                      "k.cubin", &diff, ERR));
	return diff;
}

static void check_part(const struct cubin_diff_part *part, const char *name,
                       uint64_t a_size, uint64_t b_size, uint64_t different,
                       uint64_t first)
{
	CHECK_STR(part->name, name);
	CHECK_INT(part->state, CUBIN_DIFFERS);
	CHECK_INT(part->a_size, a_size);
	CHECK_INT(part->b_size, b_size);
	CHECK_INT(part->different, different);
	CHECK_INT(part->first, first);
}

TEST(cubin_diff, of_equal_cubins_has_no_parts)
{
	const struct pair pair = load();
	struct cubin_diff diff = compare(&pair);

	CHECK_INT(diff.count, 0);
	cubin_diff_release(&diff);
}

TEST(cubin_diff, names_the_section_and_counts_its_bytes)
{
	const struct pair pair = load();
	const Elf64_Shdr code = section_of(pair.b, ".text.add_kernel");
	struct cubin_diff diff;

	pair.b[code.sh_offset + 0x43] ^= 0xff;
	pair.b[code.sh_offset + 0x44] ^= 1;
	pair.b[code.sh_offset + code.sh_size - 1] ^= 1;
	diff = compare(&pair);

	CHECK_INT(diff.count, 1);
	check_part(&diff.parts[0], ".text.add_kernel", code.sh_size,
	           code.sh_size, 3, 0x43);
	cubin_diff_release(&diff);
}

TEST(cubin_diff, tells_the_parts_by_name)
{
	const struct pair pair = load();
	const char *const names[] = { ".text.add_kernel", ".nv.info",
		                      ".debug_line" };
	struct cubin_diff diff;

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++)
		pair.b[section_of(pair.b, names[i]).sh_offset] ^= 1;
	diff = compare(&pair);

	CHECK_INT(diff.count, 3);
	CHECK_STR(diff.parts[0].name, ".debug_line");
	CHECK_STR(diff.parts[1].name, ".nv.info");
	CHECK_STR(diff.parts[2].name, ".text.add_kernel");
	cubin_diff_release(&diff);
}

TEST(cubin_diff, counts_what_only_the_longer_part_has)
{
	const struct pair pair = load();
	Elf64_Shdr code = section_of(pair.b, ".text.add_kernel");
	const uint64_t size = code.sh_size;
	struct cubin_diff diff;

	code.sh_size -= 16;
	set_section(pair.b, ".text.add_kernel", code);
	diff = compare(&pair);
	CHECK_INT(diff.count, 1);
	check_part(&diff.parts[0], ".text.add_kernel", size, size - 16, 16,
	           size - 16);
	cubin_diff_release(&diff);

	pair.b[code.sh_offset + 7] ^= 1;
	diff = compare(&pair);
	check_part(&diff.parts[0], ".text.add_kernel", size, size - 16, 17, 7);
	cubin_diff_release(&diff);
}

TEST(cubin_diff, tells_what_only_one_has)
{
	const struct pair pair = load();
	Elf64_Shdr line = section_of(pair.b, ".debug_line");
	const uint64_t size = line.sh_size;
	struct cubin_diff diff;

	line.sh_type = SHT_NULL;
	set_section(pair.b, ".debug_line", line);
	diff = compare(&pair);
	CHECK_INT(diff.count, 1);
	CHECK_STR(diff.parts[0].name, ".debug_line");
	CHECK_INT(diff.parts[0].state, CUBIN_ONLY_A);
	CHECK_INT(diff.parts[0].a_size, size);
	CHECK_INT(diff.parts[0].b_size, 0);
	cubin_diff_release(&diff);

	line = section_of(pair.a, ".nv.info");
	line.sh_type = SHT_NULL;
	set_section(pair.a, ".nv.info", line);
	diff = compare(&pair);
	CHECK_INT(diff.count, 2);
	CHECK_STR(diff.parts[1].name, ".nv.info");
	CHECK_INT(diff.parts[1].state, CUBIN_ONLY_B);
	CHECK_INT(diff.parts[1].a_size, 0);
	CHECK_INT(diff.parts[1].b_size, line.sh_size);
	cubin_diff_release(&diff);
}

TEST(cubin_diff, compares_parts_of_one_name_in_their_order)
{
	const struct pair pair = load();
	const uint32_t name = section_of(pair.a, ".nv.info").sh_name;
	unsigned char *const both[] = { pair.a, pair.b };
	const Elf64_Shdr line = section_of(pair.a, ".debug_line");
	const size_t last = header_at(pair.b, ".nv.info");
	Elf64_Shdr info = section_of(pair.a, ".nv.info");
	struct cubin_diff diff;

	for (size_t i = 0; i < 2; i++) {
		Elf64_Shdr section = section_of(both[i], ".debug_line");

		section.sh_name = name;
		set_section(both[i], ".debug_line", section);
	}
	pair.b[line.sh_offset + 5] ^= 1;
	diff = compare(&pair);

	CHECK_INT(diff.count, 1);
	check_part(&diff.parts[0], ".nv.info", line.sh_size, line.sh_size, 1,
	           5);
	cubin_diff_release(&diff);

	/* Of two there, and one here, the first are compared. */
	CHECK(last < header_at(pair.b, ".nv.callgraph"));
	info.sh_type = SHT_NULL;
	memcpy(pair.b + last, &info, sizeof(info));
	diff = compare(&pair);
	CHECK_INT(diff.count, 2);
	CHECK_INT(diff.parts[0].state, CUBIN_DIFFERS);
	CHECK_INT(diff.parts[1].state, CUBIN_ONLY_A);
	CHECK_INT(diff.parts[1].a_size, info.sh_size);
	cubin_diff_release(&diff);
}

TEST(cubin_diff, of_headers_alone_says_so)
{
	const struct pair pair = load();
	const size_t at = offsetof(Elf64_Ehdr, e_flags);
	struct cubin_diff diff;

	pair.b[at] ^= 1;
	diff = compare(&pair);

	CHECK_INT(diff.count, 1);
	check_part(&diff.parts[0], CUBIN_DIFF_HEADERS, pair.size, pair.size, 1,
	           at);
	cubin_diff_release(&diff);
}

TEST(cubin_diff, of_what_is_no_cubin_fails_and_gives_nothing)
{
	const struct pair pair = load();
	const struct tkb_bytes whole = { pair.a, pair.size };
	const struct tkb_bytes cut = { pair.a, pair.size - 1 };
	struct cubin_diff diff = { .count = 0 };

	FAILS(cubin_diff_compare(whole, cut, "k.cubin", &diff, ERR),
	      TKB_ERR_CORRUPT, "'k.cubin' is cut short");
	FAILS(cubin_diff_compare(cut, whole, "k.cubin", &diff, ERR),
	      TKB_ERR_CORRUPT, "'k.cubin' is cut short");
	CHECK(diff.parts == NULL);
}

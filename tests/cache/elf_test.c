/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/elf.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "elf_image.h"

enum {
	MACHINE_CUDA = 190,
	MACHINE_AMDGPU = 224,
	ABI_AMD_HSA = 64,
	FLAGS_GFX942 = 0x54c
};

/* For sm_90, by the ptxas of CUDA 12: ABI version 7. */
static struct image cuda_12_cubin(void)
{
	struct image image = load_image("triton-3.0.0-cpu", "add_kernel.cubin");

	CHECK_INT(image.data[EI_ABIVERSION], 7);
	return image;
}

/* For sm_90, by the ptxas of CUDA 13: ABI version 8. */
static struct image cuda_13_cubin(void)
{
	struct image image = load_image("triton-3.9.0-cpu", "add_kernel.cubin");

	CHECK_INT(image.data[EI_ABIVERSION], 8);
	return image;
}

static struct image module(void)
{
	return load_image("triton-3.6.0-h100",
	                  "cuda_utils.cpython-312-x86_64-linux-gnu.so");
}

static struct tkb_bytes bytes_of(const struct image *image)
{
	return (struct tkb_bytes){ image->data, image->size };
}

static struct image copy_of(const struct image *from)
{
	struct image copy = *from;

	copy.data = (unsigned char *)test_bytes(bytes_of(from));
	return copy;
}

static uint64_t segment_at(const struct image *image, uint64_t index)
{
	return get(image, HEADER(e_phoff)) + index * sizeof(Elf64_Phdr);
}

/* Where the symbol of the function `name` stands. */
static uint64_t find_function(const struct image *image, const char *name)
{
	const uint64_t table = find_section(image, SHT_SYMTAB);
	const uint64_t strings = get(image, SECTION(image, table, sh_link));
	const uint64_t names = get(image, SECTION(image, strings, sh_offset));
	uint64_t at = get(image, SECTION(image, table, sh_offset));

	for (;; at += sizeof(Elf64_Sym)) {
		const uint64_t offset =
			get(image, at + offsetof(Elf64_Sym, st_name), 4);
		const uint64_t info =
			get(image, at + offsetof(Elf64_Sym, st_info), 1);

		if (ELF64_ST_TYPE(info) == STT_FUNC &&
		    strcmp((const char *)image->data + names + offset, name) ==
		            0)
			return at;
	}
}

/* Checks bytes that lie alone: a sanitizer sees a byte read behind them. */
static int check_size(const struct image *image, size_t size, uint64_t arch,
                      const char *symbol, struct tkb_error *err)
{
	void *alone = malloc(size == 0 ? 1 : size);

	CHECK(alone != NULL);
	memcpy(alone, image->data, size);
	int rc = tkb_elf_check_cubin((struct tkb_bytes){ alone, size },
	                             image->name, arch, symbol, err);
	free(alone);
	return rc;
}

static int check(const struct image *image, uint64_t arch, const char *symbol,
                 struct tkb_error *err)
{
	return check_size(image, image->size, arch, symbol, err);
}

static void must_accept(const struct image *image)
{
	OK(check(image, 90, "add_kernel", ERR));
}

static void must_refuse(const struct image *image, const char *message)
{
	FAILS(check(image, 90, "add_kernel", ERR), TKB_ERR_CORRUPT, message);
	CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	CHECK_CONTAINS(ERR->message, image->name);
}

/* The same, of `whole` with one field changed. */
static void refuse_with(const struct image *whole, uint64_t at, size_t size,
                        uint64_t value, const char *message)
{
	struct image changed = copy_of(whole);

	put(&changed, at, size, value);
	must_refuse(&changed, message);
}

TEST(elf, cubins_of_cuda_12_and_13_are_whole)
{
	const struct image images[] = { cuda_12_cubin(), cuda_13_cubin() };

	EACH(i, images)
		must_accept(&images[i]);
}

static void refuse_every_truncation(const struct image *image)
{
	for (size_t size = 0; size < image->size; size++) {
		struct tkb_error err = { 0 };

		if (check_size(image, size, 90, "add_kernel", &err) !=
		    TKB_ERR_CORRUPT)
			fail_msg("cut to %zu bytes it is accepted", size);
		CHECK_INT(err.reason, TKB_REASON_BINARY);
	}
}

TEST(elf, cubins_cut_short_anywhere_are_refused)
{
	const struct image images[] = { cuda_12_cubin(), cuda_13_cubin() };

	EACH(i, images)
		refuse_every_truncation(&images[i]);
}

static void refuse_other_archs(const struct image *image)
{
	static const unsigned others[] = { 1, 80, 89, 91, 100, 346, 0x5a00 };

	EACH(i, others) {
		FAILS(check(image, others[i], NULL, ERR), TKB_ERR_CORRUPT,
		      text("'add_kernel.cubin' is for sm_90, its "
		           "metadata says sm_%u",
		           others[i]));
		CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	}
}

TEST(elf, cubins_for_another_architecture_are_refused)
{
	const struct image images[] = { cuda_12_cubin(), cuda_13_cubin() };

	EACH(i, images)
		refuse_other_archs(&images[i]);
}

TEST(elf, architecture_is_where_the_abi_version_has_it)
{
	struct image old = cuda_12_cubin();
	struct image new = cuda_13_cubin();

	put(&old, HEADER(e_flags), 0xabcd0050u);
	OK(check(&old, 80, NULL, ERR));
	CHECK_INT(check(&old, 0, NULL, ERR), 0);
	put(&new, HEADER(e_flags), 0xabcd6705u);
	OK(check(&new, 103, NULL, ERR));
	CHECK_INT(check(&new, 0, NULL, ERR), 0);

	put(&old, EI_ABIVERSION, 1, 8);
	FAILS(check(&old, 80, NULL, ERR), TKB_ERR_CORRUPT, "is for sm_0");
	put(&new, EI_ABIVERSION, 1, 7);
	FAILS(check(&new, 103, NULL, ERR), TKB_ERR_CORRUPT, "is for sm_5");
}

TEST(elf, architecture_in_an_unknown_encoding_proves_nothing)
{
	struct image cubin = cuda_13_cubin();

	put(&cubin, EI_ABIVERSION, 1, 9);
	OK(check(&cubin, 120, "add_kernel", ERR));
}

TEST(elf, cubins_without_the_kernel_are_refused)
{
	static const char *const others[] = { "add_kernel2", "add_kerne", "",
		                              ".text.add_kernel",
		                              "softmax_kernel" };
	const struct image images[] = { cuda_12_cubin(), cuda_13_cubin() };

	for (size_t i = 0; i < 2 * TKB_COUNT_OF(others); i++) {
		FAILS(check(&images[i % 2], 90, others[i / 2], ERR),
		      TKB_ERR_CORRUPT,
		      text("has no kernel '%s'", others[i / 2]));
		CHECK_INT(ERR->reason, TKB_REASON_BINARY);
		OK(check(&images[i % 2], 90, NULL, ERR));
	}
}

TEST(elf, kernels_are_functions_that_are_defined)
{
	const struct image whole = cuda_13_cubin();
	const uint64_t symbol = find_function(&whole, "add_kernel");

	refuse_with(&whole, symbol + offsetof(Elf64_Sym, st_shndx), 2,
	            SHN_UNDEF, "has no kernel");

	refuse_with(&whole, symbol + offsetof(Elf64_Sym, st_info), 1,
	            ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), "has no kernel");
}

/* A value for a field of an ELF file, or of each of its sections. */
struct change {
	size_t at;
	size_t size;
	uint64_t value;
};

TEST(elf, offsets_and_counts_in_the_header_are_not_believed)
{
	static const struct change changes[] = {
		{ HEADER(e_shoff), UINT64_MAX },
		{ HEADER(e_shoff), UINT64_MAX - 63 },
		{ HEADER(e_shoff), UINT64_MAX - 1023 },
		{ HEADER(e_shoff), (uint64_t)1 << 63 },
		{ HEADER(e_shoff), (uint64_t)1 << 32 },
		{ HEADER(e_shnum), 0 },
		{ HEADER(e_shnum), 0xff00 },
		{ HEADER(e_shnum), 0xffff },
		{ HEADER(e_shentsize), 0 },
		{ HEADER(e_shentsize), 63 },
		{ HEADER(e_shentsize), 0xffff },
		{ HEADER(e_phoff), UINT64_MAX },
		{ HEADER(e_phoff), UINT64_MAX - 55 },
		{ HEADER(e_phoff), (uint64_t)1 << 63 },
		{ HEADER(e_phnum), 0xffff },
		{ HEADER(e_phentsize), 0 },
		{ HEADER(e_phentsize), 55 },
	};
	const struct image whole = cuda_12_cubin();

	EACH(i, changes) {
		refuse_with(&whole, changes[i].at, changes[i].size,
		            changes[i].value, "is cut short");
	}
}

TEST(elf, tables_that_end_one_byte_late_are_refused)
{
	const struct image whole = cuda_13_cubin();
	const uint64_t sections =
		get(&whole, HEADER(e_shnum)) * sizeof(Elf64_Shdr);
	const uint64_t segments =
		get(&whole, HEADER(e_phnum)) * sizeof(Elf64_Phdr);

	refuse_with(&whole, HEADER(e_shoff), whole.size - sections + 1,
	            "is cut short");
	refuse_with(&whole, HEADER(e_phoff), whole.size - segments + 1,
	            "is cut short");
}

TEST(elf, sections_must_lie_within_the_file)
{
	const struct image whole = cuda_12_cubin();
	const uint64_t count = get(&whole, HEADER(e_shnum));

	for (uint64_t i = 1; i < count; i++) {
		struct image changed = copy_of(&whole);

		put(&changed, SECTION(&whole, i, sh_offset), UINT64_MAX);
		must_refuse(&changed, "is cut short");
		put(&changed, SECTION(&whole, i, sh_offset), UINT64_MAX - 7);
		put(&changed, SECTION(&whole, i, sh_size), 8);
		must_refuse(&changed, "is cut short");
		put(&changed, SECTION(&whole, i, sh_offset), 8);
		put(&changed, SECTION(&whole, i, sh_size), UINT64_MAX);
		must_refuse(&changed, "is cut short");
		put(&changed, SECTION(&whole, i, sh_size), whole.size - 7);
		must_refuse(&changed, "is cut short");
	}
}

TEST(elf, a_section_of_no_bytes_may_begin_where_the_file_ends)
{
	struct image cubin = cuda_12_cubin();
	const uint64_t code = find_section(&cubin, SHT_PROGBITS);

	put(&cubin, SECTION(&cubin, code, sh_size), 0);
	put(&cubin, SECTION(&cubin, code, sh_offset), cubin.size);
	must_accept(&cubin);
	put(&cubin, SECTION(&cubin, code, sh_offset), cubin.size + 1);
	must_refuse(&cubin, "is cut short");
}

/* One more section stands behind the table, which is moved to the end. */
TEST(elf, a_section_behind_the_table_is_none)
{
	const struct image whole = cuda_12_cubin();
	const uint64_t count = get(&whole, HEADER(e_shnum));
	const uint64_t symbols = find_section(&whole, SHT_SYMTAB);
	const uint64_t names = get(&whole, SECTION(&whole, symbols, sh_link));
	const size_t table = count * sizeof(Elf64_Shdr);
	struct image moved = {
		test_alloc(whole.size + table + sizeof(Elf64_Shdr)),
		whole.size + table + sizeof(Elf64_Shdr), whole.name
	};

	memcpy(moved.data, whole.data, whole.size);
	memcpy(moved.data + whole.size, whole.data + section_at(&whole, 0),
	       table);
	memcpy(moved.data + whole.size + table,
	       whole.data + section_at(&whole, names), sizeof(Elf64_Shdr));
	put(&moved, HEADER(e_shoff), whole.size);
	must_accept(&moved);
	refuse_with(&moved, SECTION(&moved, symbols, sh_link), count,
	            "has no kernel");
}

TEST(elf, segments_must_lie_within_the_file)
{
	const struct image whole = cuda_13_cubin();
	const uint64_t count = get(&whole, HEADER(e_phnum));

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t offset =
			segment_at(&whole, i) + offsetof(Elf64_Phdr, p_offset);
		const uint64_t size =
			segment_at(&whole, i) + offsetof(Elf64_Phdr, p_filesz);
		struct image changed = copy_of(&whole);

		put(&changed, offset, 8, UINT64_MAX);
		must_refuse(&changed, "is cut short");
		put(&changed, offset, 8, UINT64_MAX - 7);
		put(&changed, size, 8, 8);
		must_refuse(&changed, "is cut short");
		put(&changed, offset, 8, 8);
		put(&changed, size, 8, whole.size - 7);
		must_refuse(&changed, "is cut short");
	}
}

TEST(elf, sections_without_bytes_may_be_of_any_size)
{
	struct image cubin = cuda_13_cubin();
	const uint64_t index = find_section(&cubin, SHT_NOBITS);

	put(&cubin, SECTION(&cubin, index, sh_size), (uint64_t)1 << 40);
	must_accept(&cubin);
}

TEST(elf, symbols_without_a_string_table_have_no_names)
{
	const struct image whole = cuda_12_cubin();
	const uint64_t table = find_section(&whole, SHT_SYMTAB);
	const uint64_t strings = get(&whole, SECTION(&whole, table, sh_link));
	const uint64_t links[] = { 0, table, 0xffff, 0xffffffff };

	EACH(i, links) {
		refuse_with(&whole, SECTION(&whole, table, sh_link), links[i],
		            "has no kernel");
	}
	refuse_with(&whole, SECTION(&whole, table, sh_type), SHT_PROGBITS,
	            "has no kernel");
	refuse_with(&whole, SECTION(&whole, strings, sh_type), SHT_NOBITS,
	            "has no kernel");
}

/* What has no bytes in the file may have any offset: it is not followed. */
TEST(elf, a_string_table_far_behind_the_file_is_not_read)
{
	static const uint64_t offsets[] = { UINT64_MAX, UINT64_MAX - 4095,
		                            (uint64_t)1 << 63,
		                            (uint64_t)1 << 32 };
	struct image cubin = cuda_12_cubin();
	const uint64_t table = find_section(&cubin, SHT_SYMTAB);
	const uint64_t strings = get(&cubin, SECTION(&cubin, table, sh_link));

	put(&cubin, SECTION(&cubin, strings, sh_type), SHT_NOBITS);
	put(&cubin, SECTION(&cubin, strings, sh_size), UINT64_MAX);
	EACH(i, offsets) {
		put(&cubin, SECTION(&cubin, strings, sh_offset), offsets[i]);
		must_refuse(&cubin, "has no kernel");
	}
}

TEST(elf, names_must_end_within_their_table)
{
	const struct image whole = cuda_12_cubin();
	const uint64_t table = find_section(&whole, SHT_SYMTAB);
	const uint64_t strings = get(&whole, SECTION(&whole, table, sh_link));
	const uint64_t symbol = find_function(&whole, "add_kernel");
	const uint64_t name =
		get(&whole, symbol + offsetof(Elf64_Sym, st_name), 4);

	refuse_with(&whole, symbol + offsetof(Elf64_Sym, st_name), 4,
	            0xffffffff, "has no kernel");
	struct image changed = copy_of(&whole);
	put(&changed, SECTION(&whole, strings, sh_size),
	    name + strlen("add_kernel"));
	must_refuse(&changed, "has no kernel");
	put(&changed, SECTION(&whole, strings, sh_size),
	    name + strlen("add_kernel") + 1);
	must_accept(&changed);
}

TEST(elf, what_is_no_elf_file_is_refused)
{
	static const char *const texts[] = { "", "x", "\177ELF",
		                             "#!/bin/sh\nexit 0\n" };
	struct image cubin = cuda_12_cubin();
	struct image zeros = { test_alloc(1000), 1000, "zeros" };

	EACH(i, texts) {
		FAILS(tkb_elf_check_cubin(tkb_text(texts[i]), "k.cubin", 0,
		                          NULL, ERR),
		      TKB_ERR_CORRUPT, "'k.cubin' is not an ELF file");
		CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	}
	must_refuse(&zeros, "is not an ELF file");
	put(&cubin, EI_MAG3, 1, 'f');
	must_refuse(&cubin, "is not an ELF file");
}

TEST(elf, of_32_bits_or_big_endian_is_refused)
{
	static const uint64_t changes[][2] = { { EI_CLASS, ELFCLASS32 },
		                               { EI_DATA, ELFDATA2MSB },
		                               { EI_CLASS, ELFCLASSNONE } };
	const struct image whole = cuda_12_cubin();

	EACH(i, changes)
		refuse_with(&whole, changes[i][0], 1, changes[i][1],
		            "is not a 64-bit little-endian ELF file");
}

TEST(elf, for_another_machine_is_no_cubin)
{
	static const unsigned machines[] = { 0, EM_X86_64, MACHINE_AMDGPU,
		                             0xffff };
	struct image cubin = cuda_12_cubin();

	EACH(i, machines) {
		put(&cubin, HEADER(e_machine), machines[i]);
		must_refuse(&cubin, "is not a cubin");
	}
}

/* What a code object for gfx942 would say of itself. */
static struct image code_object(void)
{
	struct image object = cuda_12_cubin();

	put(&object, HEADER(e_machine), MACHINE_AMDGPU);
	put(&object, HEADER(e_ident[EI_OSABI]), ABI_AMD_HSA);
	put(&object, HEADER(e_flags), FLAGS_GFX942);
	return object;
}

static int check_object(const struct image *object, const char *arch,
                        const char *symbol, struct tkb_error *err)
{
	return tkb_elf_check_hsaco(bytes_of(object), "k.hsaco", arch, symbol,
	                           err);
}

TEST(elf, code_objects_are_for_amds_machine_and_whole)
{
	const struct image cubin = cuda_12_cubin();
	struct image object = code_object();

	FAILS(check_object(&cubin, "gfx942", NULL, ERR), TKB_ERR_CORRUPT,
	      "'k.hsaco' is not an AMD code object");
	CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	OK(check_object(&object, "gfx942", NULL, ERR));
	put(&object, HEADER(e_ident[EI_OSABI]), 0);
	FAILS(check_object(&object, "gfx942", NULL, ERR), TKB_ERR_CORRUPT,
	      "'k.hsaco' is not a code object for AMD's HSA");
	object = code_object();
	object.size--;
	FAILS(check_object(&object, "gfx942", NULL, ERR), TKB_ERR_CORRUPT,
	      "is cut short");
}

TEST(elf, code_objects_are_for_the_gpu_of_their_metadata)
{
	struct image object = code_object();

	OK(check_object(&object, "gfx9999", NULL, ERR));
	FAILS(check_object(&object, "gfx90a", NULL, ERR), TKB_ERR_CORRUPT,
	      "'k.hsaco' is for gfx942, its metadata says gfx90a");
	CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	put(&object, HEADER(e_flags), 0x500);
	FAILS(check_object(&object, "gfx90a", NULL, ERR), TKB_ERR_CORRUPT,
	      "'k.hsaco' is for another GPU");
}

TEST(elf, code_objects_have_their_kernel)
{
	const struct image object = code_object();

	FAILS(check_object(&object, "gfx942", "nobody", ERR), TKB_ERR_CORRUPT,
	      "'k.hsaco' has no kernel 'nobody'");
	OK(check_object(&object, "gfx942", "add_kernel", ERR));
}

/* Whatever it says, it is judged without a crash; sanitizers watch. */
TEST(elf, with_any_bit_flipped_is_accepted_or_refused)
{
	struct image images[] = { cuda_12_cubin(), cuda_13_cubin() };
	size_t refused = 0;

	EACH(i, images) {
		const struct image *image = &images[i];
		const struct tkb_bytes bytes = bytes_of(image);

		for (size_t bit = 0; bit < 8 * image->size; bit++) {
			struct tkb_error err = { 0 };

			image->data[bit / 8] ^= (unsigned char)(1 << bit % 8);
			int rc = tkb_elf_check_cubin(bytes, "k.cubin", 90,
			                             "add_kernel", &err);
			image->data[bit / 8] ^= (unsigned char)(1 << bit % 8);
			CHECK(rc == 0 || (rc == TKB_ERR_CORRUPT &&
			                  err.reason == TKB_REASON_BINARY));
			refused += rc != 0;
		}
	}
	CHECK(refused > 1000);
}

static int platform_of(const struct image *image, const char *name,
                       const char **out, struct tkb_error *err)
{
	BUF(platform, 256);

	int rc = tkb_elf_check_module(bytes_of(image), name, &platform, err);
	if (rc == 0)
		*out = test_bytes(tkb_buf_bytes(&platform));
	return rc;
}

static void must_be_for(const struct image *image, const char *name,
                        const char *wanted)
{
	const char *platform = NULL;

	OK(platform_of(image, name, &platform, ERR));
	CHECK_STR(platform, wanted);
}

/* readelf -V says that it needs GLIBC_2.2.5, GLIBC_2.4 and GLIBC_2.34. */
TEST(elf, modules_tell_their_platform)
{
	struct image shared = module();

	must_be_for(&shared, "cuda_utils.cpython-312-x86_64-linux-gnu.so",
	            "x86_64-glibc2.34-cpython312");
	must_be_for(&shared, "cuda_utils.cpython-313t-x86_64-linux-gnu.so",
	            "x86_64-glibc2.34-cpython313t");
	must_be_for(&shared, "cuda_utils.so", "x86_64-glibc2.34");
	put(&shared, HEADER(e_machine), EM_AARCH64);
	must_be_for(&shared, "cuda_utils.so", "aarch64-glibc2.34");
	put(&shared, HEADER(e_machine), EM_RISCV);
	must_be_for(&shared, "cuda_utils.so", "elf243-glibc2.34");
}

/* The newest version counts, as a number: 2.9 is older than 2.34. */
TEST(elf, modules_need_the_newest_of_their_glibc_versions)
{
	struct image shared = module();
	unsigned char *version =
		memmem(shared.data, shared.size, "GLIBC_2.34", 11);

	CHECK(version != NULL);
	memcpy(version, "GLIBC_2.9", 10);
	must_be_for(&shared, "m.so", "x86_64-glibc2.9");
	memcpy(version, "GLIBC_2.10", 11);
	must_be_for(&shared, "m.so", "x86_64-glibc2.10");
	memcpy(version, "GLIBC_1.99", 11);
	must_be_for(&shared, "m.so", "x86_64-glibc2.4");
}

/*
 * The fixture's one need lists 2.4, 2.2.5, 2.34 and 2.3.4, in this order, each
 * of the size of a need: the second becomes another need, for the rest.
 */
TEST(elf, modules_may_need_versions_of_several_libraries)
{
	struct image shared = module();
	const uint64_t needs = find_section(&shared, SHT_GNU_verneed);
	const uint64_t at = get(&shared, SECTION(&shared, needs, sh_offset));
	const uint64_t other = at + 2 * sizeof(Elf64_Verneed);

	put(&shared, at + 16 + offsetof(Elf64_Vernaux, vna_next), 4, 0);
	must_be_for(&shared, "m.so", "x86_64-glibc2.4");
	put(&shared, at + offsetof(Elf64_Verneed, vn_next), 4, 32);
	put(&shared, other + offsetof(Elf64_Verneed, vn_aux), 4, 16);
	put(&shared, other + offsetof(Elf64_Verneed, vn_next), 4, 0);
	must_be_for(&shared, "m.so", "x86_64-glibc2.34");
}

TEST(elf, modules_that_need_musl_are_for_musl)
{
	struct image shared = module();
	unsigned char *needed =
		memmem(shared.data, shared.size, "libc.so.6", 10);

	CHECK(needed != NULL);
	memcpy(needed, "libc.musl", 10);
	must_be_for(&shared, "m.so", "x86_64-musl");

	/* It is the last that is needed; behind the section nothing is. */
	uint64_t dynamic = find_section(&shared, SHT_DYNAMIC);
	uint64_t item = get(&shared, SECTION(&shared, dynamic, sh_offset));
	uint64_t size = 0;
	while (get(&shared, item + size, 8) == DT_NEEDED)
		size += sizeof(Elf64_Dyn);
	put(&shared, SECTION(&shared, dynamic, sh_size), size);
	must_be_for(&shared, "m.so", "x86_64-musl");
	put(&shared, SECTION(&shared, dynamic, sh_size),
	    size - sizeof(Elf64_Dyn));
	must_be_for(&shared, "m.so", "x86_64-glibc2.34");
}

TEST(elf, modules_cut_short_anywhere_are_refused)
{
	const struct image whole = module();

	for (size_t size = 0; size < whole.size; size++) {
		const struct image cut = { whole.data, size, whole.name };
		const char *platform = NULL;
		struct tkb_error err = { 0 };

		if (platform_of(&cut, "m.so", &platform, &err) !=
		    TKB_ERR_CORRUPT)
			fail_msg("cut to %zu bytes it is accepted", size);
		CHECK_INT(err.reason, TKB_REASON_BINARY);
	}
}

TEST(elf, modules_are_shared_objects)
{
	static const unsigned types[] = { ET_NONE, ET_REL, ET_EXEC, ET_CORE };
	struct image shared = module();

	EACH(i, types) {
		const char *platform = NULL;

		put(&shared, HEADER(e_type), types[i]);
		FAILS(platform_of(&shared, "m.so", &platform, ERR),
		      TKB_ERR_CORRUPT, "'m.so' is not a shared object");
		CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	}
}

TEST(elf, modules_with_any_byte_changed_are_accepted_or_refused)
{
	static const unsigned char masks[] = { 0xff, 0x01, 0x80 };
	const struct image shared = module();

	for (size_t i = 0; i < TKB_COUNT_OF(masks) * shared.size; i++) {
		const size_t at = i / TKB_COUNT_OF(masks);
		const unsigned char mask = masks[i % TKB_COUNT_OF(masks)];
		BUF(platform, 256);
		struct tkb_error err = { 0 };

		shared.data[at] ^= mask;
		int rc = tkb_elf_check_module(bytes_of(&shared), "m.so",
		                              &platform, &err);
		shared.data[at] ^= mask;
		CHECK(rc == 0 || (rc == TKB_ERR_CORRUPT &&
		                  err.reason == TKB_REASON_BINARY));
	}
}

/* Links that lead on and on, but nowhere: a version, and a need. */
TEST(elf, modules_with_endless_version_lists_are_judged)
{
	struct image shared = module();
	const uint64_t needs = find_section(&shared, SHT_GNU_verneed);
	const uint64_t at = get(&shared, SECTION(&shared, needs, sh_offset));
	const char *platform = NULL;

	put(&shared, at + offsetof(Elf64_Verneed, vn_next), 4, 1);
	OK(platform_of(&shared, "m.so", &platform, ERR));
	put(&shared, at + offsetof(Elf64_Verneed, vn_next), 4, UINT32_MAX);
	put(&shared, at + offsetof(Elf64_Verneed, vn_aux), 4, UINT32_MAX);
	OK(platform_of(&shared, "m.so", &platform, ERR));
	CHECK_STR(platform, "x86_64-glibc0.0");
}

static const struct tkb_gpu_here here = {
	.platform = "gpu NVIDIA H200, driver 580"
};

TEST(platform, fits_where_machine_and_libc_do)
{
	struct utsname machine;
	unsigned major;
	unsigned minor;

	CHECK_INT(uname(&machine), 0);
	CHECK_INT(sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor), 2);

	CHECK(tkb_platform_fits("", &here));
	CHECK(tkb_platform_fits(
		text("%s-glibc%u.%u", machine.machine, major, minor), &here));
	CHECK(tkb_platform_fits(
		text("%s-glibc%u.%u-cpython312", machine.machine, major, minor),
		&here));
	CHECK(tkb_platform_fits(text("%s-glibc2.2", machine.machine), &here));
	CHECK(tkb_platform_fits(
		text("%s-glibc%u.999", machine.machine, major - 1), &here));
	CHECK(!tkb_platform_fits(
		text("%s-glibc%u.%u", machine.machine, major, minor + 1),
		&here));
	CHECK(!tkb_platform_fits(
		text("%s-glibc%u.0", machine.machine, major + 1), &here));
}

TEST(platform, of_another_machine_or_libc_does_not_fit)
{
	struct utsname machine;

	CHECK_INT(uname(&machine), 0);

	CHECK(!tkb_platform_fits("elf243-glibc2.2", &here));
	CHECK(!tkb_platform_fits(text("%sx-glibc2.2", machine.machine), &here));
	CHECK(!tkb_platform_fits(text("%.3s-glibc2.2", machine.machine),
	                         &here));
	CHECK(!tkb_platform_fits(text("%s-musl", machine.machine), &here));
	CHECK(!tkb_platform_fits(text("%s-", machine.machine), &here));
	CHECK(!tkb_platform_fits(machine.machine, &here));
	CHECK(!tkb_platform_fits("-glibc2.2", &here));
	CHECK(!tkb_platform_fits("-", &here));
}

TEST(platform, of_a_gpu_fits_that_gpu_and_driver_alone)
{
	static const struct tkb_gpu_here unknown = { .is_asked = true };

	CHECK(tkb_platform_fits("gpu NVIDIA H200, driver 580", &here));
	CHECK(!tkb_platform_fits("gpu NVIDIA H200, driver 58", &here));
	CHECK(!tkb_platform_fits("gpu NVIDIA H100, driver 580", &here));
	CHECK(!tkb_platform_fits("gpu ", &here));
	CHECK(!tkb_platform_fits("gpu NVIDIA H200, driver 580", &unknown));
	CHECK(!tkb_platform_fits("gpu ", &unknown));
	CHECK(tkb_platform_fits("", &unknown));
}

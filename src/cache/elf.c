/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/elf.h"

#include <tkbundle/cubin.h>

#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <sys/utsname.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "text/hip.h"

enum {
	MACHINE_CUDA = 190,
	MACHINE_AMDGPU = 224,
	ABI_AMD_HSA = 64,
	ABI_CUDA_12 = 7, /* architecture in bits 0 to 7 of the flags */
	ABI_CUDA_13 = 8, /* architecture in bits 8 to 15 */
	SYMBOL_LIMIT = 1 << 20,
	STRING_LIMIT = 4096, /* or else the search would be quadratic */
	VERSION_LIMIT = 4096
};

/* An ELF file that was checked: every section lies inside `bytes`. */
struct elf {
	struct tkb_bytes bytes;
	const char *name; /* for messages */
	Elf64_Ehdr header;
};

static int fail_elf(const struct elf *elf, const char *what,
                    struct tkb_error *err)
{
	return tkb_fail_entry(err, TKB_REASON_BINARY, "'%s' %s", elf->name,
	                      what);
}

static bool is_within(const struct elf *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->bytes.size && size <= elf->bytes.size - offset;
}

/* Copy a part of the file at `offset`, which need not be aligned. */
static bool copy_at(const struct elf *elf, uint64_t offset, void *out,
                    size_t size)
{
	if (!is_within(elf, offset, size))
		return false;
	memcpy(out, (const char *)elf->bytes.data + offset, size);
	return true;
}

static bool read_section(const struct elf *elf, uint64_t index, Elf64_Shdr *out)
{
	const uint64_t offset = le64toh(elf->header.e_shoff);

	if (index >= le16toh(elf->header.e_shnum) ||
	    !copy_at(elf, offset + index * sizeof(*out), out, sizeof(*out)))
		return false;
	out->sh_name = le32toh(out->sh_name);
	out->sh_type = le32toh(out->sh_type);
	out->sh_link = le32toh(out->sh_link);
	out->sh_info = le32toh(out->sh_info);
	out->sh_offset = le64toh(out->sh_offset);
	out->sh_size = le64toh(out->sh_size);
	return true;
}

/*
 * The text at `offset` of string table `table`; NULL if there is none or it is
 * too long.
 */
static const char *string_at(const struct elf *elf, const Elf64_Shdr *table,
                             uint64_t offset)
{
	const char *text = elf->bytes.data;
	uint64_t left;

	/* Only sections of this type are known to lie inside the file. */
	if (table->sh_type != SHT_STRTAB || offset >= table->sh_size)
		return NULL;
	text += table->sh_offset + offset;
	left = table->sh_size - offset;
	if (left > STRING_LIMIT)
		left = STRING_LIMIT;
	return memchr(text, '\0', left) == NULL ? NULL : text;
}

static bool sections_are_within(const struct elf *elf)
{
	const uint64_t count = le16toh(elf->header.e_shnum);
	const uint64_t offset = le64toh(elf->header.e_shoff);

	if (count != 0 &&
	    le16toh(elf->header.e_shentsize) != sizeof(Elf64_Shdr))
		return false;
	if (!is_within(elf, offset, count * sizeof(Elf64_Shdr)))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Shdr section = { 0 };

		if (!read_section(elf, i, &section))
			return false;
		if (section.sh_type != SHT_NOBITS &&
		    section.sh_type != SHT_NULL &&
		    !is_within(elf, section.sh_offset, section.sh_size))
			return false;
	}
	return true;
}

static bool segments_are_within(const struct elf *elf)
{
	const uint64_t count = le16toh(elf->header.e_phnum);
	const uint64_t offset = le64toh(elf->header.e_phoff);

	if (count != 0 &&
	    le16toh(elf->header.e_phentsize) != sizeof(Elf64_Phdr))
		return false;
	if (!is_within(elf, offset, count * sizeof(Elf64_Phdr)))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Phdr segment = { 0 };

		if (!copy_at(elf, offset + i * sizeof(segment), &segment,
		             sizeof(segment)) ||
		    !is_within(elf, le64toh(segment.p_offset),
		               le64toh(segment.p_filesz)))
			return false;
	}
	return true;
}

bool tkb_elf_is(struct tkb_bytes head)
{
	return head.size >= SELFMAG && memcmp(head.data, ELFMAG, SELFMAG) == 0;
}

static int open_elf(struct tkb_bytes bytes, const char *name, struct elf *out,
                    struct tkb_error *err)
{
	struct elf elf = { .bytes = bytes, .name = name };

	if (!tkb_elf_is(bytes) ||
	    !copy_at(&elf, 0, &elf.header, sizeof(elf.header)))
		return fail_elf(&elf, "is not an ELF file", err);
	if (elf.header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.header.e_ident[EI_DATA] != ELFDATA2LSB)
		return fail_elf(&elf, "is not a 64-bit little-endian ELF file",
		                err);
	if (le16toh(elf.header.e_shnum) == 0 || !sections_are_within(&elf) ||
	    !segments_are_within(&elf))
		return fail_elf(&elf, "is cut short", err);
	*out = elf;
	return 0;
}

int tkb_elf_check_head(struct tkb_bytes head, uint64_t size, const char *name,
                       struct tkb_error *err)
{
	struct elf elf = { .bytes = head, .name = name };
	uint64_t offset;
	uint64_t count;

	if (!tkb_elf_is(head))
		return fail_elf(&elf, "is not an ELF file", err);
	if (!copy_at(&elf, 0, &elf.header, sizeof(elf.header)))
		return fail_elf(&elf, "is cut short", err);
	if (elf.header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.header.e_ident[EI_DATA] == ELFDATA2MSB)
		return 0; /* 32-bit and big-endian files are not checked */
	offset = le64toh(elf.header.e_shoff);
	count = (uint64_t)le16toh(elf.header.e_shnum) *
	        le16toh(elf.header.e_shentsize);
	if (offset > size || count > size - offset)
		return fail_elf(&elf, "is cut short", err);
	return 0;
}

static bool find_section(const struct elf *elf, uint32_t type, Elf64_Shdr *out)
{
	for (uint64_t i = 0; i < le16toh(elf->header.e_shnum); i++) {
		if (read_section(elf, i, out) && out->sh_type == type)
			return true;
	}
	return false;
}

static bool has_function(const struct elf *elf, const char *wanted)
{
	Elf64_Shdr symbols = { 0 };
	Elf64_Shdr strings = { 0 };
	uint64_t count;

	if (!find_section(elf, SHT_SYMTAB, &symbols) ||
	    !read_section(elf, symbols.sh_link, &strings))
		return false;

	count = symbols.sh_size / sizeof(Elf64_Sym);
	for (uint64_t i = 0; i < count && i < SYMBOL_LIMIT; i++) {
		Elf64_Sym symbol = { 0 };
		const char *name;

		if (!copy_at(elf, symbols.sh_offset + i * sizeof(symbol),
		             &symbol, sizeof(symbol)))
			return false;
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		name = string_at(elf, &strings, le32toh(symbol.st_name));
		if (name != NULL && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

static int check_arch(const struct elf *elf, uint64_t arch,
                      struct tkb_error *err)
{
	const uint32_t flags = le32toh(elf->header.e_flags);
	const unsigned abi = elf->header.e_ident[EI_ABIVERSION];
	uint64_t found;

	if (abi == ABI_CUDA_12)
		found = flags & 0xff;
	else if (abi == ABI_CUDA_13)
		found = flags >> 8 & 0xff;
	else
		return 0; /* unknown encoding: nothing to compare */

	if (found != arch)
		return tkb_fail_entry(err, TKB_REASON_BINARY,
		                      "'%s' is for sm_%u, its metadata says "
		                      "sm_%u",
		                      elf->name, (unsigned)found,
		                      (unsigned)arch);
	return 0;
}

int tkb_elf_check_cubin(struct tkb_bytes bytes, const char *name, uint64_t arch,
                        const char *symbol, struct tkb_error *err)
{
	struct elf elf = { .name = name };
	int rc;

	rc = open_elf(bytes, name, &elf, err);
	if (rc < 0)
		return rc;
	if (le16toh(elf.header.e_machine) != MACHINE_CUDA)
		return fail_elf(&elf, "is not a cubin", err);
	if (arch != 0) {
		rc = check_arch(&elf, arch, err);
		if (rc < 0)
			return rc;
	}
	if (symbol != NULL && !has_function(&elf, symbol))
		return tkb_fail_entry(err, TKB_REASON_BINARY,
		                      "'%s' has no kernel '%s'", name, symbol);
	return 0;
}

static int check_hip_arch(const struct elf *elf, const char *arch,
                          struct tkb_error *err)
{
	const struct tkb_hip_arch *wanted = tkb_hip_find(arch);
	const uint8_t found = le32toh(elf->header.e_flags) & 0xff;

	if (wanted == NULL || wanted->machine == found)
		return 0; /* unknown GPU: nothing to compare */
	for (size_t i = 0; tkb_hip_arch(i) != NULL; i++) {
		if (tkb_hip_arch(i)->machine == found)
			return tkb_fail_entry(err, TKB_REASON_BINARY,
			                      "'%s' is for %s, its metadata "
			                      "says %s",
			                      elf->name, tkb_hip_arch(i)->name,
			                      arch);
	}
	return tkb_fail_entry(err, TKB_REASON_BINARY,
	                      "'%s' is for another GPU, its metadata says %s",
	                      elf->name, arch);
}

int tkb_elf_check_hsaco(struct tkb_bytes bytes, const char *name,
                        const char *arch, const char *symbol,
                        struct tkb_error *err)
{
	struct elf elf = { .name = name };
	int rc;

	rc = open_elf(bytes, name, &elf, err);
	if (rc < 0)
		return rc;
	if (le16toh(elf.header.e_machine) != MACHINE_AMDGPU)
		return fail_elf(&elf, "is not an AMD code object", err);
	if (elf.header.e_ident[EI_OSABI] != ABI_AMD_HSA)
		return fail_elf(&elf, "is not a code object for AMD's HSA",
		                err);
	rc = check_hip_arch(&elf, arch, err);
	if (rc == 0 && symbol != NULL && !has_function(&elf, symbol))
		return tkb_fail_entry(err, TKB_REASON_BINARY,
		                      "'%s' has no kernel '%s'", name, symbol);
	return rc;
}

/* The highest GLIBC_x.y among the needed versions, as x << 16 | y. */
static unsigned newest_glibc(const struct elf *elf, const Elf64_Shdr *needs,
                             const Elf64_Shdr *strings)
{
	uint64_t need_at = needs->sh_offset;
	unsigned newest = 0;
	unsigned steps = 0;
	Elf64_Verneed need = { 0 };

	while (copy_at(elf, need_at, &need, sizeof(need))) {
		uint64_t at = need_at + le32toh(need.vn_aux);
		Elf64_Vernaux version = { 0 };

		while (copy_at(elf, at, &version, sizeof(version))) {
			const char *text = string_at(elf, strings,
			                             le32toh(version.vna_name));
			unsigned major;
			unsigned minor;

			if (text != NULL &&
			    sscanf(text, "GLIBC_%5u.%5u", &major, &minor) ==
			            2 &&
			    (major << 16 | minor) > newest)
				newest = major << 16 | minor;
			if (version.vna_next == 0 || ++steps > VERSION_LIMIT)
				break;
			at += le32toh(version.vna_next);
		}
		if (need.vn_next == 0 || ++steps > VERSION_LIMIT)
			break;
		need_at += le32toh(need.vn_next);
	}
	return newest;
}

/* Does the file need a library whose name begins with `prefix`? */
static bool needs_library(const struct elf *elf, const char *prefix)
{
	Elf64_Shdr dynamic = { 0 };
	Elf64_Shdr strings = { 0 };

	if (!find_section(elf, SHT_DYNAMIC, &dynamic) ||
	    !read_section(elf, dynamic.sh_link, &strings))
		return false;
	for (uint64_t i = 0;
	     i < dynamic.sh_size / sizeof(Elf64_Dyn) && i < SYMBOL_LIMIT; i++) {
		Elf64_Dyn item = { 0 };
		const char *name;

		if (!copy_at(elf, dynamic.sh_offset + i * sizeof(item), &item,
		             sizeof(item)))
			return false;
		if ((int64_t)le64toh((uint64_t)item.d_tag) != DT_NEEDED)
			continue;
		name = string_at(elf, &strings, le64toh(item.d_un.d_val));
		if (name != NULL && tkb_begins_with(name, prefix))
			return true;
	}
	return false;
}

static void add_machine(const struct elf *elf, struct tkb_buf *out)
{
	const unsigned machine = le16toh(elf->header.e_machine);

	if (machine == EM_X86_64) {
		tkb_buf_add_text(out, "x86_64");
	} else if (machine == EM_AARCH64) {
		tkb_buf_add_text(out, "aarch64");
	} else {
		tkb_print(out, "elf%u", machine);
	}
}

static void add_libc(const struct elf *elf, struct tkb_buf *out)
{
	Elf64_Shdr needs = { 0 };
	Elf64_Shdr strings = { 0 };
	unsigned newest = 0;

	if (needs_library(elf, "libc.musl")) {
		tkb_buf_add_text(out, "-musl");
		return;
	}
	if (find_section(elf, SHT_GNU_verneed, &needs) &&
	    read_section(elf, needs.sh_link, &strings))
		newest = newest_glibc(elf, &needs, &strings);
	tkb_print(out, "-glibc%u.%u", newest >> 16, newest & 0xffff);
}

/* Append "-cpython312" for "cuda_utils.cpython-312-x86_64-linux-gnu.so". */
static void add_python_tag(const char *name, struct tkb_buf *out)
{
	static const char mark[] = ".cpython-";
	const char *found = strstr(name, mark);
	size_t length;

	if (found == NULL)
		return;
	found += strlen(mark);
	length = strspn(found, "0123456789abcdefghijklmnopqrstuvwxyz");
	tkb_print(out, "-cpython%.*s", (int)length, found);
}

int tkb_elf_check_module(struct tkb_bytes bytes, const char *name,
                         struct tkb_buf *platform, struct tkb_error *err)
{
	struct elf elf = { .name = name };
	int rc;

	rc = open_elf(bytes, name, &elf, err);
	if (rc < 0)
		return rc;
	if (le16toh(elf.header.e_type) != ET_DYN)
		return fail_elf(&elf, "is not a shared object", err);
	add_machine(&elf, platform);
	add_libc(&elf, platform);
	add_python_tag(name, platform);
	return tkb_buf_check(platform, err);
}

static bool libc_fits(const char *libc)
{
	unsigned major = 0;
	unsigned minor = 0;

	if (sscanf(libc, "glibc%5u.%5u", &major, &minor) != 2) {
#ifdef __GLIBC__
		return false;
#else
		return tkb_begins_with(libc, "musl");
#endif
	}
#ifdef __GLIBC__
	unsigned our_major = 0;
	unsigned our_minor = 0;

	if (sscanf(gnu_get_libc_version(), "%5u.%5u", &our_major, &our_minor) !=
	    2)
		return false;
	return our_major > major || (our_major == major && our_minor >= minor);
#else
	return false;
#endif
}

bool tkb_platform_fits(const char *platform, const struct tkb_gpu_here *here)
{
	const char *libc = strchr(platform, '-');
	struct utsname machine;

	if (platform[0] == '\0')
		return true;
	if (tkb_gpu_is_platform(platform))
		return tkb_gpu_fits(platform, here);
	if (libc == NULL || uname(&machine) < 0)
		return false;
	if (strlen(machine.machine) != (size_t)(libc - platform) ||
	    strncmp(platform, machine.machine, (size_t)(libc - platform)) != 0)
		return false;
	return libc_fits(libc + 1);
}

static struct tkb_cubin_part section_part(const struct elf *elf,
                                          const Elf64_Shdr *names,
                                          const Elf64_Shdr *section)
{
	struct tkb_cubin_part part = { .offset = section->sh_offset };
	const char *name = string_at(elf, names, section->sh_name);

	part.name = name == NULL ? "" : name;
	if (section->sh_type != SHT_NOBITS)
		part.bytes =
			tkb_bytes_slice(elf->bytes, section->sh_offset,
		                        section->sh_offset + section->sh_size);
	return part;
}

int tkb_cubin_parts(struct tkb_bytes bytes, const char *name,
                    const struct tkb_cubin_visitor *visitor,
                    struct tkb_error *err)
{
	struct elf elf = { .name = name };
	Elf64_Shdr names = { 0 };
	int rc;

	rc = open_elf(bytes, name, &elf, err);
	if (rc < 0)
		return rc;
	(void)read_section(&elf, le16toh(elf.header.e_shstrndx), &names);
	for (uint64_t i = 0; i < le16toh(elf.header.e_shnum); i++) {
		struct tkb_cubin_part part;
		Elf64_Shdr section = { 0 };

		(void)read_section(&elf, i, &section);
		if (section.sh_type == SHT_NULL)
			continue;
		part = section_part(&elf, &names, &section);
		rc = visitor->on_part(visitor->self, &part, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

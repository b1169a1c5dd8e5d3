/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <elf.h>
#include <stdlib.h>

#include "base/path.h"
#include "cache/strip.h"

/* Bundles that name no source file. */

static const char *const fixtures[] = {
	"triton-3.0.0-cpu", "triton-3.3.1-cpu",  "triton-3.6.0-cpu",
	"triton-3.9.0-cpu", "triton-3.6.0-h100",
};

static void collect(const char *root, bool strips, const char *path)
{
	const struct tkb_collect_options options = { SIZED(options),
		                                     .is_stripped = strips };

	OK(tkb_collect_to_file(root, &options, path, NULL, ERR));
}

/* All files of a bundle, one after another. */
struct contents {
	const struct tkb_bundle *bundle;
	struct tkb_buf names;
	struct tkb_bytes files[512];
	const char *name[512];
	size_t count;
};

static int keep(void *self, size_t index, size_t file, struct tkb_bytes bytes,
                struct tkb_error *err)
{
	struct contents *contents = self;
	(void)err;
	CHECK(contents->count < TKB_COUNT_OF(contents->files));
	contents->files[contents->count] =
		(struct tkb_bytes){ test_bytes(bytes), bytes.size };
	contents->name[contents->count++] = text(
		"%s",
		tkb_bundle_entry(contents->bundle, index)->files[file].name);
	return 0;
}

static struct contents *read_all(const char *path)
{
	struct contents *contents = test_alloc(sizeof(*contents));
	const struct tkb_file_visitor visitor = { keep, contents };

	contents->bundle = test_bundle(path);
	OK(tkb_bundle_read_all(contents->bundle, &visitor, NULL, ERR));
	return contents;
}

static void check_names_no_file(const char *name, struct tkb_bytes bytes)
{
	static const char *const words[] = { "/srv/",      "/opt/",
		                             "/home/",     "model.py",
		                             "kernels.py", "standard.py" };

	if (tkb_name_ends_with(name, ".json") ||
	    tkb_name_ends_with(name, ".so"))
		return;
	EACH(i, words) {
		if (memmem(bytes.data, bytes.size, words[i],
		           strlen(words[i])) != NULL)
			fail_msg("'%s' holds '%s'", name, words[i]);
	}
	/* "/srv/" as PTX has it. */
	CHECK(strstr(bytes.data, ".b8 47") == NULL ||
	      !tkb_name_ends_with(name, ".ptx"));
}

/* Where they differ, the new one has what a dash or an empty number is. */
static void check_only_dashes(const char *name, struct tkb_bytes was,
                              struct tkb_bytes is)
{
	const unsigned char *before = was.data;
	const unsigned char *after = is.data;

	CHECK_INT(was.size, is.size);
	for (size_t i = 0; i < was.size; i++) {
		if (before[i] == after[i] || after[i] == '-' ||
		    (tkb_name_ends_with(name, ".ptx") &&
		     strchr("45120", after[i])) ||
		    tkb_name_ends_with(name, ".cubin"))
			continue;
		fail_msg("byte %zu of '%s' became %02x", i, name, after[i]);
	}
}

/* What is not debug data is byte for byte the same. */
static void check_same_code(struct tkb_bytes was, struct tkb_bytes is)
{
	const char *before = was.data;
	const char *after = is.data;
	const Elf64_Ehdr *header = was.data;
	const Elf64_Shdr *sections = (const void *)(before + header->e_shoff);
	const char *names = before + sections[header->e_shstrndx].sh_offset;
	size_t at = 0;

	CHECK_INT(was.size, is.size);
	for (size_t i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		const char *name = names + section->sh_name;

		if (strncmp(name, ".debug", 6) == 0 ||
		    strncmp(name, ".nv_debug", 9) == 0 ||
		    section->sh_type == SHT_NOBITS)
			continue;
		assert_memory_equal(before + section->sh_offset,
		                    after + section->sh_offset,
		                    section->sh_size);
		at++;
	}
	CHECK(at > 4);
	assert_memory_equal(before, after, sizeof(*header));
	assert_memory_equal(sections, after + header->e_shoff,
	                    header->e_shnum * sizeof(*sections));
}

static const char *root_of(const char *fixture)
{
	const char *const folder = text("of-%s", fixture);

	unpack(fixture, folder);
	return text("%s/.triton/cache", folder);
}

TEST(strip, leaves_no_name_of_a_source_file_and_all_else)
{
	EACH(i, fixtures) {
		const char *root = root_of(fixtures[i]);

		collect(root, false, "was.tkb");
		collect(root, true, "is.tkb");
		const struct contents *was = read_all("was.tkb");
		const struct contents *is = read_all("is.tkb");
		CHECK(was->count > 10);
		CHECK_INT(was->count, is->count);
		for (size_t j = 0; j < was->count; j++) {
			CHECK_STR(was->name[j], is->name[j]);
			check_names_no_file(is->name[j], is->files[j]);
			check_only_dashes(is->name[j], was->files[j],
			                  is->files[j]);
			if (tkb_name_ends_with(is->name[j], ".cubin"))
				check_same_code(was->files[j], is->files[j]);
		}
	}
}

TEST(strip, is_the_same_twice_and_verifies_where_it_is_emitted)
{
	const char *root = root_of("triton-3.6.0-h100");

	collect(root, true, "a.tkb");
	collect(root, true, "b.tkb");
	shell("cmp a.tkb b.tkb; %s emit a.tkb root; %s verify root", program(),
	      program());
	collect("root", false, "c.tkb");
	shell("cmp a.tkb c.tkb; %s collect %s --strip-locations -o d.tkb; "
	      "cmp a.tkb d.tkb",
	      program(), root);
}

TEST(strip, of_ptx_assembles_to_the_same_code)
{
	const char *ptxas = real_ptxas();
	size_t count = 0;

	const char *root = root_of("triton-3.6.0-h100");
	collect(root, false, "was.tkb");
	collect(root, true, "is.tkb");
	const struct contents *was = read_all("was.tkb");
	const struct contents *is = read_all("is.tkb");
	for (size_t i = 0; i < was->count && count < 6; i++) {
		if (!tkb_name_ends_with(was->name[i], ".ptx"))
			continue;
		count++;
		write_file("was.ptx", was->files[i]);
		write_file("is.ptx", is->files[i]);
		shell("for name in was is; do\n"
		      "%s -arch=sm_90a -lineinfo $name.ptx -o $name.cubin\n"
		      "%s -arch=sm_90a $name.ptx -o $name.plain\n"
		      "done",
		      ptxas, ptxas);
		CHECK_INT(read_file("was.plain").size,
		          read_file("is.plain").size);
		check_same_code(read_file("was.plain"), read_file("is.plain"));
	}
	CHECK_INT(count, 6);
}

TEST(strip, of_ptx_leaves_what_stands_behind_a_name)
{
	char lines[] = ".file 1 \"/srv/a.cu\", 1700000000, 4321\n"
		       ".file 2 \"/srv\" \"model.py\"\n";

	tkb_strip_locations("k.ptx", (unsigned char *)lines, strlen(lines));
	CHECK_STR(lines, ".file 1 \"---------\", 1700000000, 4321\n"
	                 ".file 2 \"----\" \"--------\"\n");
}

TEST(strip, of_ptx_leaves_numbers_that_look_like_a_slash)
{
	char lines[] = ".b8 1\n.b8 47\n.b8 46\n.b8 0\n"
		       ".b8 47\n.b8 97\n.b8 46\n.b8 112\n.b8 121\n.b8 0\n";

	tkb_strip_locations("k.ptx", (unsigned char *)lines, strlen(lines));
	CHECK_STR(lines, ".b8 1\n.b8 47\n.b8 46\n.b8 0\n"
	                 ".b8 45\n.b8 45\n.b8 45\n.b8 120\n.b8 120\n.b8 0\n");
}

/* A section's bytes in a cubin that may be changed. */
static struct tkb_bytes section_of(char *cubin, const char *wanted)
{
	const Elf64_Ehdr *header = (const void *)cubin;
	const Elf64_Shdr *sections = (const void *)(cubin + header->e_shoff);
	const char *names = cubin + sections[header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < header->e_shnum; i++) {
		if (strcmp(names + sections[i].sh_name, wanted) == 0)
			return (struct tkb_bytes){
				cubin + sections[i].sh_offset,
				sections[i].sh_size
			};
	}
	fail_msg("there is no %s", wanted);
	return (struct tkb_bytes){ NULL, 0 };
}

/* Its tables lie elsewhere. */
TEST(strip, leaves_a_line_table_of_dwarf_5)
{
	const char *root = root_of("triton-3.6.0-h100");
	size_t i = 0;

	collect(root, false, "x.tkb");
	const struct contents *all = read_all("x.tkb");
	while (!tkb_name_ends_with(all->name[i], ".cubin"))
		i++;
	for (int is_newer = 0; is_newer < 2; is_newer++) {
		const uint16_t version = 5;
		char *cubin = test_bytes(all->files[i]);
		struct tkb_bytes table = section_of(cubin, ".debug_line");
		if (is_newer)
			memcpy((char *)(uintptr_t)table.data + 4, &version,
			       sizeof(version));
		char *before = test_bytes(table);
		tkb_strip_locations("k.cubin", (unsigned char *)cubin,
		                    all->files[i].size);
		CHECK_INT(memcmp(before, table.data, table.size) == 0,
		          is_newer);
	}
}

/* Debug data of nobody's making: nothing is read behind its end. */
TEST(strip, survives_what_is_cut_short_or_overwritten)
{
	static const char *const endings[] = { ".cubin", ".ptx", ".llir",
		                               ".ttgir" };
	const char *root = root_of("triton-3.6.0-cpu");
	uint32_t random = 1;

	collect(root, false, "x.tkb");
	const struct contents *all = read_all("x.tkb");
	for (size_t i = 0; i < all->count; i++) {
		const struct tkb_bytes of = all->files[i];
		bool is_wanted = false;

		EACH(j, endings)
			is_wanted =
				is_wanted ||
				tkb_name_ends_with(all->name[i], endings[j]);
		for (size_t j = 0; is_wanted && j < 200; j++) {
			const size_t size =
				j % 2 == 0 ? of.size * j / 200 : of.size;
			unsigned char *copy = malloc(size == 0 ? 1 : size);

			CHECK(copy != NULL);
			memcpy(copy, of.data, size);
			for (size_t k = 0; k < 8 && size != 0; k++) {
				random = random * 1664525 + 1013904223;
				copy[(random >> 4) % size] =
					(unsigned char)(random >> 24);
			}
			tkb_strip_locations(all->name[i], copy, size);
			free(copy);
		}
	}
}

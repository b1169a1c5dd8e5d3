/* SPDX-License-Identifier: Apache-2.0 */
#include "contents.h"

#include <stdlib.h>

#include "base/digest.h"
#include "format/launcher_payload.h"
#include "format/tar.h"
#include "fuzz.h"

static const char separator[] = "\n==\n";

void fuzz_contents_release(struct fuzz_contents *contents)
{
	tkb_manifest_release(&contents->manifest);
	free(contents->files);
	free(contents->bytes);
	free(contents->firsts);
	free(contents->list);
}

/* The files of entries, and with payloads those of all items. */
static size_t file_count(const struct tkb_manifest *manifest, size_t item_count)
{
	size_t count = 0;

	for (size_t i = 0; i < item_count; i++)
		count += manifest->entries[i].file_count;
	return count;
}

/* Sizes and digests will change: give entries files of their own. */
static void own_files(struct fuzz_contents *contents)
{
	struct tkb_manifest *manifest = &contents->manifest;
	size_t count = 0;

	for (size_t i = 0; i < manifest->item_count; i++) {
		struct tkb_entry *entry = &manifest->entries[i];

		contents->firsts[i] = count;
		if (i < manifest->entry_count) {
			memcpy(contents->files + count, entry->files,
			       entry->file_count * sizeof(*entry->files));
			entry->files = contents->files + count;
			contents->list[i] = entry;
		}
		count += entry->file_count;
	}
}

bool fuzz_contents_read(struct fuzz_contents *contents, struct tkb_bytes text)
{
	struct tkb_manifest *manifest = &contents->manifest;
	size_t count;

	if (tkb_manifest_parse(text, manifest, NULL) < 0)
		return false;
	count = file_count(manifest, manifest->item_count);
	contents->files = tkb_alloc_array(count, sizeof(*contents->files));
	contents->bytes = tkb_alloc_array(count, sizeof(*contents->bytes));
	contents->firsts = tkb_alloc_array(manifest->item_count,
	                                   sizeof(*contents->firsts));
	contents->list =
		tkb_alloc_array(manifest->entry_count, sizeof(*contents->list));
	MUST(contents->files != NULL && contents->bytes != NULL);
	MUST(contents->firsts != NULL && contents->list != NULL);
	own_files(contents);
	return true;
}

void fuzz_contents_share(struct fuzz_contents *contents, struct tkb_bytes bytes)
{
	const size_t count =
		file_count(&contents->manifest, contents->manifest.item_count);

	for (size_t i = 0; i < count; i++)
		contents->bytes[i] = fuzz_take(&bytes, separator);
}

/* The index of the file with the tar member `path`; SIZE_MAX if there is none.
 */
static size_t file_at(const struct fuzz_contents *contents, const char *path)
{
	for (size_t i = 0; i < contents->manifest.item_count; i++) {
		const struct tkb_entry *entry = &contents->manifest.entries[i];

		for (size_t j = 0; j < entry->file_count; j++) {
			const struct tkb_member member = { .entry = entry,
				                           .entry_index = i,
				                           .file = j };
			char wanted[TKB_MEMBER_PATH_SIZE];

			tkb_member_path(&member, wanted);
			if (strcmp(path, wanted) == 0)
				return contents->firsts[i] + j;
		}
	}
	return SIZE_MAX;
}

void fuzz_contents_take_tar(struct fuzz_contents *contents,
                            struct tkb_bytes bytes)
{
	struct tkb_tar_reader tar = tkb_tar_reader_of(bytes);
	struct tkb_bytes found;

	while (tkb_tar_next(&tar, &found, NULL) == 0) {
		const size_t file = file_at(contents, tar.path);

		if (file != SIZE_MAX)
			contents->bytes[file] = found;
	}
}

static struct tkb_digest digest_of(struct tkb_bytes bytes)
{
	struct tkb_error err = { 0 };
	struct tkb_digest digest = { { 0 } };

	MUST_OK(tkb_digest_of(bytes, &digest, &err), &err);
	return digest;
}

/* The bytes among `all` that have `digest`; they must be there. */
static struct tkb_bytes find_bytes(const struct tkb_bytes *all, size_t count,
                                   const struct tkb_digest *digest)
{
	size_t i = 0;

	for (; i < count; i++) {
		const struct tkb_digest found = digest_of(all[i]);

		if (tkb_digest_equal(&found, digest))
			break;
	}
	MUST(i < count);
	return all[i];
}

/* Payloads are identified by their digests: list them again. */
static void describe_payloads(struct fuzz_contents *contents)
{
	struct tkb_manifest *manifest = &contents->manifest;
	const size_t first = file_count(manifest, manifest->entry_count);
	struct tkb_entry *old = manifest->entries + manifest->entry_count;
	const size_t old_count = manifest->item_count - manifest->entry_count;
	TKB_AUTO(tkb_free_at)
	struct tkb_bytes *bytes = tkb_alloc_array(old_count, sizeof(*bytes));
	struct tkb_entry *items = NULL;
	struct tkb_error err = { 0 };
	size_t count = 0;

	MUST(bytes != NULL);
	for (size_t i = 0; i < old_count; i++)
		bytes[i] = contents->bytes[first + i];
	for (size_t i = 0; i < manifest->launcher_count; i++) {
		struct tkb_saved_launcher *launcher = &manifest->launchers[i];
		const size_t place =
			tkb_payload_find(old, old_count, &launcher->digest);

		launcher->digest = digest_of(bytes[place]);
		launcher->size = bytes[place].size;
	}
	MUST_OK(tkb_payload_items(manifest->launchers, manifest->launcher_count,
	                          &manifest->arena, &items, &count, &err),
	        &err);
	for (size_t i = 0; i < count; i++) {
		old[i] = items[i];
		contents->bytes[first + i] =
			find_bytes(bytes, old_count, &items[i].files[0].digest);
	}
	manifest->item_count = manifest->entry_count + count;
}

void fuzz_contents_describe(struct fuzz_contents *contents)
{
	const size_t count =
		file_count(&contents->manifest, contents->manifest.entry_count);

	for (size_t i = 0; i < count; i++) {
		contents->files[i].size = contents->bytes[i].size;
		contents->files[i].digest = digest_of(contents->bytes[i]);
	}
	describe_payloads(contents);
}

struct tkb_bytes fuzz_contents_of(const struct fuzz_contents *contents,
                                  const struct tkb_member *member)
{
	return contents
	        ->bytes[contents->firsts[member->entry_index] + member->file];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/publish.h"

#include "base/digest.h"
#include "base/path.h"
#include "cache/scrub.h"
#include "emit/destination.h"

enum {
	FILES_LIMIT = 16,
	NAME_LIMIT = 255
};

/* State while one entry is published. */
struct publisher {
	const struct tkb_publication *publication;
	struct tkb_roots roots;
	struct tkb_loader loader;
	struct tkb_stage stage;
	struct tkb_arena arena; /* owns file names */
	struct tkb_buf group;
	struct tkb_file files[FILES_LIMIT];
	struct tkb_bytes bytes[FILES_LIMIT];
	size_t file_count;
};

static void publisher_close(struct publisher *publisher)
{
	if (publisher->stage.root != NULL)
		tkb_stage_close(&publisher->stage);
	tkb_loader_close(&publisher->loader);
	tkb_roots_release(&publisher->roots);
	tkb_arena_release(&publisher->arena);
	tkb_buf_release(&publisher->group);
}

/* Make the name "<prefix><kernel>.<extension>" in the arena. */
static int make_file_name(struct publisher *publisher, const char *prefix,
                          const char *extension, const char **out,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf name = TKB_BUF_INIT(4096);
	int rc;

	tkb_print(&name, "%s%s.%s", prefix, publisher->publication->kernel,
	          extension);
	if (name.size > NAME_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "'%.64s...' is too long for a file's name, of "
		                "at most %d bytes: the kernel needs another",
		                publisher->publication->kernel, NAME_LIMIT);
	rc = tkb_buf_check(&name, err);
	if (rc < 0)
		return rc;
	/* The kernel's name comes from an untrusted source. */
	if (!tkb_name_is_valid(tkb_buf_bytes(&name)))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%.64s' cannot be a kernel's name",
		                publisher->publication->kernel);
	return tkb_arena_copy_buf(&publisher->arena, &name, out, err);
}

static int add_file(struct publisher *publisher, const char *prefix,
                    const char *extension, struct tkb_bytes bytes,
                    uint32_t sentinels, struct tkb_error *err)
{
	struct tkb_file *file = &publisher->files[publisher->file_count];
	int rc;

	if (publisher->file_count == FILES_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "too many stages");
	*file = (struct tkb_file){ .size = bytes.size, .sentinels = sentinels };
	rc = make_file_name(publisher, prefix, extension, &file->name, err);
	if (rc == 0)
		rc = tkb_digest_of(bytes, &file->digest, err);
	if (rc < 0)
		return rc;
	publisher->bytes[publisher->file_count++] = bytes;
	return 0;
}

static int list_files(struct publisher *publisher, struct tkb_error *err)
{
	const struct tkb_publication *publication = publisher->publication;
	struct tkb_child children[FILES_LIMIT];
	struct tkb_group group = { .children = children };
	uint32_t sentinels;
	int rc = 0;

	for (size_t i = 0; i < publication->file_count && rc == 0; i++)
		rc = add_file(publisher, "", publication->files[i].extension,
		              publication->files[i].bytes, 0, err);
	if (rc == 0)
		rc = add_file(publisher, "", "json", publication->metadata, 0,
		              err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < publisher->file_count; i++)
		children[group.child_count++].name = publisher->files[i].name;
	sentinels = tkb_group_write(&group, tkb_text(TKB_SENTINEL), false,
	                            &publisher->group);
	rc = tkb_buf_check(&publisher->group, err);
	if (rc < 0)
		return rc;
	return add_file(publisher, "__grp__", "json",
	                tkb_buf_bytes(&publisher->group), sentinels, err);
}

static int publish_entry(struct publisher *publisher, struct tkb_error *err)
{
	static const uint32_t device = 0;
	const struct tkb_publication *publication = publisher->publication;
	const struct tkb_entry entry = {
		.key = publication->key,
		.name = publication->kernel,
		.kind = TKB_KIND_KERNEL,
		.platform = "",
		.target = { .backend = "", .arch = "" },
		.producer = "tkbundle",
		.producer_version = "",
		.devices = &device,
		.device_count = 1,
		.files = publisher->files,
		.file_count = publisher->file_count,
	};
	const struct tkb_destination to = { .stage = &publisher->stage,
		                            .entry = &entry };
	enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
	enum tkb_outcome outcome = TKB_OUTCOME_FAILED;
	uint64_t written = 0;
	int rc;

	rc = tkb_inspect_destination(&publisher->loader, publisher->stage.root,
	                             &entry, true, &state, err);
	if (rc < 0 || state == TKB_ENTRY_STATE_PRESENT)
		return rc;
	rc = tkb_stage_open(&publisher->stage, err);
	if (rc == 0)
		rc = tkb_destination_write(&to, &publisher->loader,
		                           publisher->bytes, NULL, &written,
		                           err);
	if (rc == 0)
		rc = tkb_destination_commit(&to, &publisher->loader, state,
		                            &outcome, err);
	if (rc == 0 && outcome == TKB_OUTCOME_SKIPPED)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "a compiler is writing to '%s/%s'",
		                publication->root, publication->key);
	return rc;
}

int tkb_publication_write(const struct tkb_publication *publication,
                          struct tkb_error *err)
{
	static const struct tkb_digest nothing = { { 0 } };
	TKB_AUTO(publisher_close)
	struct publisher publisher = {
		.publication = publication,
		.group = TKB_BUF_INIT(TKB_MIB),
	};
	int rc;

	rc = tkb_root_make(publication->root, false, 0, true, &publisher.roots,
	                   err);
	if (rc == 0)
		rc = tkb_loader_open(&publisher.loader, false, false, err);
	if (rc == 0)
		rc = list_files(&publisher, err);
	if (rc < 0)
		return rc;
	tkb_stage_init(&publisher.stage, &publisher.roots.items[0]);
	tkb_stage_begin(&publisher.stage, &nothing, true);
	return publish_entry(&publisher, err);
}

int tkb_publication_find(const char *root, const char *key, bool *out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_loader_close) struct tkb_loader loader = { 0 };
	TKB_AUTO(tkb_roots_release) struct tkb_roots roots = { 0 };
	struct tkb_error fault = { 0 };
	struct tkb_scanned_entry found = { 0 };
	int rc;

	*out = false;
	rc = tkb_root_make(root, false, 0, false, &roots, err);
	if (rc < 0 || roots.items[0].fd < 0)
		return rc;
	rc = tkb_loader_open(&loader, false, false, err);
	if (rc < 0)
		return rc;
	rc = tkb_scanned_entry_load(&loader, &roots.items[0], key, &found,
	                            &fault);
	if (rc == 0)
		rc = tkb_scanned_entry_read_all(&loader, &found, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	*out = rc == 0 && !found.is_moved;
	return 0;
}

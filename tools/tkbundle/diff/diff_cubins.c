/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff_cubins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"

/* The state of a pass over the cubins of one side. */
struct pass {
	struct diff_cubins *cubins;
	const struct source *source;
	bool is_b;
	size_t *firsts; /* owned; by entry: its first cubin; 0 if it has none */
	int fd;         /* descriptor of the file without a name; borrowed */
	uint64_t used;  /* bytes in that file */
	struct tkb_memory kept; /* A's bytes, read back */
	int (*take)(struct pass *pass, struct diff_cubin *cubin,
	            struct tkb_bytes bytes, struct tkb_error *err);
};

static void release_pass(struct pass *pass)
{
	free(pass->firsts);
	tkb_memory_release(&pass->kept);
}

static size_t entry_of(const struct pass *pass, const struct diff_cubin *cubin)
{
	return pass->is_b ? cubin->pair->b_index : cubin->pair->a_index;
}

static size_t file_of(const struct pass *pass, const struct diff_cubin *cubin)
{
	return pass->is_b ? cubin->file.b_index : cubin->file.a_index;
}

/* Make a temporary file in $TMPDIR or /tmp that nobody else can see. */
static int open_nameless(int *fd_out, struct tkb_error *err)
{
	const char *const wanted = getenv("TMPDIR");
	const char *const folder =
		wanted != NULL && wanted[0] != '\0' ? wanted : "/tmp";
	char *path = NULL;
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Not every file system supports O_TMPFILE. */
	if (fd < 0 && asprintf(&path, "%s/tkbundle.XXXXXX", folder) >= 0) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			(void)unlink(path);
		free(path);
	}
	if (fd < 0)
		return cli_error_errno(err, "make a temporary file in", folder);

	*fd_out = fd;
	return 0;
}

static int keep_cubin(struct pass *pass, struct diff_cubin *cubin,
                      struct tkb_bytes bytes, struct tkb_error *err)
{
	if (!fd_write(pass->fd, bytes))
		return cli_error(err, TKB_ERR_IO,
		                 "cannot write a temporary file: %s",
		                 strerror(errno));
	cubin->offset = pass->used;
	cubin->size = bytes.size;
	pass->used += bytes.size;
	return 0;
}

/* Read A's bytes back. */
static int read_kept_cubin(struct pass *pass, const struct diff_cubin *cubin,
                           struct tkb_error *err)
{
	ssize_t got;

	tkb_memory_release(&pass->kept);
	pass->kept.data = malloc(cubin->size + 1);
	if (pass->kept.data == NULL)
		return cli_error_nomem(err);

	got = fd_read_at(pass->fd, pass->kept.data, cubin->size, cubin->offset);
	if (got != (ssize_t)cubin->size)
		return cli_error(err, TKB_ERR_IO,
		                 "cannot read a temporary file: %s",
		                 got < 0 ? strerror(errno) : "it is cut short");
	pass->kept.size = cubin->size;
	return 0;
}

/* A bundle may hold a file named .cubin that is not an ELF file. */
static int compare_cubin(struct pass *pass, struct diff_cubin *cubin,
                         struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_error own = { .status = 0 };
	int rc = read_kept_cubin(pass, cubin, err);

	if (rc != 0)
		return rc;

	rc = cubin_diff_compare(
		(struct tkb_bytes){ pass->kept.data, pass->kept.size }, bytes,
		cubin->file.a->name, &cubin->diff, &own);
	if (rc == TKB_ERR_CORRUPT) {
		cubin->failure = strdup(own.message);
		return cubin->failure != NULL ? 0 : cli_error_nomem(err);
	}
	if (rc != 0)
		*err = own;
	return rc;
}

/* Is this one of the files that differ? */
static int visit_cubin(void *self, size_t index, size_t file,
                       struct tkb_bytes bytes, struct tkb_error *err)
{
	struct pass *const pass = self;
	struct diff_cubin *const items = pass->cubins->items;
	int rc = 0;

	for (size_t i = pass->firsts[index]; rc == 0 && i < pass->cubins->count;
	     i++) {
		if (entry_of(pass, &items[i]) != index)
			break;
		if (file_of(pass, &items[i]) == file)
			rc = pass->take(pass, &items[i], bytes, err);
	}

	return rc;
}

/*
 * Read cubins one by one: from a cache, or if only few frames of a bundle have
 * some.
 */
static int visit_each(struct pass *pass, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory file = { .size = 0 };
	int rc = 0;

	for (size_t i = 0; i < pass->cubins->count && rc == 0; i++) {
		struct diff_cubin *const cubin = &pass->cubins->items[i];

		rc = source_read_file(pass->source, entry_of(pass, cubin),
		                      file_of(pass, cubin), &file, err);
		if (rc == 0)
			rc = pass->take(pass, cubin, source_bytes(&file), err);
	}

	return rc;
}

static int visit_all(struct pass *pass, struct tkb_error *err)
{
	const struct tkb_file_visitor visitor = { .on_file = visit_cubin,
		                                  .self = pass };
	const struct tkb_bundle *const bundle = pass->source->bundle;
	const size_t count = pass->cubins->count;

	if (bundle == NULL || count < tkb_bundle_frame_count(bundle))
		return visit_each(pass, err);

	pass->firsts = calloc(tkb_bundle_entry_count(bundle) + 1,
	                      sizeof(*pass->firsts));
	if (pass->firsts == NULL)
		return cli_error_nomem(err);

	for (size_t i = count; i > 0; i--)
		pass->firsts[entry_of(pass, &pass->cubins->items[i - 1])] =
			i - 1;
	return tkb_bundle_read_all(bundle, &visitor, NULL, err);
}

/* List in `items` the cubins that both sides have and that differ. */
static size_t list_cubins(const struct diff *diff, struct diff_cubin *items)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_pair *const pair = &diff->pairs[i];
		struct diff_file file;
		size_t at = 0;

		while (pair->state == DIFF_DIFFERS &&
		       diff_next_file(pair, &at, &file)) {
			if (file.a == NULL || file.b == NULL ||
			    !text_ends_with(file.a->name, ".cubin"))
				continue;
			if (items != NULL)
				items[count] =
					(struct diff_cubin){ .pair = pair,
					                     .file = file };
			count++;
		}
	}

	return count;
}

int diff_cubins(const struct source *a, const struct source *b,
                const struct diff *diff, struct diff_cubins *out,
                struct tkb_error *err)
{
	TKB_AUTO(fd_close) int fd = -1;
	TKB_AUTO(release_pass) struct pass a_pass = { .cubins = out };
	TKB_AUTO(release_pass) struct pass b_pass = { .cubins = out };
	const size_t count = list_cubins(diff, NULL);
	int rc;

	if (count == 0)
		return 0;
	out->items = calloc(count, sizeof(*out->items));
	if (out->items == NULL)
		return cli_error_nomem(err);
	out->count = list_cubins(diff, out->items);

	rc = open_nameless(&fd, err);
	if (rc != 0)
		return rc;

	a_pass.source = a;
	a_pass.fd = fd;
	a_pass.take = keep_cubin;
	rc = visit_all(&a_pass, err);
	if (rc != 0)
		return rc;

	b_pass.source = b;
	b_pass.is_b = true;
	b_pass.fd = fd;
	b_pass.take = compare_cubin;
	return visit_all(&b_pass, err);
}

const struct diff_cubin *diff_cubins_find(const struct diff_cubins *cubins,
                                          const struct diff_pair *pair,
                                          const struct diff_file *file)
{
	size_t low = 0;
	size_t high = cubins->count;

	/* The items are in the order of the pairs. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (cubins->items[middle].pair < pair)
			low = middle + 1;
		else
			high = middle;
	}

	for (; low < cubins->count && cubins->items[low].pair == pair; low++) {
		if (cubins->items[low].file.a == file->a)
			return &cubins->items[low];
	}

	return NULL;
}

void diff_cubins_release(struct diff_cubins *cubins)
{
	for (size_t i = 0; i < cubins->count; i++) {
		cubin_diff_release(&cubins->items[i].diff);
		free(cubins->items[i].failure);
	}
	free(cubins->items);
	*cubins = (struct diff_cubins){ .count = 0 };
}

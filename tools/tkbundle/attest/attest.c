/* SPDX-License-Identifier: Apache-2.0 */
#include "attest/attest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attest/attest_compare.h"
#include "cli/fd.h"
#include "cli/text.h"
#include "compile/compile_triton.h"
#include "report/source.h"
#include "trust/key_file.h"

enum {
	CHUNK = 256 * 1024
};

int attest_begin(struct attest *attest, struct tkb_error *err)
{
	deadline_begin(&attest->deadline, attest->args->deadline.value);
	return archive_folder_make(NULL, &attest->folder, err);
}

void attest_end(struct attest *attest)
{
	archive_folder_remove(&attest->folder);
}

/* Write the blob to the file that is compiled. */
static int save_blob(const struct tkb_source *blob, const char *path,
                     struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	TKB_AUTO(text_free) char *chunk = malloc(CHUNK);
	uint64_t offset = 0;
	size_t got = CHUNK;
	int rc = 0;

	if (chunk == NULL)
		return cli_error_nomem(err);
	if (fd < 0)
		return cli_error_errno(err, "write", path);
	while (rc == 0 && got == CHUNK) {
		rc = blob->read_at(blob->self, offset, chunk, CHUNK, &got, err);
		if (rc == 0 && !fd_write(fd, (struct tkb_bytes){ chunk, got }))
			rc = cli_error_errno(err, "write", path);
		offset += got;
	}
	return rc;
}

static bool is_same_target(const struct tkb_target *a,
                           const struct tkb_target *b)
{
	return strcmp(a->backend, b->backend) == 0 &&
	       strcmp(a->arch, b->arch) == 0;
}

/* The targets of its kernels, each once; `out` has room for all of them. */
static size_t list_targets(const struct source *source, struct tkb_target *out)
{
	size_t count = 0;

	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);
		size_t k = 0;

		if (entry->kind != TKB_KIND_KERNEL)
			continue;
		while (k < count && !is_same_target(&out[k], &entry->target))
			k++;
		if (k == count)
			out[count++] = entry->target;
	}
	return count;
}

/* A record that is compiled again. */
struct again {
	struct attest *attest;
	const char *record; /* digits of its digest */
	const struct source *source;
	struct attest_reason *reasons; /* owned */
	size_t reason_count;
};

static void again_release(struct again *again)
{
	for (size_t i = 0; i < again->reason_count; i++) {
		free(again->reasons[i].key);
		free(again->reasons[i].text);
	}
	free(again->reasons);
}

/* Without memory, the kernel is named without a reason. */
static void note_reason(void *self, const char *key, const char *why)
{
	struct again *const again = self;
	struct attest_reason *const grown =
		table_grow(again->reasons, again->reason_count, sizeof(*grown));
	struct attest_reason made = { .key = strdup(key), .text = strdup(why) };

	again->reasons = grown != NULL ? grown : again->reasons;
	if (grown != NULL && made.key != NULL && made.text != NULL) {
		again->reasons[again->reason_count++] = made;
		return;
	}
	free(made.key);
	free(made.text);
}

/* A kernel that fails is noted there, and is missing in the cache. */
static int compile_again(struct again *again, const char *bundle,
                         const char *cache_root, struct tkb_error *err)
{
	struct attest *const attest = again->attest;
	const struct source *const source = again->source;
	char name[32];
	TKB_AUTO(compile_triton_counts_release)
	struct compile_triton_counts counts = { .compiled = 0 };
	TKB_AUTO(auto_free)
	struct tkb_target *targets =
		calloc(source_entry_count(source) + 1, sizeof(*targets));
	const struct compile_arguments *const chosen = &attest->args->compile;
	const struct compile_triton_request request = {
		.inputs = &bundle,
		.input_count = 1,
		.pythons = chosen->pythons.items,
		.python_count = chosen->pythons.count,
		.ptxas = chosen->ptxas,
		.cache_root = cache_root,
		.targets = targets,
		.target_count =
			targets == NULL ? 0 : list_targets(source, targets),
		.worker_count = attest->args->jobs.value,
		.deadline = attest->deadline,
		.keeps_going = true,
		.is_json = true,
		.name = name,
		.on_failed = note_reason,
		.self = again,
	};

	(void)snprintf(name, sizeof(name), "record %.12s", again->record);
	if (targets == NULL)
		return cli_error_nomem(err);
	json_out_open_array(&attest->cli->json, "compiled");
	if (request.target_count > 0)
		(void)compile_triton(attest->cli, &request, &counts);
	json_out_close(&attest->cli->json);
	if (counts.left > 0)
		return cli_error(err, TKB_ERR_CANCELLED,
		                 "the kernels were not all compiled again");
	return 0;
}

static int compare_compiled(const struct again *again, const char *cache_root,
                            struct tkb_error *err)
{
	struct attest *const attest = again->attest;
	TKB_AUTO(source_close) struct source made = { 0 };
	struct attest_verdict verdict = { .cli = attest->cli,
		                          .record = again->record,
		                          .reasons = again->reasons,
		                          .reason_count = again->reason_count };
	int rc;

	rc = source_open(cache_root, true, &made, err);
	if (rc == 0)
		rc = attest_compare(again->source, &made, &verdict, err);
	attest->same += verdict.same;
	attest->different += verdict.different;
	attest->other += verdict.other;
	if (rc != 0)
		return rc;
	return verdict.different + verdict.other > 0 ? TKB_MISS : 0;
}

static int attest_record(struct attest *attest, const char *record,
                         const struct tkb_source *blob, struct tkb_error *err)
{
	TKB_AUTO(source_close) struct source source = { 0 };
	TKB_AUTO(again_release)
	struct again again = { .attest = attest,
		               .record = record,
		               .source = &source };
	TKB_AUTO(text_free)
	char *bundle = text_format("%s/%s.tkb", attest->folder.files, record);
	TKB_AUTO(text_free)
	char *cache_root = text_format("%s/%s", attest->folder.files, record);
	int rc;

	if (bundle == NULL || cache_root == NULL)
		return cli_error_nomem(err);
	if (mkdir(cache_root, 0700) < 0)
		return cli_error_errno(err, "write", cache_root);
	rc = save_blob(blob, bundle, err);
	if (rc == 0)
		rc = source_open(bundle, false, &source, err);
	if (rc == 0)
		rc = compile_again(&again, bundle, cache_root, err);
	return rc == 0 ? compare_compiled(&again, cache_root, err) : rc;
}

int attest_vouch(void *self, const struct tkb_digest *record,
                 const struct tkb_source *blob, struct tkb_error *err)
{
	struct attest *const attest = self;
	struct json_out *const json = &attest->cli->json;
	char id[TKB_DIGEST_HEX_SIZE];
	int rc = TKB_MISS;

	/* Compiling draws a bar of its own, and prints lines. */
	progress_erase(&attest->follow.progress);
	tkb_digest_to_hex(record, id);
	json_out_open_object(json, NULL);
	json_out_text(json, "record", id);
	if (blob == NULL) {
		attest->other++;
		cli_say(attest->cli,
		        "record %.12s: its blob is gone, or "
		        "damaged",
		        id);
	} else {
		rc = attest_record(attest, id, blob, err);
	}
	json_out_flag(json, "same", rc == 0);
	json_out_close(json);
	return rc;
}

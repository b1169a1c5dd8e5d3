/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_memory.h"

#include <stdlib.h>

#include "compile/pool/fields.h"
#include "compile/pool/file_identity.h"
#include "compile/pool/memory_file.h"
#include "compile/triton/triton_depends.h"
#include "compile/triton/triton_fields.h"

enum {
	FILE_LIMIT = 16 * 1024 * 1024,
	NOTE_LIMIT = 2 * 1024 * 1024,

	ANSWERS_LIMIT = 4096
};

/*
 * The file is a sequence of notes, each a digest and fields. If the digest is that
 * of a job, the fields are its answer. If it is the digest of the fields, they are
 * a part that several answers share.
 */
static const struct tkb_memory_file triton_file = {
	.name = "triton",
	.magic = "tkbundle triton 1\n",
	.limit = FILE_LIMIT,
};

static bool find_field(struct tkb_bytes all, enum tkb_triton_field wanted,
                       struct tkb_bytes *out)
{
	struct tkb_fields fields = { .bytes = all };
	unsigned field;

	while (tkb_fields_next(&fields, &field, out, NULL) == 0) {
		if (field == wanted)
			return true;
	}
	return false;
}

/* The digest of the part that an answer shares with others; false: none. */
static bool shared_of(struct tkb_bytes note, struct tkb_digest *out)
{
	struct tkb_bytes bytes;

	if (!find_field(note, TKB_TRITON_SHARED, &bytes) ||
	    bytes.size != sizeof(*out))
		return false;
	memcpy(out, bytes.data, bytes.size);
	return true;
}

void tkb_triton_memory_init(struct tkb_triton_memory *memory, const char *root)
{
	*memory = (struct tkb_triton_memory){
		.root = root,
		.file = TKB_BUF_INIT(FILE_LIMIT + 1),
		.fresh = TKB_BUF_INIT(FILE_LIMIT),
	};
	(void)pthread_mutex_init(&memory->lock, NULL);
}

static bool has_digest(const struct tkb_digests *digests,
                       const struct tkb_digest *digest)
{
	for (size_t i = 0; i < digests->count; i++) {
		if (tkb_digest_equal(&digests->items[i], digest))
			return true;
	}
	return false;
}

/* Is a shared part still valid? */
static bool shared_holds(struct tkb_triton_memory *memory,
                         const struct tkb_digest *digest)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf renewed = TKB_BUF_INIT(NOTE_LIMIT);
	struct tkb_bytes note;
	bool holds;

	if (has_digest(&memory->unchanged, digest))
		return true;
	if (has_digest(&memory->changed, digest))
		return false;
	holds = tkb_memory_find(memory->known, digest, &note) &&
	        tkb_depends_hold(note, &renewed);
	return tkb_digests_add(holds ? &memory->unchanged : &memory->changed,
	                       digest, NULL) == 0 &&
	       holds;
}

static bool recall_answer(struct tkb_triton_memory *memory,
                          const struct tkb_digest *query,
                          struct tkb_buf *answer)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf renewed = TKB_BUF_INIT(NOTE_LIMIT);
	struct tkb_digest shared;
	struct tkb_bytes note;
	struct tkb_bytes result;

	if (!memory->is_read)
		memory->known = tkb_memory_file_read(&triton_file, memory->root,
		                                     &memory->file);
	memory->is_read = true;
	if (!tkb_memory_find(memory->known, query, &note) ||
	    !shared_of(note, &shared) || !shared_holds(memory, &shared) ||
	    !tkb_depends_hold(note, &renewed) ||
	    !find_field(note, TKB_TRITON_PRODUCT, &result))
		return false;
	if (renewed.failure == 0 &&
	    !tkb_bytes_equal(tkb_buf_bytes(&renewed), note))
		tkb_memory_add(&memory->fresh, query, tkb_buf_bytes(&renewed));
	tkb_buf_reset(answer);
	tkb_buf_add(answer, result);
	return answer->failure == 0;
}

bool tkb_triton_memory_recall(struct tkb_triton_memory *memory,
                              const struct tkb_digest *query,
                              struct tkb_buf *answer)
{
	bool is_known = false;

	if (memory->root == NULL)
		return false;
	(void)pthread_mutex_lock(&memory->lock);
	is_known = recall_answer(memory, query, answer);
	(void)pthread_mutex_unlock(&memory->lock);
	return is_known;
}

/*
 * Note the part that the worker's answers share, unless it was noted already: for this
 * worker, or for an earlier one, and is unchanged since.
 */
static bool note_shared(struct tkb_triton_memory *memory,
                        struct tkb_bytes fields, int64_t began_ns,
                        struct tkb_digest *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf note = TKB_BUF_INIT(NOTE_LIMIT);
	struct tkb_triton_told told = { .began_ns = began_ns };

	if (tkb_digest_of(fields, &told.fields, NULL) < 0)
		return false;
	for (size_t i = 0; i < memory->told_count; i++) {
		if (memory->told[i].began_ns <= began_ns &&
		    tkb_digest_equal(&memory->told[i].fields, &told.fields)) {
			*out = memory->told[i].note;
			return true;
		}
	}
	if (!tkb_depends_note(fields, began_ns, &note) ||
	    tkb_digest_of(tkb_buf_bytes(&note), &told.note, NULL) < 0 ||
	    tkb_grow(&memory->told, &memory->told_capacity, memory->told_count,
	             sizeof(*memory->told), NULL) < 0)
		return false;
	memory->told[memory->told_count++] = told;
	tkb_memory_add(&memory->fresh, &told.note, tkb_buf_bytes(&note));
	*out = told.note;
	return true;
}

/* Add the answer as it is for a hit. */
static void add_result(struct tkb_bytes answer, bool has_entry,
                       struct tkb_buf *out)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf result = TKB_BUF_INIT(NOTE_LIMIT);
	struct tkb_fields fields = { .bytes = answer };
	unsigned field;
	struct tkb_bytes bytes;

	while (tkb_fields_next(&fields, &field, &bytes, NULL) == 0) {
		if (field < TKB_TRITON_PRODUCT && field != TKB_TRITON_IS_HIT)
			tkb_field_add(&result, field, bytes);
	}
	if (has_entry)
		tkb_field_add_text(&result, TKB_TRITON_IS_HIT, "1");
	tkb_field_add(out, TKB_TRITON_PRODUCT, tkb_buf_bytes(&result));
	if (result.failure != 0)
		out->failure = result.failure;
}

static void note_answer(struct tkb_triton_memory *memory,
                        const struct tkb_digest *query, struct tkb_bytes answer,
                        struct tkb_bytes shared_fields, int64_t began_ns)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf note = TKB_BUF_INIT(NOTE_LIMIT);
	char folder[TKB_FIELD_PATH_SIZE];
	struct tkb_digest shared;
	struct tkb_bytes bytes = { NULL, 0 };
	const bool has_entry = find_field(answer, TKB_TRITON_FOLDER, &bytes) &&
	                       bytes.size != 0;

	if (!note_shared(memory, shared_fields, began_ns, &shared))
		return;
	tkb_field_add(&note, TKB_TRITON_SHARED,
	              (struct tkb_bytes){ &shared, sizeof(shared) });
	add_result(answer, has_entry, &note);
	if (has_entry && (!tkb_field_path(bytes, folder) ||
	                  !tkb_depends_note_entry(folder, &note)))
		return;
	if (tkb_depends_note(answer, began_ns, &note))
		tkb_memory_add(&memory->fresh, query, tkb_buf_bytes(&note));
}

/*
 * Does the worker run in the Python that was named? A script or shim that chooses a
 * Python may choose another next time.
 */
static bool is_run_by(const char *python, struct tkb_bytes program)
{
	struct tkb_file_identity named;
	struct tkb_file_identity run;
	char path[TKB_FIELD_PATH_SIZE];

	return tkb_field_path(program, path) &&
	       tkb_file_identify(python, &named) &&
	       tkb_file_identify(path, &run) && tkb_file_is_same(&named, &run);
}

void tkb_triton_memory_note(struct tkb_triton_memory *memory,
                            const struct tkb_digest *query,
                            struct tkb_bytes answer)
{
	struct tkb_bytes shared;
	struct tkb_bytes began;
	struct tkb_bytes program;
	char number[32] = "";

	if (memory->root == NULL ||
	    !find_field(answer, TKB_TRITON_SHARED, &shared) ||
	    !find_field(answer, TKB_TRITON_BEGAN, &began) ||
	    began.size >= sizeof(number) ||
	    !find_field(answer, TKB_TRITON_PROGRAM, &program) ||
	    !is_run_by(memory->python, program))
		return;
	memcpy(number, began.data, began.size);
	(void)pthread_mutex_lock(&memory->lock);
	note_answer(memory, query, answer, shared, strtoll(number, NULL, 10));
	(void)pthread_mutex_unlock(&memory->lock);
}

struct merging {
	struct tkb_bytes fresh;
	struct tkb_digests needed; /* digests of the shared parts of the
	                              answers */
	size_t count;
};

/* Add answers that no newer ones replace, as long as there is room. */
static void merge_answers(struct merging *merging, struct tkb_bytes from,
                          struct tkb_bytes newer, struct tkb_buf *out)
{
	struct tkb_fields fields = { .bytes = from };
	struct tkb_digest query;
	struct tkb_digest shared;
	struct tkb_bytes note;
	struct tkb_bytes other;

	while (tkb_memory_next(&fields, &query, &note) &&
	       merging->count < ANSWERS_LIMIT) {
		if (!shared_of(note, &shared) ||
		    out->size + note.size > FILE_LIMIT / 2 ||
		    tkb_memory_find(newer, &query, &other))
			continue;
		if (!has_digest(&merging->needed, &shared) &&
		    tkb_digests_add(&merging->needed, &shared, NULL) < 0)
			return;
		tkb_memory_add(out, &query, note);
		merging->count++;
	}
}

static void merge_notes(void *self, struct tkb_bytes old, struct tkb_buf *out)
{
	const struct tkb_bytes nothing = { "", 0 };
	struct merging *merging = self;
	struct tkb_bytes note;

	merge_answers(merging, merging->fresh, nothing, out);
	merge_answers(merging, old, merging->fresh, out);
	for (size_t i = 0; i < merging->needed.count; i++) {
		const struct tkb_digest *digest = &merging->needed.items[i];

		if ((tkb_memory_find(merging->fresh, digest, &note) ||
		     tkb_memory_find(old, digest, &note)) &&
		    out->size + note.size < FILE_LIMIT - NOTE_LIMIT)
			tkb_memory_add(out, digest, note);
	}
}

void tkb_triton_memory_close(struct tkb_triton_memory *memory)
{
	struct merging merging = { .fresh = tkb_buf_bytes(&memory->fresh) };

	if (memory->root != NULL && memory->fresh.size != 0 &&
	    memory->fresh.failure == 0)
		tkb_memory_file_update(&triton_file, memory->root, merge_notes,
		                       &merging);
	tkb_digests_release(&merging.needed);
	tkb_digests_release(&memory->unchanged);
	tkb_digests_release(&memory->changed);
	free(memory->told);
	tkb_buf_release(&memory->file);
	tkb_buf_release(&memory->fresh);
	(void)pthread_mutex_destroy(&memory->lock);
}

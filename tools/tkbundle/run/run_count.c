/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_count.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <jansson.h>

#include <tkbundle/tree.h>

#include "cli/fd.h"
#include "report/spans.h"
#include "run/run_document.h"
#include "run/run_engine.h"
#include "run/run_scan.h"

struct count {
	const struct run *run;
	struct run_counts *counts;
	json_t *emitted; /* an object with "root/key" of what was emitted */
	json_t *known;   /* the same, for entries that were present or are in
	                    the ref; what was listed has its stamp */
	json_t *old;     /* the same, for entries present before the command */
	json_t *unfit;   /* the same, for units of the ref that do not fit */
	json_t *folders; /* the same, for all folders of known names */
	json_t *listed;  /* an object with "TREE/UNIT" of units in the list of
	                    those made again */
	bool has_document;
	struct run_kind *kind; /* of the current entry */
	struct unit {          /* the unit whose files are being visited */
		char path[RUN_PATH_SIZE]; /* empty: none */
		bool has_news;            /* files were added or changed */
		bool is_new;
		bool is_read;
		bool is_old;    /* a file is from before the command */
		int64_t end_ns; /* when a file of it was last written */
	} unit;
	const struct tkb_tree *tree; /* the tree of the unit */
	struct tkb_times *times;     /* owned; NULL: unknown */
	struct spans spans;
	const struct run_made_visitor *visitor; /* may be NULL */
	struct run_again *again; /* gets that list anew; may be NULL */
};

/*
 * Does reading update access times? Tested in the same way as in the library.
 */
static void try_times(void *self, const char *path)
{
	static const struct timespec never[] = { { .tv_sec = 0 },
		                                 { .tv_nsec = UTIME_OMIT } };
	bool *const has_times = self;
	TKB_AUTO(fd_close)
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct statvfs system;
	struct stat status;
	char byte = '\n';

	if (fd < 0 || write(fd, &byte, 1) != 1 || futimens(fd, never) < 0) {
		if (statvfs(path, &system) < 0 ||
		    (system.f_flag & (ST_NOATIME | ST_RDONLY)) != 0)
			*has_times = false;
	} else if (pread(fd, &byte, 1, 0) != 1 || fstat(fd, &status) < 0 ||
	           status.st_atim.tv_sec == 0) {
		*has_times = false;
	}
}

static void add_to_set(json_t *set, const char *name)
{
	(void)json_object_set_new_nocheck(set, name, json_null());
}

/*
 * Count an entry. It needs no push if it was present before, or if the ref has
 * it.
 */
static void count_pulled_entry(void *self, size_t kind, const char *path,
                               enum run_pulled what)
{
	struct count *const count = self;

	if (what == RUN_PULLED_UNFIT)
		add_to_set(count->unfit, path);
	if (what == RUN_PULLED_EMITTED || what == RUN_PULLED_PRESENT)
		add_to_set(count->known, path);
	if (what != RUN_PULLED_EMITTED)
		return;
	add_to_set(count->emitted, path);
	if (kind < count->counts->kind_count)
		count->counts->kinds[kind].emitted++;
}

static void add_name(json_t *set, const struct run_name *name)
{
	(void)json_object_set_new_nocheck(set, name->path,
	                                  json_integer(name->stamp));
}

static void add_folders(json_t *set, const char *path)
{
	char folder[RUN_PATH_SIZE];
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", path);
	for (slash = strrchr(folder, '/'); slash != NULL;
	     slash = strrchr(folder, '/')) {
		*slash = '\0';
		/* Then those above are there, too. */
		if (json_object_get(set, folder) != NULL)
			return;
		add_to_set(set, folder);
	}
}

static void sort_known_names(struct count *count)
{
	const struct run_shared *const shared = count->run->shared;
	struct run_name name;

	for (size_t at = 0; run_scan_next(shared, &at, &name);) {
		/* If the watch was killed, it may have missed new entries. */
		if (at <= shared->told_size) {
			add_name(count->known, &name);
			add_folders(count->folders, name.path);
		}
		if (at <= shared->baseline_size)
			add_name(count->old, &name);
	}
}

static int64_t stamp_of(const json_t *set, const char *path)
{
	return json_integer_value(json_object_get(set, path));
}

/*
 * Was it written while the command ran, and not by our pull? A clock may be or
 * have been wrong, so a new name counts, too, and an old file does not.
 */
static bool is_compiled(const struct count *count, const char *name,
                        const struct stat *stamp)
{
	const int64_t read_ns = run_scan_time_ns(&stamp->st_atim);
	const int64_t written_ns = run_scan_time_ns(&stamp->st_mtim);

	if (json_object_get(count->emitted, name) != NULL ||
	    stamp_of(count->old, name) == run_scan_key_stamp(stamp))
		return false;
	/* Even a killed pull has stamped its entries as unused. */
	if (count->run->children[RUN_PULL].has_begun && !count->has_document &&
	    (read_ns == 0 || read_ns > written_ns))
		return false;
	return written_ns >= count->run->command_ns ||
	       (count->run->shared->has_baseline &&
	        json_object_get(count->old, name) == NULL);
}

/* Note when it was compiled, unless it was there before the command. */
static void note_span(struct count *count, const char *tree, const char *name,
                      int64_t begin_ns, int64_t end_ns)
{
	const int64_t start_ns = count->run->command_ns;

	spans_add(&count->spans, tree, name,
	          begin_ns > start_ns ? begin_ns : start_ns, end_ns);
}

/* Note a compiled entry: keep its path, as long as there is room. */
static void note_compiled(struct count *count, const char *path,
                          const char *tree, const char *name)
{
	struct run_counts *const counts = count->counts;
	const size_t used = strlen(counts->cold);

	if (count->visitor != NULL)
		count->visitor->made(count->visitor->self, tree, name);
	counts->compiled++;
	count->kind->compiled++;
	if (used + strlen(path) + 2 > sizeof(counts->cold))
		return;
	(void)snprintf(counts->cold + used, sizeof(counts->cold) - used, "%s\n",
	               path);
	counts->cold_count++;
}

/*
 * Note an entry that was emitted and not used: keep its key, as long as there
 * is room.
 */
static void note_idle(struct count *count, const char *key)
{
	struct run_counts *const counts = count->counts;
	const size_t used = strlen(counts->idle);

	if (used + strlen(key) + 2 <= sizeof(counts->idle))
		(void)snprintf(counts->idle + used, sizeof(counts->idle) - used,
		               "%s\n", key);
}

static void note_used(struct count *count, const char *tree, const char *name)
{
	const uint64_t saved_ms =
		count->times != NULL ? tkb_times_find(count->times, tree, name)
				     : 0;

	count->counts->used++;
	count->counts->saved_ms += saved_ms;
	count->kind->used++;
	count->kind->saved_ms += saved_ms;
}

static bool is_read(const struct stat *stamp)
{
	return stamp->st_atim.tv_sec != 0 &&
	       run_scan_time_ns(&stamp->st_atim) >
	               run_scan_time_ns(&stamp->st_mtim);
}

static void count_key(void *self, int root_fd, const char *path,
                      const char *key)
{
	struct count *const count = self;
	char name[RUN_PATH_SIZE];
	struct stat stamp;

	if (!folder_join(name, sizeof(name), path, key) ||
	    !run_scan_stamp(root_fd, key, &stamp))
		return;
	if (json_object_get(count->known, name) == NULL)
		count->counts->has_new = true;
	if (is_compiled(count, name, &stamp)) {
		note_compiled(count, name, NULL, key);
		note_span(count, NULL, key, spans_begin(root_fd, key),
		          run_scan_time_ns(&stamp.st_mtim));
	} else if (is_read(&stamp)) {
		note_used(count, NULL, key);
	} else if (count->counts->has_access_times &&
	           json_object_get(count->emitted, name) != NULL) {
		note_idle(count, key);
	}
}

static void count_root(void *self, const char *path)
{
	run_scan_keys(path, count_key, self);
}

/* Read the last list of units made again. */
static void list_again(struct count *count)
{
	const struct run_shared *const shared = count->run->shared;
	const struct run_again *const last =
		&shared->again[shared->again_index];

	for (size_t at = 0; at < last->size; at += strlen(last->names + at) + 1)
		add_to_set(count->listed, last->names + at);
}

/*
 * Note a unit if it was made again, now or before, as long as there is room. A
 * push leaves out one whose name no unit can have.
 */
static void note_again(struct count *count, const char *name, bool is_made)
{
	const char *const tree = count->tree->name;
	struct run_again *const again = count->again;
	char text[RUN_PATH_SIZE + RUN_PATH_SIZE];
	size_t size;

	(void)snprintf(text, sizeof(text), "%s/%s", tree, name);
	if ((!is_made && json_object_get(count->listed, text) == NULL) ||
	    !tkb_unit_name_is_valid(tree, name))
		return;
	size = strlen(text) + 1;
	if (sizeof(again->names) - again->size < size) {
		again->is_full = true;
		return;
	}
	(void)memcpy(again->names + again->size, text, size);
	again->size += size;
	again->count++;
}

/*
 * Has the ref, perhaps, another unit of this name? Then it was there before the
 * command, or was pushed, with whatever files.
 */
static bool is_in_ref(const struct count *count)
{
	const char *const path = count->unit.path;

	return json_object_get(count->unfit, path) != NULL ||
	       stamp_of(count->known, path) != 0 ||
	       json_object_get(count->folders, path) != NULL ||
	       (!count->run->shared->has_baseline &&
	        (count->unit.is_old ||
	         json_object_get(count->known, path) != NULL));
}

/* Count the unit, after all its files were visited. */
static void end_unit(struct count *count)
{
	struct unit *const unit = &count->unit;
	const char *const name = unit->path + strlen(count->tree->path) + 1;

	if (unit->path[0] != '\0' && unit->is_new) {
		note_compiled(count, unit->path, count->tree->name, name);
		note_span(count, count->tree->name, name,
		          spans_begin(AT_FDCWD, unit->path), unit->end_ns);
	} else if (unit->path[0] != '\0' && unit->is_read) {
		note_used(count, count->tree->name, name);
	}
	if (count->again != NULL && unit->path[0] != '\0')
		note_again(count, name, unit->has_news && is_in_ref(count));
	*unit = (struct unit){ .is_new = false };
}

/*
 * Is it a file of a unit that the command made, or made again? Tuning results
 * change without any compiling. While a pull was still emitting, nothing tells
 * whether a file was in its unit before; if the unit is named after its content,
 * the file may be the same as before.
 */
static bool is_new_file(const struct count *count, const char *path,
                        const struct run_scan_unit *in,
                        const struct stat *status)
{
	const int64_t old = stamp_of(count->old, path);
	const bool is_other = old != run_scan_file_stamp(in, status);

	if (count->run->shared->has_baseline)
		return in->is_tuned ? old == 0 : is_other;
	if (json_object_get(count->emitted, count->unit.path) != NULL)
		return !in->is_tuned && !in->is_named_by_content &&
		       count->run->children[RUN_PULL].pid == 0 &&
		       run_scan_time_ns(&status->st_mtim) > count->run->pull_ns;
	if (old != 0)
		return !in->is_tuned && is_other;
	return run_scan_time_ns(&status->st_ctim) >= count->run->command_ns;
}

/* May a pull that was still emitting have written the file? */
static bool may_be_pulled(const struct count *count, const char *path,
                          int64_t known)
{
	if (json_object_get(count->emitted, count->unit.path) != NULL)
		return true;
	return known == 0 &&
	       json_object_get(count->folders, count->unit.path) == NULL &&
	       (json_object_get(count->known, path) != NULL ||
	        json_object_get(count->known, count->unit.path) != NULL);
}

/* What the next push has to do with a file. */
enum to_push {
	TO_PUSH_NOTHING,
	TO_PUSH_LEFT, /* the last push may have left it out */
	TO_PUSH_NEWS  /* it was added, or changed */
};

static enum to_push what_to_push(const struct count *count, const char *path,
                                 const struct run_scan_unit *in,
                                 const struct stat *status)
{
	const int64_t stamp = run_scan_file_stamp(in, status);
	const int64_t known = stamp_of(count->known, path);

	if (known == stamp)
		return TO_PUSH_NOTHING;
	if (known == -stamp)
		return TO_PUSH_LEFT;
	if (count->run->shared->has_baseline ||
	    !may_be_pulled(count, path, known))
		return TO_PUSH_NEWS;
	return run_scan_time_ns(&status->st_mtim) >
	                       run_count_known_until(count->run)
	               ? TO_PUSH_NEWS
	               : TO_PUSH_NOTHING;
}

static void count_file(void *self, const char *path,
                       const struct run_scan_unit *in,
                       const struct stat *status)
{
	struct count *const count = self;
	struct unit *const unit = &count->unit;
	enum to_push what;

	if (strlen(unit->path) != in->size ||
	    strncmp(unit->path, path, in->size) != 0) {
		end_unit(count);
		(void)snprintf(unit->path, sizeof(unit->path), "%.*s",
		               (int)in->size, path);
	}
	what = what_to_push(count, path, in, status);
	if (what != TO_PUSH_NOTHING)
		count->counts->has_new = true;
	unit->has_news = unit->has_news || what == TO_PUSH_NEWS;
	unit->is_new = unit->is_new || is_new_file(count, path, in, status);
	unit->is_read = unit->is_read || is_read(status);
	unit->is_old = unit->is_old || run_scan_time_ns(&status->st_ctim) <
	                                       count->run->command_ns;
	if (run_scan_time_ns(&status->st_mtim) > unit->end_ns)
		unit->end_ns = run_scan_time_ns(&status->st_mtim);
}

/* Count kernels that are in a tree. */
static void count_nested(void *self, const char *path)
{
	struct count *const count = self;
	struct run_kind *const kind = count->kind;

	try_times(&count->counts->has_access_times, path);
	count->kind = &count->counts->kinds[0];
	count_root(count, path);
	count->kind = kind;
}

static void count_tree(struct count *count, const struct tkb_tree *tree,
                       struct run_kind *kind)
{
	const struct run_tree_visitor visitor = { count, count_file,
		                                  count_nested };

	if (access(tree->path, F_OK) == 0)
		try_times(&count->counts->has_access_times, tree->path);
	count->kind = kind;
	count->tree = tree;
	run_scan_tree(tree, &visitor);
	end_unit(count);
}

/* The engine that has these rules; "" for a tree without an engine. */
static const char *engine_of(const struct trees *trees,
                             const struct tkb_tree *tree)
{
	for (size_t i = 0; tree->rules != NULL && i < trees->engine_count;
	     i++) {
		const struct tkb_engine *const engine = trees->engines[i];

		for (size_t k = 0; k < tkb_engine_root_count(engine); k++) {
			if (tkb_engine_root(engine, k)->rules == tree->rules)
				return tkb_engine_name(engine);
		}
	}
	return "";
}

static void add_kind(struct run_counts *counts, const char *engine,
                     const char *name)
{
	struct run_kind *const kind = &counts->kinds[counts->kind_count];

	if (counts->kind_count == RUN_KINDS_LIMIT)
		return;
	counts->kind_count++;
	(void)snprintf(kind->engine, sizeof(kind->engine), "%s", engine);
	(void)snprintf(kind->name, sizeof(kind->name), "%s", name);
}

/* Kernels belong to the first engine; without one, to Triton. */
static void list_kinds(struct run_counts *counts, const struct run_plan *plan,
                       const struct trees *trees)
{
	add_kind(counts, plan->engines_size != 0 ? plan->engines : "triton",
	         "kernels");
	for (size_t i = 0; i < trees->count; i++)
		add_kind(counts, engine_of(trees, &trees->items[i]),
		         trees->items[i].name);
}

/* Drop trees outside the caches: their contents are not counted. */
static void drop_external(struct run_counts *counts, const struct trees *trees)
{
	size_t kept = counts->kind_count > 0 ? 1 : 0;

	for (size_t i = 1; i < counts->kind_count; i++) {
		if (!trees->items[i - 1].is_external)
			counts->kinds[kept++] = counts->kinds[i];
	}
	counts->kind_count = kept;
}

static void count_all(struct count *count, const struct trees *trees)
{
	const struct run_plan *const plan = &count->run->shared->plan;
	struct run_counts *const counts = count->counts;

	list_kinds(counts, plan, trees);
	count->kind = &counts->kinds[0];
	count->has_document =
		run_document_each(&count->run->children[RUN_PULL], trees,
	                          count_pulled_entry, count);
	sort_known_names(count);
	list_again(count);
	run_scan_roots(plan->root, plan->is_inductor, try_times,
	               &counts->has_access_times);
	run_scan_roots(plan->root, plan->is_inductor, count_root, count);
	for (size_t i = 0; i < trees->count && i + 1 < counts->kind_count;
	     i++) {
		if (!trees->items[i].is_external)
			count_tree(count, &trees->items[i],
			           &counts->kinds[i + 1]);
	}
	drop_external(counts, trees);
	counts->is_made = true;
	/*
	 * The next push sends the times. A failure to write them is harmless.
	 */
	if (spans_note(&count->spans, plan->root, NULL) != 0)
		return;
}

/* @return whether anything is known */
static bool count_with(struct run *run, const struct run_made_visitor *visitor,
                       struct run_again *again, struct run_counts *counts)
{
	const struct run_plan *const plan = &run->shared->plan;
	json_auto_t *emitted = json_object();
	json_auto_t *known = json_object();
	json_auto_t *old = json_object();
	json_auto_t *unfit = json_object();
	json_auto_t *folders = json_object();
	json_auto_t *listed = json_object();
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	struct tkb_error err = { .status = 0 };
	struct count count = { .run = run,
		               .counts = counts,
		               .emitted = emitted,
		               .known = known,
		               .old = old,
		               .unfit = unfit,
		               .folders = folders,
		               .listed = listed,
		               .visitor = visitor,
		               .again = again };

	if (emitted == NULL || known == NULL || old == NULL || unfit == NULL ||
	    folders == NULL || listed == NULL)
		return false;
	if (plan->has_trees &&
	    run_engine_trees(run->args, plan, &trees, &err) != 0)
		trees.count = 0;
	/* Names that cannot be read count as unknown. */
	if (tkb_times_open(plan->root, &count.times, NULL) != 0)
		count.times = NULL;
	count_all(&count, &trees);
	tkb_times_close(count.times);
	spans_release(&count.spans);
	return true;
}

int64_t run_count_known_until(const struct run *run)
{
	const int64_t begin_ns = run->shared->told_ns != 0
	                                 ? run->shared->told_ns
	                                 : run->command_ns;

	return run->pull_ns > begin_ns ? run->pull_ns : begin_ns;
}

static bool count_and_note(struct run *run, struct run_again *again)
{
	struct run_counts counts = { .has_access_times = true };

	if (!count_with(run, NULL, again, &counts))
		return false;
	/* Store all counts at once: the supervisor may print them meanwhile. */
	run->shared->counts = counts;
	return true;
}

void run_count(void *self)
{
	(void)count_and_note(self, NULL);
}

void run_count_to_push(void *self)
{
	struct run *const run = self;
	struct run_shared *const shared = run->shared;
	struct run_again *const next = &shared->again[1 - shared->again_index];

	next->size = 0;
	next->count = 0;
	next->is_full = false;
	if (count_and_note(run, next))
		shared->again_index = 1 - shared->again_index;
}

void run_count_made(struct run *run, const struct run_made_visitor *visitor)
{
	struct run_counts counts = { .has_access_times = true };

	(void)count_with(run, visitor, NULL, &counts);
}

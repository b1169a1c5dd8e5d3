/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "ninja/build.h"
#include "ninja/hash.h"
#include "ninja/logs.h"
#include "ninja/place.h"

/* How soon after its last write a linker makes its output executable. */
static const int64_t made_here_ns = 10 * (int64_t)1000000000;

/* A file from which outputs are made. */
struct input {
	const char *path; /* first, for tkb_compare_texts() */
	int64_t mtime;
	/* When its status changed last, as when it came to its path; 0: not
	   known. */
	int64_t placed;
	dev_t device;
	struct tkb_digest digest;
};

/* A build's folder, in the way that ninja reads it. */
struct project {
	const struct tkb_ninja_place *place;
	struct tkb_ninja_build build;
	struct tkb_ninja_log log;
	struct tkb_ninja_deps deps;
	struct input *inputs; /* owned; sorted by path, without duplicates */
	size_t input_count;
};

static void release_project(struct project *project)
{
	tkb_ninja_build_release(&project->build);
	tkb_ninja_log_release(&project->log);
	tkb_ninja_deps_release(&project->deps);
	free(project->inputs);
}

/* ninja writes no dependencies file if no rule has "deps". */
static int read_logs(struct project *project, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NINJA_FILE_LIMIT);
	int rc;

	rc = tkb_ninja_read_file(project->place, TKB_NINJA_LOG, &text, err);
	if (rc == 0)
		rc = tkb_ninja_log_read(tkb_buf_bytes(&text), &project->log,
		                        err);
	if (rc < 0 || !tkb_fd_exists(project->place->dir_fd, TKB_NINJA_DEPS))
		return rc;
	rc = tkb_ninja_read_file(project->place, TKB_NINJA_DEPS, &text, err);
	return rc < 0 ? rc
	              : tkb_ninja_deps_read(tkb_buf_bytes(&text),
	                                    &project->deps, err);
}

/* Inputs */

static bool is_output(const struct project *project, const char *path)
{
	return tkb_is_among_sorted(path, project->build.outputs,
	                           project->build.output_count);
}

/* List all inputs that no statement makes. */
static int list_inputs(struct project *project, struct tkb_error *err)
{
	const struct tkb_ninja_build *build = &project->build;
	TKB_AUTO(tkb_free_at) const char **paths = NULL;
	size_t count = build->input_count;

	for (size_t i = 0; i < project->deps.count; i++)
		count += project->deps.items[i].input_count;
	paths = tkb_alloc_array(count, sizeof(*paths));
	if (paths == NULL)
		return tkb_fail_nomem(err);
	count = 0;
	for (size_t i = 0; i < build->input_count; i++)
		paths[count++] = build->inputs[i];
	for (size_t i = 0; i < project->deps.count; i++) {
		const struct tkb_ninja_dep *item = &project->deps.items[i];

		/* The log may still have outputs that are no longer built. */
		for (size_t j = 0;
		     is_output(project, item->output) && j < item->input_count;
		     j++) {
			if (!is_output(project, item->inputs[j]))
				paths[count++] = item->inputs[j];
		}
	}
	count = tkb_sort_texts(paths, count);
	project->inputs = tkb_alloc_array(count, sizeof(*project->inputs));
	if (project->inputs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		project->inputs[i].path = paths[i];
	project->input_count = count;
	return 0;
}

static int read_inputs(struct project *project, struct tkb_hasher *hasher,
                       struct tkb_error *err)
{
	uint64_t left = TKB_NINJA_INPUTS_LIMIT;

	for (size_t i = 0; i < project->input_count; i++) {
		struct input *input = &project->inputs[i];
		struct stat status;
		const int rc =
			tkb_ninja_digest(project->place, input->path, hasher,
		                         &left, &input->digest, &status, err);

		if (rc == TKB_MISS)
			return tkb_fail_entry(err, TKB_REASON_MISSING,
			                      "the input '%.300s' is not there",
			                      input->path);
		if (rc == TKB_ERR_TOO_LARGE)
			return tkb_fail_entry(
				err, TKB_REASON_LIMIT,
				"with '%.300s', its inputs have more than %d "
				"GiB",
				input->path,
				(int)(TKB_NINJA_INPUTS_LIMIT >> 30));
		if (rc < 0)
			return rc;
		input->mtime = tkb_ninja_mtime(&status);
		/* Each link to a file in a store, as uv makes them, changes
		   this time. */
		if (status.st_nlink == 1)
			input->placed = tkb_ninja_time(status.st_ctim);
		input->device = status.st_dev;
	}
	return 0;
}

/* Sort by digest, because paths differ between machines. */
static int compare_input_digests(const void *a, const void *b)
{
	const struct input *const *left = a;
	const struct input *const *right = b;
	const int order =
		tkb_digest_compare(&(*left)->digest, &(*right)->digest);

	return order != 0 ? order : strcmp((*left)->path, (*right)->path);
}

/* Is there something to build? */

/* The status of another statement's output. */
static int stat_output(const struct project *project, const char *path,
                       struct stat *out, struct tkb_error *err)
{
	const int rc = tkb_ninja_stat(project->place, path, out, err);

	return rc == TKB_MISS
	               ? tkb_fail_entry(err, TKB_REASON_MISSING,
	                                "the output '%.300s' is not there",
	                                path)
	               : rc;
}

/* An output, and the times with which its inputs are compared. */
struct output {
	const char *path;
	int64_t oldest; /* ninja's */
	int64_t made;   /* when it was made here; INT64_MAX: not known */
	dev_t device;
};

/*
 * The times of an input, which may be another statement's output. On another file
 * system, as that of an image, files may be new though nobody replaced them.
 */
static int find_times(const struct project *project, const char *path,
                      const struct output *output, int64_t *mtime,
                      int64_t *placed, struct tkb_error *err)
{
	const struct input *found =
		project->input_count == 0
			? NULL
			: bsearch(&path, project->inputs, project->input_count,
	                          sizeof(*found), tkb_compare_texts);
	struct stat status;
	int rc;

	*placed = 0;
	if (found != NULL) {
		*mtime = found->mtime;
		*placed = found->device == output->device ? found->placed : 0;
		return 0;
	}
	if (!is_output(project, path))
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "the input '%.300s' is phony", path);
	rc = stat_output(project, path, &status, err);
	if (rc == 0)
		*mtime = tkb_ninja_mtime(&status);
	return rc;
}

/* A copied file, as with an image, has the time of its last write elsewhere. */
static int64_t find_made(const struct stat *status)
{
	const int64_t changed = tkb_ninja_time(status->st_ctim);
	const int64_t mtime = tkb_ninja_mtime(status);

	return changed >= mtime && changed - mtime <= made_here_ns ? changed
	                                                           : INT64_MAX;
}

/* Note what `input` did after `output` was made. */
static void note_later(const char *input, const char *what, const char *output,
                       bool *is_fresh, struct tkb_error *why)
{
	if (*is_fresh)
		(void)tkb_fail_entry(why, TKB_REASON_INPUTS,
		                     "'%.200s' %s '%.200s', which is made from "
		                     "it",
		                     input, what, output);
	*is_fresh = false;
}

/*
 * ninja compares only the times of contents, and a package that is installed
 * may bring an older one.
 */
static int compare_times(const struct project *project,
                         const char *const *inputs, size_t count,
                         const struct output *output, bool *is_fresh,
                         struct tkb_error *why, struct tkb_error *err)
{
	for (size_t i = 0; i < count; i++) {
		int64_t mtime = 0;
		int64_t placed;
		const int rc = find_times(project, inputs[i], output, &mtime,
		                          &placed, err);

		if (rc < 0)
			return rc;
		if (mtime > output->oldest)
			note_later(inputs[i], "is newer than", output->path,
			           is_fresh, why);
		else if (placed > output->made)
			note_later(inputs[i],
			           "was replaced, or its owner or mode "
			           "changed, after",
			           output->path, is_fresh, why);
	}
	return 0;
}

/* The log's row of `output`, which `edge` must make by the same command. */
static int find_row(const struct project *project,
                    const struct tkb_ninja_edge *edge, const char *output,
                    const struct tkb_ninja_output **out, struct tkb_error *err)
{
	const struct tkb_ninja_output *row =
		tkb_ninja_log_find(&project->log, output);

	if (tkb_ninja_relative_path(project->place, output) == NULL)
		return tkb_fail_entry(err, TKB_REASON_OUTSIDE,
		                      "the output '%.300s' is outside the "
		                      "folder that it is built in",
		                      output);
	if (row == NULL)
		return tkb_fail_entry(err, TKB_REASON_MISSING,
		                      "ninja's log does not know '%.300s'",
		                      output);
	if (row->hash !=
	    tkb_ninja_hash(project->log.version, tkb_text(edge->command)))
		return tkb_fail_entry(err, TKB_REASON_INPUTS,
		                      "'%.300s' was not built by the command "
		                      "that build.ninja has for it",
		                      output);
	*out = row;
	return 0;
}

/* Check whether ninja would build the output again. */
static int check_output(const struct project *project,
                        const struct tkb_ninja_edge *edge, const char *path,
                        bool *is_fresh, struct tkb_error *why,
                        struct tkb_error *err)
{
	const struct tkb_ninja_dep *dep =
		tkb_ninja_deps_find(&project->deps, path);
	const struct tkb_ninja_output *row = NULL;
	struct output output = { .path = path };
	struct stat status;
	int64_t mtime;
	int rc;

	rc = find_row(project, edge, path, &row, err);
	if (rc == 0)
		rc = stat_output(project, path, &status, err);
	if (rc < 0)
		return rc;
	mtime = tkb_ninja_mtime(&status);
	output.oldest =
		edge->is_restat || row->mtime < mtime ? row->mtime : mtime;
	/* With "restat", an output may stay that would be made the same. */
	output.device = status.st_dev;
	output.made = edge->is_restat ? INT64_MAX : find_made(&status);
	rc = compare_times(project, edge->inputs, edge->input_count, &output,
	                   is_fresh, why, err);
	if (rc == 0 && dep == NULL && edge->has_deps &&
	    path == edge->outputs[0])
		rc = tkb_fail_entry(err, TKB_REASON_MISSING,
		                    "'%s' does not know '%.300s'",
		                    TKB_NINJA_DEPS, path);
	if (rc < 0 || dep == NULL)
		return rc;
	if (mtime > dep->mtime)
		note_later(path, "is newer than", TKB_NINJA_DEPS, is_fresh,
		           why);
	return compare_times(project, dep->inputs, dep->input_count, &output,
	                     is_fresh, why, err);
}

static int check_outputs(const struct project *project, bool *is_fresh,
                         struct tkb_error *why, struct tkb_error *err)
{
	int rc = 0;

	*is_fresh = true;
	for (size_t i = 0; i < project->build.edge_count; i++) {
		const struct tkb_ninja_edge *edge = &project->build.edges[i];

		for (size_t j = 0; j < edge->output_count && rc == 0; j++)
			rc = check_output(project, edge, edge->outputs[j],
			                  is_fresh, why, err);
	}
	return rc;
}

/* Make */

static void add_record_line(const char *word, const char *middle,
                            const char *path, struct tkb_buf *out)
{
	tkb_print(out, "%s %s%s%s\n", word, middle,
	          middle[0] != '\0' ? " " : "", path);
}

static void write_output(const struct project *project, const char *output,
                         struct tkb_buf *out)
{
	const struct tkb_ninja_dep *dep =
		tkb_ninja_deps_find(&project->deps, output);
	char count[32] = "-";

	if (dep != NULL)
		(void)snprintf(count, sizeof(count), "%zu", dep->input_count);
	add_record_line("out", count, output, out);
	for (size_t i = 0; dep != NULL && i < dep->input_count; i++)
		add_record_line("dep", "", dep->inputs[i], out);
}

/*
 * The path at which an input is compared elsewhere. Links in the tree do not
 * move, and the engine makes them again before it calls ninja: so it is the path
 * of the file that they lead to.
 */
static const char *find_moved(const struct tkb_ninja_place *place,
                              const char *path, char out[2 * PATH_MAX])
{
	const size_t length = place->root == NULL ? 0 : strlen(place->root);
	char root[PATH_MAX];
	char file[PATH_MAX];
	size_t root_length;

	if (length == 0 || strncmp(path, place->root, length) != 0 ||
	    path[length] != '/' || realpath(place->root, root) == NULL ||
	    realpath(path, file) == NULL || strchr(file, '\n') != NULL)
		return path;
	root_length = strlen(root);
	if (strncmp(file, root, root_length) != 0 || file[root_length] != '/')
		(void)snprintf(out, PATH_MAX, "%s", file);
	else if (snprintf(out, 2 * PATH_MAX, "%s%s", place->root,
	                  file + root_length) >= 2 * PATH_MAX)
		return path;
	return out;
}

static int write_inputs(const struct project *project, struct tkb_buf *out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	const struct input **sorted =
		tkb_alloc_array(project->input_count, sizeof(*sorted));
	char moved[2 * PATH_MAX];

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < project->input_count; i++)
		sorted[i] = &project->inputs[i];
	tkb_sort(sorted, project->input_count, sizeof(*sorted),
	         compare_input_digests);
	for (size_t i = 0; i < project->input_count; i++)
		add_record_line(
			"in", tkb_digest_hex(&sorted[i]->digest).text,
			find_moved(project->place, sorted[i]->path, moved),
			out);
	return 0;
}

static int write_record(const struct project *project, struct tkb_buf *out,
                        struct tkb_error *err)
{
	int rc;

	tkb_print(out, "ninja %u\n", (unsigned)project->log.version);
	rc = write_inputs(project, out, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < project->build.output_count; i++)
		write_output(project, project->build.outputs[i], out);
	return tkb_buf_check(out, err);
}

int tkb_ninja_record_make(const struct tkb_ninja_place *place,
                          struct tkb_hasher *hasher, struct tkb_buf *out,
                          bool *is_fresh_out, struct tkb_error *why,
                          struct tkb_error *err)
{
	TKB_AUTO(release_project) struct project project = { .place = place };
	int rc;

	rc = tkb_ninja_build_of(place, &project.build, err);
	if (rc == 0)
		rc = read_logs(&project, err);
	if (rc == 0)
		rc = list_inputs(&project, err);
	if (rc == 0)
		rc = read_inputs(&project, hasher, err);
	if (rc == 0)
		rc = check_outputs(&project, is_fresh_out, why, err);
	return rc < 0 ? rc : write_record(&project, out, err);
}

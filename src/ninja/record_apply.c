/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fd.h"
#include "ninja/build.h"
#include "ninja/hash.h"
#include "ninja/logs.h"
#include "ninja/record.h"

/* Reads a copy line by line, and replaces each line feed by a zero. */
struct reader {
	char *at;
};

static int fail_record(struct tkb_error *err)
{
	return tkb_fail_entry(err, TKB_REASON_METADATA,
	                      "its record of ninja's build makes no sense");
}

/* Take a line that begins with `word` and a space; NULL: it is another. */
static const char *take_record_line(struct reader *reader, const char *word)
{
	const size_t length = strlen(word);
	char *line = reader->at;
	char *end = strchr(line, '\n');

	if (end == NULL || strncmp(line, word, length) != 0 ||
	    line[length] != ' ')
		return NULL;
	*end = '\0';
	reader->at = end + 1;
	return line + length + 1;
}

/* Compare an input with its digest. `*newest` is the latest time so far. */
static int check_input(const struct tkb_ninja_place *place, const char *line,
                       struct tkb_hasher *hasher, uint64_t *left,
                       int64_t *newest, struct tkb_error *err)
{
	const size_t size = TKB_DIGEST_HEX_SIZE - 1;
	struct tkb_digest wanted;
	struct tkb_digest digest;
	struct stat status;
	const char *path;
	int rc;

	if (strlen(line) < size + 2 || line[size] != ' ' ||
	    !tkb_digest_from_hex((struct tkb_bytes){ line, size }, &wanted))
		return fail_record(err);
	path = line + size + 1;
	rc = tkb_ninja_digest(place, path, hasher, left, &digest, &status, err);
	if (rc < 0 && rc != TKB_ERR_TOO_LARGE)
		return rc;
	if (rc == TKB_MISS)
		return tkb_fail_entry(
			err, TKB_REASON_INPUTS,
			"'%.300s', which it was built from, is not "
			"there",
			path);
	/* Those that it was built from were not so large. */
	if (rc == TKB_ERR_TOO_LARGE || !tkb_digest_equal(&digest, &wanted))
		return tkb_fail_entry(err, TKB_REASON_INPUTS,
		                      "'%.300s', which it was built from, is "
		                      "different here",
		                      path);
	if (tkb_ninja_mtime(&status) > *newest)
		*newest = tkb_ninja_mtime(&status);
	return 0;
}

static int read_deps(struct reader *reader, const char *output,
                     const char *count, struct tkb_ninja_deps *deps,
                     struct tkb_error *err)
{
	struct tkb_ninja_dep *item = &deps->items[deps->count];
	char *end = NULL;

	errno = 0;
	item->output = output;
	item->input_count = strtoul(count, &end, 10);
	if (errno != 0 || *end != ' ' || item->input_count > strlen(reader->at))
		return fail_record(err);
	item->inputs = tkb_arena_alloc(&deps->arena, item->input_count,
	                               sizeof(*item->inputs));
	if (item->inputs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < item->input_count; i++) {
		item->inputs[i] = take_record_line(reader, "dep");
		if (item->inputs[i] == NULL)
			return fail_record(err);
	}
	deps->count++;
	return 0;
}

/* Read the outputs. They must be those of build.ninja, in the same order. */
static int read_outputs(struct reader *reader,
                        const struct tkb_ninja_build *build,
                        struct tkb_ninja_deps *deps, struct tkb_error *err)
{
	int rc;

	deps->items = tkb_arena_alloc(&deps->arena, build->output_count,
	                              sizeof(*deps->items));
	if (deps->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < build->output_count; i++) {
		const char *line = take_record_line(reader, "out");
		const char *path = line == NULL ? NULL : strchr(line, ' ');

		if (path == NULL || strcmp(path + 1, build->outputs[i]) != 0)
			return fail_record(err);
		if (line[0] == '-')
			continue;
		rc = read_deps(reader, path + 1, line, deps, err);
		if (rc < 0)
			return rc;
	}
	return *reader->at == '\0' ? 0 : fail_record(err);
}

static int write_log(const struct tkb_ninja_build *build, int version,
                     int64_t mtime, struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_ninja_log_release)
	struct tkb_ninja_log log = { .version = version };

	log.outputs = tkb_arena_alloc(&log.arena, build->output_count,
	                              sizeof(*log.outputs));
	if (log.outputs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < build->edge_count; i++) {
		const struct tkb_ninja_edge *edge = &build->edges[i];
		const uint64_t hash =
			tkb_ninja_hash(version, tkb_text(edge->command));

		for (size_t j = 0; j < edge->output_count; j++) {
			/* ninja refuses two statements with one output. */
			if (log.output_count == build->output_count)
				return fail_record(err);
			log.outputs[log.output_count++] =
				(struct tkb_ninja_output){
					.name = edge->outputs[j],
					.mtime = mtime,
					.hash = hash
				};
		}
	}
	tkb_ninja_log_write(&log, out);
	return tkb_buf_check(out, err);
}

static int stamp(const struct tkb_ninja_place *place,
                 const struct tkb_ninja_build *build, int version,
                 int64_t newest, struct tkb_ninja_deps *deps,
                 struct tkb_buf *log_out, struct tkb_buf *deps_out,
                 struct tkb_error *err)
{
	int64_t mtime = tkb_wall_ns();
	int rc;

	if (mtime < newest)
		mtime = newest;
	rc = tkb_ninja_touch(place, build->outputs, build->output_count, &mtime,
	                     err);
	if (rc == 0)
		rc = write_log(build, version, mtime, log_out, err);
	for (size_t i = 0; i < deps->count; i++)
		deps->items[i].mtime = mtime;
	if (rc == 0 && deps->count != 0)
		rc = tkb_ninja_deps_write(deps, deps_out, err);
	return rc;
}

int tkb_ninja_record_apply(const struct tkb_ninja_place *place,
                           struct tkb_bytes record, struct tkb_hasher *hasher,
                           struct tkb_buf *log_out, struct tkb_buf *deps_out,
                           struct tkb_error *err)
{
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build build = { 0 };
	TKB_AUTO(tkb_ninja_deps_release) struct tkb_ninja_deps deps = { 0 };
	struct reader reader = { tkb_arena_string(&deps.arena, record) };
	const char *version;
	const char *line;
	uint64_t left = TKB_NINJA_INPUTS_LIMIT;
	int64_t newest = 0;
	int rc;

	if (reader.at == NULL)
		return tkb_fail_nomem(err);
	version = take_record_line(&reader, "ninja");
	if (version == NULL || version[0] < '5' || version[0] > '7' ||
	    version[1] != '\0')
		return fail_record(err);
	for (line = take_record_line(&reader, "in"); line != NULL;
	     line = take_record_line(&reader, "in")) {
		rc = check_input(place, line, hasher, &left, &newest, err);
		if (rc < 0)
			return rc;
	}
	rc = tkb_ninja_build_of(place, &build, err);
	if (rc == 0)
		rc = read_outputs(&reader, &build, &deps, err);
	return rc < 0 ? rc
	              : stamp(place, &build, version[0] - '0', newest, &deps,
	                      log_out, deps_out, err);
}

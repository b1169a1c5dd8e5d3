/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "tree/glob.h"
#include "ninja/logs.h"
#include "ninja/build.h"
#include "tree/paths.h"
#include "tree/secrets.h"
#include "fuzz.h"
#include "text/json.h"

/*
 * What reads files of an engine's cache. The first byte says which of them, and of
 * texts their style.
 */

static const size_t limit = 16 * TKB_MIB;

/* Also the size of the longest key, with its quotes and escapes. */
static bool is_json(struct tkb_bytes text, size_t *key_size)
{
	struct tkb_json json = tkb_json_of(text, 0);
	struct tkb_json_token token = { .type = TKB_JSON_ARRAY };

	*key_size = 0;
	while (token.type != TKB_JSON_END) {
		if (tkb_json_next(&json, &token, NULL) < 0)
			return false;
		if (token.type == TKB_JSON_KEY &&
		    token.end - token.start > *key_size)
			*key_size = token.end - token.start;
	}
	return true;
}

static void check_build(struct tkb_bytes text)
{
	struct tkb_ninja_build build = { 0 };
	struct tkb_error err = { 0 };
	const int rc = tkb_ninja_build_read(text, &build, &err);

	if (rc != 0)
		fuzz_check_refusal(rc, &err);
	for (size_t i = 1; i < build.input_count; i++)
		MUST(strcmp(build.inputs[i - 1], build.inputs[i]) < 0);
	tkb_ninja_build_release(&build);
}

static const int64_t least_nanoseconds = INT64_C(1000000000000);

/*
 * A log that is written is the one that was read, but for a time of 1970, which may
 * count as one in seconds, again.
 */
static void check_log(struct tkb_bytes text)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(limit);
	struct tkb_ninja_log again = { 0 };
	struct tkb_ninja_log log = { 0 };
	struct tkb_error err = { 0 };
	const int rc = tkb_ninja_log_read(text, &log, &err);

	if (rc != 0) {
		fuzz_check_refusal(rc, &err);
		return;
	}
	tkb_ninja_log_write(&log, &out);
	MUST_OK(tkb_ninja_log_read(tkb_buf_bytes(&out), &again, &err), &err);
	MUST(again.output_count == log.output_count);
	for (size_t i = 0; i < log.output_count; i++) {
		MUST(strcmp(again.outputs[i].name, log.outputs[i].name) == 0);
		MUST(again.outputs[i].mtime == log.outputs[i].mtime ||
		     log.outputs[i].mtime < least_nanoseconds);
		MUST(again.outputs[i].hash == log.outputs[i].hash);
	}
	tkb_ninja_log_release(&again);
	tkb_ninja_log_release(&log);
}

static void check_deps(struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(limit);
	struct tkb_ninja_deps again = { 0 };
	struct tkb_ninja_deps deps = { 0 };
	struct tkb_error err = { 0 };
	const int rc = tkb_ninja_deps_read(bytes, &deps, &err);

	if (rc != 0) {
		fuzz_check_refusal(rc, &err);
		return;
	}
	MUST_OK(tkb_ninja_deps_write(&deps, &out, &err), &err);
	MUST_OK(tkb_ninja_deps_read(tkb_buf_bytes(&out), &again, &err), &err);
	MUST(again.count == deps.count);
	for (size_t i = 0; i < deps.count; i++) {
		MUST(strcmp(again.items[i].output, deps.items[i].output) == 0);
		MUST(again.items[i].mtime == deps.items[i].mtime);
		MUST(again.items[i].input_count == deps.items[i].input_count);
	}
	tkb_ninja_deps_release(&again);
	tkb_ninja_deps_release(&deps);
}

/*
 * What is hidden once is hidden, and JSON stays JSON. Of a longer key, the end alone
 * says whether it is secret; once a secret in it is hidden, that is another end.
 */
static void check_secrets(struct tkb_bytes text, enum tkb_path_style style)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(limit);
	TKB_AUTO(tkb_buf_release) struct tkb_buf again = TKB_BUF_INIT(limit);
	struct tkb_error err = { 0 };
	size_t hidden_size;
	size_t key_size;
	size_t count = 0;

	MUST_OK(tkb_secrets_hide(text, style, &out, &count, &err), &err);
	MUST(count != 0 || tkb_bytes_equal(tkb_buf_bytes(&out), text));
	if (style != TKB_PATH_STYLE_JSON || !is_json(text, &key_size))
		return;
	MUST(is_json(tkb_buf_bytes(&out), &hidden_size));
	if (key_size > 255)
		return;
	MUST_OK(tkb_secrets_hide(tkb_buf_bytes(&out), style, &again, &count,
	                         &err),
	        &err);
	MUST(count == 0);
}

/* Scrub and restore undo each other; no other text is restored by mistake. */
static void check_paths(struct tkb_bytes text, enum tkb_path_style style)
{
	static const struct tkb_named_root roots[] = {
		{ .name = "a", .path = "/a" },
		{ .name = "aa", .path = "/a/a" },
		{ .name = "b", .path = "/a b" },
		{ .name = "c", .path = "/\xc3\xa9" },
		{ .name = "d", .path = "/a'b" },
		{ .name = "e", .path = "/a:$" },
		{ .name = "f", .path = "/\\\"\xff\n" },
	};
	const size_t count = TKB_COUNT_OF(roots);
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(limit);
	TKB_AUTO(tkb_buf_release) struct tkb_buf back = TKB_BUF_INIT(limit);
	struct tkb_error err = { 0 };
	uint32_t sentinels = 0;
	int rc;

	rc = tkb_paths_scrub(text, style, roots, count, &out, &sentinels, &err);
	if (rc == 0) {
		MUST_OK(tkb_paths_restore(tkb_buf_bytes(&out), style, roots,
		                          count, sentinels, &back, &err),
		        &err);
		MUST(tkb_bytes_equal(tkb_buf_bytes(&back), text));
	} else {
		MUST(memmem(text.data, text.size, "[REPLACE:", 9) != NULL);
	}
	tkb_buf_reset(&back);
	rc = tkb_paths_restore(text, style, roots, count, 1, &back, &err);
	if (rc != 0)
		fuzz_check_refusal(rc, &err);
}

/* A pattern, a line break, and a path. */
static void check_glob(struct tkb_bytes input)
{
	const struct tkb_bytes pattern = fuzz_take(&input, "\n");
	char *wanted =
		strndup(pattern.size == 0 ? "" : pattern.data, pattern.size);
	char *path = strndup(input.size == 0 ? "" : input.data, input.size);

	MUST(wanted != NULL && path != NULL);
	(void)tkb_glob_matches(wanted, path);
	(void)tkb_name_is_secret(path);
	free(wanted);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tkb_bytes rest = { size == 0 ? data : data + 1,
		                        size == 0 ? 0 : size - 1 };
	const unsigned first = size == 0 ? 0 : data[0];
	const enum tkb_path_style style =
		(enum tkb_path_style)((unsigned)(first - '0') / 8 % 5);

	switch ((first - '0') % 8) {
	case 0:
		check_build(rest);
		break;
	case 1:
		check_log(rest);
		break;
	case 2:
		check_deps(rest);
		break;
	case 3:
		check_glob(rest);
		break;
	case 4:
	case 5:
		check_secrets(rest, style);
		break;
	default:
		check_paths(rest, style);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <stdio.h>

const char *cache_of(const char *fixture)
{
	unpack(fixture, "unpacked");
	return text("%s/unpacked/.triton/cache", test_folder());
}

const char *small_cache(void)
{
	return cache_of("triton-3.6.0-cpu");
}

const char *in(const char *root, const char *key, const char *name)
{
	return text("%s/%s/%s", root, key, name);
}

const char *group_of_add(const char *root)
{
	return in(root, ADD, ADD_GROUP);
}

struct tkb_bytes replace(struct tkb_bytes bytes, const char *from,
                         const char *to)
{
	const size_t length = strlen(from);
	BUF(buf, (size_t)1 << 30);
	const char *at = bytes.data;
	const char *end = at + bytes.size;
	const char *found = memmem(at, bytes.size, from, length);

	while (found != NULL) {
		tkb_buf_add(&buf,
		            (struct tkb_bytes){ at, (size_t)(found - at) });
		tkb_buf_add_text(&buf, to);
		at = found + length;
		found = memmem(at, (size_t)(end - at), from, length);
	}
	tkb_buf_add(&buf, (struct tkb_bytes){ at, (size_t)(end - at) });
	return test_copy(&buf);
}

void replace_in_file(const char *path, const char *from, const char *to)
{
	write_file(path, replace(read_file(path), from, to));
}

void list_child(const char *root, const char *json_name)
{
	static const char start[] = "{\"child_paths\": {";

	edit_file(group_of_add(root), start,
	          text("%s\"%s\": \"" RECORDED "/" ADD "/%s\", ", start,
	               json_name, json_name));
}

void see_result(void *self, const struct tkb_result *result)
{
	struct seen *seen = self;

	if (result->outcome == TKB_OUTCOME_COLLECTED) {
		seen->collected_count++;
		return;
	}
	CHECK_INT(result->outcome, TKB_OUTCOME_LEFT_OUT);
	seen->left_out_count++;
	seen->reason = result->reason;
	(void)snprintf(seen->key, sizeof(seen->key), "%s", result->key);
	(void)snprintf(seen->message, sizeof(seen->message), "%s",
	               result->message);
}

static void see_progress(void *self, uint64_t done, uint64_t total)
{
	struct seen *seen = self;

	seen->went_back |= done < seen->done;
	seen->went_too_far |= done > total;
	seen->done = done;
	seen->total = total;
}

const struct tkb_watch *watch_with(struct seen *seen)
{
	seen->watch = CHOSEN(tkb_watch, .self = seen, .on_result = see_result,
	                     .on_progress = see_progress);
	return &seen->watch;
}

const char list_of_add[] =
	"{\"child_paths\": [\"add_kernel.cubin\", \"add_kernel.json\", "
	"\"add_kernel.llir\", \"add_kernel.ptx\", \"add_kernel.source\", "
	"\"add_kernel.ttgir\", \"add_kernel.ttir\"]}";

void check_counts(const char *root, uint64_t collected_count,
                  uint64_t unfinished_count, uint64_t stray_count)
{
	const struct tkb_collect_options strict = { SIZED(strict),
		                                    .is_strict = true,
		                                    .is_dry_run = true };
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect(root, &strict, NULL, &report, ERR));
	CHECK_INT(report.collected_count, collected_count);
	CHECK_INT(report.unfinished_count, unfinished_count);
	CHECK_INT(report.stray_count, stray_count);
}

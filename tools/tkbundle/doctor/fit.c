/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/machine.h>

#include "doctor/fit_maker.h"
#include "why/reason.h"

enum {
	MESSAGE_SIZE = 512,
	RANK_LIMIT = 100000
};

static const char tag_word[] = "cpython-";

/* The facts about one entry. */
struct answer {
	const char *cause; /* NULL: it fits */
	char message[MESSAGE_SIZE];
};

#define ANSWER(answer, word, ...)                                              \
	((answer)->cause = (word),                                             \
	 (void)snprintf((answer)->message, MESSAGE_SIZE, __VA_ARGS__))

/*
 * One entry
 */

/* Is the platform, as "gpu NVIDIA L40S, driver 580", of a GPU of this name? */
static bool is_of_gpu(const char *platform, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(platform + 4, name, length) == 0 &&
	       platform[4 + length] == ',';
}

static void judge_platform(const struct tkb_entry *entry,
                           const struct fit_facts *facts, struct answer *out)
{
	const bool is_gpu = strncmp(entry->platform, "gpu ", 4) == 0;

	if (entry->platform[0] == '\0' ||
	    tkb_platform_check(entry->platform, NULL) == 0)
		return;
	if (!is_gpu)
		ANSWER(out, "platform", "it is for %s, and not this machine",
		       entry->platform);
	else if (facts->gpus->count == 0)
		ANSWER(out, reason_word(REASON_GPU),
		       "it was tuned on %s, and no GPU is known here",
		       entry->platform + 4);
	else
		ANSWER(out,
		       reason_word(is_of_gpu(entry->platform,
		                             facts->gpus->items[0].name)
		                           ? REASON_DRIVER
		                           : REASON_GPU),
		       "it was tuned on %s, and here are %s, driver %s",
		       entry->platform + 4, facts->gpus->items[0].name,
		       facts->gpus->driver);
}

static void judge_target(const struct tkb_entry *entry,
                         const struct fit_facts *facts, struct answer *out)
{
	const bool is_cuda = strcmp(entry->target.backend, "cuda") == 0;
	char archs[128];

	if (facts->gpus->visible_count == 0 || entry->target.arch[0] == '\0' ||
	    (is_cuda && gpus_have_arch(facts->gpus, entry->target.arch)))
		return;
	gpus_archs(facts->gpus, archs, sizeof(archs));
	ANSWER(out, reason_word(REASON_TARGET),
	       "it is for %s%s, and here is %s", is_cuda ? "sm_" : "",
	       entry->target.arch, archs);
}

/* With Inductor, each GPU has its own folder. */
static void judge_device(const struct tkb_entry *entry,
                         const struct fit_facts *facts, struct answer *out)
{
	const struct source *const source = facts->source;
	const bool is_inductor = source->bundle != NULL
	                                 ? false
	                                 : tkb_cache_is_inductor(source->cache);

	if (!is_inductor || facts->gpus->visible_count == 0)
		return;
	for (size_t i = 0; i < entry->device_count; i++) {
		if (entry->devices[i] < facts->gpus->visible_count)
			return;
	}
	ANSWER(out, "device",
	       "it lies in the folder of GPU %" PRIu32 ", and here are %zu",
	       entry->devices[0], facts->gpus->visible_count);
}

static void judge_triton(const struct tkb_entry *entry,
                         const struct fit_facts *facts, struct answer *out)
{
	const char *const here = versions_find(facts->versions, "triton");

	if (strcmp(entry->producer, "triton") != 0 ||
	    entry->producer_version[0] == '\0' || here[0] == '\0' ||
	    strcmp(entry->producer_version, here) == 0)
		return;
	ANSWER(out, reason_word(REASON_TRITON),
	       "it was made by Triton %s, and here is %s",
	       entry->producer_version, here);
}

/* Write "9.0" for 90. */
#define PTX_FORMAT "%" PRIu32 ".%" PRIu32
#define PTX_PARTS(ptx) (ptx) / 10, (ptx) % 10

static void judge_ptx(const struct look *look, const struct fit_facts *facts,
                      struct answer *out)
{
	const uint32_t driver = gpus_ptx(facts->gpus);
	const bool is_new = look->has_binary ? look->ptx / 10 > driver / 10
	                                     : look->ptx > driver;

	if (look->ptx == 0)
		return;
	if (driver != 0 && is_new)
		ANSWER(out, reason_word(REASON_DRIVER),
		       "its PTX is " PTX_FORMAT
		       ", and the driver here knows " PTX_FORMAT
		       ", which is CUDA %" PRIu32 ".%" PRIu32 "'s",
		       PTX_PARTS(look->ptx), PTX_PARTS(driver),
		       facts->gpus->cuda / 1000, facts->gpus->cuda % 1000 / 10);
	else if (!facts->has_graphs && !tools_have(facts->tools, look->ptx))
		ANSWER(out, reason_word(REASON_PTXAS),
		       "it was made by a ptxas of PTX " PTX_FORMAT
		       ", and none that is used here is one",
		       PTX_PARTS(look->ptx));
}

/* Find the first line that only one of two texts has. */
static void find_difference(const char *a, const char *b, const char **line,
                            size_t *size, bool *is_of_a)
{
	const char *const texts[] = { a != NULL ? a : "", b != NULL ? b : "" };

	*line = NULL;
	for (size_t i = 0; i < 2 && *line == NULL; i++) {
		const char *at = texts[i];

		while (*at != '\0' && *line == NULL) {
			char *own = NULL;
			const size_t length = strcspn(at, "\n");

			own = strndup(at, length + 1);
			if (own == NULL || strstr(texts[1 - i], own) == NULL) {
				*line = at;
				*size = length;
				*is_of_a = i == 0;
			}
			free(own);
			at += length + (at[length] == '\n');
		}
	}
}

static void judge_environment(const struct look *look,
                              const struct fit_facts *facts, struct answer *out)
{
	const char *line;
	size_t size;
	bool is_own;

	if (!look->is_read)
		return;
	find_difference(look->environment, facts->environment, &line, &size,
	                &is_own);
	if (line == NULL)
		return;
	if (is_own)
		ANSWER(out, reason_word(REASON_ENVIRONMENT),
		       "it was made with %.*s, which is not so here", (int)size,
		       line);
	else
		ANSWER(out, reason_word(REASON_ENVIRONMENT),
		       "it was made without %.*s, which is set here", (int)size,
		       line);
}

/* The number in "rank_3" of a path, or -1. */
static long rank_of(const char *path)
{
	static const char word[] = "rank_";
	const char *const at = strstr(path, word);

	if (at == NULL || at[strlen(word)] < '0' || at[strlen(word)] > '9')
		return -1;
	return strtol(at + strlen(word), NULL, 10) % RANK_LIMIT;
}

static void judge_unit(const struct tkb_entry *entry,
                       const struct fit_facts *facts, struct answer *out)
{
	const long rank = rank_of(entry->name);

	if (facts->gpus->visible_count == 0 || rank < 0 ||
	    (size_t)rank < facts->gpus->visible_count)
		return;
	ANSWER(out, "rank", "it is of rank %ld, and here are %zu GPUs", rank,
	       facts->gpus->visible_count);
}

static void judge_parts(size_t index, const struct fit_facts *facts,
                        struct answer *out)
{
	const struct tkb_entry *const entry =
		source_entry(facts->source, index);
	const struct look *const look = &facts->looks[index];

	out->cause = NULL;
	if (look->damage != NULL)
		ANSWER(out, reason_word(REASON_DAMAGED), "%s", look->damage);
	if (out->cause == NULL)
		judge_platform(entry, facts, out);
	if (out->cause == NULL && entry->kind == TKB_KIND_UNIT)
		judge_unit(entry, facts, out);
	if (out->cause == NULL && fit_maker_is_graph(entry))
		out->cause = fit_maker_judge(tkb_makers_find(facts->makers,
		                                             entry->tree,
		                                             entry->name),
		                             facts->versions, facts->engine,
		                             out->message, MESSAGE_SIZE);
	if (entry->kind != TKB_KIND_KERNEL)
		return;
	if (out->cause == NULL)
		judge_target(entry, facts, out);
	if (out->cause == NULL)
		judge_device(entry, facts, out);
	if (out->cause == NULL)
		judge_triton(entry, facts, out);
	if (out->cause == NULL)
		judge_ptx(look, facts, out);
	if (out->cause == NULL)
		judge_environment(look, facts, out);
}

/*
 * Find out which Python the modules were compiled for. Each build of Triton is
 * for one Python, and every key depends on a hash of the build.
 */

/* Copy "cpython-312" from a module's name. */
static bool tag_of(const struct tkb_entry *entry, char out[VERSION_SIZE])
{
	for (size_t i = 0; i < entry->file_count; i++) {
		const char *const at = strstr(entry->files[i].name, tag_word);

		if (at == NULL)
			continue;
		(void)snprintf(
			out, VERSION_SIZE, "%.*s",
			(int)(strlen(tag_word) +
		              strspn(at + strlen(tag_word), "0123456789")),
			at);
		return true;
	}
	return false;
}

/*
 * Are all modules for another Python? Then `out` receives the tag of one of
 * them.
 */
static bool is_of_other_python(const struct fit_facts *facts,
                               char out[VERSION_SIZE])
{
	bool has_other = false;

	if (facts->versions->tag[0] == '\0' ||
	    versions_find(facts->versions, "triton")[0] == '\0')
		return false;
	for (size_t i = 0; i < source_entry_count(facts->source); i++) {
		const struct tkb_entry *const entry =
			source_entry(facts->source, i);
		char tag[VERSION_SIZE];

		if (entry->kind != TKB_KIND_MODULE || !tag_of(entry, tag))
			continue;
		if (strcmp(tag, facts->versions->tag) == 0)
			return false;
		(void)snprintf(out, VERSION_SIZE, "%s", tag);
		has_other = true;
	}
	return has_other;
}

/*
 * All entries
 */

static int add_misfit(struct fits *fits, const struct tkb_entry *entry,
                      const char *key, const char *cause, const char *message,
                      struct tkb_error *err)
{
	struct misfit *items = fits->misfits;
	char *copy;

	/* Double the capacity at each power of two. */
	if ((fits->misfit_count & (fits->misfit_count - 1)) == 0) {
		items = reallocarray(
			items,
			fits->misfit_count > 0 ? 2 * fits->misfit_count : 1,
			sizeof(*items));
		if (items == NULL)
			return cli_error_nomem(err);
		fits->misfits = items;
	}
	copy = strdup(message);
	if (copy == NULL)
		return cli_error_nomem(err);
	items[fits->misfit_count++] = (struct misfit){
		.entry = entry, .key = key, .cause = cause, .message = copy
	};
	return 0;
}

static int judge_all(const struct fit_facts *facts, struct fits *fits,
                     struct tkb_error *err)
{
	char tag[VERSION_SIZE] = "";
	const bool has_other = is_of_other_python(facts, tag);
	int rc = 0;

	for (size_t i = 0; i < fits->count && rc == 0; i++) {
		const struct tkb_entry *const entry =
			source_entry(facts->source, i);
		struct answer answer;

		judge_parts(i, facts, &answer);
		if (answer.cause == NULL && has_other &&
		    (entry->kind == TKB_KIND_KERNEL ||
		     entry->kind == TKB_KIND_MODULE))
			ANSWER(&answer, reason_word(REASON_LIBTRITON),
			       "it was made under %s, whose Triton is another "
			       "build than that of %s here",
			       tag, facts->versions->tag);
		/* An entry for another machine would not fit in any place. */
		if (answer.cause == NULL && source_is_moved(facts->source, i))
			ANSWER(&answer, reason_word(REASON_PATH),
			       "it names the folder where it was made, not "
			       "this one");
		fits->fits[i] = answer.cause == NULL;
		if (fits->fits[i])
			fits->counts[entry->kind]++;
		else
			rc = add_misfit(fits, entry, entry->key, answer.cause,
			                answer.message, err);
	}
	return rc;
}

/* What is too large to be packed is whole, and can be used here. */
static const char *cause_of_left_out(enum tkb_reason reason)
{
	if (reason == TKB_REASON_LIMIT)
		return "too-large";
	if (reason == TKB_REASON_UNSAFE)
		return "link";
	return reason == TKB_REASON_UNREADABLE ? "owner"
	                                       : reason_word(REASON_DAMAGED);
}

static int add_left_out(const struct fit_facts *facts, struct fits *fits,
                        struct tkb_error *err)
{
	const struct tkb_cache *const cache = facts->source->cache;
	int rc = 0;

	for (size_t i = 0;
	     cache != NULL && i < tkb_cache_left_out_count(cache) && rc == 0;
	     i++) {
		const struct tkb_left_out *const item =
			tkb_cache_left_out(cache, i);

		if (item->reason == TKB_REASON_BUSY) {
			fits->busy_count++;
			continue;
		}
		rc = add_misfit(fits, NULL, item->key,
		                cause_of_left_out(item->reason), item->message,
		                err);
	}
	return rc;
}

int fits_take(const struct fit_facts *facts, struct fits *out,
              struct tkb_error *err)
{
	int rc;

	out->count = source_entry_count(facts->source);
	out->fits = calloc(out->count + 1, sizeof(*out->fits));
	if (out->fits == NULL)
		return cli_error_nomem(err);
	rc = judge_all(facts, out, err);
	return rc != 0 ? rc : add_left_out(facts, out, err);
}

size_t fits_total(const struct fits *fits)
{
	size_t total = 0;

	for (size_t i = 0; i < 4; i++)
		total += fits->counts[i];
	return total;
}

void fits_release(struct fits *fits)
{
	for (size_t i = 0; i < fits->misfit_count; i++)
		free(fits->misfits[i].message);
	free(fits->misfits);
	free(fits->fits);
}

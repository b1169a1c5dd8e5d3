/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/struct.h"
#include "cache/watch.h"
#include "machine/nvml.h"
#include "remote/remote.h"

enum {
	FACT_SIZE = 128,
	ENV_NAME_LIMIT = 128,
	WHY_SIZE = 384
};

/* A value that all GPUs, or all kernels, should have in common. */
struct fact {
	char text[FACT_SIZE];  /* "" if unknown */
	char other[FACT_SIZE]; /* a different value; "" if all agree */
};

struct expander {
	const struct tkb_ref_facts *facts;
	struct tkb_buf out;
	struct tkb_nvml nvml;
	bool has_asked_nvml;
	bool has_asked_cache;
	struct fact name; /* of the visible GPUs */
	struct fact arch; /* of the visible GPUs */
	struct fact kernel_arch;
	struct fact kernel_version;
	char no_gpu[WHY_SIZE];     /* why the GPUs are unknown */
	char no_kernels[WHY_SIZE]; /* why the kernels are unknown */
};

static void expander_release(struct expander *expander)
{
	tkb_buf_release(&expander->out);
	tkb_nvml_release(&expander->nvml);
}

static void add_fact(struct fact *fact, const char *text)
{
	if (text[0] == '\0' || strcmp(fact->text, text) == 0)
		return;
	(void)snprintf(fact->text[0] == '\0' ? fact->text : fact->other,
	               FACT_SIZE, "%s", text);
}

static void read_gpu_facts(struct expander *expander)
{
	const struct tkb_nvml *nvml = &expander->nvml;

	for (size_t i = 0; i < nvml->gpu_count; i++) {
		const struct tkb_gpu *gpu = &nvml->gpus[i];
		char arch[FACT_SIZE];

		if (!tkb_nvml_is_visible(nvml, i))
			continue;
		(void)snprintf(arch, sizeof(arch), "sm_%d%d", gpu->major,
		               gpu->minor);
		add_fact(&expander->name, gpu->name);
		add_fact(&expander->arch, arch);
	}
	if (expander->name.text[0] == '\0')
		(void)snprintf(expander->no_gpu, WHY_SIZE, "%s",
		               nvml->gpu_count == 0
		                       ? "this machine has no NVIDIA GPU"
		                       : "CUDA_VISIBLE_DEVICES hides all GPUs");
}

static int ask_nvml(struct expander *expander, struct tkb_error *err)
{
	int rc;

	if (expander->has_asked_nvml)
		return 0;
	rc = tkb_nvml_read(expander->facts->nvml, &expander->nvml, err);
	if (rc < 0)
		return rc;
	if (rc == 0)
		read_gpu_facts(expander);
	else
		(void)snprintf(expander->no_gpu, WHY_SIZE, "%s",
		               expander->nvml.why);
	expander->has_asked_nvml = true;
	return 0;
}

static void read_kernel_facts(struct expander *expander,
                              const struct tkb_cache *cache)
{
	const char *root = expander->facts->cache_root;
	bool has_kernels = false;

	for (size_t i = 0; i < tkb_cache_entry_count(cache); i++) {
		const struct tkb_entry *entry = tkb_cache_entry(cache, i);
		const bool is_cuda = strcmp(entry->target.backend, "cuda") == 0;
		char arch[FACT_SIZE] = "";

		if (entry->kind != TKB_KIND_KERNEL)
			continue;
		if (entry->target.arch[0] != '\0')
			(void)snprintf(arch, sizeof(arch), "%s%s",
			               is_cuda ? "sm_" : "",
			               entry->target.arch);
		add_fact(&expander->kernel_arch, arch);
		add_fact(&expander->kernel_version, entry->producer_version);
		has_kernels = true;
	}
	(void)snprintf(expander->no_kernels, WHY_SIZE,
	               has_kernels ? "the kernels of the cache at '%.250s' do "
	                             "not say"
	                           : "the cache at '%.250s' has no kernels yet",
	               root);
}

static int ask_cache(struct expander *expander, struct tkb_error *err)
{
	const struct tkb_cache_options options = {
		.struct_size = sizeof(options),
		.is_kernels_only = true,
		.watch = expander->facts->watch,
	};
	const char *root = expander->facts->cache_root;
	struct tkb_cache *cache = NULL;
	int rc;

	if (expander->has_asked_cache)
		return 0;
	if (root == NULL) {
		(void)snprintf(expander->no_kernels, WHY_SIZE,
		               "no cache is named");
		return 0;
	}
	rc = tkb_cache_open(root, &options, &cache, err);
	if (rc < 0)
		return rc;
	if (rc == TKB_MISS)
		(void)snprintf(expander->no_kernels, WHY_SIZE,
		               "there is no cache at '%.250s' yet", root);
	else
		read_kernel_facts(expander, cache);
	tkb_cache_close(cache);
	expander->has_asked_cache = true;
	return 0;
}

/* Append `value`, with '-' for bytes that cannot be in a ref's name. */
static void add_value(struct expander *expander, const char *value,
                      bool may_have_parts)
{
	for (; *value != '\0'; value++) {
		const char ref[] = { 'a', *value, '\0' };
		const bool is_fine = tkb_ref_is_valid(ref) ||
		                     (may_have_parts && *value == '/');

		tkb_buf_add_byte(&expander->out, is_fine ? *value : '-');
	}
}

static int fail_to_fill(const char *word, const char *why, const char *advice,
                        struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'{%s}' cannot be filled: %s; write %s, or {env:NAME}",
	                word, why, advice);
}

static int fill_of_kernels(struct expander *expander, const char *word,
                           const struct fact *fact, const char *advice,
                           struct tkb_error *err)
{
	if (fact->other[0] != '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'{%s}' is ambiguous: the cache at '%.200s' "
		                "has kernels of %.60s and %.60s; write %s, or "
		                "{env:NAME}",
		                word, expander->facts->cache_root, fact->text,
		                fact->other, advice);
	add_value(expander, fact->text, false);
	return 0;
}

static int fill_of_gpus(struct expander *expander, const char *word,
                        const struct fact *fact, struct tkb_error *err)
{
	if (fact->other[0] != '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'{%s}' is ambiguous: this machine has %.90s "
		                "and %.90s; name the GPU by its UUID in "
		                "CUDA_VISIBLE_DEVICES, or write {env:NAME}",
		                word, fact->text, fact->other);
	add_value(expander, fact->text, false);
	return 0;
}

static int fill_arch(struct expander *expander, struct tkb_error *err)
{
	char why[2 * WHY_SIZE];
	int rc;

	if (expander->arch.text[0] != '\0')
		return fill_of_gpus(expander, "arch", &expander->arch, err);
	rc = ask_cache(expander, err);
	if (rc < 0)
		return rc;
	if (expander->kernel_arch.text[0] != '\0')
		return fill_of_kernels(expander, "arch", &expander->kernel_arch,
		                       "the architecture (sm_90)", err);
	(void)snprintf(why, sizeof(why), "%.200s, and %.200s", expander->no_gpu,
	               expander->no_kernels);
	return fail_to_fill("arch", why, "the architecture (sm_90)", err);
}

static int fill_gpu(struct expander *expander, struct tkb_error *err)
{
	if (expander->name.text[0] == '\0')
		return fail_to_fill("gpu", expander->no_gpu, "the GPU's name",
		                    err);
	return fill_of_gpus(expander, "gpu", &expander->name, err);
}

static int fill_driver(struct expander *expander, struct tkb_error *err)
{
	if (expander->nvml.driver[0] == '\0')
		return fail_to_fill("driver", expander->nvml.why, "the version",
		                    err);
	add_value(expander, expander->nvml.driver, false);
	return 0;
}

static int fill_triton(struct expander *expander, struct tkb_error *err)
{
	if (expander->kernel_version.text[0] == '\0')
		return fail_to_fill("triton", expander->no_kernels,
		                    "the version", err);
	return fill_of_kernels(expander, "triton", &expander->kernel_version,
	                       "the version", err);
}

static int fill_env(struct expander *expander, const char *name,
                    struct tkb_error *err)
{
	const char *value = getenv(name);

	if (name[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'{env:}' names no variable; write {env:NAME}");
	if (value == NULL || value[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'{env:%s}' cannot be filled: %s is %s; set it",
		                name, name,
		                value == NULL ? "not set" : "empty");
	add_value(expander, value, true);
	return 0;
}

/* Append the value of the word between braces. */
static int fill_word(struct expander *expander, const char *word, size_t size,
                     struct tkb_error *err)
{
	static const struct {
		const char *name;
		int (*ask)(struct expander *expander, struct tkb_error *err);
		int (*fill)(struct expander *expander, struct tkb_error *err);
	} words[] = {
		{ "arch", ask_nvml, fill_arch },
		{ "driver", ask_nvml, fill_driver },
		{ "gpu", ask_nvml, fill_gpu },
		{ "triton", ask_cache, fill_triton },
	};
	char copy[ENV_NAME_LIMIT];
	int rc;

	(void)snprintf(copy, sizeof(copy), "%.*s",
	               size < sizeof(copy) ? (int)size : 0, word);
	if (tkb_begins_with(copy, "env:"))
		return fill_env(expander, copy + strlen("env:"), err);
	for (size_t i = 0; i < TKB_COUNT_OF(words); i++) {
		if (strcmp(copy, words[i].name) != 0)
			continue;
		rc = tkb_watch_check(expander->facts->watch, err);
		if (rc == 0)
			rc = words[i].ask(expander, err);
		return rc == 0 ? words[i].fill(expander, err) : rc;
	}
	return tkb_fail(err, TKB_ERR_INVALID,
	                "a ref cannot have '{%.*s}': there are {arch}, "
	                "{gpu}, {driver}, {triton} and {env:NAME}",
	                size < ENV_NAME_LIMIT ? (int)size : ENV_NAME_LIMIT,
	                word);
}

static int expand(struct expander *expander, const char *pattern,
                  struct tkb_error *err)
{
	int rc;

	while (*pattern != '\0') {
		const size_t size = strcspn(pattern, "{");
		const char *end;

		tkb_buf_add(&expander->out,
		            (struct tkb_bytes){ pattern, size });
		pattern += size;
		if (*pattern == '\0')
			break;
		end = strchr(pattern, '}');
		if (end == NULL)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "the ref '%.200s' has a '{' without "
			                "its '}'",
			                pattern);
		rc = fill_word(expander, pattern + 1,
		               (size_t)(end - pattern) - 1, err);
		if (rc < 0)
			return rc;
		pattern = end + 1;
	}
	tkb_buf_add_byte(&expander->out, '\0');
	return 0;
}

int tkb_ref_expand(const char *pattern, const struct tkb_ref_facts *facts,
                   char out[TKB_REF_SIZE], struct tkb_error *err)
{
	struct tkb_ref_facts own;
	struct tkb_timed timed;
	TKB_AUTO(expander_release)
	struct expander expander = { .facts = &own,
		                     .out = TKB_BUF_INIT(TKB_REF_SIZE) };
	const char *name;
	int rc;

	rc = TKB_STRUCT_READ(tkb_ref_facts, watch, &own, facts, err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, own.watch, own.deadline_ms, err);
	if (rc < 0)
		return rc;
	own.watch = &timed.watch;
	rc = expand(&expander, pattern, err);
	if (rc < 0)
		return tkb_timed_end(&timed, rc, err);
	if (expander.out.failure == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (expander.out.failure != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the ref '%.120s' is longer than %d bytes",
		                pattern, TKB_REF_SIZE - 1);
	name = (const char *)expander.out.data;
	if (!tkb_ref_is_valid(name) || tkb_ref_is_reserved(name))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%s' cannot be a ref's name: letters, digits, "
		                "and '._-+@=', with slashes between parts",
		                name);
	memcpy(out, name, expander.out.size);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pack a cache with launchers, as a framework does through the library, and the
 * program cannot.
 *
 *     save CACHE_ROOT FILE WORD...
 *
 * The words say what to put; then all of it is packed:
 *
 *     all                     put every entry of CACHE_ROOT
 *     put KEY DEVICE          put one
 *     lean                    pack without source, IR and assembly
 *     launcher CACHE_KEY NAME all|any PAYLOAD KEY[,KEY]...
 *                             save a launcher; PAYLOAD is its bytes
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/tkbundle.h>

enum {
	NEEDS_LIMIT = 16
};

static void must(int rc, const struct tkb_error *err)
{
	if (rc == 0)
		return;
	(void)fprintf(stderr, "save: %s\n",
	              rc == TKB_MISS ? "it is not there" : err->message);
	exit(1);
}

/* The next word; there must be one. */
static const char *take(char ***words)
{
	if (**words == NULL) {
		(void)fprintf(stderr, "save: a word is missing\n");
		exit(2);
	}
	return *(*words)++;
}

static void put_all(struct tkb_recorder *recorder, const char *root)
{
	struct tkb_error err = { 0 };
	struct tkb_cache *cache = NULL;

	must(tkb_cache_open(root, NULL, &cache, &err), &err);
	for (size_t i = 0; i < tkb_cache_entry_count(cache); i++) {
		const struct tkb_entry *entry = tkb_cache_entry(cache, i);

		for (size_t j = 0; j < entry->device_count; j++)
			must(tkb_recorder_put(recorder, entry->key,
			                      entry->devices[j], &err),
			     &err);
	}
	tkb_cache_close(cache);
}

static void put_launcher(struct tkb_recorder *recorder, char ***words)
{
	const char *needs[NEEDS_LIMIT];
	struct tkb_launcher_spec spec = { .struct_size = sizeof(spec),
		                          .cache_key = take(words),
		                          .name = take(words) };
	struct tkb_error err = { 0 };
	char *rest = NULL;
	char *list;

	spec.need =
		strcmp(take(words), "any") == 0 ? TKB_NEED_ANY : TKB_NEED_ALL;
	spec.payload.data = take(words);
	spec.payload.size = strlen(spec.payload.data);
	list = strdup(take(words));
	for (const char *key = strtok_r(list, ",", &rest);
	     key != NULL && spec.need_count < NEEDS_LIMIT;
	     key = strtok_r(NULL, ",", &rest))
		needs[spec.need_count++] = key;
	spec.needs = needs;
	must(tkb_recorder_put_launcher(recorder, &spec, &err), &err);
	free(list);
}

static void put_one(struct tkb_recorder *recorder, char ***words)
{
	const char *key = take(words);
	const char *device = take(words);
	struct tkb_error err = { 0 };

	must(tkb_recorder_put(recorder, key,
	                      (uint32_t)strtoul(device, NULL, 10), &err),
	     &err);
}

static void do_word(struct tkb_recorder *recorder, const char *root,
                    struct tkb_collect_options *options, char ***words)
{
	const char *word = take(words);

	if (strcmp(word, "all") == 0) {
		put_all(recorder, root);
	} else if (strcmp(word, "put") == 0) {
		put_one(recorder, words);
	} else if (strcmp(word, "lean") == 0) {
		options->profile = TKB_PROFILE_LEAN;
	} else if (strcmp(word, "launcher") == 0) {
		put_launcher(recorder, words);
	} else {
		(void)fprintf(stderr, "save: there is no word '%s'\n", word);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct tkb_collect_options options = { .struct_size = sizeof(options) };
	struct tkb_recorder *recorder = NULL;
	struct tkb_error err = { 0 };
	char **words = argv + (argc > 0);
	const char *root = take(&words);
	const char *path = take(&words);

	must(tkb_recorder_new(NULL, &recorder, &err), &err);
	must(tkb_recorder_begin_compile(recorder, &err), &err);
	while (*words != NULL)
		do_word(recorder, root, &options, &words);
	must(tkb_recorder_collect_to_file(recorder, root, &options, path, NULL,
	                                  &err),
	     &err);
	tkb_recorder_end_compile(recorder);
	tkb_recorder_free(recorder);
	return 0;
}

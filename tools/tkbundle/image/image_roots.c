/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_roots.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/text.h"
#include "config/profiles.h"
#include "image/image_json.h"

#define PROBE "/probe"

/* For tkb_engine_locate(): only the variable `self` is set. */
static const char *only_probe(void *self, const char *name)
{
	return strcmp(self, name) == 0 ? PROBE : NULL;
}

/* Does `variable` name the root itself, and not a folder above it? */
static bool is_root_itself(const struct tkb_engine *engine, size_t index,
                           const char *variable)
{
	TKB_AUTO(text_free) char *path = NULL;

	return variable[0] != '\0' &&
	       tkb_engine_locate(engine, index, only_probe,
	                         (void *)(uintptr_t)variable, &path,
	                         NULL) == 0 &&
	       strcmp(path, PROBE) == 0;
}

void image_root_variable(const char *name, char out[IMAGE_VARIABLE_SIZE])
{
	TKB_AUTO(profile_names_release)
	struct profile_names names = { .count = 0 };

	out[0] = '\0';
	profiles_list(&names);
	for (size_t i = 0; i < names.count && out[0] == '\0'; i++) {
		struct tkb_engine *engine = NULL;

		if (profile_open(names.items[i], NULL, &engine, NULL) != 0)
			continue;
		for (size_t j = 0; j < tkb_engine_root_count(engine); j++) {
			const struct tkb_engine_root *root =
				tkb_engine_root(engine, j);

			if (strcmp(root->name, name) == 0 &&
			    is_root_itself(engine, j, root->variable))
				(void)snprintf(out, IMAGE_VARIABLE_SIZE, "%s",
				               root->variable);
		}
		tkb_engine_close(engine);
	}
}

/* Is it a path below the place, written as we write it? */
static bool is_inside(const char *path)
{
	for (const char *part = path;; part++) {
		const size_t size = strcspn(part, "/");

		if (size == 0 || part[0] == '.')
			return false;
		part += size;
		if (*part == '\0')
			return true;
	}
}

static int fail(const char *path, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_CORRUPT,
	                 "'%.400s' is not a list of an image's roots", path);
}

/* The path of the list; false: there is none. */
static bool find_list(const char *place, char out[IMAGE_PATH_SIZE])
{
	return snprintf(out, IMAGE_PATH_SIZE, "%s/" IMAGE_ROOTS_FILE, place) <
	               IMAGE_PATH_SIZE &&
	       access(out, F_OK) == 0;
}

bool image_roots_are_at(const char *place, char id_out[IMAGE_ID_SIZE])
{
	json_auto_t *document = NULL;
	char path[IMAGE_PATH_SIZE];
	const char *id;

	id_out[0] = '\0';
	if (!find_list(place, path))
		return false;
	document = image_json_read(path);
	id = image_json_string(document, "bundle", "");
	if (strspn(id, "0123456789abcdef") >= IMAGE_ID_SIZE - 1)
		(void)snprintf(id_out, IMAGE_ID_SIZE, "%s", id);
	return true;
}

int image_roots_visit(const char *place,
                      const struct image_roots_visitor *visitor,
                      struct tkb_error *err)
{
	json_auto_t *document = NULL;
	const json_t *roots;
	const json_t *root;
	char path[IMAGE_PATH_SIZE];
	size_t index;

	if (!find_list(place, path))
		return TKB_MISS;
	document = image_json_read(path);
	roots = json_object_get(document, "roots");
	if (!json_is_array(roots))
		return fail(path, err);
	json_array_foreach(roots, index, root)
	{
		const char *name = image_json_string(root, "name", "");
		const char *below = image_json_string(root, "path", "");

		if (name[0] == '\0' || strchr(name, '/') != NULL ||
		    !is_inside(below))
			return fail(path, err);
		if (!visitor->root(visitor->self, name, below))
			return TKB_ERR_CANCELLED;
	}
	return 0;
}

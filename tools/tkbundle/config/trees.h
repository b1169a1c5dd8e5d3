/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TREES_H
#define TKBUNDLE_TREES_H

#include <tkbundle/engine.h>

#include "cli/args.h"

/*
 * The trees that a verb works on besides the cache root: those of the engines that
 * --engine names, and those of --tree.
 */
struct trees {
	struct tkb_engine **engines; /* owned, and what they point to */
	size_t engine_count;
	struct tkb_tree *items; /* owned */
	size_t count;
	char **texts; /* owned, as are the texts: paths and names of trees */
	size_t text_count;
	char *kernels; /* owned; where the engines' kernels lie, or NULL */
	bool has_no_kernels; /* only trees are named, and no cache root */
};

/*
 * Choose the trees that `args` ask for. Returns 0, TKB_ERR_INVALID with a message
 * about the option, or what reading a profile returned.
 */
TKB_NODISCARD int trees_choose(const struct arguments *args, struct trees *out,
                               struct tkb_error *err);

void trees_release(struct trees *trees);

/*
 * For tkb_engine_locate(): an environment variable; for USER the user's name, as
 * Python's getpass finds it.
 */
const char *trees_variable(void *self, const char *name);

/*
 * The folder in which `run` places caches that the user has not placed, whether it
 * exists or not. False where there is no home folder.
 */
bool trees_placed_folder(char *out, size_t size);

/*
 * Does `path`, the engine's default place, hold nothing but files that the engine
 * writes there whatever its variables say, such as Inductor's headers? False for an
 * empty folder: somebody made that for a cache.
 */
bool trees_has_only_rest(const struct tkb_engine *engine, const char *path);

/*
 * Where root `index` of an engine lies; the caller frees the path.
 *
 * @param is_placed_out  receives whether `run` placed it there, because the
 *                       engine's default place has no cache
 * @return as tkb_engine_locate()
 */
TKB_NODISCARD int trees_locate(const struct tkb_engine *engine, size_t index,
                               char **out, bool *is_placed_out,
                               struct tkb_error *err);

enum {
	TREES_ORIGIN_SIZE = 256
};

/* Why it lies there: a variable, "default, by HOME", or "placed by run". */
void trees_describe_origin(const struct tkb_engine *engine, size_t index,
                           bool is_placed, char out[TREES_ORIGIN_SIZE]);

/*
 * What NAME or NAME:KIND of --tree asks for. `*text` becomes the name.
 *
 * @param trees      keeps the profile that the rules are of: it has room for one
 * @param rules_out  those of KIND; NULL for "plain"; left as it is where there is no
 *                   KIND
 * @return 0, TKB_ERR_INVALID (no profile knows such a KIND) or TKB_ERR_NOMEM
 */
TKB_NODISCARD int trees_split_kind(struct trees *trees, char *text,
                                   const struct tkb_tree_rules **rules_out,
                                   struct tkb_error *err);

#endif

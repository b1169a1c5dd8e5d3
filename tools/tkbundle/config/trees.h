/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TREES_H
#define TKBUNDLE_TREES_H

#include <tkbundle/engine.h>

#include "cli/args.h"

/*
 * The trees that a verb works on besides the cache root: those of the engines
 * that --engine names, and those of --tree.
 */
struct trees {
	struct tkb_engine **engines; /* owned, and what they point to */
	size_t engine_count;
	struct tkb_tree *items; /* owned */
	size_t count;
	char **texts; /* owned, as are the texts: paths and names of trees */
	size_t text_count;
	char *kernels; /* owned; the root of the engines' kernels, or NULL */
	char *other_kernels; /* owned; another root that a later engine has its
	                        kernels in and that exists, or NULL */
	bool has_no_kernels; /* trees are named, or engines without kernels of
	                        Triton's: no cache root is meant */
};

/*
 * Choose the trees that `args` name. Returns 0, TKB_ERR_INVALID with a message
 * about the option, or a failure to read a profile.
 */
TKB_NODISCARD int trees_choose(const struct arguments *args, struct trees *out,
                               struct tkb_error *err);

void trees_release(struct trees *trees);

/*
 * For tkb_engine_locate(): an environment variable; for USER the user's name,
 * as Python's getpass finds it.
 */
const char *trees_variable(void *self, const char *name);

/*
 * The folder for caches whose place the user has not set. It may not exist.
 * False if there is no home folder.
 */
bool trees_placed_folder(char *out, size_t size);

/*
 * The folder of this user's below TMPDIR, in whose "engines" `run` places caches
 * if it cannot write in that one.
 */
bool trees_temporary_folder(char *out, size_t size);

/*
 * Is the cache of root `index` at `path`, the engine's default place? Not if
 * there are only files that the engine always writes there, such as Inductor's
 * headers; but in an empty folder, which somebody made for a cache.
 */
bool trees_is_default_used(const struct tkb_engine *engine, size_t index,
                           const char *path);

/*
 * Is root `index`, at `path`, one of kernels in the folder of another root, as
 * in Inductor's? Inductor finds them there only if their variable is not set.
 */
bool trees_is_shared(const struct tkb_engine *engine, size_t index,
                     const char *path);

/*
 * Find the path of root `index` of an engine; the caller frees it.
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

/*
 * What decided its place: a variable, "default, by HOME", or "placed by run".
 */
void trees_describe_origin(const struct tkb_engine *engine, size_t index,
                           bool is_placed, char out[TREES_ORIGIN_SIZE]);

/*
 * Parse NAME or NAME:KIND of --tree. `*text` becomes the name.
 *
 * @param trees      keeps the profile that has the rules
 * @param rules_out  the rules of KIND; NULL for "plain"; unchanged if there is
 *                   no KIND
 * @return 0, TKB_ERR_INVALID (no profile knows such a KIND) or TKB_ERR_NOMEM
 */
TKB_NODISCARD int trees_split_kind(struct trees *trees, char *text,
                                   const struct tkb_tree_rules **rules_out,
                                   struct tkb_error *err);

#endif

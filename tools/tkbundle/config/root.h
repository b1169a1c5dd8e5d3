/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ROOT_H
#define TKBUNDLE_ROOT_H

#include <stdbool.h>

#include <tkbundle/error.h>

#include "config/trees.h"

/*
 * The cache that a verb works on.
 *
 * Where none is named: $TRITON_CACHE_DIR; else $TORCHINDUCTOR_CACHE_DIR;
 * else $TRITON_HOME/.triton/cache; else ~/.triton/cache. An empty variable
 * counts as none.
 */
struct root {
	char *path;       /* owned; NULL where only trees are asked for */
	bool is_given;    /* by the user, not by the environment */
	bool is_inductor; /* by its name, for it need not exist yet: it is
	                      $TORCHINDUCTOR_CACHE_DIR, or is called
	                      torchinductor... as PyTorch calls it */
	struct trees trees;
};

/*
 * Choose the root.
 *
 * @param given  what the user named, or NULL; not kept
 * @param out    released by the caller
 * @return 0, TKB_ERR_INVALID (no home folder) or TKB_ERR_NOMEM
 */
TKB_NODISCARD int root_choose(const char *given, struct root *out,
                              struct tkb_error *err);

/* Is there a root where none is named? A container's user may have no home folder. */
bool root_has_default(void);

/* Who says where it is: "the command line", a variable, or "default, by HOME". */
const char *root_origin(const struct root *root);

/*
 * The same, and the trees that `args` ask for. Where no root is named, it is that
 * of the engines; where only trees are, there is none.
 */
TKB_NODISCARD int root_choose_all(const struct arguments *args,
                                  const char *given, struct root *out,
                                  struct tkb_error *err);

/* The root's path, or, if there is none, that of the first tree. */
const char *root_name(const struct root *root);

/* " (Inductor)" or " (Triton)", to stand behind it; "" where there are only trees. */
const char *root_layout_words(const struct root *root, bool is_inductor);

void root_release(struct root *root);

#endif

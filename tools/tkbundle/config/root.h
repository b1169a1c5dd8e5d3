/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ROOT_H
#define TKBUNDLE_ROOT_H

#include <stdbool.h>

#include <tkbundle/error.h>

#include "config/trees.h"

struct cli;

/*
 * The cache that a verb works on.
 *
 * If none is named, it is $TRITON_CACHE_DIR; else $TORCHINDUCTOR_CACHE_DIR;
 * else $TRITON_HOME/.triton/cache; else ~/.triton/cache. An empty variable
 * counts as unset.
 */
struct root {
	char *path;       /* owned; NULL if only trees are named */
	bool is_given;    /* the user named it, not the environment */
	bool is_inductor; /* judged by its name, as it may not exist yet: it is
	                     $TORCHINDUCTOR_CACHE_DIR, or is called
	                     torchinductor..., like PyTorch's */
	struct trees trees;
};

/*
 * Choose the root.
 *
 * @param given  the root that the user named, or NULL; not kept
 * @param out    released by the caller
 * @return 0, TKB_ERR_INVALID (no home folder) or TKB_ERR_NOMEM
 */
TKB_NODISCARD int root_choose(const char *given, struct root *out,
                              struct tkb_error *err);

/* Is there a default root? A container's user may have no home folder. */
bool root_has_default(void);

/*
 * What decided its place: "the command line", a variable, or "default, by
 * HOME".
 */
const char *root_origin(const struct root *root);

/*
 * Choose the root, and the trees that `args` name. If no root is named, it is
 * that of the engines; if only trees are named, there is no root.
 */
TKB_NODISCARD int root_choose_all(const struct arguments *args,
                                  const char *given, struct root *out,
                                  struct tkb_error *err);

/* Tell of the kernels of a later engine that are in another root. */
void root_say_others(const struct cli *cli, const struct root *root);

/* The root's path, or, if there is none, that of the first tree. */
const char *root_name(const struct root *root);

/*
 * " (Inductor)" or " (Triton)", to print after the root; "" if there are only
 * trees.
 */
const char *root_layout_words(const struct root *root, bool is_inductor);

enum {
	ROOT_WHERE_SIZE = 4608
};

/* Options and operands that name the same caches: " --engine vllm /cache". */
void root_where(const struct root *root, char *out, size_t size);

void root_release(struct root *root);

#endif

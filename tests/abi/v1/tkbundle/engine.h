/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_H
#define TKBUNDLE_ENGINE_H

#include <tkbundle/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/engine.h
 * Profiles of engines: where one keeps its caches, and by which rules they move.
 *
 * A profile is a file of JSON, docs/engines.md says what may stand in it. Those
 * that come with tkbundle are in its data folder.
 *
 *     rc = tkb_engine_open("/usr/share/tkbundle/engines/vllm.json", &engine,
 *                          &err);
 *     for (size_t i = 0; i < tkb_engine_root_count(engine); i++)
 *             puts(tkb_engine_root(engine, i)->name);
 *     tkb_engine_close(engine);
 */
struct tkb_engine;

/** A folder in which an engine keeps a cache. Strings are never NULL. */
struct tkb_engine_root {
	const char *name;     /**< of the tree; "triton" for kernels */
	const char *variable; /**< that places it; "" where none does */
	bool is_kernels;      /**< a cache root of kernels, and no tree */
	const struct tkb_tree_rules *rules; /**< of a tree */
};

/** What a profile says of those paths of a root that match a pattern. */
struct tkb_engine_rule {
	const char *path; /**< the pattern, below the root */
	/** "unit", "ninja", "folder", "kernels", "leave"; or "" */
	const char *is;
	const char *style; /**< of paths in such a file, as "json"; or "" */
	const char *named; /**< by what, as "deepgemm"; or "" */
	bool is_last;      /**< it names others of its unit */
	bool has_secrets;  /**< they are hidden */
	bool is_tuned;     /**< a unit for one GPU and its driver */
};

/** A variable that makes what an engine asks for the same on each machine. */
struct tkb_engine_setting {
	const char *variable;
	const char *value;
	/** Not to be set where this exists, below $HOME; "": set it anyway. */
	const char *unless;
};

/**
 * A folder that is no cache, as a package or a toolkit, and that texts of the caches
 * name: they get its path here.
 */
struct tkb_engine_outside {
	const char *name;    /**< as of a tree */
	const char *package; /**< the Python package that it is; "": none */
};

/**
 * Read the profile in the file `path`.
 *
 * @param out  receives a profile that the caller closes
 * @return 0, TKB_ERR_CORRUPT (what is wrong, and at which byte), TKB_ERR_IO,
 *         TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_engine_open(const char *path,
                                          struct tkb_engine **out,
                                          struct tkb_error *err);

/** Release a profile and all that it gave. NULL is allowed. */
TKB_API void tkb_engine_close(struct tkb_engine *engine);

/** Its name, as "vllm". */
TKB_API const char *tkb_engine_name(const struct tkb_engine *engine);

/** What the rules of a tree say of a path. */
enum tkb_tree_part {
	TKB_TREE_PART_PLAIN, /**< a file is a unit; a folder is looked into */
	TKB_TREE_PART_UNIT,  /**< a folder is a unit, with all that is in it */
	TKB_TREE_PART_KERNELS, /**< a folder is a cache root of kernels */
	TKB_TREE_PART_LEFT     /**< it is left where it is */
};

/**
 * What is `path`, relative to the root of the tree? NULL are the rules of a tree
 * that has none.
 */
TKB_API enum tkb_tree_part tkb_tree_part(const struct tkb_tree_rules *rules,
                                         const char *path);

/**
 * Was the unit at `path` tuned, so that it may be tuned again? `rules` as above.
 */
TKB_API bool tkb_tree_is_tuned(const struct tkb_tree_rules *rules,
                               const char *path);

/** Its folders, in the profile's order. */
TKB_API size_t tkb_engine_root_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_root *tkb_engine_root(
	const struct tkb_engine *engine, size_t index);

/** The rules of root `index`, in the profile's order. */
TKB_API size_t tkb_engine_rule_count(const struct tkb_engine *engine,
                                     size_t index);
TKB_API const struct tkb_engine_rule *tkb_engine_rule(
	const struct tkb_engine *engine, size_t index, size_t rule);

/** What to set for it. */
TKB_API size_t tkb_engine_setting_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_setting *tkb_engine_setting(
	const struct tkb_engine *engine, size_t index);

/** The folders outside of its caches that these name. */
TKB_API size_t tkb_engine_outside_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_outside *tkb_engine_outside(
	const struct tkb_engine *engine, size_t index);

/**
 * Where among Python's packages folder `index` of those may lie, as "deep_gemm": the
 * first that is there counts.
 */
TKB_API size_t tkb_engine_outside_folder_count(const struct tkb_engine *engine,
                                               size_t index);
TKB_API const char *tkb_engine_outside_folder(const struct tkb_engine *engine,
                                              size_t index, size_t folder);

/** Do its processes need one ptxas for all, in TRITON_PTXAS_PATH? */
TKB_API bool tkb_engine_needs_ptxas(const struct tkb_engine *engine);

/**
 * The versions that it was checked with, and the Python package of which they
 * are.
 */
TKB_API const char *tkb_engine_package(const struct tkb_engine *engine);
TKB_API size_t tkb_engine_version_count(const struct tkb_engine *engine);
TKB_API const char *tkb_engine_version(const struct tkb_engine *engine,
                                       size_t index);

/** What its keys hold, as "the GPU's name": for people, who wonder why one differs. */
TKB_API size_t tkb_engine_key_count(const struct tkb_engine *engine);
TKB_API const char *tkb_engine_key(const struct tkb_engine *engine,
                                   size_t index);

/**
 * Is this the command of such an engine? `arguments` ends with NULL; the first
 * one is a program's name or path.
 */
TKB_API bool tkb_engine_is_command(const struct tkb_engine *engine,
                                   const char *const *arguments);

/**
 * The model that a command names: the argument behind "serve", or behind or in
 * "--model", as the profile says. NULL where there is none.
 */
TKB_API const char *tkb_engine_model(const struct tkb_engine *engine,
                                     const char *const *arguments);

/**
 * Where folder `index` is, as the engine itself finds it.
 *
 * @param get   the value of an environment variable, or NULL
 * @param self  given to it
 * @param out   receives a path that the caller frees
 * @return 0, TKB_MISS (nothing says where) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_engine_locate(
	const struct tkb_engine *engine, size_t index,
	const char *(*get)(void *self, const char *name), void *self,
	char **out, struct tkb_error *err);

/**
 * The variable by which tkb_engine_locate() finds folder `index`: its own, or that of
 * one of the engine's defaults; "" where it is found without one. NULL: nothing says
 * where it is.
 */
TKB_API const char *tkb_engine_located_by(
	const struct tkb_engine *engine, size_t index,
	const char *(*get)(void *self, const char *name), void *self);

/** As tkb_engine_locate(), of a folder outside, unless it is a package. */
TKB_API TKB_NODISCARD int tkb_engine_locate_outside(
	const struct tkb_engine *engine, size_t index,
	const char *(*get)(void *self, const char *name), void *self,
	char **out, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_H
#define TKBUNDLE_ENGINE_H

#include <tkbundle/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/engine.h
 * Profiles of engines: where an engine keeps its caches, and the rules by which
 * they are packed.
 *
 * A profile is a JSON file; docs/engines.md describes its members. The profiles
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
	const char *variable; /**< the variable with its path, or "" */
	bool is_kernels;      /**< a cache root of kernels, not a tree */
	const struct tkb_tree_rules *rules; /**< of a tree */
	/** If `variable` is "": the variable with a folder above it; or "". */
	const char *base;
	const char *below; /**< what follows that folder, as "/.cache/mine" */
};

/** What a profile says about the paths of a root that match a pattern. */
struct tkb_engine_rule {
	const char *path; /**< the pattern, relative to the root */
	/** "unit", "ninja", "folder", "kernels", "leave"; or "" */
	const char *is;
	const char *style; /**< how such a file writes paths: "json"; or "" */
	const char *named; /**< what names it: "deepgemm", "content"; or "" */
	bool is_last;      /**< it names other files of its unit */
	bool has_secrets;  /**< it may contain secrets, which are hidden */
	bool is_tuned;     /**< it was tuned for one GPU and driver */
	const char *shows; /**< about its root: "cache", "nothing"; or "" */
};

/** A variable to set so that an engine's keys are the same on each machine. */
struct tkb_engine_setting {
	const char *variable;
	const char *value;
	/**
	 * Do not set it if this path below $HOME exists; "": always set it. In
	 * place of .config and .cache at its start, XDG's variables count.
	 */
	const char *unless;
};

/**
 * A folder outside the caches, such as a Python package or a toolkit, to which
 * files of the caches refer. On emit they get its path on this machine.
 */
struct tkb_engine_external {
	const char *name;    /**< like that of a tree */
	const char *package; /**< name of the Python package, or "" */
};

/**
 * Read the profile in the file `path`.
 *
 * @param out  receives a profile that the caller closes
 * @return 0, TKB_ERR_CORRUPT (the message says what is wrong, and at which
 *         byte), TKB_ERR_IO, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_engine_open(const char *path,
                                          struct tkb_engine **out,
                                          struct tkb_error *err);

/**
 * Read the profile that `bytes` are.
 *
 * @param bytes  not kept
 * @param name   for messages; not kept
 * @return as of tkb_engine_open()
 */
TKB_API TKB_NODISCARD int tkb_engine_open_memory(struct tkb_bytes bytes,
                                                 const char *name,
                                                 struct tkb_engine **out,
                                                 struct tkb_error *err);

/** Release a profile and all that it lent. NULL is allowed. */
TKB_API void tkb_engine_close(struct tkb_engine *engine);

/** The profile's name, such as "vllm". */
TKB_API const char *tkb_engine_name(const struct tkb_engine *engine);

/** What the rules of a tree say about a path. */
enum tkb_tree_part {
	TKB_TREE_PART_PLAIN, /**< a file is a unit; a folder is looked into */
	TKB_TREE_PART_UNIT,  /**< a folder is a unit, with all that is in it */
	TKB_TREE_PART_KERNELS, /**< a folder is a cache root of kernels */
	TKB_TREE_PART_LEFT     /**< it is not packed */
};

/**
 * What do the rules say about `path`, which is relative to the root of the
 * tree? Pass NULL for a tree without rules.
 */
TKB_API enum tkb_tree_part tkb_tree_part(const struct tkb_tree_rules *rules,
                                         const char *path);

/**
 * Does the unit at `path` hold results of tuning, which may change later?
 * `rules` as for tkb_tree_part().
 */
TKB_API bool tkb_tree_is_tuned(const struct tkb_tree_rules *rules,
                               const char *path);

/**
 * Are the files of the unit at `path` named after their content? Then one that
 * is written again under its name is the same. `rules` as for tkb_tree_part().
 */
TKB_API bool tkb_tree_is_named_by_content(const struct tkb_tree_rules *rules,
                                          const char *path);

/**
 * Does `path`, if it is there, show that the engine keeps a cache in the root?
 * What is never packed shows none, nor what the engine writes at the default
 * place although its variable names another. `rules` as for tkb_tree_part().
 */
TKB_API bool tkb_tree_shows_cache(const struct tkb_tree_rules *rules,
                                  const char *path);

/** The engine's roots, in the profile's order. */
TKB_API size_t tkb_engine_root_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_root *tkb_engine_root(
	const struct tkb_engine *engine, size_t index);

/** The rules of root `index`, in the profile's order. */
TKB_API size_t tkb_engine_rule_count(const struct tkb_engine *engine,
                                     size_t index);
TKB_API const struct tkb_engine_rule *tkb_engine_rule(
	const struct tkb_engine *engine, size_t index, size_t rule);

/** The variables to set for the engine. */
TKB_API size_t tkb_engine_setting_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_setting *tkb_engine_setting(
	const struct tkb_engine *engine, size_t index);

/** The folders outside the engine's caches that the caches name. */
TKB_API size_t tkb_engine_external_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_external *tkb_engine_external(
	const struct tkb_engine *engine, size_t index);

/**
 * The possible paths of outside folder `index`, relative to the folders of
 * Python packages, such as "deep_gemm". The first one that exists is used.
 */
TKB_API size_t tkb_engine_external_folder_count(const struct tkb_engine *engine,
                                                size_t index);
TKB_API const char *tkb_engine_external_folder(const struct tkb_engine *engine,
                                               size_t index, size_t folder);

/** Must TRITON_PTXAS_PATH name one ptxas for all processes of the engine? */
TKB_API bool tkb_engine_needs_ptxas(const struct tkb_engine *engine);

/**
 * The Python package of the engine, and the versions that the profile was
 * tested with.
 */
TKB_API const char *tkb_engine_package(const struct tkb_engine *engine);
TKB_API size_t tkb_engine_version_count(const struct tkb_engine *engine);
TKB_API const char *tkb_engine_version(const struct tkb_engine *engine,
                                       size_t index);

/**
 * What the engine's keys depend on, such as "the GPU's name", for people who
 * ask why keys differ.
 */
TKB_API size_t tkb_engine_key_count(const struct tkb_engine *engine);
TKB_API const char *tkb_engine_key(const struct tkb_engine *engine,
                                   size_t index);

/** An environment variable on which keys depend. */
struct tkb_engine_variable {
	const char *name;   /**< a '*' stands for any text */
	const char *before; /**< only in versions before this; "": in all; "0":
		              in none, even if the name fits a later pattern */
};

/**
 * The variables on which the engine's keys depend. If several patterns match a
 * name, the first one counts.
 */
TKB_API size_t tkb_engine_variable_count(const struct tkb_engine *engine);
TKB_API const struct tkb_engine_variable *tkb_engine_variable(
	const struct tkb_engine *engine, size_t index);

/**
 * Does this command start the engine? `arguments` ends with NULL; the first one
 * is a program's name or path.
 */
TKB_API bool tkb_engine_is_command(const struct tkb_engine *engine,
                                   const char *const *arguments);

/**
 * The model that a command serves: the argument after "serve", also behind options,
 * or the value of "--model", as the profile says. NULL if there is none.
 */
TKB_API const char *tkb_engine_model(const struct tkb_engine *engine,
                                     const char *const *arguments);

/**
 * Find root `index` in the same way as the engine does.
 *
 * @param get   the value of an environment variable, or NULL; for USER the
 *              user's name, else its number counts
 * @param self  given to get()
 * @param out   receives a path that the caller frees
 * @return 0, TKB_MISS (nothing says where) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_engine_locate(
	const struct tkb_engine *engine, size_t index,
	const char *(*get)(void *self, const char *name), void *self,
	char **out, struct tkb_error *err);

/**
 * The variable with which tkb_engine_locate() finds root `index`: the root's
 * own, or that of a default; "" if it is found without a variable, NULL if it
 * is not found.
 */
TKB_API const char *tkb_engine_located_by(
	const struct tkb_engine *engine, size_t index,
	const char *(*get)(void *self, const char *name), void *self);

/** Like tkb_engine_locate(), for outside folder `index`. Not for a package. */
TKB_API TKB_NODISCARD int tkb_engine_locate_external(
	const struct tkb_engine *engine, size_t index,
	const char *(*get)(void *self, const char *name), void *self,
	char **out, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

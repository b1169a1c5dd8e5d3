/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_WALK_H
#define TKBUNDLE_ARCHIVE_WALK_H

#include <fts.h>
#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/error.h>

/* What a folder looks like. */
enum archive_look {
	ARCHIVE_LOOK_NONE,
	ARCHIVE_LOOK_KERNELS,  /* a folder of keys, or one for each GPU */
	ARCHIVE_LOOK_INDUCTOR, /* Inductor's, without kernels */
	ARCHIVE_LOOK_INDUCTOR_KERNELS,
	ARCHIVE_LOOK_VLLM,
	ARCHIVE_LOOK_VLLM_INSIDE, /* content of vLLM's torch_compile_cache */
	ARCHIVE_LOOK_FLASHINFER   /* FlashInfer's, of one GPU and version */
};

/*
 * A folder that looks like a cache, or is at a place where an engine has one.
 */
struct archive_place {
	char *path; /* owned */
	enum archive_look look;
	size_t suffix; /* the tree's suffix that matched, if `look` is none */
};

struct archive_places {
	struct archive_place *items; /* owned */
	size_t count;
};

/*
 * Walk through `folder` in the order of names, without following links. The
 * caller closes the walk with fts_close(); NULL if out of memory.
 */
FTS *archive_walk_open(const char *folder, struct tkb_error *err);

/*
 * MCV puts other caches into that of vLLM: move them beside it. Only in a
 * folder `io.vllm.cache` at the top, and only caches that look like kernels or
 * Inductor's.
 */
TKB_NODISCARD int archive_walk_split(const char *folder, struct tkb_error *err);

/*
 * Ends of paths where engines have caches, without a slash before them; NULL:
 * none.
 */
struct archive_suffixes {
	const char *const *trees;
	size_t tree_count;
	const char *const *kernels; /* roots of kernels */
	size_t kernels_count;
};

/*
 * List `folder` and the folders below it that have the suffix of a tree, or look
 * like a cache, in the order of their names. Folders inside a listed one are not
 * listed, but an engine's tree may have trees and roots of kernels in it: those
 * are listed if they have the suffix of one.
 */
TKB_NODISCARD int archive_walk(const char *folder,
                               const struct archive_suffixes *suffixes,
                               struct archive_places *out,
                               struct tkb_error *err);

void archive_places_release(struct archive_places *places);

#endif

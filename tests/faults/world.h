/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULTS_WORLD_H
#define TKB_TESTS_FAULTS_WORLD_H

/* The caches and bundles that the fault tests work on: real ones, but small. */

#include "harness.h"
#include "loop.h"
#include "tree.h"

/* Entries of fixture triton-3.6.0-h100, the smallest of their kinds. */
#define WORLD_KERNEL "KRJX2HQ7F5A3F5S77XLFZIGB7OJNLBQWMK7CXOIKV37EDNGX5SKA"
#define WORLD_OTHER "WEOKX6OIUHLVIPV24SSRIZM2DVO7PJG6G5BIT4W6Y4XW6D6VPJAA"
#define WORLD_THIRD "SF67JWXMZLPVA64AAHWZ6VPP3P2FEEPSGXTUWIFYH56FEO7QY7VQ"
#define WORLD_MODULE "HEUKIG4JTP2YEOVQFSWBTVS6LZOIS6UFCDGRSN4HPQYM3RTA6GRQ"

/* Make the cache "cache" of the test's folder: a kernel and a module. */
void world_cache(void);

/* Let it have one more entry. */
void world_add(const char *key);

/* The same, as two devices of the Inductor folder "cache" hold it. */
void world_inductor(void);

/* Collect `cache` into the bundle `path`; lean: few files are soon written. */
void world_bundle(const char *cache, const char *path);
void world_lean_bundle(const char *cache, const char *path);

/*
 * Make the folder "tree": a unit "u" with an index that names its own place and
 * comes last, and a text with a secret.
 */
void world_tree(void);

/* A tree with its rules that lies at `path`; valid until the next call. */
const struct tkb_tree *world_tree_at(const char *path);

/*
 * What is wrong; NULL: nothing. The only file of "out", `name`, is as `old`, or, of no
 * bytes, not there, until it is as wanted.
 */
const char *world_look_at_file(enum fault_moment moment, const char *name,
                               struct tkb_bytes old, struct tkb_bytes wanted);

/* A watch that lets a folder take the place of the file "out/x.tkb". */
const struct tkb_watch *world_place_taker(void);

#endif

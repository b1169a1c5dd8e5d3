/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_VERSION_H
#define TKBUNDLE_ENGINE_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/engine.h>

#include "cli/args.h"
#include "cli/cli.h"

/*
 * Find out which version of an engine is installed, and whether its profile was
 * checked with that version. No Python is started: the version is read from the
 * name of the folder that pip makes beside each package, such as
 * "vllm-0.24.0.dist-info".
 */
enum {
	ENGINE_VERSION_SIZE = 64,
	ENGINE_NOTE_SIZE = 512
};

/*
 * The path of Triton's own ptxas below a folder of packages; see
 * engine_file_find().
 */
#define ENGINE_FILE_PTXAS "triton/backends/nvidia/bin/ptxas"

/*
 * The version that is installed for the Python of `command`; if `command` is
 * NULL, for the Python that python_find() finds. "" if there is none.
 */
void engine_version_find(const struct tkb_engine *engine, const char *command,
                         char out[ENGINE_VERSION_SIZE]);

/* The version of another package, such as triton, for the same Python. */
void engine_version_of_package(const char *package, const char *command,
                               const char *engine,
                               char out[ENGINE_VERSION_SIZE]);

/*
 * The program or folder at `path`, such as ENGINE_FILE_PTXAS, below a folder of
 * packages of that Python. "" if none is found.
 */
void engine_file_find(const char *path, const char *command, const char *engine,
                      char *out, size_t size);

/*
 * Was the profile checked with this version? True if the profile names no
 * versions.
 */
bool engine_version_is_checked(const struct tkb_engine *engine,
                               const char *version);

/*
 * Write a note with engine and version, and, if the profile was not checked
 * with this version, the versions that it was checked with.
 */
void engine_version_note(const struct tkb_engine *engine, const char *version,
                         char out[ENGINE_NOTE_SIZE]);

/* With --verbose, print that note for each engine of --engine. */
void engine_version_say(struct cli *cli, const struct arguments *args,
                        struct tkb_engine *const *engines);

#endif

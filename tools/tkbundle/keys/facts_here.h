/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FACTS_HERE_H
#define TKBUNDLE_FACTS_HERE_H

#include "keys/facts.h"

/*
 * Find the facts that decide keys for a command on this machine. No Python is
 * started: this reads names of folders, variables, files of the driver, and the
 * version in each ptxas that a process could use.
 *
 * @param command  the program of the command
 * @param engine   the engine's name; "" if it is not an engine
 * @param package  the engine's Python package, or ""
 */
void facts_here_find(struct facts *out, const char *command, const char *engine,
                     const char *package);

/* Find only the facts about Triton: its version, and its build. */
void facts_here_find_triton(struct facts *out, const char *command,
                            const char *engine);

#endif

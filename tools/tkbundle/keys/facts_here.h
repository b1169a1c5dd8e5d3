/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FACTS_HERE_H
#define TKBUNDLE_FACTS_HERE_H

#include "keys/facts.h"

/*
 * Find out what decides keys for a command on this machine. No Python is started:
 * names of folders, variables and files of the driver are read, and each ptxas that a
 * process could use, for its version.
 *
 * @param command  its program
 * @param engine   its name; "" if it is not one
 * @param package  the Python package that the engine is, or ""
 */
void facts_here_find(struct facts *out, const char *command, const char *engine,
                     const char *package);

/* Of these, Triton's alone: its version, and which build of that it is. */
void facts_here_find_triton(struct facts *out, const char *command,
                            const char *engine);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPILER_H
#define COMPILER_H

#include <tkbundle/tkbundle.h>

/*
 * Stands for a framework's compiler, with several threads. It compiles nothing
 * really: finished kernels are copied from the Triton cache `source` into
 * `root`. `compiled` is called for each, by the thread that has made it.
 */
typedef int compiled_fn(void *self, const char *key, struct tkb_error *err);

int compiler_run(const char *source, const char *root, compiled_fn *compiled,
                 void *self, struct tkb_error *err);

#endif

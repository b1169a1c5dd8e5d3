/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_REGISTRY_H
#define TKB_TESTS_REGISTRY_H

/*
 * The real docker-registry, in the test's folder.
 *
 *     struct server server = start_registry("");
 *
 *     open_remote(text("oci://127.0.0.1:%u/team/kernels", server.port));
 */

#include "server.h"

/*
 * Start it with these members of its configuration besides ("auth:\n  ...", and,
 * before those, such of "http:"), or
 * skip the test where it is not installed. It allows to delete, unless `more` says
 * otherwise in a "storage:" of its own. What it logs is in "registry-<port>.log".
 */
struct server start_registry(const char *more);

#endif

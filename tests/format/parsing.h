/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_PARSING_H
#define TKB_TESTS_PARSING_H

/* What the tests of manifests share. */

#include "harness.h"

#include "format/manifest.h"

int parse(const char *json, struct tkb_manifest *out, struct tkb_error *err);

void must_accept(const char *json);

/* It fails so, and nothing comes of it; must_refuse(): with TKB_ERR_CORRUPT. */
void must_fail(const char *json, int status, const char *message);
void must_refuse(const char *json, const char *message);

/* What a manifest says, written anew; a zero stands behind it. */
struct tkb_bytes written(const struct tkb_manifest *manifest);

#endif

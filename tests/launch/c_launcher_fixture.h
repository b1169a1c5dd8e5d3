/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_C_LAUNCHER_FIXTURE_H
#define TKB_TESTS_C_LAUNCHER_FIXTURE_H

#include <tkbundle/c_launcher.h>

#include "harness.h"

/*
 * add_kernel for n that may be no multiple of 16, and its names; and the same
 * without Triton's IR: nothing is known of names and hints, so that anything of
 * three pointers and one number of 4 bytes is its signature.
 */
struct tkb_c_kernel whole_kernel(void);
struct tkb_c_kernel bare_kernel(void);

/* `bytes` with the first `from` replaced. */
struct tkb_bytes replaced(struct tkb_bytes bytes, const char *from,
                          const char *to);

/* The options of a launcher: its signature, and then what else. */
#define SIGNED(...) (&CHOSEN(tkb_c_launcher_options, .signature = __VA_ARGS__))

/* It must be made; freed with the test. */
struct tkb_c_launcher *must(const struct tkb_c_kernel *kernel,
                            const struct tkb_c_launcher_options *options);

const char *header_of(const struct tkb_c_launcher *launcher);

#endif

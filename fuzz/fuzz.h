/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FUZZ_FUZZ_H
#define TKB_FUZZ_FUZZ_H

/*
 * What every fuzz target is made of: a function that is given bytes, and comes
 * back whatever they are. What must hold besides is said with MUST(); where it
 * does not, the program says so and aborts, which a fuzzer calls a finding.
 */

#include <tkbundle/bundle.h>

#include "base/base.h"
#include "base/buf.h"

/* The target. Each program has one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                        \
	((condition) ? (void)0                                                 \
	             : fuzz_must_fail(#condition, "", __FILE__, __LINE__))

/* A call that must return 0; its error is shown where it does not. */
#define MUST_OK(call, err)                                                     \
	((call) == 0                                                           \
	         ? (void)0                                                     \
	         : fuzz_must_fail(#call, (err)->message, __FILE__, __LINE__))

void fuzz_must_fail(const char *what, const char *why, const char *file,
                    int line) __attribute__((noreturn));

/*
 * Take what stands before the first `separator` off the front of `*input`, and
 * the separator with it; all of it where there is none.
 */
struct tkb_bytes fuzz_take(struct tkb_bytes *input, const char *separator);

/* A failure that anybody's bytes may cause, with a sentence. */
void fuzz_check_refusal(int rc, const struct tkb_error *err);

/* Is every byte of `bundle` as it should be? */
bool fuzz_verify(const struct tkb_bundle *bundle);

/*
 * Do to the bundle `bytes` what the program can do to one: list, find, read,
 * verify, emit, merge; and look at what was emitted and merged.
 */
void fuzz_bundle(struct tkb_bytes bytes);

/* Its parts: emit, then look for the launchers there; merge. */
void fuzz_emit(const struct tkb_bundle *bundle, bool is_verified);
void fuzz_merge(const struct tkb_bundle *bundle, bool is_verified);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FUZZ_PEER_H
#define TKB_FUZZ_PEER_H

/*
 * A server that says what the fuzzer wants, whatever it is asked, and hangs up
 * after its last byte. It stands in for src/remote/net/connection.h: the
 * programs that have it are linked with --wrap.
 */

#include "fuzz.h"

/* Say `stream`, in pieces of `piece` bytes, from now on. It is kept. */
void fuzz_peer_say(struct tkb_bytes stream, size_t piece);

#endif

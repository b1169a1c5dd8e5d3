/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FLEET_RACE_H
#define TKB_TESTS_FLEET_RACE_H

/*
 * The race: 20 processes push different, overlapping entries to one ref at
 * once, some of them the very same, while others compact it, clean up and pull.
 * When all are done, a pull into an empty cache gives every entry that any of
 * them had, byte for byte. Then blobs are evicted at random, and the next round
 * begins.
 *
 * TKB_RACE_ROUNDS says how many rounds (4), TKB_RACE_SEED repeats one.
 */

/* Whatever the remote is: only the URL differs. */
void race_at(const char *url);

#endif

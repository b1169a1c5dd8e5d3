/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_LINKS_H
#define TKBUNDLE_RUN_LINKS_H

#include <stdbool.h>

/*
 * Link the entries of a root that cannot be written into one that can.
 *
 * Each gets a folder of its own, for a compiler may write there: it would fail
 * in a folder that is a link. The files in it are hard links where the system
 * allows that, else symbolic ones. The group file is a new one, which names the
 * files in their new place, and has a use stamp. An entry appears when its
 * group file does.
 *
 * Entries that are there stay, unless a link of theirs leads nowhere: then the
 * group file goes, and the compiler knows nothing of it.
 *
 * What the library thinks of them: hard links are files; symbolic ones are not
 * to be trusted, so that emit replaces them by files, and collect leaves such
 * an entry out.
 */
void run_links_make(const char *from, const char *to, bool is_inductor);

/*
 * Put the kernels that lie in trees of the engines into the root, where they are
 * looked for; see tkb_gather_kernels(). `self` is the run, whose plan is made: a task of
 * it, which notes there what it did.
 */
void run_links_gather(void *self);

#endif

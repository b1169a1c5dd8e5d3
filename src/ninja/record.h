/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_RECORD_H
#define TKB_NINJA_RECORD_H

/*
 * Move what ninja has built to another machine, so that it has nothing to do there.
 *
 * ninja goes by times, and by a hash of each command: an output is made anew where
 * it, or what the log remembers of it, is older than one of its inputs, or where its
 * command has changed. A folder that is restored beside newer headers with the same
 * contents, or at another path, is built all over again. A record holds what it
 * takes to tell ninja that nothing has changed, and to know that:
 *
 *     ninja 7                      the version of the log
 *     in <sha256> <path>           of each file that it was built of
 *     out - <path>                 an output, or, with how many lines "dep <path>"
 *     out 2 <path>                 follow, what .ninja_deps has of it
 *
 * It is a text, in which paths stand as ninja has them, so that they can become
 * sentinels, and in no order that depends on them. It has no times, and no hashes of commands: those follow from
 * build.ninja.
 */

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "ninja/place.h"

/* In a bundle, a record has this name. */
#define TKB_NINJA_LOG ".ninja_log"
#define TKB_NINJA_DEPS ".ninja_deps"
#define TKB_NINJA_BUILD "build.ninja"

/*
 * Append the record of what was built at `place`. `*is_fresh_out`: ninja has nothing
 * to do there; where it is false, `why` says which file is newer than what was made
 * of it. What cannot be moved fails with a reason: a log that is torn, an output
 * outside the folder, an input that is not there, a command that is not that of
 * build.ninja.
 */
TKB_NODISCARD int tkb_ninja_record_make(const struct tkb_ninja_place *place,
                                        struct tkb_hasher *hasher,
                                        struct tkb_buf *out, bool *is_fresh_out,
                                        struct tkb_error *why,
                                        struct tkb_error *err);

/*
 * Compare the inputs with `record`: one that has other bytes here, or does not
 * exist, fails with TKB_REASON_INPUTS. Then give the outputs a time that no
 * input is newer than, and append a log and dependencies to match.
 * `place->folder` is the final place of the files in `dir_fd`.
 */
TKB_NODISCARD int tkb_ninja_record_apply(const struct tkb_ninja_place *place,
                                         struct tkb_bytes record,
                                         struct tkb_hasher *hasher,
                                         struct tkb_buf *log_out,
                                         struct tkb_buf *deps_out,
                                         struct tkb_error *err);

#endif

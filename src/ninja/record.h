/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_RECORD_H
#define TKB_NINJA_RECORD_H

/*
 * Move what ninja has built to another machine, so that ninja has nothing to do
 * there.
 *
 * ninja compares times, and a hash of each command. It makes an output again if
 * the output, or its row in the log, is older than one of its inputs, or if the
 * command has changed. So ninja builds everything again if a folder is restored
 * at another path, or with newer headers of the same contents. A record has
 * what is needed to check that nothing has changed, and to tell ninja so:
 *
 *     ninja 7                      the version of the log
 *     in <sha256> <path>           a file from which outputs were built
 *     out - <path>                 an output that .ninja_deps does not have
 *     out 2 <path>                 an output with two dependencies there, which
 *     dep <path>                   follow, each in a line
 *
 * It is a text. Paths are as ninja writes them, so that sentinels can replace
 * them, but that of an input behind a link in the tree is the file's own. The
 * order of lines does not depend on paths. It has neither times nor hashes of
 * commands; the hashes follow from build.ninja.
 */

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "ninja/place.h"

/* The name of a record in a bundle, too. */
#define TKB_NINJA_LOG ".ninja_log"
#define TKB_NINJA_DEPS ".ninja_deps"

/*
 * Append the record of what was built at `place`. `*is_fresh_out` tells whether
 * ninja has nothing to do there; if it is false, `why` says which file is newer
 * than one made from it. Fails, with a reason, if the build cannot be moved: if
 * a log is torn, an output is outside the folder, an input does not exist, or a
 * command is not that of build.ninja.
 */
TKB_NODISCARD int tkb_ninja_record_make(const struct tkb_ninja_place *place,
                                        struct tkb_hasher *hasher,
                                        struct tkb_buf *out, bool *is_fresh_out,
                                        struct tkb_error *why,
                                        struct tkb_error *err);

/*
 * Compare the inputs with `record`. If one has other bytes here or does not
 * exist, fail with TKB_REASON_INPUTS. Then give the outputs a time that is not
 * older than any input's, and append a log and dependencies that fit.
 * `place->folder` is the path that the files in `dir_fd` will finally have.
 */
TKB_NODISCARD int tkb_ninja_record_apply(const struct tkb_ninja_place *place,
                                         struct tkb_bytes record,
                                         struct tkb_hasher *hasher,
                                         struct tkb_buf *log_out,
                                         struct tkb_buf *deps_out,
                                         struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FUZZ_CONTENTS_H
#define TKB_FUZZ_CONTENTS_H

/*
 * A manifest, and what the files in it hold: its sizes and digests become
 * those of the contents.
 *
 *     TKB_AUTO(fuzz_contents_release) struct fuzz_contents contents = { 0 };
 *
 *     if (fuzz_contents_read(&contents, text))
 *             fuzz_contents_share(&contents, bytes);
 *     fuzz_contents_describe(&contents);
 */

#include "format/manifest.h"
#include "format/writer.h"

struct fuzz_contents {
	struct tkb_manifest manifest;
	struct tkb_file *files;        /* owned; of all entries */
	struct tkb_bytes *bytes;       /* owned; of all items' files */
	size_t *firsts;                /* owned; of an item, in `bytes` */
	const struct tkb_entry **list; /* owned; the manifest's entries */
};

void fuzz_contents_release(struct fuzz_contents *contents);

/* Read the manifest; false where that is refused, and it stays empty. */
bool fuzz_contents_read(struct fuzz_contents *contents, struct tkb_bytes text);

/* Give each file, then each payload, the bytes up to the next separator. */
void fuzz_contents_share(struct fuzz_contents *contents,
                         struct tkb_bytes bytes);

/* Give those that the tar `bytes` holds what it says, as far as it goes. */
void fuzz_contents_take_tar(struct fuzz_contents *contents,
                            struct tkb_bytes bytes);

/* Let the manifest say what the contents are; payloads change their places. */
void fuzz_contents_describe(struct fuzz_contents *contents);

/* The bytes of a file. */
struct tkb_bytes fuzz_contents_of(const struct fuzz_contents *contents,
                                  const struct tkb_member *member);

#endif

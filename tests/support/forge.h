/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FORGE_H
#define TKB_TESTS_FORGE_H

/*
 * Bundles that tkbundle would not write.
 *
 * A test takes a real bundle apart, changes one thing, and puts it together
 * again. Sizes, digests and the list of frames are adapted, so that the change
 * is the only fault:
 *
 *     struct forge *forge = forge_open("real.tkb");
 *
 *     forge->frames[0].members[1].type = S_IFIFO;
 *     forge_write(forge, "hostile.tkb");
 *
 * All memory is the test's.
 */

#include <sys/types.h>

#include "harness.h"

enum {
	FORGE_FRAMES = 8,
	FORGE_MEMBERS = 128
};

/* One member of a tar. */
struct forge_member {
	const char *path;
	struct tkb_bytes bytes;
	mode_t type;             /* S_IFREG where it is 0 */
	const char *target;      /* of a symbolic link */
	const char *link;        /* another member: this is a hard link to it */
	uint64_t claimed;        /* the size in its header, where it is not 0 */
	struct tkb_bytes before; /* put before the header, as it is */
	bool is_sparse;          /* its bytes are a hole, and data behind it */
	bool is_padded;          /* 1 KiB of pax headers stands before it */
};

/* A data frame: its members, unless `packed` is set. */
struct forge_frame {
	struct forge_member members[FORGE_MEMBERS];
	size_t member_count;
	struct tkb_bytes behind; /* put behind the last member */
	struct tkb_bytes packed;
	uint64_t size;       /* of what `packed` holds */
	const char *entries; /* the last field of its line, as "0-3,5" */
	const char *line;    /* all of its line, instead */
};

struct forge {
	struct tkb_bytes manifest;
	struct forge_member header[FORGE_MEMBERS]; /* behind the first two */
	size_t header_count;
	struct tkb_bytes header_behind; /* put behind the last of them */
	const char *first_line;         /* of the list of frames */
	struct forge_frame frames[FORGE_FRAMES];
	size_t frame_count;
	struct tkb_bytes end;    /* the last frame, if not the right one */
	struct tkb_bytes before; /* put before the first frame, as it is */
	struct tkb_bytes behind; /* put behind the last frame, as it is */
};

/*
 * Real bundles to start from, made of the fixture triton-3.6.0-cpu: of the key
 * of one lean kernel, FORGE_KERNEL; of that one and of FORGE_AUTOTUNE, which
 * comes first, in one frame.
 */
#define FORGE_KERNEL "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define FORGE_AUTOTUNE "OHLECDAU2WNCE4HO4Q2ANXCJVEUGFJBA73LV2GWZKGZKESJ5RVMA"
void forge_single(const char *path);
void forge_pair(const char *path);

/* Collect the cache `root` into the file `path`; `key` may be NULL. */
void forge_collect(const char *root, const char *key, bool is_lean,
                   const char *path);

/* Take apart the bundle `path`, which must be sound. */
struct forge *forge_open(const char *path);

/* Put it together again. */
void forge_write(const struct forge *forge, const char *path);

/* Give the members of `key` a frame of their own, the last one. */
void forge_split(struct forge *forge, const char *key);

/* Put `to` for the first `from` in the manifest; it must be there. */
void forge_edit(struct forge *forge, const char *from, const char *to);

/* The frame's member whose path ends so; it must be there. */
struct forge_member *forge_find(struct forge *forge, size_t frame,
                                const char *ending);

/* A tar without its end, as bytes. */
struct tkb_bytes forge_tar(const struct forge_member *members, size_t count);

/* The zstd frame at the start of `bytes`, which go on behind it. */
struct tkb_bytes forge_take_frame(struct tkb_bytes *bytes);

/* One zstd frame. */
struct tkb_bytes forge_pack(struct tkb_bytes bytes);

/*
 * A zstd frame of `size` zero bytes, of a few bytes for each 128 KiB. Its
 * header says `claimed`; nothing if that is 0.
 */
struct tkb_bytes forge_bomb(uint64_t size, uint64_t claimed);

/* Replace the bytes of file `name` of the only entry, also in the manifest. */
void forge_put_file(struct forge *forge, const char *name,
                    struct tkb_bytes bytes);

/* SHA-256 in hexadecimal; `text` with `from` replaced by `to`, once. */
const char *forge_digest(struct tkb_bytes bytes);
const char *forge_replace(const char *text, const char *from, const char *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_START_FILE_H
#define TKBUNDLE_START_FILE_H

#include "cli/json_out.h"
#include "why/start.h"

/* Common code of the writer and the reader of notes. */

#define START_FORMAT "tkbundle-start"
#define START_VERSION 1

/* The name of a note. */
struct start_name {
	uint64_t time_ms; /* 0: it is in the future, so a clock was set back */
	char text[64];
};

/* Add the members of a note to an open object. */
void start_json(struct json_out *json, const struct start *start);

/* The path of a note; false: it is too long. */
bool start_path(const char *folder, uint64_t time_ms, uint64_t process,
                char out[START_PATH_SIZE]);

/* The notes of a folder, the newest first; the caller frees the list. */
size_t start_list(const char *folder, struct start_name **out);

#endif

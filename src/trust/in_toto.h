/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_IN_TOTO_H
#define TKB_TRUST_IN_TOTO_H

/*
 * in-toto Statements, version 1: subjects, and a predicate that says something
 * about them. Every Statement that tkbundle makes has an expiry time and a
 * sequence:
 *
 *     {"_type":"https://in-toto.io/Statement/v1",
 *      "predicate":{...,"expires":"...","sequence":5,...},
 *      "predicateType":"https://tkbundle.dev/...",
 *      "subject":[{"digest":{"sha256":"<64 digits>"},"name":"..."},...]}
 *
 * They are written as canonical JSON by tkb_in_toto_begin(), the predicate's
 * members, tkb_in_toto_end_predicate(), tkb_in_toto_add_subject() for each subject
 * and tkb_in_toto_end().
 */

#include "base/arena.h"
#include "base/buf.h"
#include "text/schema.h"

struct tkb_in_toto_subject {
	struct tkb_digest digest;
	const char *name;
};

/*
 * The common part: the first member of a reader's struct. The members of the
 * predicate follow it.
 */
struct tkb_in_toto {
	struct tkb_in_toto_subject *subjects;
	size_t subject_count;
	const char *expires;
	uint64_t expires_s; /* the same, since 1970 */
	uint64_t sequence;
};

/* What one sort of Statement may contain. */
struct tkb_in_toto_sort {
	const struct tkb_schema *predicate; /* its fields lie in the reader's
	                                       struct */
	const char *predicate_type;
	const char *other_predicate; /* error message if the type is another */
	bool (*is_name)(const char *name);
	const char *wrong_name;
	/*
	 * The list of subjects; the members are those of struct
	 * tkb_schema_list.
	 */
	const char *none;
	size_t limit;
	const char *too_many;
	int (*compare)(const void *a, const void *b);
	const char *unsorted;
};

/* Members that every predicate has. */
#define TKB_IN_TOTO_EXPIRES                                                    \
	TKB_FIELD_TEXT("expires", struct tkb_in_toto, expires,                 \
	               tkb_in_toto_is_time,                                    \
	               "a time is not as 2027-02-21T12:00:00Z")
#define TKB_IN_TOTO_SEQUENCE                                                   \
	TKB_FIELD_CUSTOM("sequence", offsetof(struct tkb_in_toto, sequence),   \
	                 tkb_in_toto_read_sequence)

/* A predicate that has only an expiry time and a sequence. */
extern const struct tkb_schema tkb_in_toto_life;

/* Read a number. Accepts "5.0", which protobuf writes in a Struct. */
int tkb_in_toto_read_sequence(struct tkb_schema_reader *reader, void *out,
                              struct tkb_error *err);

bool tkb_in_toto_is_time(const char *text);

/*
 * Read a Statement into the struct that begins with `out`; its JSON need not be
 * canonical. TKB_ERR_CORRUPT if it is not such a Statement, or has unknown
 * members.
 */
TKB_NODISCARD int tkb_in_toto_read(const struct tkb_schema_document *document,
                                   const struct tkb_in_toto_sort *sort,
                                   struct tkb_in_toto *out,
                                   struct tkb_error *err);

void tkb_in_toto_begin(struct tkb_buf *out);

/* Write "expires" and "sequence"; the caller has written "," or "{". */
void tkb_in_toto_add_life(struct tkb_buf *out, uint64_t expires_s,
                          uint64_t sequence);

void tkb_in_toto_end_predicate(struct tkb_buf *out, const char *type);
void tkb_in_toto_add_subject(struct tkb_buf *out, bool is_first,
                             const struct tkb_digest *digest, const char *name);
void tkb_in_toto_end(struct tkb_buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_STATEMENT_H
#define TKB_TRUST_STATEMENT_H

/* What keys sign about a record: a Statement (in_toto.h). */

#include <tkbundle/trust.h>

#include "base/arena.h"

enum {
	TKB_STATEMENT_LIMIT = 16 * 1024, /* bytes */
	TKB_STATEMENT_TARGETS = 64
};

/* The record that a statement is about. */
struct tkb_subject {
	struct tkb_digest bundle;  /* its bundle's id */
	struct tkb_digest content; /* tkb_record_subject() computes it */
};

struct tkb_statement {
	const char *ref;
	struct tkb_subject subject;
	uint64_t sequence;
	uint64_t expires_s; /* since 1970 */
	enum tkb_trust_stage stage;
	const char **targets; /* GPUs that it fits, such as "cuda:90" */
	size_t target_count;
};

const char *tkb_stage_name(unsigned stage);

/* Append the statement as canonical JSON. */
TKB_NODISCARD int tkb_statement_write(const struct tkb_statement *statement,
                                      struct tkb_buf *out,
                                      struct tkb_error *err);

/*
 * Read a statement into `arena`; its JSON need not be canonical. TKB_ERR_CORRUPT
 * if it is not such a statement, or has unknown members.
 */
TKB_NODISCARD int tkb_statement_read(struct tkb_bytes text,
                                     struct tkb_arena *arena,
                                     struct tkb_statement *out,
                                     struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_RECORDS_H
#define TKB_REMOTE_RECORDS_H

/* All records of a ref, read. */

#include <tkbundle/remote.h>

#include "remote/record.h"

struct tkb_record_list {
	struct tkb_record *items; /* owned, and what each points to */
	size_t count;
	size_t capacity;
	uint64_t unreadable_count; /* of a newer tkbundle, or damaged */
};

void tkb_record_list_release(struct tkb_record_list *list);

/* Read the records of `ref`; what cannot be understood is counted. */
TKB_NODISCARD int tkb_record_list_read(struct tkb_remote *remote,
                                       const char *ref,
                                       struct tkb_record_list *out,
                                       struct tkb_error *err);

/*
 * Set is_hole of each: one round to the last tier that may be written. Where
 * that does not answer, and its errors are to be ignored, there are none.
 */
TKB_NODISCARD int tkb_records_check(struct tkb_remote *remote,
                                    struct tkb_record_list *list,
                                    struct tkb_error *err);

#endif

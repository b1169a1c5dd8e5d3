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
	uint64_t unreadable_count;  /* of a newer tkbundle, or damaged */
	struct tkb_digest *damaged; /* owned; of these, those whose bytes have
	                               another digest than their name */
	size_t damaged_count;
	size_t damaged_capacity;
	struct tkb_error damage; /* of the first of them; its status is 0 where
	                            there is none */
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

/*
 * Drop the holes. Others may push the very same blob meanwhile, and with it the
 * very same record: a hole that is filled once its record is dropped gets the
 * record back, and is none any more.
 */
TKB_NODISCARD int tkb_records_drop_holes(struct tkb_remote *remote,
                                         const char *ref,
                                         struct tkb_record_list *list,
                                         struct tkb_error *err);

/*
 * Drop the damaged ones, which nobody will ever be able to read. They are read
 * once more before: what is damaged on the way may be whole where it lies.
 */
TKB_NODISCARD int tkb_records_drop_damaged(struct tkb_remote *remote,
                                           const char *ref,
                                           const struct tkb_record_list *list,
                                           uint64_t *dropped_out,
                                           struct tkb_error *err);

/*
 * Note that the record is in use, and its blob with it, unless that was noted
 * less than a day ago. False where the remote does not let us: that changes
 * nothing else.
 */
bool tkb_record_stamp(struct tkb_remote *remote, const char *ref,
                      const struct tkb_record *record);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "records/records.h"

#include <stdlib.h>

#include "base/digest.h"
#include "remote/remote.h"

enum {
	STAMP_S = 24 * 60 * 60 /* between two stamps of a record, at least */
};

bool tkb_fleet_is_final(int rc)
{
	return rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED ||
	       rc == TKB_ERR_IO || rc == TKB_ERR_INVALID;
}

struct tkb_remote_fault tkb_record_fault_of(
	const char *ref, const struct tkb_record_fault *fault)
{
	static const enum tkb_remote_trouble troubles[] = {
		[TKB_RECORD_DAMAGED] = TKB_REMOTE_TROUBLE_DAMAGED,
		[TKB_RECORD_GARBLED] = TKB_REMOTE_TROUBLE_DAMAGED,
		[TKB_RECORD_NEWER] = TKB_REMOTE_TROUBLE_NEWER,
		[TKB_RECORD_UNREAD] = TKB_REMOTE_TROUBLE_UNREAD,
	};

	return (struct tkb_remote_fault){
		.trouble = troubles[fault->trouble],
		.ref = ref,
		.digest = &fault->digest,
		.message = fault->message,
	};
}

void tkb_record_list_release(struct tkb_record_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tkb_record_release(&list->items[i]);
	free(list->items);
	free(list->faults);
	tkb_arena_release(&list->arena);
	*list = (struct tkb_record_list){ 0 };
}

const struct tkb_record_fault *tkb_record_list_fault(
	const struct tkb_record_list *list, enum tkb_record_trouble trouble,
	const struct tkb_digest *digest)
{
	for (size_t i = 0; i < list->fault_count; i++) {
		if (list->faults[i].trouble == trouble &&
		    (digest == NULL ||
		     tkb_digest_equal(&list->faults[i].digest, digest)))
			return &list->faults[i];
	}
	return NULL;
}

static int add_fault(struct tkb_record_list *list,
                     const struct tkb_digest *digest,
                     enum tkb_record_trouble trouble,
                     const struct tkb_error *why, struct tkb_error *err)
{
	const struct tkb_record_fault fault = {
		.digest = *digest,
		.trouble = trouble,
		.status = why->status,
		.message =
			tkb_arena_string(&list->arena, tkb_text(why->message)),
	};

	if (fault.message == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&list->faults, &list->fault_count,
	                  &list->fault_capacity, &fault, sizeof(fault), err);
}

static int add_unparsed(struct tkb_record_list *list,
                        const struct tkb_digest *digest, struct tkb_bytes text,
                        struct tkb_error *why, struct tkb_error *err)
{
	const bool is_newer = why->status == TKB_ERR_UNSUPPORTED ||
	                      tkb_record_may_be_newer(text);

	if (is_newer && why->status != TKB_ERR_UNSUPPORTED)
		(void)tkb_fail(why, TKB_ERR_UNSUPPORTED,
		               "it is of another version");
	(void)tkb_fail_while(why, why->status, "record %s",
	                     tkb_digest_hex(digest).text);
	return add_fault(list, digest,
	                 is_newer ? TKB_RECORD_NEWER : TKB_RECORD_GARBLED, why,
	                 err);
}

static int list_record(void *self, const struct tkb_digest *digest,
                       struct tkb_bytes text, uint64_t age_s,
                       struct tkb_error *err)
{
	struct tkb_record_list *list = self;
	struct tkb_record record = { 0 };
	struct tkb_error why = { 0 };
	int rc;

	rc = tkb_grow(&list->items, &list->capacity, list->count,
	              sizeof(record), err);
	if (rc < 0)
		return rc;
	rc = tkb_record_parse(text, &record, &why);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0)
		return add_unparsed(list, digest, text, &why, err);
	record.digest = *digest;
	record.age_s = age_s;
	record.text.data = tkb_arena_string(&record.arena, text);
	record.text.size = text.size;
	list->items[list->count++] = record;
	return record.text.data == NULL ? tkb_fail_nomem(err) : 0;
}

static int note_damaged(void *self, const char *tier,
                        const struct tkb_digest *digest, struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail(&why, TKB_ERR_CORRUPT,
	               "remote '%s': record %s has another digest", tier,
	               tkb_digest_hex(digest).text);
	return add_fault(self, digest, TKB_RECORD_DAMAGED, &why, err);
}

static int note_unread(void *self, const char *tier,
                       const struct tkb_digest *digest,
                       const struct tkb_error *why, struct tkb_error *err)
{
	(void)tier;
	return add_fault(self, digest, TKB_RECORD_UNREAD, why, err);
}

int tkb_record_list_read(struct tkb_remote *remote, const char *ref,
                         bool needs_all, struct tkb_record_list *out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list list = { 0 };
	const struct tkb_record_visitor visitor = { .on_record = list_record,
		                                    .self = &list };
	const struct tkb_damage_visitor damage = { note_damaged, note_unread,
		                                   &list };
	int rc;

	rc = tkb_remote_records_all(remote, ref, needs_all, &visitor, &damage,
	                            err);
	if (rc < 0)
		return rc;
	*out = list;
	list = (struct tkb_record_list){ 0 };
	return 0;
}

int tkb_records_keep(struct tkb_record_list *list,
                     int (*is_kept)(void *self, struct tkb_record *record,
                                    bool *out, struct tkb_error *err),
                     void *self, struct tkb_error *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct tkb_record *record = &list->items[i];
		bool stays = false;

		if (rc == 0)
			rc = is_kept(self, record, &stays, err);
		if (rc < 0 || stays)
			list->items[kept++] = *record;
		else
			tkb_record_release(record);
	}
	list->count = kept;
	return rc;
}

static int is_whole(void *self, struct tkb_record *record, bool *out,
                    struct tkb_error *err)
{
	(void)self, (void)err;
	*out = !record->is_hole;
	return 0;
}

int tkb_records_keep_whole(struct tkb_record_list *list, struct tkb_error *err)
{
	return tkb_records_keep(list, is_whole, NULL, err);
}

/* The signer whose records are kept, and the ref. */
struct owner {
	const struct tkb_signer *signer;
	const char *ref;
	bool is_alone; /* nobody else may have signed them */
};

static int is_own_record(void *self, struct tkb_record *record, bool *out,
                         struct tkb_error *err)
{
	const struct owner *owner = self;
	struct tkb_subject subject;
	int rc;

	rc = tkb_record_subject(record, &subject, err);
	if (rc == 0)
		rc = tkb_signer_knows(owner->signer, owner->ref, &subject, out,
		                      err);
	if (rc == 0 && *out && owner->is_alone)
		*out = tkb_signer_is_alone(owner->signer, owner->ref, &subject);
	return rc;
}

int tkb_records_keep_own(struct tkb_record_list *list,
                         const struct tkb_signer *signer, const char *ref,
                         struct tkb_error *err)
{
	struct owner owner = { .signer = signer, .ref = ref };

	return tkb_records_keep(list, is_own_record, &owner, err);
}

int tkb_records_keep_alone(struct tkb_record_list *list,
                           const struct tkb_signer *signer, const char *ref,
                           struct tkb_error *err)
{
	struct owner owner = { signer, ref, true };

	return tkb_records_keep(list, is_own_record, &owner, err);
}

static int is_unsigned(void *self, struct tkb_record *record, bool *out,
                       struct tkb_error *err)
{
	const struct tkb_envelopes *envelopes = self;
	struct tkb_subject subject;
	int rc;

	rc = tkb_record_subject(record, &subject, err);
	if (rc == 0)
		*out = !tkb_envelopes_have(envelopes, &subject);
	return rc;
}

int tkb_records_keep_unsigned(struct tkb_remote *remote, const char *ref,
                              struct tkb_record_list *list,
                              struct tkb_error *err)
{
	TKB_AUTO(tkb_envelopes_release)
	struct tkb_envelopes envelopes = { .count = 0 };
	int rc;

	rc = tkb_envelopes_read(remote, ref, &envelopes, err);
	if (rc < 0 || envelopes.count == 0)
		return rc;
	return tkb_records_keep(list, is_unsigned, &envelopes, err);
}

static int is_in_fleet(void *self, struct tkb_record *record, bool *out,
                       struct tkb_error *err)
{
	(void)err;
	*out = tkb_digests_have(self, &record->digest);
	return 0;
}

int tkb_records_keep_in_fleet(struct tkb_remote *remote, const char *ref,
                              struct tkb_record_list *list,
                              struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list own = { 0 };
	TKB_AUTO(tkb_digests_release) struct tkb_digests there = { 0 };
	struct tkb_tier *tier = tkb_fleet_tier(remote);
	struct tkb_remote shared = { .tiers = tier,
		                     .max_record_size =
		                             remote->max_record_size };
	int rc;

	if (tier == NULL || tier == remote->tiers)
		return 0;
	shared.tier_count = remote->tier_count - (size_t)(tier - remote->tiers);
	rc = tkb_record_list_read(&shared, ref, false, &own, err);
	if (rc < 0 && rc != TKB_ERR_CANCELLED && rc != TKB_ERR_NOMEM &&
	    tier->ignores_errors)
		return 0;
	for (size_t i = 0; i < own.count && rc == 0; i++)
		rc = tkb_digests_add(&there, &own.items[i].digest, err);
	tkb_digests_sort(&there);
	return rc < 0 ? rc : tkb_records_keep(list, is_in_fleet, &there, err);
}

int tkb_records_check(struct tkb_remote *remote, struct tkb_record_list *list,
                      bool only_holes, struct tkb_error *err)
{
	struct tkb_tier *tier = tkb_fleet_tier(remote);
	struct tkb_remote one = { .tiers = tier, .tier_count = 1 };
	TKB_AUTO(tkb_free_at)
	struct tkb_digest *blobs = tkb_alloc_array(list->count, sizeof(*blobs));
	TKB_AUTO(tkb_free_at)
	bool *is_there = tkb_alloc_array(list->count, sizeof(*is_there));
	TKB_AUTO(tkb_free_at)
	uint64_t *sizes = tkb_alloc_array(list->count, sizeof(*sizes));
	int rc;

	if (blobs == NULL || is_there == NULL || sizes == NULL)
		return tkb_fail_nomem(err);
	if (tier == NULL)
		return 0;
	for (size_t i = 0; i < list->count; i++)
		blobs[i] = list->items[i].blob;
	rc = tkb_remote_has_sized(&one, blobs, list->count, is_there, sizes,
	                          err);
	if (rc < 0 && rc != TKB_ERR_CANCELLED && tier->ignores_errors)
		return 0;
	for (size_t i = 0; i < list->count && rc == 0; i++) {
		struct tkb_record *record = &list->items[i];

		if (!only_holes || record->is_hole)
			record->is_hole =
				!is_there[i] || (sizes[i] != TKB_SIZE_UNKNOWN &&
			                         sizes[i] != record->size);
	}
	return rc;
}

/* Add the marked records again whose blob exists after all. */
static int restore_filled(struct tkb_remote *remote, const char *ref,
                          const struct tkb_record_list *list, const bool *marks,
                          struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < list->count && rc == 0; i++) {
		if (marks[i] && !list->items[i].is_hole)
			rc = tkb_remote_add(remote, ref, list->items[i].text,
			                    err);
	}
	return rc;
}

int tkb_records_drop_holes(struct tkb_remote *remote, const char *ref,
                           struct tkb_record_list *list, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	bool *marks = tkb_alloc_array(list->count, sizeof(*marks));
	bool has_hole = false;
	int rc = 0;

	if (marks == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < list->count && rc >= 0; i++) {
		marks[i] = list->items[i].is_hole;
		has_hole |= marks[i];
		/* TKB_MISS: another process has dropped the record. */
		if (marks[i])
			rc = tkb_remote_drop(remote, ref,
			                     &list->items[i].digest, err);
	}
	if (rc < 0 || !has_hole)
		return rc < 0 ? rc : 0;
	rc = tkb_records_check(remote, list, true, err);
	return rc == 0 ? restore_filled(remote, ref, list, marks, err) : rc;
}

int tkb_records_drop_damaged(struct tkb_remote *remote, const char *ref,
                             const struct tkb_record_list *list,
                             uint64_t *dropped_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release) struct tkb_record_list again = { 0 };
	uint64_t count = 0;
	int rc;

	*dropped_out = 0;
	if (tkb_record_list_fault(list, TKB_RECORD_DAMAGED, NULL) == NULL)
		return 0;
	rc = tkb_record_list_read(remote, ref, false, &again, err);
	for (size_t i = 0; i < again.fault_count && rc >= 0; i++) {
		const struct tkb_digest *digest = &again.faults[i].digest;

		if (again.faults[i].trouble != TKB_RECORD_DAMAGED ||
		    tkb_record_list_fault(list, TKB_RECORD_DAMAGED, digest) ==
		            NULL)
			continue;
		rc = tkb_remote_drop(remote, ref, digest, err);
		count += rc == 0;
	}
	if (rc < 0)
		return rc;
	*dropped_out = count;
	return 0;
}

bool tkb_record_stamp(struct tkb_remote *remote, const char *ref,
                      const struct tkb_record *record)
{
	bool is_there = false;

	if (record->age_s < STAMP_S)
		return true;
	return tkb_remote_touch(remote, ref, &record->digest, NULL) >= 0 &&
	       tkb_remote_has(remote, &record->blob, 1, &is_there, NULL) >= 0;
}

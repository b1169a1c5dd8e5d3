/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/digest.h"
#include "remote/remote.h"
#include "text/ascii.h"

enum {
	REF_LIMIT = 200,
	/* How often records are listed if some vanish while they are read. */
	LISTINGS = 3
};

static const tkb_tier_set all_tiers = UINT32_MAX;

static bool is_ref_char(char byte)
{
	return tkb_is_letter(byte) || tkb_is_digit(byte) ||
	       tkb_is_one_of((unsigned char)byte, "._-+@=");
}

bool tkb_ref_is_valid(const char *ref)
{
	const size_t length = strlen(ref);
	const char *part = ref;

	if (length == 0 || length > REF_LIMIT)
		return false;
	for (;;) {
		const size_t size = strcspn(part, "/");

		if (size == 0 || part[0] == '.')
			return false;
		for (size_t i = 0; i < size; i++) {
			if (!is_ref_char(part[i]))
				return false;
		}
		if (part[size] == '\0')
			return true;
		part += size + 1;
	}
}

bool tkb_ref_is_reserved(const char *ref)
{
	return tkb_begins_with(ref, TKB_STARTS_PREFIX) ||
	       tkb_begins_with(ref, TKB_SIGNED_PREFIX) ||
	       strcmp(ref, TKB_REVOKED_NAME) == 0;
}

static int check_ref(const char *ref, struct tkb_error *err)
{
	if (!tkb_ref_is_valid(ref))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.200s' cannot be a ref's name", ref);
	return 0;
}

/* Arguments of add, drop and touch. */
struct entry {
	const char *ref;
	struct tkb_digest digest;
	struct tkb_bytes record;
};

static int add_record_to_tier(struct tkb_tier *tier,
                              const struct tkb_op_limits *limits, void *self,
                              struct tkb_error *err)
{
	const struct entry *entry = self;

	return tier->backend->add(tier->self, limits, entry->ref,
	                          &entry->digest, entry->record, err);
}

static int drop_from_tier(struct tkb_tier *tier,
                          const struct tkb_op_limits *limits, void *self,
                          struct tkb_error *err)
{
	const struct entry *entry = self;

	return tier->backend->drop(tier->self, limits, entry->ref,
	                           &entry->digest, err);
}

static int touch_in_tier(struct tkb_tier *tier,
                         const struct tkb_op_limits *limits, void *self,
                         struct tkb_error *err)
{
	const struct entry *entry = self;

	return tier->backend->touch(tier->self, limits, entry->ref,
	                            &entry->digest, err);
}

/*
 * Run `work` on the writable tiers of the set, the farthest first: if it is cut
 * short, what the whole fleet shares has it. Only drops go the other way. Tiers
 * that fail are taken out of the set.
 */
static int do_in_tiers(struct tkb_remote *remote, struct tkb_uptake *uptake,
                       struct entry *entry,
                       int (*run)(struct tkb_tier *tier,
                                  const struct tkb_op_limits *limits,
                                  void *self, struct tkb_error *err),
                       struct tkb_error *err)
{
	const struct tkb_tier_work work = { run, entry };
	struct tkb_verdict verdict = { 0 };
	int rc;

	rc = check_ref(entry->ref, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < remote->tier_count; i++) {
		const size_t number =
			run == drop_from_tier ? i : remote->tier_count - 1 - i;
		struct tkb_tier *tier = &remote->tiers[number];
		struct tkb_error fault = { 0 };

		if (tier->is_read_only || (uptake->tiers >> number & 1) == 0)
			continue;
		rc = tkb_tier_do(tier, &work, &fault);
		if (rc < 0)
			uptake->tiers &= ~((tkb_tier_set)1 << number);
		if (rc < 0 && tier == tkb_fleet_tier(remote))
			uptake->missed = fault;
		tkb_verdict_note(&verdict, tier, rc, &fault);
	}
	return tkb_verdict_of(&verdict, true, err);
}

int tkb_remote_add_in(struct tkb_remote *remote, struct tkb_uptake *uptake,
                      const char *ref, struct tkb_bytes record,
                      struct tkb_error *err)
{
	struct entry entry = { .ref = ref, .record = record };
	int rc;

	if (record.size > remote->max_record_size)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a record of %zu bytes, more than %llu",
		                record.size,
		                (unsigned long long)remote->max_record_size);
	rc = tkb_digest_of(record, &entry.digest, err);
	if (rc < 0)
		return rc;
	return do_in_tiers(remote, uptake, &entry, add_record_to_tier, err);
}

int tkb_remote_add(struct tkb_remote *remote, const char *ref,
                   struct tkb_bytes record, struct tkb_error *err)
{
	struct tkb_uptake uptake = { .tiers = all_tiers };

	return tkb_remote_add_in(remote, &uptake, ref, record, err);
}

int tkb_remote_drop_in(struct tkb_remote *remote, tkb_tier_set tiers,
                       const char *ref, const struct tkb_digest *digest,
                       struct tkb_error *err)
{
	struct entry entry = { .ref = ref, .digest = *digest };
	struct tkb_uptake uptake = { .tiers = tiers };

	return do_in_tiers(remote, &uptake, &entry, drop_from_tier, err);
}

int tkb_remote_drop(struct tkb_remote *remote, const char *ref,
                    const struct tkb_digest *digest, struct tkb_error *err)
{
	return tkb_remote_drop_in(remote, all_tiers, ref, digest, err);
}

int tkb_remote_touch(struct tkb_remote *remote, const char *ref,
                     const struct tkb_digest *digest, struct tkb_error *err)
{
	struct entry entry = { .ref = ref, .digest = *digest };
	struct tkb_uptake uptake = { .tiers = all_tiers };

	return do_in_tiers(remote, &uptake, &entry, touch_in_tier, err);
}

/* The state of a record in a tier, best first. */
enum state {
	WHOLE,
	UNREAD,
	DAMAGED
};

/* The record as found in one tier. */
struct kept {
	struct tkb_digest digest;
	enum state state;
	struct tkb_bytes record; /* if WHOLE */
	uint64_t age_s;
	int unread;         /* if UNREAD: the status and */
	const char *reason; /* the message */
	const struct tkb_tier *tier;
};

struct gathering {
	const char *ref;
	const struct tkb_tier *tier; /* the one that is read now */
	uint64_t limit;
	const struct tkb_record_visitor *visitor; /* the caller's */
	bool has_vanished;      /* a record that was listed is gone */
	struct tkb_arena arena; /* owns the records */
	struct kept *items;     /* owned */
	size_t count;
	size_t capacity;
};

static void gathering_release(struct gathering *gathering)
{
	tkb_arena_release(&gathering->arena);
	free(gathering->items);
}

static int add_kept(struct gathering *gathering, const struct kept *kept,
                    struct tkb_error *err)
{
	return tkb_append(&gathering->items, &gathering->count,
	                  &gathering->capacity, kept, sizeof(*kept), err);
}

static int keep_unread(void *self, const struct tkb_digest *digest,
                       const struct tkb_error *why, struct tkb_error *err)
{
	struct gathering *gathering = self;
	struct kept kept = { .digest = *digest,
		             .state = UNREAD,
		             .unread = why->status,
		             .tier = gathering->tier };

	if (why->status == TKB_MISS) {
		gathering->has_vanished = true;
		return 0;
	}
	kept.reason =
		tkb_arena_string(&gathering->arena, tkb_text(why->message));
	return kept.reason == NULL ? tkb_fail_nomem(err)
	                           : add_kept(gathering, &kept, err);
}

static int refuse_large(struct gathering *gathering,
                        const struct tkb_digest *digest, size_t size,
                        struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail(&why, TKB_ERR_TOO_LARGE,
	               "it has %zu bytes, more than %llu", size,
	               (unsigned long long)gathering->limit);
	return keep_unread(gathering, digest, &why, err);
}

static int keep_record(void *self, const struct tkb_digest *digest,
                       struct tkb_bytes record, uint64_t age_s,
                       struct tkb_error *err)
{
	struct gathering *gathering = self;
	struct kept kept = { .digest = *digest,
		             .state = DAMAGED,
		             .age_s = age_s,
		             .tier = gathering->tier };
	struct tkb_digest found;
	int rc;

	if (record.size > gathering->limit)
		return refuse_large(gathering, digest, record.size, err);
	rc = tkb_digest_of(record, &found, err);
	if (rc < 0)
		return rc;
	if (tkb_digest_equal(&found, digest)) {
		kept.state = WHOLE;
		kept.record.data = tkb_arena_string(&gathering->arena, record);
		kept.record.size = record.size;
		if (kept.record.data == NULL)
			return tkb_fail_nomem(err);
	}
	return add_kept(gathering, &kept, err);
}

static bool wants(void *self, const struct tkb_digest *digest, uint64_t age_s)
{
	const struct gathering *gathering = self;

	return gathering->visitor->wants(gathering->visitor->self, digest,
	                                 age_s);
}

static int gather_records(struct tkb_tier *tier,
                          const struct tkb_op_limits *limits, void *self,
                          struct tkb_error *err)
{
	struct gathering *gathering = self;
	const struct tkb_record_visitor visitor = {
		.on_record = keep_record,
		.self = gathering,
		.on_unread = keep_unread,
		.wants = gathering->visitor->wants != NULL ? wants : NULL,
	};

	gathering->tier = tier;
	return tier->backend->records(tier->self, limits, gathering->ref,
	                              &visitor, err);
}

/*
 * Order by digest, then by state, then youngest first. UNREAD comes before
 * DAMAGED: a record that could not be read in one tier must not be reported as
 * damaged because another tier has it damaged.
 */
static int compare_kept(const void *a, const void *b)
{
	const struct kept *left = a;
	const struct kept *right = b;
	const int order = tkb_digest_compare(&left->digest, &right->digest);

	if (order != 0)
		return order;
	if (left->state != right->state)
		return left->state > right->state ? 1 : -1;
	return (left->age_s > right->age_s) - (left->age_s < right->age_s);
}

/*
 * Report an unreadable record; if the visitor has no callback for that, fail.
 */
static int tell_unread(const struct kept *kept,
                       const struct tkb_record_visitor *records,
                       const struct tkb_damage_visitor *visitor,
                       struct tkb_error *err)
{
	const char *tier = kept->tier->url->name;
	struct tkb_error why = { 0 };

	(void)tkb_fail(&why, (enum tkb_status)kept->unread,
	               "remote '%s': cannot read record %s: %s", tier,
	               tkb_digest_hex(&kept->digest).text, kept->reason);
	if (visitor != NULL)
		return visitor->on_unread(visitor->self, tier, &kept->digest,
		                          &why, err);
	if (records->on_unread != NULL)
		return records->on_unread(records->self, &kept->digest, &why,
		                          err);
	return tkb_fail_as(err, kept->unread, &why);
}

static int tell_one(const struct kept *kept,
                    const struct tkb_record_visitor *visitor,
                    const struct tkb_damage_visitor *damage,
                    struct tkb_error *err)
{
	switch (kept->state) {
	case WHOLE:
		return visitor->on_record(visitor->self, &kept->digest,
		                          kept->record, kept->age_s, err);
	case UNREAD:
		return tell_unread(kept, visitor, damage, err);
	default:
		return damage == NULL
		               ? 0
		               : damage->on_damaged(damage->self,
		                                    kept->tier->url->name,
		                                    &kept->digest, err);
	}
}

static int tell_records(struct gathering *gathering,
                        const struct tkb_record_visitor *visitor,
                        const struct tkb_damage_visitor *damage,
                        struct tkb_error *err)
{
	int rc = 0;

	tkb_sort(gathering->items, gathering->count, sizeof(*gathering->items),
	         compare_kept);
	for (size_t i = 0; i < gathering->count && rc == 0; i++) {
		const struct kept *kept = &gathering->items[i];

		if (i != 0 && tkb_digest_equal(&kept[-1].digest, &kept->digest))
			continue;
		rc = tell_one(kept, visitor, damage, err);
	}
	return rc;
}

/* Run `work` on every tier. With `needs_all`, every tier must answer. */
static int ask_all(struct tkb_remote *remote, const struct tkb_tier_work *work,
                   bool needs_all, struct tkb_error *err)
{
	struct tkb_verdict verdict = { 0 };

	for (size_t i = 0; i < remote->tier_count; i++) {
		struct tkb_error fault = { 0 };
		const int rc = tkb_tier_do(&remote->tiers[i], work, &fault);

		if (rc < 0 && needs_all)
			return tkb_fail_as(err, rc, &fault);
		tkb_verdict_note(&verdict, &remote->tiers[i], rc, &fault);
	}
	return tkb_verdict_of(&verdict, true, err);
}

static int read_records(struct tkb_remote *remote, bool needs_all,
                        const struct gathering *begin,
                        const struct tkb_damage_visitor *damage, bool *is_again,
                        struct tkb_error *err)
{
	TKB_AUTO(gathering_release) struct gathering gathering = *begin;
	const struct tkb_tier_work work = { gather_records, &gathering };
	int rc;

	rc = ask_all(remote, &work, needs_all, err);
	*is_again = *is_again && rc == 0 && gathering.has_vanished;
	return rc < 0 || *is_again
	               ? rc
	               : tell_records(&gathering, begin->visitor, damage, err);
}

/*
 * If records vanish between being listed and read, list them again: a compaction
 * that dropped them has added another one before, which the list may lack.
 */
int tkb_remote_records_all(struct tkb_remote *remote, const char *ref,
                           bool needs_all,
                           const struct tkb_record_visitor *visitor,
                           const struct tkb_damage_visitor *damage,
                           struct tkb_error *err)
{
	const struct gathering begin = { .ref = ref,
		                         .limit = remote->max_record_size,
		                         .visitor = visitor };
	bool is_again = true;
	int rc;

	rc = check_ref(ref, err);
	if (rc < 0)
		return rc;
	for (int i = 1; is_again; i++) {
		is_again = i < LISTINGS;
		rc = read_records(remote, needs_all, &begin, damage, &is_again,
		                  err);
	}
	return rc;
}

int tkb_remote_records(struct tkb_remote *remote, const char *ref,
                       const struct tkb_record_visitor *visitor,
                       struct tkb_error *err)
{
	return tkb_remote_records_all(remote, ref, false, visitor, NULL, err);
}

void tkb_ref_names_release(struct tkb_ref_names *names)
{
	tkb_arena_release(&names->arena);
	free(names->items);
	*names = (struct tkb_ref_names){ 0 };
}

static int keep_name(void *self, const char *ref, struct tkb_error *err)
{
	struct tkb_ref_names *names = self;
	const char *prefix = names->prefix;
	const char *name;

	if (!tkb_ref_is_valid(ref) ||
	    (prefix == NULL ? tkb_ref_is_reserved(ref)
	                    : !tkb_begins_with(ref, prefix)))
		return 0; /* not ours */
	name = tkb_arena_string(&names->arena, tkb_text(ref));
	if (name == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&names->items, &names->count, &names->capacity, &name,
	                  sizeof(name), err);
}

static int gather_names(struct tkb_tier *tier,
                        const struct tkb_op_limits *limits, void *self,
                        struct tkb_error *err)
{
	const struct tkb_ref_visitor visitor = { keep_name, self };

	return tier->backend->refs(tier->self, limits, &visitor, err);
}

int tkb_remote_ref_names(struct tkb_remote *remote, bool needs_all,
                         struct tkb_ref_names *out, struct tkb_error *err)
{
	const struct tkb_tier_work work = { gather_names, out };
	const int rc = ask_all(remote, &work, needs_all, err);

	if (rc == 0)
		out->count = tkb_sort_texts(out->items, out->count);
	return rc;
}

int tkb_remote_refs(struct tkb_remote *remote,
                    const struct tkb_ref_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_ref_names_release) struct tkb_ref_names names = { 0 };
	int rc;

	rc = tkb_remote_ref_names(remote, false, &names, err);
	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = visitor->on_ref(visitor->self, names.items[i], err);
	return rc;
}

int tkb_record_ignore_unread(void *self, const struct tkb_digest *digest,
                             const struct tkb_error *why, struct tkb_error *err)
{
	(void)self, (void)digest, (void)why, (void)err;
	return 0;
}

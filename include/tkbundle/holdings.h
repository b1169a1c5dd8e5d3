/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_HOLDINGS_H
#define TKBUNDLE_HOLDINGS_H

#include <tkbundle/entry.h>
#include <tkbundle/fleet.h>
#include <tkbundle/makers.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/holdings.h
 * What a ref of a remote holds, without fetching it.
 *
 *     rc = tkb_holdings_open(remote, "model/h100", NULL, &holdings, &err);
 *     for (i = 0; i < tkb_holdings_item_count(holdings); i++)
 *             use(tkb_holdings_item(holdings, i)->entry);
 *     tkb_holdings_close(holdings);
 *
 * Reads the start of each blob, with its manifest; or only the records, if
 * `is_brief` is set. Everything belongs to the handle, and is read-only.
 */
struct tkb_holdings;

/** One record of the ref. It stands for one bundle. */
struct tkb_holdings_record {
	struct tkb_digest digest; /**< of the record */
	struct tkb_digest blob;
	uint64_t size;        /**< bytes of the blob */
	uint64_t age_s;       /**< seconds since it was last pushed or pulled */
	uint64_t entry_count; /**< entries that the record lists */
	uint64_t frame_count; /**< 0 if the blob is gone */
	bool is_lean;
	bool is_gone; /**< the blob does not exist, so its entries are not
	                   among the items */
	const char *const *tritons; /**< versions of Triton; sorted */
	size_t triton_count;
	const struct tkb_target *targets; /**< of the record's entries,
	                                       without duplicates */
	size_t target_count;
	const struct tkb_push_note *pushes; /**< the oldest first */
	size_t push_count;
	struct tkb_digest bundle; /**< the bundle's id */
};

/** One entry, as the manifest of a bundle has it. */
struct tkb_holdings_item {
	const struct tkb_entry *entry;
	size_t record;    /**< index of its record */
	uint32_t time_ms; /**< milliseconds that its compile took; 0: unknown */
};

/** Choices for tkb_holdings_open(). Zero means the default. */
struct tkb_holdings_options {
	size_t struct_size;   /**< sizeof it, as the caller was built */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	/** Its progress counts records; on_result() is not called. */
	const struct tkb_watch *watch;
	bool is_brief; /**< read only the records: there are no items, and
	                    is_gone is never set */
};

/**
 * List what `ref` holds. An entry that several records have for the same GPUs
 * is listed once; of a unit that was tuned or made again, the newest version.
 *
 * @param options  not kept; NULL means all defaults
 * @param out      receives a handle that the caller closes, also on
 *                 TKB_ERR_PARTIAL
 * @return 0, for a brief call also if no record can be read; TKB_ERR_PARTIAL (a
 *         blob is gone, or a record cannot be read: the rest is listed);
 *         TKB_MISS (no record); TKB_ERR_CORRUPT (a blob is damaged),
 *         TKB_ERR_UNSUPPORTED (only records of a newer tkbundle),
 *         TKB_ERR_INVALID, TKB_ERR_UNAVAILABLE, TKB_ERR_DENIED, TKB_ERR_NOMEM
 *         or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_holdings_open(
	struct tkb_remote *remote, const char *ref,
	const struct tkb_holdings_options *options, struct tkb_holdings **out,
	struct tkb_error *err);

/** Release the handle and all that it lent. Never fails; NULL is allowed. */
TKB_API void tkb_holdings_close(struct tkb_holdings *holdings);

/** Gives the same as tkb_ref_look(), without a request to the remote. */
TKB_API void tkb_holdings_info(const struct tkb_holdings *holdings,
                               struct tkb_ref_info *out);

/** The number of records that can be read. */
TKB_API size_t tkb_holdings_record_count(const struct tkb_holdings *holdings);

/** Record `index`, which must be below the count. Borrowed. */
TKB_API const struct tkb_holdings_record *tkb_holdings_record(
	const struct tkb_holdings *holdings, size_t index);

/** What made the entries, as far as the records tell. Borrowed. */
TKB_API const struct tkb_makers *tkb_holdings_makers(
	const struct tkb_holdings *holdings);

/** The number of entries. */
TKB_API size_t tkb_holdings_item_count(const struct tkb_holdings *holdings);

/** Entry `index`, in a bundle's order. Borrowed. */
TKB_API const struct tkb_holdings_item *tkb_holdings_item(
	const struct tkb_holdings *holdings, size_t index);

#ifdef __cplusplus
}
#endif

#endif

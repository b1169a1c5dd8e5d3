/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FLEET_H
#define TKBUNDLE_FLEET_H

#include <tkbundle/collect.h>
#include <tkbundle/emit.h>
#include <tkbundle/recorder.h>
#include <tkbundle/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/fleet.h
 * Share kernels through a remote: push what a ref lacks, pull what a cache
 * lacks.
 *
 *     rc = tkb_remote_open("redis://cache/2", NULL, &remote, &err);
 *     rc = tkb_push(remote, "model/h100", root, NULL, &pushed, &err);
 *     rc = tkb_pull(remote, "model/h100", root, NULL, &pulled, &err);
 *     tkb_remote_close(remote);
 *
 * A ref is a set of immutable records, one for each pushed bundle. A push
 * uploads a blob, then adds a record. Nothing is ever rewritten, so any number
 * of processes may push to a ref at once without losing anything. If a blob is
 * gone, for instance because it was evicted, its record is a hole: a pull takes
 * the rest, and the next push fills the hole.
 *
 * is_cancelled() of a watch in the options, like that of the remote's own
 * watch, and deadline_ms also end waits for the network, within half a second.
 *
 * Threads: a remote belongs to one thread at a time.
 */

struct tkb_signing;

/** A label of a push. */
struct tkb_label {
	const char *name;  /**< up to 32 of a-z, 0-9, `_.-`, a letter first */
	const char *value; /**< 1 to 200 bytes of UTF-8 without control
	                        characters */
};

/** A push with labels, as recorded in a ref. */
struct tkb_push_note {
	uint64_t time_ms;     /**< since 1970, by the pusher's clock */
	uint64_t entry_count; /**< entries that the push added */
	const struct tkb_label *labels; /**< sorted by name */
	size_t label_count;             /**< at least 1 */
};

/** How a push is laid out in the remote. */
enum tkb_push_layout {
	TKB_PUSH_LAYOUT_BUNDLES, /**< bundles, as tkb_pull() reads */
	TKB_PUSH_LAYOUT_TRITON   /**< a value for each file, as Triton's own
	                       RedisRemoteCacheBackend reads; has no ref;
	                       Redis only */
};

/** The name of a unit. */
struct tkb_unit_name {
	const char *tree; /**< the tree's name */
	const char *name; /**< the unit's path in the tree */
};

/** Choices for tkb_push(). Zero means the default. */
struct tkb_push_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/**
	 * Options of tkb_collect(); NULL: its defaults. With is_dry_run,
	 * results say what would be pushed. Progress counts the bytes of packed
	 * entries and the uploaded bytes. The total grows with each blob: by
	 * the size of its entries, and by the blob's size for each writable
	 * tier.
	 */
	const struct tkb_collect_options *collect;
	enum tkb_push_layout layout;
	bool is_compaction_off; /**< leave small bundles as they are */
	/**
	 * At most 16, no name twice. They are stored, with the time, in the
	 * record of each bundle that is pushed; a push that adds nothing stores
	 * none. Not for TKB_PUSH_LAYOUT_TRITON.
	 */
	const struct tkb_label *labels;
	size_t label_count;
	/**
	 * Sign what is uploaded; NULL: sign nothing. With signing, an entry
	 * counts as present only in records that these keys have signed, and
	 * only such records are compacted. Not for TKB_PUSH_LAYOUT_TRITON.
	 */
	const struct tkb_signing *signing;
	/**
	 * Another ref, whose entries count as present too, if the remote's
	 * policy trusts the record and the blob exists. So a push to an inbox
	 * only has what the ref behind the inbox lacks. NULL: none. Only for
	 * tkb_push() of bundles.
	 */
	const char *base_ref;
	/**
	 * Units that an engine has made again: each is pushed even if the ref
	 * has one of its name, unless that has the same content or is newer. Of
	 * the units with one name, a pull uses the newest. One that the cache
	 * does not have is reported as left out. NULL: none. Only for
	 * tkb_push() of bundles.
	 */
	const struct tkb_unit_name *again;
	size_t again_count;
};

/** What a push did. */
struct tkb_push_report {
	size_t struct_size;       /**< sizeof it, as the caller was built */
	uint64_t pushed_count;    /**< entries that the ref lacked */
	uint64_t present_count;   /**< entries that it had */
	uint64_t left_out_count;  /**< entries that cannot be packed */
	uint64_t record_count;    /**< records of the ref, before the push */
	uint64_t dropped_count;   /**< records whose blob was gone, or that
	                               were damaged */
	uint64_t compacted_count; /**< records that were merged into one */
	uint64_t blob_count;      /**< blobs uploaded */
	uint64_t size;            /**< bytes of these blobs */
};

/**
 * Push the entries of the cache at `cache_root` that the ref lacks, and stamp
 * the records of the others as used. A ref with more than 32 records is
 * compacted afterwards, if the remote allows it.
 *
 * @param ref      a valid name, see tkb_ref_is_valid(); NULL with
 *                 TKB_PUSH_LAYOUT_TRITON
 * @param options  not kept; NULL means all defaults
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0, also if there was nothing to do; TKB_ERR_PARTIAL (an entry is left
 *         out; the rest is pushed); what tkb_collect() and tkb_remote_put()
 *         return; TKB_ERR_UNSUPPORTED (TKB_PUSH_LAYOUT_TRITON without Redis)
 */
TKB_API TKB_NODISCARD int tkb_push(struct tkb_remote *remote, const char *ref,
                                   const char *cache_root,
                                   const struct tkb_push_options *options,
                                   struct tkb_push_report *report,
                                   struct tkb_error *err);

/**
 * Verify a bundle and push it unchanged, with its launchers, even if the ref
 * has its entries. If the ref has the same bundle, its record is stamped as
 * used and nothing is uploaded: the report counts all entries as present. Of
 * the options of collect, only deadline_ms, is_dry_run, is_enabled and watch are
 * used; `layout`, `again` and `base_ref` are not.
 *
 * @return as tkb_push(); TKB_ERR_CORRUPT (nothing was pushed),
 *         TKB_ERR_TOO_LARGE (more than a blob may have)
 */
TKB_API TKB_NODISCARD int tkb_push_bundle(
	struct tkb_remote *remote, const char *ref,
	const struct tkb_source *source, const struct tkb_push_options *options,
	struct tkb_push_report *report, struct tkb_error *err);

/**
 * Push what was put into `recorder`, with its launchers, as one bundle, and
 * finalise the compile: tkb_recorder_collect() and tkb_push_bundle() in one
 * step, without a file.
 *
 * @param cache_root  as for tkb_recorder_collect()
 * @param options     not kept; NULL means all defaults; its layout must be
 *                    TKB_PUSH_LAYOUT_BUNDLES. A dry run does not finalise
 * @param report      filled in as by tkb_push(); may be NULL. If nothing was
 *                    put, nothing is pushed
 * @return what tkb_recorder_collect() and tkb_push_bundle() return; on failure
 *         other than TKB_ERR_PARTIAL, nothing is finalised, and the call may be
 *         repeated
 */
TKB_API TKB_NODISCARD int tkb_recorder_push(
	struct tkb_recorder *recorder, struct tkb_remote *remote,
	const char *ref, const char *cache_root,
	const struct tkb_push_options *options, struct tkb_push_report *report,
	struct tkb_error *err);

/** Choices for tkb_pull(). Zero means the default. */
struct tkb_pull_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/** Options of tkb_emit(); NULL: its defaults. With is_dry_run nothing
	    is fetched. */
	const struct tkb_emit_options *emit;
	uint32_t connections; /**< blobs to fetch at once; default 4,
	                           at most 16 */
};

/** What a pull did. */
struct tkb_pull_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	/* Entries, as in struct tkb_emit_report, of all bundles together: */
	bool is_inductor;
	uint64_t emitted_count;
	uint64_t present_count;
	uint64_t repaired_count;
	uint64_t busy_count;
	uint64_t skipped_count;
	uint64_t failed_count;
	uint64_t damaged_count;
	uint64_t unsafe_count;
	uint64_t size;
	/* The ref and its blobs: */
	uint64_t record_count;     /**< of the ref */
	uint64_t unreadable_count; /**< records of a newer tkbundle, or damaged:
	                                ignored */
	uint64_t wanted_count;     /**< blobs with something missing here */
	uint64_t fetched_count;    /**< of these, the fetched ones */
	uint64_t fetched_size;     /**< bytes */
	uint64_t gone_count;       /**< blobs that no longer exist */
	uint64_t unfetched_count;  /**< blobs that could not be fetched, or are
	                                damaged */
	uint64_t untrusted_count;  /**< records that the remote's policy does
	                                not trust: not used */
};

/**
 * Fetch the entries of `ref` that the cache at `cache_root` lacks, and emit
 * them.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in whenever entries were emitted; may be NULL
 * @return 0, also if there was nothing to do; TKB_ERR_PARTIAL (a blob is gone,
 *         or an entry is busy, failed or unsafe; the rest was emitted);
 *         TKB_ERR_CORRUPT, TKB_ERR_UNAVAILABLE or TKB_ERR_DENIED (a record or a
 *         blob is damaged or could not be read: the rest was emitted, and the
 *         report's `record_count` is not 0; or nothing could be read);
 *         TKB_ERR_UNTRUSTED (a record is not trusted: the rest was emitted, and
 *         `record_count` is not 0; or none is, and nothing was fetched);
 *         TKB_MISS (the ref has no record; or no entry has a key asked for: the
 *         watch receives which); or what tkb_emit() returns
 */
TKB_API TKB_NODISCARD int tkb_pull(struct tkb_remote *remote, const char *ref,
                                   const char *cache_root,
                                   const struct tkb_pull_options *options,
                                   struct tkb_pull_report *report,
                                   struct tkb_error *err);

/**
 * Fetch everything in `ref`, and send it to `sink` as one bundle. Keys and
 * targets in `options` are ignored: the bundle has all entries.
 *
 * @param report  filled in on success and on TKB_ERR_PARTIAL, and on TKB_MISS
 *                if there are records but no blobs; may be NULL
 * @return 0; TKB_ERR_PARTIAL (a blob is gone, or a record cannot be read: the
 *         sink has the rest, a whole bundle); TKB_MISS (no record, or no blob);
 *         what tkb_merge() and the sink return; TKB_ERR_UNAVAILABLE or
 *         TKB_ERR_DENIED
 */
TKB_API TKB_NODISCARD int tkb_pull_bundle(
	struct tkb_remote *remote, const char *ref,
	const struct tkb_pull_options *options, const struct tkb_sink *sink,
	struct tkb_pull_report *report, struct tkb_error *err);

/**
 * Give back the launchers of `ref` that can be used in the cache at
 * `cache_root`, as tkb_launchers_open() does for a bundle. Pull first. All
 * blobs of the ref are fetched.
 *
 * @param options as for tkb_pull_bundle()
 * @param chosen as for tkb_launchers_open(); not kept; may be NULL
 * @param out      receives a handle that the caller closes
 * @return as tkb_pull_bundle() and tkb_launchers_open(); on TKB_ERR_PARTIAL
 *         `out` is set
 */
TKB_API TKB_NODISCARD int tkb_pull_launchers(
	struct tkb_remote *remote, const char *ref, const char *cache_root,
	const struct tkb_pull_options *options,
	const struct tkb_launchers_options *chosen, struct tkb_launchers **out,
	struct tkb_error *err);

/** What tkb_ref_look() finds. */
struct tkb_ref_info {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *ref;
	uint64_t record_count;
	uint64_t unreadable_count; /**< records that cannot be read */
	uint64_t entry_count; /**< each key, platform and device counts once */
	uint64_t size;        /**< bytes of the ref's blobs */
	uint64_t age_s;       /**< seconds since a push or pull last used it */
};

/** Sum up what `ref` holds. @return 0, TKB_MISS (no record), or a failure */
TKB_API TKB_NODISCARD int tkb_ref_look(struct tkb_remote *remote,
                                       const char *ref,
                                       struct tkb_ref_info *out,
                                       struct tkb_error *err);

/**
 * Drop all records of `ref`, in every writable tier. Its blobs are removed by
 * the next tkb_remote_gc().
 *
 * @param dropped_out  receives their number; may be NULL
 * @return 0, TKB_MISS (it had none), or a failure
 */
TKB_API TKB_NODISCARD int tkb_ref_delete(struct tkb_remote *remote,
                                         const char *ref, uint64_t *dropped_out,
                                         struct tkb_error *err);

enum {
	TKB_REF_SIZE = 201 /**< of a ref's name, with its terminating zero */
};

/** Options for tkb_ref_expand(). Zero means the default. */
struct tkb_ref_facts {
	size_t struct_size;     /**< sizeof it, as the caller was built */
	const char *cache_root; /**< a cache of kernels to examine; or NULL */
	const char *nvml;       /**< the library; NULL: libnvidia-ml.so.1 */
	uint32_t deadline_ms;   /**< of the whole call; 0: none */
	/** Passed to tkb_cache_open(), which reads the kernels. */
	const struct tkb_watch *watch;
};

/**
 * Write the ref's name that `pattern` stands for. In it,
 *
 * | word | becomes | from |
 * |---|---|---|
 * | `{arch}` | sm_90 | the GPU, by NVML; else the cache's kernels |
 * | `{gpu}` | NVIDIA-H100-80GB-HBM3 | NVML |
 * | `{driver}` | 580.65.06 | NVML |
 * | `{triton}` | 3.6.0 | the cache's kernels |
 * | `{env:NAME}` | the variable's value | the environment |
 *
 * Bytes that are not allowed in a ref become `-`. If a machine has different
 * GPUs, CUDA_VISIBLE_DEVICES may select one, by UUID, or by index together with
 * CUDA_DEVICE_ORDER=PCI_BUS_ID. NVML is code of the driver: if it hangs, so
 * does this call, and neither the watch nor the deadline ends it.
 *
 * @return 0, or TKB_ERR_INVALID (a word is unknown, has no value or several, or
 *         the result is not a valid name: the message says what to do),
 *         TKB_ERR_IO, TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_ref_expand(const char *pattern,
                                         const struct tkb_ref_facts *facts,
                                         char out[TKB_REF_SIZE],
                                         struct tkb_error *err);

/** What is wrong with a record or a blob. */
enum tkb_remote_trouble {
	TKB_REMOTE_TROUBLE_DAMAGED, /**< its bytes do not match its name or its
	                          record */
	TKB_REMOTE_TROUBLE_MISSING, /**< a blob that a record names is gone */
	TKB_REMOTE_TROUBLE_UNREAD,  /**< it exists, but could not be read */
	TKB_REMOTE_TROUBLE_NEWER    /**< a record of a newer tkbundle */
};

/** A faulty record or blob of a remote. */
struct tkb_remote_fault {
	enum tkb_remote_trouble trouble;
	const char *ref; /**< the ref that has the record, or a record of the
	                      blob; NULL: a blob that no record names */
	bool is_blob;
	const struct tkb_digest *digest; /**< its name */
	bool is_dropped;                 /**< a repair dropped it */
	const char *message;             /**< a sentence, with the remote */
};

/** Choices for tkb_remote_gc(). Zero means that there is no such bound. */
struct tkb_remote_gc_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	bool has_max_age;
	uint64_t max_age_s; /**< drop records not used for this time; at least
	                         two days, since a use is noted once a day */
	bool has_max_size;
	uint64_t max_size; /**< bytes of all blobs that stay */
	bool has_grace;
	uint64_t grace_s; /**< keep younger blobs even if no record names
	                       them; default one day. Must be longer than the
	                       time between a push's blob and its record */
	bool is_compaction_off;
	bool is_dry_run;
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled; /**< even if TKBUNDLE_DISABLE is set, see tkbundle.h */
	/** Its progress counts refs, each twice, and blobs; the total grows.
	    on_result() is not called. */
	const struct tkb_watch *watch;
	/** Called for each blob and record that is removed; may be NULL. */
	void (*on_removed)(void *self, const char *ref,
	                   const struct tkb_digest *digest, uint64_t size);
	/** Called for each record that could not be read; may be NULL. */
	void (*on_fault)(void *self, const struct tkb_remote_fault *fault);
	void *self; /**< given to both; on_removed()'s `ref` is NULL for
	                 a blob */
	/**
	 * Compact signed records too. Records that only these keys have signed
	 * are merged, and the result is signed for the stage that they had. The
	 * stage given here is ignored. NULL: signed records are not merged.
	 */
	const struct tkb_signing *signing;
	/**
	 * Called for each blob and record that the remote refuses to delete,
	 * with `self` and `ref` as for on_removed(). A NULL `digest` stands for
	 * anything else that the ref has. May be NULL.
	 */
	void (*on_refused)(void *self, const char *ref,
	                   const struct tkb_digest *digest,
	                   const char *message);
};

/** What a gc did, in all writable tiers. */
struct tkb_remote_gc_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	uint64_t ref_count;
	uint64_t record_count;    /**< records before the gc */
	uint64_t expired_count;   /**< records dropped because of their age */
	uint64_t evicted_count;   /**< records dropped because of max_size */
	uint64_t hole_count;      /**< records dropped because they are
	                               damaged or their blob is gone */
	uint64_t compacted_count; /**< records that were merged */
	uint64_t removed_count;   /**< removed blobs */
	uint64_t removed_size;    /**< bytes of the removed blobs */
	uint64_t kept_count;      /**< kept blobs */
	uint64_t kept_size;       /**< bytes of the kept blobs */
	uint64_t start_count; /**< reports of starts dropped, see starts.h */
	uint64_t
		envelope_count; /**< signatures dropped, whose record is gone */
	uint64_t refused_count; /**< what the remote refused to delete */
};

/**
 * Clean up: compact refs with many records, drop records that are too old or
 * whose blob is gone, and remove blobs that no record names. Then remove the
 * least recently used records and blobs until the bounds hold.
 *
 * Others may push and pull at the same time. A push may have to upload a blob
 * again, but a blob that a record names and somebody uses meanwhile is not
 * lost. A blob that no record names is removed only when it is older than
 * `grace_s` by the remote's own clock.
 *
 * A record that cannot be read may name any blob. So if a tier does not answer,
 * even one with `on-error=ignore`, if a ref cannot be listed, or if a record
 * cannot be read or is of a newer tkbundle, nothing is removed and the call
 * fails. If a damaged record is dropped, blobs that no record names stay until
 * the next gc.
 *
 * What the remote refuses to delete stays, and the gc continues. After 100
 * refusals it ends.
 *
 * @param options  not kept; NULL means all defaults: no bounds
 * @param report   filled in on success and on TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (the remote refused to delete something; the rest
 *         is done); TKB_ERR_DENIED (no tier is writable, or something may not
 *         be read), TKB_ERR_TOO_LARGE (a record), TKB_ERR_UNSUPPORTED (a record
 *         of a newer tkbundle, or something that is no record),
 *         TKB_ERR_UNAVAILABLE, TKB_ERR_IO, TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_remote_gc(
	struct tkb_remote *remote, const struct tkb_remote_gc_options *options,
	struct tkb_remote_gc_report *report, struct tkb_error *err);

/** Choices for tkb_remote_verify(). Zero means the default. */
struct tkb_remote_verify_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *ref;  /**< only this one and its blobs; NULL: everything */
	bool is_repair;   /**< drop what is damaged, in writable tiers */
	uint32_t threads; /**< 0: the cores of the affinity mask */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	bool is_enabled;      /**< repair even if TKBUNDLE_DISABLE is set,
	                           see tkbundle.h */
	/** Its progress counts records, each with its blob, and then the blobs
	    that a tier lists; the total grows. on_result() is not called. */
	const struct tkb_watch *watch;
	/** Called for everything that is faulty; may be NULL. */
	void (*on_fault)(void *self, const struct tkb_remote_fault *fault);
	void *self;
};

/** What tkb_remote_verify() found, in all tiers. */
struct tkb_remote_verify_report {
	size_t struct_size; /**< sizeof it, as the caller was built */
	uint64_t ref_count;
	uint64_t record_count;
	uint64_t blob_count; /**< blobs that were read; once in each tier */
	uint64_t size;       /**< bytes of these blobs */
	uint64_t damaged_count;
	uint64_t missing_count; /**< in the last writable tier */
	uint64_t unread_count;
	uint64_t newer_count;
	uint64_t dropped_count; /**< of damaged_count, those dropped */
};

/**
 * Read and check all records, the blobs that they name, and the bundles in
 * these; without `ref`, also the blobs that no record names. Each tier is
 * verified by itself, and must answer.
 *
 * A repair drops blobs whose digest is not their name, and records that are
 * damaged, are not records at all, or do not match their blob. It never drops
 * what could not be read or may be of a newer tkbundle. A record whose blob was
 * dropped is a hole, which the next push fills.
 *
 * Before something is dropped, it is read a second time. If a push replaces the
 * damaged blob with a whole one between that read and the drop, the whole one
 * is dropped. This makes a hole too, which the next push fills.
 *
 * @param options  not kept; NULL means all defaults
 * @param report   filled in even if something is faulty; may be NULL
 * @return 0; TKB_ERR_PARTIAL (something is missing, of a newer tkbundle, or
 *         could not be read); TKB_ERR_CORRUPT (something is damaged, or was);
 *         TKB_MISS
 *         (`ref` has no record); TKB_ERR_UNAVAILABLE, TKB_ERR_DENIED,
 *         TKB_ERR_IO, TKB_ERR_NOMEM or TKB_ERR_CANCELLED
 */
TKB_API TKB_NODISCARD int tkb_remote_verify(
	struct tkb_remote *remote,
	const struct tkb_remote_verify_options *options,
	struct tkb_remote_verify_report *report, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ERROR_H
#define TKBUNDLE_ERROR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TKB_API __attribute__((visibility("default")))
#define TKB_NODISCARD __attribute__((warn_unused_result))
#else
#define TKB_API
#define TKB_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/error.h
 * How every function of tkbundle says what went wrong.
 *
 * A function that can fail returns an int: 0 on success, TKB_MISS, which is
 * positive, if the thing asked for does not exist, and a negative enum
 * tkb_status on failure. Its last parameter is a struct tkb_error that the
 * caller owns, or NULL. On failure it receives one sentence for people; on
 * success it is not touched.
 *
 *     struct tkb_error err = { 0 };
 *
 *     if (tkb_bundle_open("x.tkb", &bundle, &err) < 0)
 *             fprintf(stderr, "%s\n", err.message);
 *
 * On failure the other out-parameters keep their values. On TKB_MISS the error
 * keeps its value too. If the options of a call name keys or a device, the
 * call's watch receives a TKB_OUTCOME_MISSING for each that does not exist.
 *
 * Where some of many fail
 * -----------------------
 * A call with a report does not stop at an entry that fails. It does the rest,
 * fills in its report and its other out-parameters, and says so at the end:
 *
 *   - TKB_ERR_PARTIAL: some entries could not be processed. They were left out,
 *     busy, gone or unsafe, or the system refused. `err` has the first of them
 *     and its reason;
 *   - a worse status that the call documents: TKB_ERR_CORRUPT if something it
 *     read is damaged; in a pull also the reason why a remote could not be
 *     read.
 *
 * All of these are negative, so `rc < 0` finds them. A caller that can use a
 * part of the work goes on:
 *
 *     rc = tkb_emit(bundle, root, NULL, &report, &err);
 *     if (rc < 0 && rc != TKB_ERR_PARTIAL)
 *             return rc;
 *
 * Skipping what was not asked for is not a failure: for instance entries for
 * another target, or entries that an earlier bundle has. Calls that return a
 * handle instead of a report list in the handle what was left out, and return
 * 0.
 *
 * Structs that can grow
 * ---------------------
 * A program that was built with an older header runs with a newer library. For
 * that, each struct of options and each report begins with its size:
 *
 *     struct tkb_emit_options options = { .struct_size = sizeof(options),
 *                                         .is_dry_run = true };
 *     struct tkb_emit_report report = { .struct_size = sizeof(report) };
 *
 *     rc = tkb_emit(bundle, root, &options, &report, &err);
 *
 * Members after the caller's size count as zero, which is the default. A
 * struct_size of 0, or smaller than that of the first version, is
 * TKB_ERR_INVALID. If the program is newer than the library and sets options
 * that the library does not know, the call returns TKB_ERR_UNSUPPORTED; such
 * members of a report become zero.
 *
 * Structs that the library allocates and lends one by one may grow at their
 * end: do not copy them, and do not use their sizeof. A struct
 * tkb_remote_backend has an ABI number instead. These never change: struct
 * tkb_error, tkb_bytes, tkb_digest, tkb_memory, tkb_blob; the items of arrays,
 * which are tkb_file, tkb_target, tkb_tree, tkb_named, tkb_param, tkb_label,
 * tkb_unit_name, tkb_push_note, tkb_launcher_kernel, tkb_c_header, tkb_binding,
 * tkb_time, tkb_made, tkb_trust_key, tkb_signature; and structs of functions
 * and their `self`, which are tkb_sink, tkb_source, tkb_passphrase,
 * tkb_worker_handler, tkb_file_visitor, tkb_cubin_visitor, tkb_blob_visitor,
 * tkb_record_visitor, tkb_ref_visitor, tkb_signature_visitor and
 * tkb_starts_visitor.
 */

/** What a function returns. Programs use the status, people the message. */
enum tkb_status {
	TKB_OK = 0,
	TKB_MISS = 1,         /**< the named thing does not exist */
	TKB_ERR_INVALID = -1, /**< an argument makes no sense */
	TKB_ERR_NOMEM = -2,   /**< out of memory */
	TKB_ERR_IO = -3,      /**< the system refused; the message says why */
	TKB_ERR_CORRUPT = -4, /**< damaged or unsafe: do not trust it */
	TKB_ERR_UNSUPPORTED = -5, /**< made by a newer tkbundle, or this one
	                               was built without what it needs */
	TKB_ERR_TOO_LARGE = -6,   /**< over a limit of the format */
	TKB_ERR_CANCELLED = -7,   /**< the caller's is_cancelled() ended the
	                               call, or its deadline passed */
	TKB_ERR_LEFT_OUT = -8,    /**< strict: something would be left out */
	TKB_ERR_UNAVAILABLE = -9, /**< a remote does not answer properly;
	                               a later try may succeed */
	TKB_ERR_DENIED = -10,     /**< a remote refuses: wrong credentials, or
	                             no permission */
	TKB_ERR_PARTIAL = -11,    /**< the rest is done; see above */
	TKB_ERR_UNTRUSTED = -12   /**< not signed by a key of the policy; see
	                             trust.h */
};

/** Why one entry was left out, skipped or failed. */
enum tkb_reason {
	TKB_REASON_NONE,
	TKB_REASON_GROUP,    /**< the group file is invalid */
	TKB_REASON_MISSING,  /**< a file that the group file lists is absent */
	TKB_REASON_OUTSIDE,  /**< the group file lists a file elsewhere */
	TKB_REASON_SENTINEL, /**< a file contains the sentinel itself */
	TKB_REASON_METADATA, /**< the metadata, or a unit's index, is invalid */
	TKB_REASON_HASH,     /**< the hash in the metadata is not the key's */
	TKB_REASON_BINARY,   /**< the binary is torn or of another kernel */
	TKB_REASON_BUSY,     /**< another process is writing it */
	TKB_REASON_UNREADABLE, /**< the system refuses to read it */
	TKB_REASON_UNSAFE,     /**< a link or a device where a file should be */
	TKB_REASON_NAME,       /**< a name that no bundle can have */
	TKB_REASON_LIMIT,      /**< over a limit of the format */
	TKB_REASON_DAMAGED,    /**< its part of the bundle is damaged */
	TKB_REASON_IO,         /**< the system refuses to write it */
	TKB_REASON_TARGET,     /**< not one of the targets asked for */
	TKB_REASON_PLATFORM,   /**< a module for another machine or libc; or a
	                          unit tuned on another GPU or driver */
	TKB_REASON_TWIN,       /**< another entry with this key goes there */
	TKB_REASON_NEEDS,      /**< a kernel that a launcher needs is missing */
	TKB_REASON_TREE,       /**< no root was given for its tree */
	TKB_REASON_INPUTS      /**< the files it was built from differ here */
};

/** A failure, as a plain value: it can be copied, and sent over a pipe. */
struct tkb_error {
	int32_t status;    /**< an enum tkb_status */
	int32_t reason;    /**< an enum tkb_reason, if one entry failed */
	char message[512]; /**< one sentence, lower case, no full stop */
};

/**
 * The name of a status: "ok", "miss", "corrupt", "too_large"; "unknown" for
 * other numbers. Never NULL. Static storage.
 */
TKB_API const char *tkb_status_name(int status);

/**
 * Write `text` so that it is safe on a terminal or in a log of lines: keys,
 * names and paths come from outside and may contain anything. Bytes that are
 * not UTF-8, control characters, line breaks, invisible characters and those
 * that change the direction of text are written as "\x1b", byte by byte.
 * Messages of errors are already escaped.
 *
 * @param out   receives as many whole characters as fit, and a zero; may be
 *              NULL if `size` is 0
 * @return the length of the whole result, as snprintf() does
 */
TKB_API size_t tkb_text_show(const char *text, char *out, size_t size);

/**
 * Write `text` as valid UTF-8: each byte that is not part of a character
 * becomes U+FFFD.
 *
 * @param out   as for tkb_text_show()
 * @return the length of the whole result
 */
TKB_API size_t tkb_text_repair(const char *text, char *out, size_t size);

/** The name of a reason, as in --json. Never NULL. Static storage. */
TKB_API const char *tkb_reason_name(enum tkb_reason reason);

#ifdef __cplusplus
}
#endif

#endif

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
 * A function that can fail returns an int: 0 when it did its work, a positive
 * value for an absence that a caller expects (TKB_MISS), a negative
 * enum tkb_status for a failure. Its last parameter is a struct tkb_error
 * that the caller owns; it receives one sentence for a person and is left
 * alone on success. NULL is allowed there.
 *
 *     struct tkb_error err = { 0 };
 *
 *     if (tkb_bundle_open("x.tkb", &bundle, &err) < 0)
 *             fprintf(stderr, "%s\n", err.message);
 *
 * On failure the other out-parameters keep the values they had. On TKB_MISS the
 * error keeps what it had, too. Where the options of a call ask for keys or for a
 * device, the call's watch is told of each that is missing, TKB_OUTCOME_MISSING.
 *
 * Where some of many fail
 * -----------------------
 * A call with a report does not stop at an entry that fails. It does the rest,
 * fills in its report and its other out-parameters, and says so at the end:
 *
 *   - TKB_ERR_PARTIAL: something that was asked for is not so. It was left out,
 *     busy, gone, unsafe, or refused by the system. `err` has the first of it,
 *     and its reason;
 *   - what is graver, as the call has it: TKB_ERR_CORRUPT, where something that
 *     it read is damaged, and in a pull what hindered a remote.
 *
 * All are negative, so that who asks for `rc < 0` notices. Who can do with a
 * part goes on:
 *
 *     rc = tkb_emit(bundle, root, NULL, &report, &err);
 *     if (rc < 0 && rc != TKB_ERR_PARTIAL)
 *             return rc;
 *
 * What nobody asked for is no failure: entries for another target, or that an
 * earlier bundle has. Calls without a report, which give a handle, list in it
 * what was left out, and return 0.
 *
 * Structs that can grow
 * ---------------------
 * A program that was built with an older header runs with a newer library. For
 * that, each struct of options that a caller fills, and each report that the
 * library fills, begins with its size:
 *
 *     struct tkb_emit_options options = { .struct_size = sizeof(options),
 *                                         .is_dry_run = true };
 *     struct tkb_emit_report report = { .struct_size = sizeof(report) };
 *
 *     rc = tkb_emit(bundle, root, &options, &report, &err);
 *
 * Members behind the caller's size count as zero, which is the default. A
 * struct_size of 0, or less than any version had, is TKB_ERR_INVALID. If the
 * program is newer than the library, members that the library does not know are
 * TKB_ERR_UNSUPPORTED unless they are zero; in a report they become zero.
 *
 * Structs that the library allocates and lends may grow at their end: do not
 * copy them, nor take their sizeof. These never change: struct tkb_error,
 * tkb_bytes, tkb_digest, tkb_sink, tkb_source, tkb_file, tkb_target, tkb_memory,
 * tkb_blob, tkb_named, tkb_param, tkb_c_header, tkb_launcher_kernel, and those of
 * a function and its `self` (tkb_file_visitor and the other visitors,
 * tkb_worker_handler). A struct tkb_remote_backend has the number of its ABI.
 */

/** What a caller can act on. Messages are for people, codes for programs. */
enum tkb_status {
	TKB_OK = 0,
	TKB_MISS = 1,         /**< the named thing does not exist */
	TKB_ERR_INVALID = -1, /**< an argument makes no sense */
	TKB_ERR_NOMEM = -2,   /**< out of memory */
	TKB_ERR_IO = -3,      /**< the system refused; the message says why */
	TKB_ERR_CORRUPT = -4, /**< damaged or unsafe: do not trust it */
	TKB_ERR_UNSUPPORTED = -5, /**< made by a newer tkbundle */
	TKB_ERR_TOO_LARGE = -6,   /**< over a limit of the format */
	TKB_ERR_CANCELLED = -7,   /**< the caller's is_cancelled() said so, or
	                               the call's deadline came */
	TKB_ERR_LEFT_OUT = -8,    /**< strict: something would be left out */
	TKB_ERR_UNAVAILABLE = -9, /**< a remote does not answer as it should;
	                               it may later */
	TKB_ERR_DENIED = -10, /**< a remote refuses: credentials or rights */
	TKB_ERR_PARTIAL = -11 /**< the rest is done; see above */
};

/** Why one entry was left out, skipped or failed. */
enum tkb_reason {
	TKB_REASON_NONE,
	TKB_REASON_GROUP,    /**< the group file cannot be understood */
	TKB_REASON_MISSING,  /**< a file that the group file lists is absent */
	TKB_REASON_OUTSIDE,  /**< the group file lists a file elsewhere */
	TKB_REASON_SENTINEL, /**< the sentinel stands in a file already */
	TKB_REASON_METADATA, /**< the metadata cannot be understood */
	TKB_REASON_HASH,     /**< the metadata's hash is not the key's */
	TKB_REASON_BINARY,   /**< the binary is torn or of another kernel */
	TKB_REASON_BUSY,     /**< somebody is writing it just now */
	TKB_REASON_UNREADABLE, /**< the system refuses to read it */
	TKB_REASON_UNSAFE,     /**< a link or a device where a file should be */
	TKB_REASON_NAME,       /**< a name that no bundle can hold */
	TKB_REASON_LIMIT,      /**< over a limit of the format */
	TKB_REASON_DAMAGED,    /**< its part of the bundle is damaged */
	TKB_REASON_IO,         /**< the system refuses to write it */
	TKB_REASON_TARGET,     /**< not one of the targets asked for */
	TKB_REASON_PLATFORM, /**< a module for another machine or libc; or tuned
	                            on another GPU or driver */
	TKB_REASON_TWIN,     /**< another entry of this key goes there */
	TKB_REASON_NEEDS,    /**< what a launcher needs is not there */
	TKB_REASON_TREE,     /**< nobody said where its tree goes */
	TKB_REASON_INPUTS    /**< what it was built of is not what is here */
};

/** A failure, as a plain value: it can be copied, and sent over a pipe. */
struct tkb_error {
	int32_t status; /**< an enum tkb_status */
	int32_t reason; /**< an enum tkb_reason, where it is about an entry */
	char message[512]; /**< one sentence, lower case, no full stop */
};

/**
 * The word for what a function returned: "ok", "miss", "corrupt", "too_large";
 * "unknown" for what is no enum tkb_status. Never NULL. Static storage.
 */
TKB_API const char *tkb_status_name(int status);

/**
 * Write `text` as it can be shown on a terminal, or in a log of lines: keys,
 * names and paths come from outside and may hold anything. What is no UTF-8,
 * controls a terminal, ends a line, is invisible or turns the order of letters
 * comes out as "\x1b", byte by byte. Messages of errors are so already.
 *
 * @param out   receives as many whole characters as fit, and a zero; may be
 *              NULL where `size` is 0
 * @return the length that all of it has, as snprintf() does
 */
TKB_API size_t tkb_text_show(const char *text, char *out, size_t size);

/**
 * Write `text` as UTF-8: each byte that belongs to no character becomes U+FFFD.
 *
 * @param out   as for tkb_text_show()
 * @return the length that all of it has
 */
TKB_API size_t tkb_text_repair(const char *text, char *out, size_t size);

/** The word for a reason, as in --json; never NULL. Static storage. */
TKB_API const char *tkb_reason_name(enum tkb_reason reason);

#ifdef __cplusplus
}
#endif

#endif

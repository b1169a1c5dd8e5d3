/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_ERROR_H
#define TKB_BASE_ERROR_H

/*
 * How to report an error. Create it once, where it is found:
 *
 *     return tkb_fail(err, TKB_ERR_CORRUPT, "bad magic in '%s'", name);
 *
 * pass it on unchanged (`if (rc < 0) return rc;`), and add context only where
 * it crosses a layer, with tkb_fail_while(). All these functions return the
 * status and accept a NULL err. Control characters and other bytes that a
 * terminal does not show are escaped in messages, as tkb_text_show() does.
 */

#include <stdbool.h>

#include <tkbundle/error.h>

/* The lowest status. A lower number from another process is not a status. */
#define TKB_STATUS_LOWEST TKB_ERR_UNTRUSTED

/* Did the call do its work, at least in part? */
static inline bool tkb_is_done(int rc)
{
	return rc == TKB_OK || rc == TKB_ERR_PARTIAL;
}

int tkb_fail(struct tkb_error *err, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Report a failure of one entry, with status TKB_ERR_CORRUPT and a reason. */
int tkb_fail_entry(struct tkb_error *err, enum tkb_reason reason,
                   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Report TKB_ERR_IO with TKB_REASON_IO, or TKB_ERR_NOMEM if errno is ENOMEM.
 * The text of errno is added to the sentence. errno is kept.
 */
int tkb_fail_errno(struct tkb_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

int tkb_fail_nomem(struct tkb_error *err);

/* Report a failure that was kept earlier; returns `status`. */
int tkb_fail_as(struct tkb_error *err, int status,
                const struct tkb_error *kept);

/* Put "<context>: " before the message already in `err`; returns `status`. */
int tkb_fail_while(struct tkb_error *err, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/*
 * clang-tidy reads one file at a time: without these, it would assume that a
 * failure can return 0, and follow the code after it.
 */
#define tkb_fail(err, status, ...)                                             \
	((void)tkb_fail(err, status, __VA_ARGS__), (status))
#define tkb_fail_entry(...) ((void)tkb_fail_entry(__VA_ARGS__), TKB_ERR_CORRUPT)
#define tkb_fail_errno(...) ((void)tkb_fail_errno(__VA_ARGS__), TKB_ERR_IO)
#define tkb_fail_nomem(err) ((void)tkb_fail_nomem(err), TKB_ERR_NOMEM)
#endif

#endif

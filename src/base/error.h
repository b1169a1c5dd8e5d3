/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_ERROR_H
#define TKB_BASE_ERROR_H

/*
 * How an error is made. It is made once, where it is found:
 *
 *     return tkb_fail(err, TKB_ERR_CORRUPT, "bad magic in '%s'", name);
 *
 * passed on unchanged (`if (rc < 0) return rc;`), and given context only
 * where it crosses a layer, by tkb_fail_while(). All of them return the
 * status, and accept a NULL err. Bytes from outside that are printed into a
 * message are written as tkb_text_show() does.
 */

#include <stdbool.h>

#include <tkbundle/error.h>

/* No status is lower: what another process says beyond it is no status. */
#define TKB_STATUS_LOWEST TKB_ERR_UNTRUSTED

/* Did the call do its work, be it in part? */
static inline bool tkb_is_done(int rc)
{
	return rc == TKB_OK || rc == TKB_ERR_PARTIAL;
}

int tkb_fail(struct tkb_error *err, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A failure that is about one entry: status and reason. */
int tkb_fail_entry(struct tkb_error *err, enum tkb_reason reason,
                   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * TKB_ERR_IO with TKB_REASON_IO, or TKB_ERR_NOMEM where errno is ENOMEM, and
 * what errno says behind the sentence. errno stays.
 */
int tkb_fail_errno(struct tkb_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

int tkb_fail_nomem(struct tkb_error *err);

/* Hand on a failure that was kept; returns `status`. */
int tkb_fail_as(struct tkb_error *err, int status,
                const struct tkb_error *kept);

/* Put "<context>: " before the sentence that is there; returns `status`. */
int tkb_fail_while(struct tkb_error *err, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
/*
 * clang-tidy reads one file at a time: it would follow what comes after a failure
 * that returned 0.
 */
#define tkb_fail(err, status, ...)                                             \
	((void)tkb_fail(err, status, __VA_ARGS__), (status))
#define tkb_fail_entry(...) ((void)tkb_fail_entry(__VA_ARGS__), TKB_ERR_CORRUPT)
#define tkb_fail_errno(...) ((void)tkb_fail_errno(__VA_ARGS__), TKB_ERR_IO)
#define tkb_fail_nomem(err) ((void)tkb_fail_nomem(err), TKB_ERR_NOMEM)
#endif

#endif

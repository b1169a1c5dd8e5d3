/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/struct.h"

static void pass_result(void *self, const struct tkb_result *result)
{
	const struct tkb_timed *timed = self;

	timed->own.on_result(timed->own.self, result);
}

static void pass_progress(void *self, uint64_t done, uint64_t total)
{
	const struct tkb_timed *timed = self;

	timed->own.on_progress(timed->own.self, done, total);
}

static void pass_look(void *self, uint64_t done, uint64_t total)
{
	const struct tkb_timed *timed = self;

	timed->own.on_look(timed->own.self, done, total);
}

static bool is_past_end(void *self)
{
	const struct tkb_timed *timed = self;

	return tkb_now_ns() >= timed->end_ns ||
	       tkb_watch_is_cancelled(&timed->own);
}

int tkb_watch_read(struct tkb_watch *out, const struct tkb_watch *given,
                   struct tkb_error *err)
{
	return TKB_STRUCT_READ(tkb_watch, is_cancelled, out, given, err);
}

bool tkb_watch_is_cancelled(const struct tkb_watch *watch)
{
	return watch != NULL && watch->is_cancelled != NULL &&
	       watch->is_cancelled(watch->self);
}

int tkb_watch_check(const struct tkb_watch *watch, struct tkb_error *err)
{
	return tkb_watch_is_cancelled(watch)
	               ? tkb_fail(err, TKB_ERR_CANCELLED, "cancelled")
	               : 0;
}

int tkb_watch_missing(const struct tkb_watch *watch, const char *key,
                      const char *format, ...)
{
	char raw[512];
	char message[512];
	const struct tkb_result result = { .root = "",
		                           .key = key,
		                           .name = "",
		                           .outcome = TKB_OUTCOME_MISSING,
		                           .reason = TKB_REASON_MISSING,
		                           .message = message };
	va_list arguments;

	if (watch == NULL || watch->on_result == NULL)
		return TKB_MISS;
	va_start(arguments, format);
	(void)vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	(void)tkb_text_show(raw, message, sizeof(message));
	watch->on_result(watch->self, &result);
	return TKB_MISS;
}

void tkb_watch_tell(const struct tkb_watch *watch, uint64_t done,
                    uint64_t total)
{
	if (watch->on_progress != NULL)
		watch->on_progress(watch->self, done, total);
}

int tkb_timed_begin(struct tkb_timed *timed, const struct tkb_watch *given,
                    uint32_t deadline_ms, struct tkb_error *err)
{
	struct tkb_watch own;
	int rc;

	rc = tkb_watch_read(&own, given, err);
	if (rc < 0)
		return rc;
	*timed = (struct tkb_timed){ .watch = own,
		                     .own = own,
		                     .deadline_ms = deadline_ms };
	if (deadline_ms == 0)
		return 0;
	timed->end_ns = tkb_now_ns() + deadline_ms * TKB_NS_PER_MS;
	timed->watch = (struct tkb_watch){
		.struct_size = sizeof(timed->watch),
		.self = timed,
		.on_result = own.on_result != NULL ? pass_result : NULL,
		.on_progress = own.on_progress != NULL ? pass_progress : NULL,
		.is_cancelled = is_past_end,
		.on_look = own.on_look != NULL ? pass_look : NULL,
	};
	return 0;
}

int tkb_timed_end(const struct tkb_timed *timed, int rc, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	const char *end;

	if (rc != TKB_ERR_CANCELLED || timed->deadline_ms == 0 ||
	    tkb_now_ns() < timed->end_ns)
		return rc;
	/* Keep the context in front of the message: "remote 'x': cancelled". */
	if (err != NULL)
		why = *err;
	end = strstr(why.message, "cancelled");
	return tkb_fail(err, rc, "%.*sthe deadline of %u ms ended it",
	                end == NULL ? 0 : (int)(end - why.message), why.message,
	                (unsigned)timed->deadline_ms);
}

void tkb_watcher_init(struct tkb_watcher *watcher,
                      const struct tkb_watch *watch, uint64_t total)
{
	*watcher = (struct tkb_watcher){ .watch = watch, .total = total };
	(void)pthread_mutex_init(&watcher->lock, NULL);
}

void tkb_watcher_release(struct tkb_watcher *watcher)
{
	(void)pthread_mutex_destroy(&watcher->lock);
}

/* Does the result mean that something the caller asked for was not done? */
static bool is_partial(const struct tkb_result *result)
{
	return result->outcome == TKB_OUTCOME_FAILED ||
	       result->outcome == TKB_OUTCOME_LEFT_OUT ||
	       (result->outcome == TKB_OUTCOME_SKIPPED &&
	        result->reason == TKB_REASON_BUSY);
}

void tkb_result_note(struct tkb_error *first, const struct tkb_result *result)
{
	if (first->status != 0 || !is_partial(result))
		return;
	(void)tkb_fail(first, TKB_ERR_PARTIAL, "%s '%s': %s",
	               result->is_launcher ? "launcher" : "entry", result->key,
	               result->message);
	first->reason = (int32_t)result->reason;
}

int tkb_partial(const struct tkb_error *first, struct tkb_error *err)
{
	return first->status == 0 ? 0 : tkb_fail_as(err, first->status, first);
}

void tkb_watcher_result(struct tkb_watcher *watcher,
                        const struct tkb_result *result)
{
	(void)pthread_mutex_lock(&watcher->lock);
	tkb_result_note(&watcher->first, result);
	if (watcher->watch->on_result != NULL)
		watcher->watch->on_result(watcher->watch->self, result);
	(void)pthread_mutex_unlock(&watcher->lock);
}

/*
 * Call the watch with the lock held, so that reported progress never decreases;
 * then release the lock.
 */
static void tell_and_unlock(struct tkb_watcher *watcher)
{
	watcher->watch->on_progress(watcher->watch->self,
	                            atomic_load(&watcher->done),
	                            watcher->total);
	(void)pthread_mutex_unlock(&watcher->lock);
}

void tkb_watcher_progress(struct tkb_watcher *watcher, uint64_t done)
{
	if (watcher->watch->on_progress == NULL)
		return;
	(void)atomic_fetch_add(&watcher->done, done);
	if (pthread_mutex_trylock(&watcher->lock) == 0)
		tell_and_unlock(watcher);
}

void tkb_watcher_finish(struct tkb_watcher *watcher)
{
	if (watcher->watch->on_progress == NULL)
		return;
	(void)pthread_mutex_lock(&watcher->lock);
	tell_and_unlock(watcher);
}

int tkb_watcher_check(struct tkb_watcher *watcher, struct tkb_error *err)
{
	if (watcher->watch->is_cancelled == NULL)
		return 0;
	if (!atomic_load(&watcher->is_cancelled) &&
	    pthread_mutex_trylock(&watcher->lock) == 0) {
		if (watcher->watch->is_cancelled(watcher->watch->self))
			atomic_store(&watcher->is_cancelled, true);
		(void)pthread_mutex_unlock(&watcher->lock);
	}
	if (atomic_load(&watcher->is_cancelled))
		return tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	return 0;
}

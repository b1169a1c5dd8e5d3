/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/recorder.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/disable.h"
#include "base/path.h"
#include "base/struct.h"
#include "collect/collect.h"
#include "cache/key.h"
#include "cache/names.h"
#include "collect/recorder_set.h"
#include "collect/recorder.h"

enum phase {
	PHASE_IDLE,
	PHASE_COMPILING,
	PHASE_COLLECTED
};

/*
 * State that a forked child must not inherit. It is in a page that fork()
 * empties, so that in the child the lock is free and nothing is being
 * collected, whatever the parent's threads were doing. (Kernels before 4.14 do
 * not empty the page: there, a lock that is held during the fork stays held in
 * the child.)
 */
struct guard {
	pthread_mutex_t lock; /* all zeros: not locked, on Linux */
	bool is_collecting;
	bool is_dry;    /* the compile goes on after the collect */
	bool has_ended; /* the compile ended while it was collected */
};

struct tkb_recorder {
	struct guard *guard; /* owned; its lock guards the other members */
	enum phase phase;
	struct tkb_recorder_set set;
	struct tkb_recorder_set
		ended; /* of a compile that ended while it was collected */
	bool is_disabled;
};

int tkb_recorder_new(const struct tkb_recorder_options *options,
                     struct tkb_recorder **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_recorder *recorder = tkb_alloc_array(1, sizeof(*recorder));
	struct tkb_recorder_options chosen;
	void *page;
	int rc;

	if (recorder == NULL)
		return tkb_fail_nomem(err);
	rc = TKB_STRUCT_READ(tkb_recorder_options, is_enabled, &chosen, options,
	                     err);
	if (rc < 0)
		return rc;
	page = mmap(NULL, sizeof(struct guard), PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return tkb_fail_nomem(err);
	(void)madvise(page, sizeof(struct guard), MADV_WIPEONFORK);
	recorder->guard = page;
	recorder->is_disabled = chosen.is_disabled;
	if (!chosen.is_enabled)
		recorder->is_disabled |= tkb_is_disabled();
	*out = tkb_take(recorder);
	return 0;
}

void tkb_recorder_free(struct tkb_recorder *recorder)
{
	if (recorder == NULL)
		return;
	tkb_recorder_set_release(&recorder->set);
	tkb_recorder_set_release(&recorder->ended);
	(void)munmap(recorder->guard, sizeof(*recorder->guard));
	free(recorder);
}

bool tkb_recorder_is_disabled(const struct tkb_recorder *recorder)
{
	return recorder->is_disabled;
}

static void lock_recorder(struct tkb_recorder *recorder)
{
	(void)pthread_mutex_lock(&recorder->guard->lock);
}

static void unlock_recorder(struct tkb_recorder *recorder)
{
	(void)pthread_mutex_unlock(&recorder->guard->lock);
}

/* Check that entries may be put or collected now. The lock is held. */
static int check_phase(const struct tkb_recorder *recorder,
                       struct tkb_error *err)
{
	const struct guard *guard = recorder->guard;

	if (recorder->phase == PHASE_IDLE)
		return tkb_fail(err, TKB_ERR_INVALID, "no compile has begun");
	if (recorder->phase == PHASE_COLLECTED)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the compile is collected already");
	/* Refuse until that collect ends: if it fails, the compile goes on. */
	if (guard->is_collecting && !guard->is_dry && !guard->has_ended)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the compile is being collected");
	return 0;
}

int tkb_recorder_begin_compile(struct tkb_recorder *recorder,
                               struct tkb_error *err)
{
	int rc = 0;

	lock_recorder(recorder);
	if (recorder->phase != PHASE_IDLE)
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              "a compile has begun and not ended");
	else
		recorder->phase = PHASE_COMPILING;
	unlock_recorder(recorder);
	return rc;
}

static int put_key(struct tkb_recorder *recorder, const char *key,
                   uint32_t device, struct tkb_error *err)
{
	int rc;

	lock_recorder(recorder);
	rc = check_phase(recorder, err);
	if (rc == 0 && !recorder->is_disabled)
		rc = tkb_recorder_set_put(&recorder->set, key, device, err);
	unlock_recorder(recorder);
	return rc;
}

static int check_key(const char *key, struct tkb_error *err)
{
	if (!tkb_key_is_valid(key))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' does not have the shape of a key",
		                key);
	return 0;
}

int tkb_recorder_put(struct tkb_recorder *recorder, const char *key,
                     uint32_t device, struct tkb_error *err)
{
	int rc;

	rc = check_key(key, err);
	if (rc < 0)
		return rc;
	if (device >= TKB_DEVICE_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID, "no device has number %u",
		                (unsigned)device);
	return put_key(recorder, key, device, err);
}

int tkb_recorder_put_winner(struct tkb_recorder *recorder, const char *key,
                            struct tkb_error *err)
{
	int rc;

	rc = check_key(key, err);
	if (rc < 0)
		return rc;
	return put_key(recorder, key, TKB_DEVICE_WINNER, err);
}

static int check_needs(const struct tkb_launcher_spec *launcher,
                       struct tkb_error *err)
{
	int rc;

	if (launcher->need != TKB_NEED_ALL && launcher->need != TKB_NEED_ANY)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a launcher needs all or any of its kernels");
	if (launcher->need_count == 0 || launcher->need_count > TKB_NEEDS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a launcher needs 1 to %d kernels, not %zu",
		                TKB_NEEDS_LIMIT, launcher->need_count);
	for (size_t i = 0; i < launcher->need_count; i++) {
		rc = check_key(launcher->needs[i], err);
		if (rc < 0)
			return rc;
		if (tkb_is_among(launcher->needs[i], launcher->needs, i))
			return tkb_fail(err, TKB_ERR_INVALID,
			                "a launcher needs '%s' twice",
			                launcher->needs[i]);
	}
	return 0;
}

static int check_launcher(const struct tkb_launcher_spec *launcher,
                          struct tkb_error *err)
{
	if (!tkb_launcher_text_is_valid(launcher->cache_key,
	                                TKB_CACHE_KEY_LIMIT))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' cannot be a launcher's cache key",
		                launcher->cache_key);
	if (!tkb_launcher_text_is_valid(launcher->name, TKB_NAME_LIMIT))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.80s' cannot be a launcher's name",
		                launcher->name);
	if (launcher->payload.size > TKB_FILE_SIZE_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a payload of %zu bytes, more than %llu",
		                launcher->payload.size,
		                (unsigned long long)TKB_FILE_SIZE_LIMIT);
	return check_needs(launcher, err);
}

int tkb_recorder_put_launcher(struct tkb_recorder *recorder,
                              const struct tkb_launcher_spec *launcher,
                              struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct tkb_recorded_launcher *recorded = NULL;
	struct tkb_launcher_spec spec;
	int rc;

	rc = TKB_STRUCT_READ(tkb_launcher_spec, need_count, &spec, launcher,
	                     err);
	if (rc == 0)
		rc = check_launcher(&spec, err);
	if (rc == 0 && !recorder->is_disabled)
		rc = tkb_recorded_launcher_new(&spec, &recorded, err);
	if (rc < 0)
		return rc;
	lock_recorder(recorder);
	rc = check_phase(recorder, err);
	if (rc == 0 && recorded != NULL)
		tkb_recorder_set_save(&recorder->set, tkb_take(recorded));
	/* A running collect may still use launchers that were replaced. */
	if (rc == 0 &&
	    (!recorder->guard->is_collecting || recorder->guard->has_ended))
		tkb_recorder_set_purge(&recorder->set);
	unlock_recorder(recorder);
	return rc;
}

/* Forget the compile. The lock is held. */
static void discard(struct tkb_recorder *recorder)
{
	tkb_recorder_set_release(&recorder->set);
	recorder->phase = PHASE_IDLE;
}

int tkb_recorder_begin_collect(struct tkb_recorder *recorder,
                               const struct tkb_collect_options *options,
                               struct tkb_collect_selection *selection,
                               struct tkb_error *err)
{
	int rc;

	if (options->key_count != 0 || options->has_device)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the recorder chooses keys and devices");
	lock_recorder(recorder);
	rc = check_phase(recorder, err);
	if (rc == 0 && recorder->guard->is_collecting)
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              recorder->guard->has_ended
		                      ? "the previous compile is still being "
		                        "collected"
		                      : "the compile is being collected");
	if (rc == 0)
		rc = tkb_collect_selection_of(&recorder->set, selection, err);
	if (rc == 0) {
		recorder->guard->is_collecting = true;
		recorder->guard->is_dry = options->is_dry_run;
	}
	unlock_recorder(recorder);
	return rc;
}

void tkb_recorder_finish_collect(struct tkb_recorder *recorder, bool is_final)
{
	lock_recorder(recorder);
	recorder->guard->is_collecting = false;
	if (recorder->guard->has_ended)
		tkb_recorder_set_release(&recorder->ended);
	else if (is_final)
		recorder->phase = PHASE_COLLECTED;
	recorder->guard->has_ended = false;
	unlock_recorder(recorder);
}

static int collect_recorded(struct tkb_recorder *recorder,
                            const char *cache_root,
                            const struct tkb_collect_options *options,
                            const struct tkb_collect_target *to,
                            struct tkb_collect_report *report,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_collect_selection_release)
	struct tkb_collect_selection selection = { 0 };
	struct tkb_collect_options chosen;
	int rc;

	rc = tkb_collect_read(&chosen, options, to, report, err);
	if (rc == 0)
		rc = tkb_recorder_begin_collect(recorder, &chosen, &selection,
		                                err);
	if (rc < 0)
		return rc;
	rc = tkb_collect_selected(cache_root, &chosen, &selection, to, report,
	                          err);
	tkb_recorder_finish_collect(recorder,
	                            tkb_is_done(rc) && !chosen.is_dry_run);
	return rc;
}

int tkb_recorder_collect(struct tkb_recorder *recorder, const char *cache_root,
                         const struct tkb_collect_options *options,
                         const struct tkb_sink *sink,
                         struct tkb_collect_report *report,
                         struct tkb_error *err)
{
	const struct tkb_collect_target to = { .sink = sink };

	return collect_recorded(recorder, cache_root, options, &to, report,
	                        err);
}

/* Is there a file at `path` that a bundle would replace? */
static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static int write_nowhere(void *self, struct tkb_bytes bytes,
                         struct tkb_error *err)
{
	(void)self;
	(void)bytes;
	(void)err;
	return 0;
}

int tkb_recorder_collect_to_file(struct tkb_recorder *recorder,
                                 const char *cache_root,
                                 const struct tkb_collect_options *options,
                                 const char *path,
                                 struct tkb_collect_report *report,
                                 struct tkb_error *err)
{
	static const struct tkb_sink nowhere = { write_nowhere, NULL };
	struct tkb_collect_target to = { .path = path };

	/* An empty bundle must not replace one that has something. */
	if (recorder->is_disabled && path != NULL && is_file(path))
		to = (struct tkb_collect_target){ .sink = &nowhere };
	return collect_recorded(recorder, cache_root, options, &to, report,
	                        err);
}

void tkb_recorder_end_compile(struct tkb_recorder *recorder)
{
	lock_recorder(recorder);
	if (recorder->guard->is_collecting && !recorder->guard->has_ended) {
		recorder->guard->has_ended = true;
		tkb_recorder_set_move(&recorder->set, &recorder->ended);
	}
	discard(recorder);
	unlock_recorder(recorder);
}

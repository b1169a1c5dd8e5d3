/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_race.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fleet_fixture.h"
#include "fleet/compact.h"

enum {
	PUSHERS = 20,
	PULLERS = 2,
	COMPACTORS = 2,
	CLEANERS = 2,
	HELPERS = PULLERS + COMPACTORS + CLEANERS,
	DEFAULT_ROUNDS = 4,
	KEYS_LIMIT = 64,
	STATUS_WRONG = 9
};

struct race {
	const char *url;
	uint32_t seed;
	unsigned round;
	const char **keys; /* of the pool */
	size_t key_count;
	/* What each pusher has. */
	bool has[PUSHERS][KEYS_LIMIT];
	uint64_t evicted;
	uint64_t most_records;
};

/* The same numbers for the same seed, in every process. */
static uint32_t draw(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Every fourth has what the one before has: a fleet is alike. */
static void deal_hands(struct race *race)
{
	uint32_t state = (race->seed + race->round * 2654435761u) | 1;

	for (int i = 0; i < 16; i++)
		(void)draw(&state);
	for (size_t i = 0; i < PUSHERS; i++) {
		if (i % 4 == 3) {
			memcpy(race->has[i], race->has[i - 1],
			       sizeof(race->has[i]));
			continue;
		}
		for (size_t j = 0; j < race->key_count; j++)
			race->has[i][j] = draw(&state) % 4 == 0;
		race->has[i][draw(&state) % race->key_count] = true;
	}
}

/*
 * For two rounds; then, for two, each has one entry, so that what is pushed
 * again after it was evicted is the very same bundle, with the same record.
 */
static void deal(struct race *race)
{
	memset(race->has, 0, sizeof(race->has));
	if (race->round % 4 < 2) {
		deal_hands(race);
		return;
	}
	for (size_t i = 0; i < PUSHERS; i++)
		race->has[i][i % race->key_count] = true;
}

static int push_dealt(const struct race *race, struct tkb_remote *remote,
                      size_t index, struct tkb_error *err)
{
	const char *keys[KEYS_LIMIT];
	struct tkb_collect_options collect = { SIZED(collect) };
	struct tkb_push_options options = { SIZED(options),
		                            .collect = &collect };

	collect.keys = keys;
	collect.threads = 1;
	for (size_t i = 0; i < race->key_count; i++) {
		if (race->has[index][i])
			keys[collect.key_count++] = race->keys[i];
	}
	return tkb_push(remote, REF, pool(), &options, NULL, err);
}

/* Whatever is there becomes one, again and again. */
static int compact(struct tkb_remote *remote, struct tkb_error *err)
{
	uint64_t count = 0;
	int rc = 0;

	for (int i = 0; i < 3 && rc == 0; i++) {
		TKB_AUTO(tkb_record_list_release)
		struct tkb_record_list records = { 0 };

		nap_ms(20);
		rc = tkb_record_list_read(remote, REF, false, &records, err);
		if (rc == 0)
			rc = tkb_compact(remote, REF, &records, NULL, &count,
			                 err);
	}
	return rc;
}

static int clean_up(struct tkb_remote *remote, struct tkb_error *err)
{
	int rc = 0;

	for (int i = 0; i < 3 && rc == 0; i++) {
		nap_ms(30);
		rc = tkb_remote_gc(remote, NULL, NULL, err);
	}
	return rc;
}

static const char *pull_root(const struct race *race, size_t index)
{
	return text("%s/pulled-%u-%zu", test_folder(), race->round, index);
}

static int pull_some(struct tkb_remote *remote, const char *root,
                     struct tkb_error *err)
{
	int rc = 0;

	for (int i = 0; i < 3 && rc == 0; i++) {
		nap_ms(30);
		rc = tkb_pull(remote, REF, root, NULL, NULL, err);
		/* A blob may be compacted or evicted meanwhile. */
		rc = rc == TKB_MISS || rc == TKB_ERR_PARTIAL ? 0 : rc;
	}
	return rc;
}

/* What process `index` does. */
static int act(const struct race *race, size_t index, struct tkb_error *err)
{
	struct tkb_remote *remote = must_open_remote(race->url, NULL);

	if (index < PUSHERS)
		return push_dealt(race, remote, index, err);
	index -= PUSHERS;
	if (index < PULLERS)
		return pull_some(remote, pull_root(race, index), err);
	if (index - PULLERS >= COMPACTORS)
		return clean_up(remote, err);
	/* Else it is left to those who push one record too many. */
	return race->round % 3 == 0 ? compact(remote, err) : 0;
}

/* Process `index`, which begins when `gate` is open. */
static pid_t begin(const struct race *race, size_t index, const int gate[2])
{
	const pid_t pid = must_fork();
	struct tkb_error err = { 0 };
	char byte;

	if (pid != 0)
		return pid;
	(void)close(gate[1]);
	if (read(gate[0], &byte, 1) != 0)
		_exit(STATUS_WRONG);
	int rc = act(race, index, &err);
	if (rc != 0)
		print_error("process %zu: %d: %s\n", index, rc, err.message);
	_exit(rc == 0 ? 0 : STATUS_WRONG);
}

static void run_all(const struct race *race)
{
	pid_t pids[PUSHERS + HELPERS];
	int gate[2];

	SYS(pipe(gate));
	for (size_t i = 0; i < TKB_COUNT_OF(pids); i++)
		pids[i] = begin(race, i, gate);
	(void)close(gate[0]);
	(void)close(gate[1]);
	for (size_t i = 0; i < TKB_COUNT_OF(pids); i++)
		CHECK_INT(end_of(pids[i]), 0);
}

static bool is_dealt(const struct race *race, size_t key)
{
	for (size_t i = 0; i < PUSHERS; i++) {
		if (race->has[i][key])
			return true;
	}
	return false;
}

/* A pull into an empty cache gives all that any pusher had. */
static void check_nothing_lost(struct race *race, const char *when)
{
	struct tkb_remote *remote = must_open_remote(race->url, NULL);
	const char *root = text("%s/all", test_folder());
	const struct tkb_pull_report report = pull_all(remote, root);

	CHECK_INT(report.gone_count + report.failed_count, 0);
	CHECK_INT(report.unreadable_count, 0);
	(void)count_entries(root);
	for (size_t i = 0; i < race->key_count; i++) {
		if (is_dealt(race, i) &&
		    !exists(text("%s/%s", root, race->keys[i])))
			fail_msg("round %u of seed %u, %s: '%s' was lost",
			         race->round, race->seed, when, race->keys[i]);
	}
	if (report.record_count > race->most_records)
		race->most_records = report.record_count;
	CHECK_INT(run("rm", "-rf", root, NULL).status, 0);
}

/* Blobs, told by a remote. */
struct shelf {
	struct tkb_digest items[4096];
	size_t count;
};

static int note_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                     uint64_t age_s, struct tkb_error *err)
{
	struct shelf *shelf = self;

	(void)size, (void)age_s, (void)err;
	CHECK(shelf->count < TKB_COUNT_OF(shelf->items));
	shelf->items[shelf->count++] = *digest;
	return 0;
}

static void evict(struct race *race)
{
	struct tkb_remote *remote = must_open_remote(race->url, NULL);
	struct shelf *shelf = test_alloc(sizeof(*shelf));
	const struct tkb_blob_visitor visitor = { note_blob, shelf };
	uint32_t state = (race->seed ^ race->round * 40503u) | 1;

	OK(tkb_remote_list(remote, 0, &visitor, ERR));
	for (size_t i = 0; i < shelf->count; i++) {
		if (draw(&state) % 2 == 0)
			continue;
		OK(tkb_remote_remove(remote, 0, &shelf->items[i], ERR));
		race->evicted++;
	}
}

/* All that no record names goes; what they name stays. */
static void sweep(const struct race *race)
{
	struct tkb_remote *remote = must_open_remote(race->url, NULL);
	const struct tkb_remote_gc_options options = { SIZED(options),
		                                       .has_grace = true };

	OK(tkb_remote_gc(remote, &options, NULL, ERR));
}

static void delete_ref(const struct race *race)
{
	struct tkb_remote *remote = must_open_remote(race->url, NULL);

	OK(tkb_ref_delete(remote, REF, NULL, ERR));
}

static void run_round(struct race *race)
{
	deal(race);
	run_all(race);
	check_nothing_lost(race, "after the pushes");
	for (size_t i = 0; i < PULLERS; i++) {
		(void)count_entries(pull_root(race, i));
		CHECK_INT(run("rm", "-rf", pull_root(race, i), NULL).status, 0);
	}
	if (race->round % 4 == 1 || race->round % 4 == 3) {
		sweep(race);
		check_nothing_lost(race, "after a clean-up");
	}
	if (race->round % 4 == 1)
		delete_ref(race);
	else
		evict(race);
}

static unsigned number_from(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : (unsigned)strtoul(value, NULL, 10);
}

void race_at(const char *url)
{
	struct race *race = test_alloc(sizeof(*race));
	const unsigned rounds = number_from("TKB_RACE_ROUNDS", DEFAULT_ROUNDS);
	const uint64_t start = now_ms();

	race->url = url;
	race->seed = number_from("TKB_RACE_SEED",
	                         (unsigned)time(NULL) ^ (unsigned)getpid());
	race->keys = pool_keys();
	race->key_count = count_texts(race->keys);
	CHECK(race->key_count <= KEYS_LIMIT);
	print_message("  seed %u\n", race->seed);
	for (; race->round < rounds; race->round++)
		run_round(race);
	print_message("  %u rounds in %.1f s, %llu blobs evicted, up to %llu "
	              "records at the end of one\n",
	              rounds, (double)(now_ms() - start) / 1000,
	              (unsigned long long)race->evicted,
	              (unsigned long long)race->most_records);
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_SPY_H
#define TKB_TESTS_SPY_H

/*
 * A backend for tests: a folder as with `file://`. It records its operations,
 * and lets them fail as a test wishes. `spy:///dir` is one that several threads
 * may use at once, `lone:///dir` is not.
 *
 *     spy_refuse(SPY_GET, 1, TKB_ERR_DENIED, "no");
 *     struct tkb_remote *remote = open_spy(urls);
 *
 *     CHECK_INT(spy_count(SPY_GET), 1);
 */

#include <pthread.h>

#include "remote_fixture.h"

enum spy_op {
	SPY_OPEN,
	SPY_GET,
	SPY_PUT,
	SPY_HAS,
	SPY_REMOVE,
	SPY_LIST,
	SPY_ADD,
	SPY_RECORDS,
	SPY_DROP,
	SPY_TOUCH,
	SPY_REFS,
	SPY_OPS
};

struct spy_event {
	enum spy_op op;
	char folder[32]; /* the last part of its path */
	struct tkb_digest digest;
	size_t earlier; /* how many of this kind there were before */
};

struct spy {
	/*
	 * Called before each operation, from any thread. If it does not return
	 * 0, the operation returns that instead. Operations that it does itself
	 * are not recorded.
	 */
	int (*before)(const struct spy_event *event, struct tkb_error *err);
	void (*after)(const struct spy_event *event);
	struct {
		enum spy_op op;
		size_t count; /* of the first; 0: none */
		int status;
		const char *words;
	} refusal;
	size_t vanishing; /* in so many first listings, each record is dropped
	                     before it is read */
	unsigned get_ms;  /* each get takes at least so long */
	size_t get_parts; /* and comes in so many parts; 0: as it is */
	size_t get_size; /* and ends after so many bytes, as if these were all; 0: at
	                     its end */
	bool is_deaf;         /* and does not ask whether it is cancelled */
	pthread_mutex_t lock; /* of all below */
	struct spy_event events[4096];
	size_t count;
	size_t counts[SPY_OPS];
	size_t flying; /* gets at work */
	size_t most_flying;
};

extern struct spy spy;

/* Forget everything. */
void spy_reset(void);

/*
 * From now on, the next `count` of these operations fail with this; SIZE_MAX:
 * all, 0: none.
 */
void spy_refuse(enum spy_op op, size_t count, int status, const char *words);

size_t spy_count(enum spy_op op);
/*
 * The count of all operations except SPY_OPEN: opening a folder is no round
 * trip.
 */
size_t spy_trips(void);

/* Closed with the test. */
struct tkb_remote *open_spy(const char *urls);
struct tkb_remote *open_spy_with(const char *urls,
                                 struct tkb_remote_options options);

#endif

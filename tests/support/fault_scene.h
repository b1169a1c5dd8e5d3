/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_FAULT_SCENE_H
#define TKB_TESTS_FAULT_SCENE_H

/*
 * A cache of real kernels that was pushed to a remote, and pulls and pushes
 * through a faulty proxy. After any fault, all entries of a cache verify and
 * were pushed, and all objects of a remote match their names.
 */

#include <tkbundle/fleet.h>

#include "proxy.h"
#include "remote_fixture.h"

enum {
	EITHER =
		100 /* success, or TKB_ERR_UNAVAILABLE: libcurl itself retries if
	                a connection that it reuses dies */
};

/* The password in URLs, which no message may contain. */
#define SECRET "s3cret"

#define SCENE_REF "team/model"

enum {
	STALL_MS = 200,    /* of the hasty */
	TIMEOUT_MS = 1500, /* of one operation of theirs */
	SLACK_MS = 2500    /* for a busy machine */
};

/*
 * Parameters of a URL: no retry, or two. HASTY ones have a short limit for
 * silence, BUSY ones for the whole operation, and the others have long limits.
 * A busy machine may delay the proxy as long as a fault does, so only the limit
 * that must end the fault is short.
 */
#define HASTE "timeout=1500ms&connect-timeout=10s&stall-timeout=200ms"
#define BUSTLE "timeout=1500ms&connect-timeout=10s&stall-timeout=10s"
#define PATIENCE "timeout=30s&connect-timeout=10s&stall-timeout=10s"
#define ONCE PATIENCE "&retries=0"
#define THRICE PATIENCE "&retries=2"
#define HASTY_ONCE HASTE "&retries=0"
#define HASTY_THRICE HASTE "&retries=2"
#define BUSY_THRICE BUSTLE "&retries=2"
#define BUSY_OFTEN BUSTLE "&retries=10"
/* It stalls once, and the retries have time. */
#define HASTY_OFTEN                                                            \
	"timeout=30s&connect-timeout=10s&stall-timeout=500ms&retries=5"

struct scene {
	const char *source; /* a cache */
	size_t entry_count;
	bool has_frames;    /* several frames, not one */
	const char *direct; /* the real server's URL */
	/* The URL of the server, or of a proxy before it; as printf() takes it,
	   with its port and parameters left out: "redis://127.0.0.1:%u?%s" */
	const char *form;
	unsigned port; /* the real server's */
	/* Empty the server before a push; NULL: that is not needed. */
	void (*empty)(struct scene *scene);
	size_t record_size;
	size_t blob_size;
	const char *blob; /* its digest, in hexadecimal */
};

/*
 * Push a cache to SCENE_REF of the server on `port`, past any proxy: one of 17
 * entries in one frame, or one of 26 in two.
 */
struct scene arrange_scene(unsigned port, const char *form);
struct scene arrange_large_scene(unsigned port, const char *form);

/* The same of a redis-server, and of an nginx, which want SECRET. */
#define NGINX_FORM "http://bob:" SECRET "@127.0.0.1:%u/cache?%s"
struct scene redis_scene(void);
struct scene nginx_scene(void);

const char *scene_url(const struct scene *scene, unsigned port,
                      const char *parameters);

/*
 * Push the scene's cache again, in `count` bundles; each has its share of the
 * kernels, and `more` of the next share.
 */
void push_parts(const struct scene *scene, size_t count, size_t more);

/* The result of a pull or a push. */
struct attempt {
	const char *name; /* of the first tier */
	int rc;
	struct tkb_error err;
	uint64_t ms;
	struct tkb_pull_report pulled;
	struct tkb_push_report pushed;
};

/* From or to SCENE_REF of `url`. */
struct attempt pull_from(const char *url, const char *root);
struct attempt push_to(const char *url, const char *root);

/* The message names the remote `name`, and not the secret. */
void check_message(const struct attempt *attempt, const char *name,
                   const char *part);

/*
 * Check that all entries of the cache at `root`, which need not exist, verify
 * and are from the source, and that no temporary files are left. Returns the
 * number of entries.
 */
size_t count_right(const struct scene *scene, const char *root);
/* The same after a kill: temporary files may be left. */
size_t count_visible(const struct scene *scene, const char *root);

/*
 * Every blob in the remote has its digest, and every record can be read.
 * Returns how many records SCENE_REF has.
 */
size_t count_sound(const struct scene *scene);

/* The blobs in the remote, all of which are sound. */
const struct notebook *list_of_blobs(const struct scene *scene);

/* A fault, and how a pull or push that meets it must end. */
struct fault_case {
	const char *name;
	struct fault fault;
	struct {
		const char *parameters; /* of the URL */
		unsigned at_least_ms;   /* it takes */
		int rc;                 /* or EITHER */
		const char *part; /* of the message; NULL: there is none */
	} attempt;
};

/* The fault of a case, and how an attempt may end. */
#define HARM(...)                                                              \
	{                                                                      \
		.harm = __VA_ARGS__                                            \
	}
#define ENDS(parameters, at_least_ms, rc, part)                                \
	{                                                                      \
		parameters, at_least_ms, rc, part                              \
	}
#define RIGHT(parameters) ENDS(parameters, 0, 0, NULL)
#define GONE(part) ENDS(ONCE, 0, TKB_ERR_UNAVAILABLE, part)
#define SILENT                                                                 \
	ENDS(HASTY_ONCE, STALL_MS, TKB_ERR_UNAVAILABLE,                        \
	     "no byte moved for 200 ms")
#define LATE                                                                   \
	ENDS(BUSY_THRICE, TIMEOUT_MS, TKB_ERR_UNAVAILABLE, "not done in time")
#define CORRUPT ENDS(THRICE, 0, TKB_ERR_CORRUPT, "another digest")

/*
 * Pull into an empty cache by a proxy with each of these faults. It ends within
 * its deadline; the message names the remote, without its secret, and says
 * `part`; all entries are there, or none; or, of two frames, those of one.
 */
void check_pulls(const struct scene *scene, const struct fault_case *cases,
                 size_t count);

/*
 * Let `cut` strike once, at each 1/16 of `size` bytes. A pull with retries
 * succeeds; one without returns `rc`, with `part` in its message.
 */
void check_cuts(const struct scene *scene, const struct fault *cut,
                uint64_t size, int rc, const char *part);

/*
 * Push to an empty ref by a proxy with each of these faults. However it ends,
 * nothing in the remote is torn, and the next push and pull succeed.
 */
void check_pushes(struct scene *scene, const struct fault_case *cases,
                  size_t count);

/* The same of cuts at each 1/16 of the blob behind `cut`'s mark, once each. */
void check_cut_pushes(struct scene *scene, const struct fault *cut, int rc,
                      const char *part);

#endif

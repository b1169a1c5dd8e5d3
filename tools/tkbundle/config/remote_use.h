/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_USE_H
#define TKBUNDLE_REMOTE_USE_H

#include "cli/args.h"
#include "cli/cli.h"
#include "config/config.h"
#include "cli/remote_library.h"
#include "config/root.h"
#include "cli/deadline.h"
#include "cli/follow.h"
#include "cli/metrics.h"
#include "trust/policy.h"

/*
 * The common part of verbs that use a remote: find the remote and the ref, keep
 * the deadline, and report failures.
 *
 *     TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
 *
 *     status = remote_use_begin(&use, args, use_deadline);
 *     status = remote_use_ref(&use, pattern, root.path);
 *     rc = use.library.pull(use.remote, use.ref, ...);
 *     if (rc != 0)
 *             status = remote_use_failed(&use, rc, &err, use.ref);
 */
struct remote_use {
	struct cli *cli;
	struct config config;
	struct remote_library library;
	uint64_t begin_ms; /* of CLOCK_MONOTONIC */
	struct deadline deadline;
	struct tkb_watch watch;    /* cancels at the deadline or a signal */
	struct tkb_remote *remote; /* owned */
	struct policy policy;      /* the policy; by default none */
	char ref[TKB_REF_SIZE];
	bool is_keyless;         /* push to the inbox of the policy */
	char base[TKB_REF_SIZE]; /* with an inbox: the ref that the user gave;
	                            else "" */
	struct progress waiting; /* zeroed: no progress is shown */
};

/*
 * Load the configuration, start the deadline, open the remote, which makes no
 * connection yet, and print the warnings about it; with --verbose also which
 * certificates TLS trusts.
 *
 * @param is_bounded  whether the configured deadline is used, too, or only the
 *                    one on the command line
 * @return STATUS_DONE, STATUS_USAGE or STATUS_FAILED; failures were printed
 */
enum status remote_use_begin(struct remote_use *use,
                             const struct arguments *args, bool is_bounded);

/*
 * Open the remote of the configuration, which must be loaded; the deadline must
 * have begun. Returns like remote_use_open(); the error says where the URL
 * comes from.
 */
TKB_NODISCARD int remote_use_open_configured(struct remote_use *use,
                                             struct tkb_error *err);

/*
 * Load the library and open a remote by its URLs. This makes no connection.
 * Warnings about the remote are printed.
 *
 * @param options  NULL: the defaults
 * @return 0, or a failure of tkb_remote_open(), or TKB_ERR_IO
 */
TKB_NODISCARD int remote_use_open(struct remote_use *use, const char *urls,
                                  const struct tkb_remote_options *options,
                                  struct tkb_error *err);

/* For TKB_AUTO; a zeroed one is allowed. */
void remote_use_end(struct remote_use *use);

/*
 * Fill in use->ref.
 *
 * @param pattern  the ref as the user gave it; NULL or "-": the configured one
 * @param root     the cache whose kernels may give values for placeholders
 */
enum status remote_use_ref(struct remote_use *use, const char *pattern,
                           const char *root);

/*
 * Choose the cache and, with `has_ref`, the ref, from the operands of push and
 * pull, and begin the document. If is_keyless is set and the policy has an
 * inbox, the ref is the one in the inbox.
 *
 * @param file  a bundle to use instead of the cache, or NULL
 */
enum status remote_use_choose(struct remote_use *use,
                              const struct arguments *args, bool has_ref,
                              const char *file, struct root *root);

/*
 * Call these before and after a call that only waits for the remote: a terminal
 * shows for how long. Print nothing in between.
 */
void remote_use_wait(struct remote_use *use);
void remote_use_waited(struct remote_use *use);

/* The time until the deadline, for options of the library; 0: no deadline. */
uint32_t remote_use_left_ms(const struct remote_use *use);

/* Like follow_begin(); the work ends at the deadline, too. */
const struct tkb_watch *remote_use_follow(struct remote_use *use,
                                          struct follow *follow,
                                          const char *name,
                                          enum follow_list list);

/*
 * Like follow_begin_alone(), with progress in items; the work ends at the
 * deadline, too.
 */
const struct tkb_watch *remote_use_follow_alone(struct remote_use *use,
                                                struct follow *follow);

/*
 * Like cli_failed(), but the message names the deadline if that ended the work,
 * and the remote if something is absent.
 */
enum status remote_use_failed(struct remote_use *use, int rc,
                              const struct tkb_error *err, const char *subject);

/*
 * With a policy, print who signed the records of the ref that it trusts, add
 * that to the document, and warn of signatures and lists that expire soon.
 *
 * @param out  NULL: print as messages
 */
void remote_use_signatures(struct remote_use *use, bool is_shown, FILE *out);

/*
 * Warn if the policy accepts no signature of these keys for the ref: see
 * acceptance_warn().
 */
void remote_use_warn(const struct remote_use *use,
                     const struct tkb_signing *signing, bool is_image);

/* Print which command repairs a damaged remote. */
void remote_use_say_repair(const struct remote_use *use);

/*
 * Add the metrics that every verb has, and write them to the file of --metrics,
 * except in a dry run. A failure to write counts only if nothing else failed.
 *
 * @return `status`, or STATUS_FAILED
 */
enum status remote_use_measure(const struct remote_use *use,
                               const struct arguments *args,
                               struct metrics *metrics, enum status status);

/*
 * The tiers' names, joined by commas. The caller frees it; NULL: out of memory.
 */
char *remote_use_name(const struct remote_use *use);

/* Add the tiers' names to the document as a list. */
void remote_use_json(struct remote_use *use);

#endif

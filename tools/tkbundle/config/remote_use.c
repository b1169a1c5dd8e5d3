/* SPDX-License-Identifier: Apache-2.0 */
#include "config/remote_use.h"

#include <stdlib.h>
#include <string.h>

#include "cli/signals.h"
#include "cli/text.h"
#include "trust/acceptance.h"
#include "trust/signed.h"

static void print_warnings(const struct remote_use *use)
{
	const struct remote_library *const library = &use->library;

	for (size_t i = 0; i < library->tier_count(use->remote); i++) {
		const char *const warning =
			library->tier_warning(use->remote, i);

		if (warning != NULL)
			cli_say(use->cli, "remote '%s': %s",
			        library->tier_name(use->remote, i), warning);
	}
}

/* Print which authorities TLS trusts, for each tier that has TLS. */
static void say_trust(const struct remote_use *use)
{
	const struct remote_library *const library = &use->library;
	char authorities[TKB_AUTHORITIES_SIZE];

	for (size_t i = 0; i < library->tier_count(use->remote); i++) {
		if (library->tier_authorities(use->remote, i, authorities))
			cli_say(use->cli, "remote '%s': TLS trusts %s",
			        library->tier_name(use->remote, i),
			        authorities);
	}
}

int remote_use_open(struct remote_use *use, const char *urls,
                    const struct tkb_remote_options *options,
                    struct tkb_error *err)
{
	int rc;

	rc = remote_library_load(&use->library, err);
	if (rc == 0)
		rc = use->library.open(urls, options, &use->remote, err);
	/*
	 * Report an unknown scheme like an unknown parameter: both are mistakes
	 * of the user.
	 */
	if (rc == TKB_ERR_UNSUPPORTED) {
		rc = TKB_ERR_INVALID;
		err->status = rc;
	}
	if (rc == 0)
		print_warnings(use);
	return rc;
}

static const char waits_for[] = "asking the remote";

/* The library calls this repeatedly while it waits, from any thread. */
static bool is_use_cancelled(void *self)
{
	struct remote_use *const use = self;

	progress_tick(&use->waiting);
	return deadline_is_cancelled(&use->deadline);
}

int remote_use_open_configured(struct remote_use *use, struct tkb_error *err)
{
	const struct config_value *const values = use->config.values;
	struct tkb_remote_options options = {
		.struct_size = sizeof(options),
		.timeout_ms = (uint32_t)values[CONFIG_TIMEOUT].number,
		.connect_timeout_ms =
			(uint32_t)values[CONFIG_CONNECT_TIMEOUT].number,
		.stall_timeout_ms =
			(uint32_t)values[CONFIG_STALL_TIMEOUT].number,
		.watch = &use->watch,
		.fallback_cafile = cli_variable("TKBUNDLE_FALLBACK_CAFILE"),
	};
	struct tkb_error fault = { .status = 0 };
	int rc;

	use->watch = (struct tkb_watch){ .struct_size = sizeof(use->watch),
		                         .self = use,
		                         .is_cancelled = is_use_cancelled };
	rc = remote_library_load(&use->library, err);
	if (rc == 0)
		rc = policy_load(&use->policy, use->cli, &use->library,
		                 values[CONFIG_TRUST].text, err);
	if (rc != 0)
		return rc;
	options.trust = policy_trust(&use->policy);
	rc = remote_use_open(use, values[CONFIG_REMOTE].text, &options, &fault);

	/*
	 * An invalid URL may hold a password: name the place where it was
	 * given.
	 */
	if (rc != 0)
		(void)cli_error(err, fault.status, "%.100s: %.400s",
		                values[CONFIG_REMOTE].origin, fault.message);
	return rc;
}

enum status remote_use_begin(struct remote_use *use,
                             const struct arguments *args, bool is_bounded)
{
	const struct config_value *const values = use->config.values;
	struct tkb_error err = { .status = 0 };
	int rc;

	use->begin_ms = deadline_now_ms();
	rc = config_load(args, &use->config, &err);
	if (rc != 0)
		return cli_failed(use->cli, rc, &err, "the configuration");
	if (values[CONFIG_REMOTE].text == NULL)
		return cli_misused(use->cli,
		                   "no remote is named: '--remote URL', "
		                   "TKBUNDLE_REMOTE, or 'remote = URL' in "
		                   "~/.config/tkbundle/config names one");

	if (is_bounded)
		deadline_begin(&use->deadline, values[CONFIG_DEADLINE].number);
	else
		deadline_begin(&use->deadline, args->deadline.value);
	rc = remote_use_open_configured(use, &err);
	if (rc != 0)
		return cli_failed(use->cli, rc, &err, "the remote");
	if (args->is_verbose)
		say_trust(use);
	return STATUS_DONE;
}

void remote_use_end(struct remote_use *use)
{
	if (use->remote != NULL)
		use->library.close(use->remote);
	policy_release(&use->policy, &use->library);
	config_release(&use->config);
	use->remote = NULL;
}

enum status remote_use_ref(struct remote_use *use, const char *pattern,
                           const char *root)
{
	const struct tkb_ref_facts facts = { .struct_size = sizeof(facts),
		                             .cache_root = root,
		                             .watch = &use->watch };
	struct tkb_error err = { .status = 0 };
	int rc;

	if (pattern == NULL || strcmp(pattern, "-") == 0)
		pattern = use->config.values[CONFIG_REF].text;
	if (pattern == NULL)
		return cli_misused(use->cli,
		                   "no ref is named: REF, TKBUNDLE_REF, or "
		                   "'ref = REF' in ~/.config/tkbundle/config "
		                   "names one");
	rc = use->library.ref_expand(pattern, &facts, use->ref, &err);
	if (rc != 0)
		return remote_use_failed(use, rc, &err, pattern);
	return STATUS_DONE;
}

/* Go to the inbox, unless the ref is there. */
static enum status divert(struct remote_use *use)
{
	const char *const inbox = use->policy.inbox;
	const size_t length = inbox != NULL ? strlen(inbox) : 0;

	if (inbox == NULL ||
	    (strncmp(use->ref, inbox, length) == 0 && use->ref[length] == '/'))
		return STATUS_DONE;
	if (length + 1 + strlen(use->ref) >= sizeof(use->ref))
		return cli_misused(use->cli,
		                   "'%s/%s', the ref's name in the inbox, is "
		                   "longer than %d bytes",
		                   inbox, use->ref, TKB_REF_SIZE - 1);
	(void)stpcpy(use->base, use->ref);
	(void)stpcpy(stpcpy(stpcpy(use->ref, inbox), "/"), use->base);
	return STATUS_DONE;
}

enum status remote_use_choose(struct remote_use *use,
                              const struct arguments *args, bool has_ref,
                              const char *file, struct root *root)
{
	struct json_out *const json = &use->cli->json;
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	int rc = 0;

	/*
	 * With a file, the cache's root is only needed for placeholders of the
	 * ref.
	 */
	if (file == NULL || root_has_default())
		rc = root_choose_all(args, args_operand(args, 1), root, &err);
	if (rc != 0)
		return cli_failed(use->cli, rc, &err, "~");
	if (has_ref)
		status = remote_use_ref(use, args_operand(args, 0),
		                        root_name(root));
	if (status == STATUS_DONE && has_ref && use->is_keyless)
		status = divert(use);
	if (status != STATUS_DONE)
		return status;

	json_out_text(json, "ref", has_ref ? use->ref : NULL);
	remote_use_json(use);
	json_out_text(json, file != NULL ? "bundle" : "root",
	              file != NULL ? file : root_name(root));
	json_out_flag(json, "dry_run", args->is_dry_run);
	return STATUS_DONE;
}

const struct tkb_watch *remote_use_follow(struct remote_use *use,
                                          struct follow *follow,
                                          const char *name,
                                          enum follow_list list)
{
	const struct tkb_watch *const watch =
		follow_begin(follow, use->cli, name, list);

	follow->progress.waits_for = waits_for;
	follow->deadline = &use->deadline;
	return watch;
}

const struct tkb_watch *remote_use_follow_alone(struct remote_use *use,
                                                struct follow *follow)
{
	const struct tkb_watch *const watch =
		follow_begin_alone(follow, use->cli);

	follow->progress.waits_for = waits_for;
	follow->progress.is_count = true;
	follow->deadline = &use->deadline;
	return watch;
}

uint32_t remote_use_left_ms(const struct remote_use *use)
{
	const uint32_t left = deadline_left_ms(&use->deadline, UINT32_MAX);

	if (use->deadline.time_ms == 0)
		return 0;
	return left == 0 ? 1 : left;
}

void remote_use_wait(struct remote_use *use)
{
	progress_init(&use->waiting, use->cli->log, use->cli->is_tty);
	use->waiting.waits_for = waits_for;
}

void remote_use_waited(struct remote_use *use)
{
	progress_erase(&use->waiting);
	use->waiting.is_tty = false;
}

/*
 * The offset in the message where it says that a watch or a deadline ended the
 * work; 0 if it does not.
 */
static size_t find_end(const char *message)
{
	static const char *const ends[] = { "cancelled", "the deadline of " };

	for (size_t i = 0; i < TKB_COUNT_OF(ends); i++) {
		const char *const found = strstr(message, ends[i]);

		if (found != NULL)
			return (size_t)(found - message);
	}
	return 0;
}

/* Keep the beginning of the message, which may name the remote. */
static void blame_deadline(const struct remote_use *use, struct tkb_error *err)
{
	const struct tkb_error own = *err;
	char time[TEXT_TIME_SIZE];

	text_time(use->deadline.time_ms, time);
	(void)cli_error(err, TKB_ERR_CANCELLED,
	                "%.*sthe deadline of %s ended it",
	                (int)find_end(own.message), own.message, time);
}

enum status remote_use_failed(struct remote_use *use, int rc,
                              const struct tkb_error *err, const char *subject)
{
	TKB_AUTO(text_free) char *name = remote_use_name(use);
	struct tkb_error own = *err;

	if (rc == TKB_ERR_CANCELLED && !signals_is_caught())
		blame_deadline(use, &own);
	/* The library has no message for a ref without records. */
	if (rc == TKB_MISS && own.message[0] == '\0')
		(void)cli_error(&own, TKB_MISS, "ref '%s' has no record",
		                use->ref);
	if (rc == TKB_MISS && name != NULL) {
		const struct tkb_error bare = own;

		(void)cli_error(&own, TKB_MISS, "%.300s in '%.200s'",
		                bare.message, name);
	}
	return cli_failed(use->cli, rc, &own, subject);
}

void remote_use_signatures(struct remote_use *use, bool is_shown, FILE *out)
{
	const struct signed_list *const list = &use->policy.trusted;

	if (policy_trust(&use->policy) == NULL)
		return;
	signed_list_json(list, use->ref, &use->cli->json);
	if (is_shown)
		signed_list_print(list, use->ref, use->cli, out);
	signed_list_warn(list, use->ref, use->cli);
	revoked_lists_warn(&use->policy.lists, use->cli);
}

void remote_use_warn(const struct remote_use *use,
                     const struct tkb_signing *signing, bool is_image)
{
	const struct acceptance of = { .policy = &use->policy,
		                       .library = &use->library,
		                       .remote = use->remote,
		                       .ref = use->ref,
		                       .is_image = is_image };

	acceptance_warn(&of, signing);
}

void remote_use_say_repair(const struct remote_use *use)
{
	cli_say(use->cli,
	        "'tkbundle verify --remote ... --repair' drops what "
	        "of the remote is damaged, and the next push brings it "
	        "again");
}

enum status remote_use_measure(const struct remote_use *use,
                               const struct arguments *args,
                               struct metrics *metrics, enum status status)
{
	struct tkb_error err = { .status = 0 };

	if (args->metrics == NULL || args->is_dry_run)
		return status;
	metrics_add_end(metrics, status == STATUS_DONE,
	                deadline_now_ms() - use->begin_ms);
	if (metrics_write(metrics, args->metrics, &err) == 0)
		return status;
	cli_say(use->cli, "%s", err.message);
	return status == STATUS_DONE ? STATUS_FAILED : status;
}

char *remote_use_name(const struct remote_use *use)
{
	const struct remote_library *const library = &use->library;
	const size_t count =
		use->remote != NULL ? library->tier_count(use->remote) : 0;
	size_t size = 1;
	char *name;
	char *at;

	for (size_t i = 0; i < count; i++)
		size += strlen(library->tier_name(use->remote, i)) + 1;
	name = calloc(1, size);
	at = name;
	for (size_t i = 0; name != NULL && i < count; i++)
		at = stpcpy(stpcpy(at, i > 0 ? "," : ""),
		            library->tier_name(use->remote, i));
	return name;
}

void remote_use_json(struct remote_use *use)
{
	struct json_out *const json = &use->cli->json;

	json_out_open_array(json, "remotes");
	for (size_t i = 0; i < use->library.tier_count(use->remote); i++)
		json_out_text(json, NULL,
		              use->library.tier_name(use->remote, i));
	json_out_close(json);
}

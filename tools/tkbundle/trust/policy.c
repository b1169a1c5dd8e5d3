/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trust/config_file.h"
#include "cli/text.h"
#include "trust/key_file.h"

enum {
	KEYS_LIMIT = 64,
	PATTERNS_LIMIT = 64
};

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789_-"

/* Words of a line, which point into `text`. */
struct patterns {
	char *text; /* owned */
	const char *items[PATTERNS_LIMIT];
	size_t count;
};

/* The lines about a key. */
struct policy_key {
	char *name;          /* owned */
	struct tkb_key *key; /* owned */
	struct patterns publish;
	struct patterns promote;
	uint64_t not_after_s;
	bool is_revoker;
};

void policy_release(struct policy *policy, const struct remote_library *library)
{
	for (size_t i = 0; i < policy->key_count; i++) {
		struct policy_key *const key = &policy->keys[i];

		if (key->key != NULL)
			library->key_close(key->key);
		free(key->name);
		free(key->publish.text);
		free(key->promote.text);
	}
	signed_list_release(&policy->trusted);
	free(policy->keys);
	free(policy->trust_keys);
	free(policy->path);
	free(policy->memory);
	free(policy->inbox);
	*policy = (struct policy){ .path = NULL };
}

/* The state while a file is read. */
struct reading {
	struct policy *policy;
	const struct remote_library *library;
	size_t line;
	uint32_t threshold;
	uint32_t promote_threshold;
	bool has_unsigned;
	bool has_replay;
};

static int refuse_line(const struct reading *reading, const char *name,
                       const char *what, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_INVALID, "%.300s:%zu: '%.80s' %s",
	                 reading->policy->path, reading->line, name, what);
}

/* Find the key with this name, or add it. */
static int find_key(struct reading *reading, const char *name,
                    struct policy_key **out, struct tkb_error *err)
{
	struct policy *const policy = reading->policy;

	for (size_t i = 0; i < policy->key_count; i++) {
		if (strcmp(policy->keys[i].name, name) == 0) {
			*out = &policy->keys[i];
			return 0;
		}
	}
	if (name[0] == '\0' || name[strspn(name, NAME_CHARS)] != '\0')
		return refuse_line(reading, name, "cannot be a key's name",
		                   err);
	if (policy->key_count == KEYS_LIMIT)
		return refuse_line(reading, name, "is one key too many", err);
	*out = &policy->keys[policy->key_count];
	(*out)->name = strdup(name);
	if ((*out)->name == NULL)
		return cli_error_nomem(err);
	policy->key_count++;
	return 0;
}

/* Whoever can write the file of a key can change the policy. */
static int check_owner(const struct reading *reading, const char *path,
                       struct tkb_error *err)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return 0;
	if (status.st_uid != 0 && status.st_uid != geteuid())
		return refuse_line(reading, path, "belongs to somebody else",
		                   err);
	if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	return cli_error(err, TKB_ERR_INVALID,
	                 "%.150s:%zu: '%.150s' may be written by %s: 'chmod "
	                 "go-w %.150s' corrects that",
	                 reading->policy->path, reading->line, path,
	                 (status.st_mode & S_IWOTH) != 0 ? "anybody"
	                                                 : "its group",
	                 path);
}

static int read_key(struct reading *reading, struct policy_key *key,
                    const char *value, struct tkb_error *err)
{
	TKB_AUTO(text_free)
	char *path = text_beside(reading->policy->path, value);
	const char *const name = key->name;
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	int rc;

	if (path == NULL)
		return cli_error_nomem(err);
	if (key->key != NULL)
		return refuse_line(reading, name, "has two keys", err);
	rc = check_owner(reading, path, err);
	if (rc == 0)
		rc = key_file_read(reading->policy->cli, reading->library, path,
		                   NULL, &key->key, err);
	if (rc == TKB_MISS)
		return cli_error(err, TKB_MISS,
		                 "%.200s:%zu: there is no key '%.200s'",
		                 reading->policy->path, reading->line, path);
	if (rc == 0)
		rc = reading->library->key_look(key->key, &info, err);
	if (rc == 0 && info.is_private)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.300s' is a private key, which no policy "
		                 "should hold: name its public one",
		                 path);
	return rc;
}

static int read_patterns(const struct reading *reading,
                         struct patterns *patterns, const char *name,
                         const char *value, struct tkb_error *err)
{
	char *rest;

	if (patterns->text != NULL)
		return refuse_line(reading, name, "is set here twice", err);
	patterns->text = strdup(value);
	rest = patterns->text;
	if (rest == NULL)
		return cli_error_nomem(err);
	while (rest != NULL) {
		const char *const word = strsep(&rest, " \t");

		if (word[0] == '\0')
			continue;
		if (patterns->count == PATTERNS_LIMIT)
			return refuse_line(reading, name,
			                   "has too many patterns", err);
		patterns->items[patterns->count++] = word;
	}
	if (patterns->count == 0)
		return refuse_line(reading, name, "wants a pattern of refs",
		                   err);
	return 0;
}

static int read_revoke(const struct reading *reading, struct policy_key *key,
                       const char *value, struct tkb_error *err)
{
	if (strcmp(value, "yes") != 0)
		return refuse_line(reading, "revoke", "wants 'yes'", err);
	key->is_revoker = true;
	return 0;
}

static int read_role(struct reading *reading, const char *name,
                     const char *word, const char *value, struct tkb_error *err)
{
	struct policy_key *key = NULL;
	int rc;

	rc = find_key(reading, name, &key, err);
	if (rc != 0)
		return rc;
	if (strcmp(word, "key") == 0)
		return read_key(reading, key, value, err);
	if (strcmp(word, "publish") == 0)
		return read_patterns(reading, &key->publish, word, value, err);
	if (strcmp(word, "promote") == 0)
		return read_patterns(reading, &key->promote, word, value, err);
	if (strcmp(word, "revoke") == 0)
		return read_revoke(reading, key, value, err);
	if (strcmp(word, "not-after") != 0)
		return refuse_line(reading, word, "is not known", err);
	if (key->not_after_s != 0)
		return refuse_line(reading, word, "is set here twice", err);
	return reading->library->date_parse(value, &key->not_after_s)
	               ? 0
	               : refuse_line(reading, value,
	                             "is not a time such as "
	                             "2027-06-30T00:00:00Z",
	                             err);
}

static int read_threshold(const struct reading *reading, const char *name,
                          const char *value, uint32_t *out,
                          struct tkb_error *err)
{
	char *end = NULL;
	const unsigned long number = strtoul(value, &end, 10);

	if (*out != 0)
		return refuse_line(reading, name, "is set here twice", err);
	/* strtoul() alone would accept a sign. */
	if (value[0] < '0' || value[0] > '9' || *end != '\0' || number == 0 ||
	    number > KEYS_LIMIT)
		return refuse_line(reading, name, "wants a number from 1 to 64",
		                   err);
	*out = (uint32_t)number;
	return 0;
}

static int read_unsigned(struct reading *reading, const char *name,
                         const char *value, struct tkb_error *err)
{
	uint32_t word = 0;

	if (reading->has_unsigned)
		return refuse_line(reading, name, "is set here twice", err);
	if (!args_find_word(value, "refuse|warn|accept", &word))
		return refuse_line(reading, name,
		                   "wants 'refuse', 'warn' or 'accept'", err);
	reading->has_unsigned = true;
	reading->policy->trust.unsigned_records = (enum tkb_unsigned)word;
	return 0;
}

static int read_replay(struct reading *reading, const char *name,
                       const char *value, struct tkb_error *err)
{
	uint32_t word = 0;

	if (reading->has_replay)
		return refuse_line(reading, name, "is set here twice", err);
	if (!args_find_word(value, "accept|refuse", &word))
		return refuse_line(reading, name, "wants 'refuse' or 'accept'",
		                   err);
	reading->has_replay = true;
	reading->policy->trust.is_replay_refused = word == 1;
	return 0;
}

static int read_inbox(struct reading *reading, const char *name,
                      const char *value, struct tkb_error *err)
{
	if (reading->policy->inbox != NULL)
		return refuse_line(reading, name, "is set here twice", err);
	/* Refs whose names begin with @ hold no kernels. */
	if (value[0] == '@' || !reading->library->ref_is_valid(value))
		return refuse_line(reading, value,
		                   "cannot be the beginning of refs", err);
	reading->policy->inbox = strdup(value);
	return reading->policy->inbox != NULL ? 0 : cli_error_nomem(err);
}

static int on_line(void *self, const char *path, size_t line, char *name,
                   char *value, struct tkb_error *err)
{
	struct reading *const reading = self;
	char *const dot = strchr(name, '.');

	(void)path;
	reading->line = line;
	if (name[0] == '\0')
		return cli_error(err, TKB_ERR_INVALID,
		                 "%.300s:%zu: this is no 'name = value'",
		                 reading->policy->path, line);
	if (dot != NULL) {
		*dot = '\0';
		return read_role(reading, name, dot + 1, value, err);
	}
	if (strcmp(name, "unsigned") == 0)
		return read_unsigned(reading, name, value, err);
	if (strcmp(name, "replay") == 0)
		return read_replay(reading, name, value, err);
	if (strcmp(name, "inbox") == 0)
		return read_inbox(reading, name, value, err);
	if (strcmp(name, "threshold") == 0)
		return read_threshold(reading, name, value, &reading->threshold,
		                      err);
	if (strcmp(name, "promote-threshold") == 0)
		return read_threshold(reading, name, value,
		                      &reading->promote_threshold, err);
	return refuse_line(reading, name, "is not known", err);
}

static void on_untrusted(void *self, const struct tkb_untrusted *record)
{
	struct policy *const policy = self;

	if (record->record == NULL)
		signed_list_forget(&policy->trusted, record->ref);
	policy->refused_count += !record->is_used;
	/*
	 * The error of the call already names the first record that is not
	 * used.
	 */
	if ((record->is_used || policy->refused_count > 1 ||
	     policy->says_all) &&
	    !policy->is_quiet)
		cli_say(policy->cli, "%s%s", record->message,
		        record->is_used ? "; it is used anyway" : "");
}

static void on_trusted(void *self, const struct tkb_trusted *record)
{
	struct policy *const policy = self;

	signed_list_add(&policy->trusted, record);
}

static void on_revoked_list(void *self, const struct tkb_revoked_list *list)
{
	struct policy *const policy = self;

	revoked_lists_add(&policy->lists, list);
}

/* Convert the policy into the library's struct. */
static int finish_policy(struct policy *policy, const struct reading *reading,
                         struct tkb_error *err)
{
	for (size_t i = 0; i < policy->key_count; i++) {
		const struct policy_key *const key = &policy->keys[i];

		if (key->key == NULL)
			return cli_error(err, TKB_ERR_INVALID,
			                 "%.300s: there is no '%s.key'",
			                 policy->path, key->name);
		policy->trust_keys[i] = (struct tkb_trust_key){
			.key = key->key,
			.name = key->name,
			.publish = key->publish.items,
			.publish_count = key->publish.count,
			.promote = key->promote.items,
			.promote_count = key->promote.count,
			.not_after_s = key->not_after_s,
			.is_revoker = key->is_revoker,
		};
	}
	policy->trust.struct_size = sizeof(policy->trust);
	policy->trust.keys = policy->trust_keys;
	policy->trust.key_count = policy->key_count;
	policy->trust.threshold = reading->threshold;
	policy->trust.promote_threshold = reading->promote_threshold;
	policy->trust.memory = policy->memory;
	policy->trust.inbox = policy->inbox;
	policy->trust.on_untrusted = on_untrusted;
	policy->trust.on_trusted = on_trusted;
	policy->trust.on_revoked_list = on_revoked_list;
	policy->trust.self = policy;
	return 0;
}

/*
 * Without a policy, nothing is checked: a link that leads nowhere is there, and so is
 * what cannot be looked at. But in a container the home folder may belong to another
 * user.
 */
static bool is_policy_at(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR && errno != EACCES);
}

int policy_find(const char *named, char **out, struct tkb_error *err)
{
	static const char machine[] = "/etc/tkbundle.trust";
	const char *const xdg = cli_variable("XDG_CONFIG_HOME");
	const char *const home = cli_variable("HOME");

	*out = NULL;
	if (named != NULL)
		*out = strdup(named);
	else if (xdg != NULL && xdg[0] == '/')
		*out = text_format("%s/tkbundle/trust", xdg);
	else if (home != NULL)
		*out = text_format("%s/.config/tkbundle/trust", home);
	else
		*out = strdup(machine);
	if (*out == NULL)
		return cli_error_nomem(err);
	if (named != NULL || is_policy_at(*out))
		return 0;
	free(*out);
	*out = is_policy_at(machine) ? strdup(machine) : NULL;
	return 0;
}

static bool has_revoker(const struct policy *policy)
{
	for (size_t i = 0; i < policy->key_count; i++) {
		if (policy->keys[i].is_revoker)
			return true;
	}
	return false;
}

/*
 * The file that remembers the sequence numbers that were seen, if needed; it is
 * in the folder for state.
 */
static int find_memory(struct policy *policy, struct tkb_error *err)
{
	const char *const xdg = cli_variable("XDG_STATE_HOME");
	const char *const home = cli_variable("HOME");

	if (!policy->trust.is_replay_refused && !has_revoker(policy))
		return 0;
	if (xdg != NULL && xdg[0] == '/')
		policy->memory = text_format("%s/tkbundle/seen", xdg);
	else if (home != NULL && home[0] == '/')
		policy->memory =
			text_format("%s/.local/state/tkbundle/seen", home);
	else
		return cli_error(err, TKB_ERR_INVALID,
		                 "%.300s: HOME and XDG_STATE_HOME name no "
		                 "place to remember what was seen",
		                 policy->path);
	return policy->memory != NULL ? 0 : cli_error_nomem(err);
}

int policy_load(struct policy *policy, struct cli *cli,
                const struct remote_library *library, const char *named,
                struct tkb_error *err)
{
	struct reading reading = { .policy = policy, .library = library };
	const struct config_file_visitor visitor = { on_line, &reading };
	int rc;

	policy->cli = cli;
	rc = policy_find(named, &policy->path, err);
	if (rc != 0 || policy->path == NULL)
		return rc;
	policy->keys = calloc(KEYS_LIMIT, sizeof(*policy->keys));
	policy->trust_keys = calloc(KEYS_LIMIT, sizeof(*policy->trust_keys));
	if (policy->keys == NULL || policy->trust_keys == NULL)
		return cli_error_nomem(err);
	rc = config_file_read(policy->path, CONFIG_FILE_POLICY, &visitor, err);
	if (rc == 0)
		rc = find_memory(policy, err);
	return rc == 0 ? finish_policy(policy, &reading, err) : rc;
}

const struct tkb_trust *policy_trust(const struct policy *policy)
{
	return policy->path != NULL ? &policy->trust : NULL;
}

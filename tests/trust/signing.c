/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

static const char *const all[] = { "*" };

struct tkb_key *make_key(void)
{
	return test_key(TKB_KEY_KIND_ED25519);
}

struct tkb_signing *signing_with(const struct tkb_key *key)
{
	const struct tkb_key **kept = test_alloc(sizeof(*kept));
	struct tkb_signing *signing = test_alloc(sizeof(*signing));

	*kept = key;
	*signing = CHOSEN(tkb_signing, .keys = kept, .key_count = 1);
	return signing;
}

struct tkb_sign_options sign_with(const struct tkb_key *key,
                                  enum tkb_trust_stage stage)
{
	struct tkb_signing *signing = signing_with(key);

	signing->stage = stage;
	return CHOSEN(tkb_sign_options, .signing = signing);
}

struct tkb_push_report push_signed(struct tkb_remote *remote, const char *root,
                                   const struct tkb_key *key)
{
	return push_with(
		remote, root,
		CHOSEN(tkb_push_options, .signing = signing_with(key)));
}

struct tkb_pull_report pulled;

int pull_ref(struct tkb_remote *remote, const char *ref, const char *name)
{
	pulled = DEFAULTS(tkb_pull_report);
	return tkb_pull(remote, ref, text("%s/%s", test_folder(), name), NULL,
	                &pulled, ERR);
}

int pull_from(struct tkb_remote *remote, const char *name)
{
	return pull_ref(remote, REF, name);
}

struct fleet *arrange_fleet(struct tkb_trust_key second, const char *memory)
{
	struct fleet *fleet = test_alloc(sizeof(*fleet));
	const struct tkb_remote_options options = { SIZED(options),
		                                    .trust = &fleet->trust };

	*fleet = (struct fleet){ .ci = make_key(), .second = make_key() };
	fleet->keys[0] = (struct tkb_trust_key){ .key = fleet->ci,
		                                 .name = "ci",
		                                 .publish = all,
		                                 .publish_count = 1 };
	fleet->keys[1] = second;
	fleet->keys[1].key = fleet->second;
	fleet->trust =
		(struct tkb_trust){ SIZED(fleet->trust), .keys = fleet->keys,
		                    .key_count = 2, .memory = memory };
	fleet->remote = open_spy(spy_url("remote"));
	fleet->strict = open_spy_with(spy_url("remote"), options);
	return fleet;
}

struct fleet *with_pool(struct fleet *fleet)
{
	(void)push_signed(fleet->remote, pool(), fleet->ci);
	return fleet;
}

static void count_untrusted(void *self, const struct tkb_untrusted *record)
{
	struct rule *rule = self;

	CHECK_STR(record->ref, REF);
	rule->warned += record->is_used;
	rule->refused += !record->is_used;
}

struct tkb_remote *open_under(const char *name, struct rule *rule,
                              const struct tkb_key *key, enum tkb_unsigned mode)
{
	struct tkb_remote_options options = { SIZED(options),
		                              .trust = &rule->trust };

	*rule = (struct rule){
		.key = { .key = key,
		         .name = "ci",
		         .publish = all,
		         .publish_count = 1 },
		.trust = { SIZED(rule->trust), .keys = &rule->key,
		           .key_count = 1, .unsigned_records = mode,
		           .on_untrusted = count_untrusted, .self = rule },
	};
	return open_spy_with(spy_url(name), options);
}

static int keep_text(void *self, const struct tkb_digest *digest,
                     struct tkb_bytes bytes, uint64_t age_s,
                     struct tkb_error *err)
{
	struct tkb_buf *buf = self;

	(void)digest, (void)age_s, (void)err;
	tkb_buf_reset(buf);
	tkb_buf_add(buf, bytes);
	return 0;
}

struct tkb_bytes only_text(struct tkb_remote *remote, const char *name)
{
	struct tkb_buf *buf = test_buf(TKB_MIB);
	const struct tkb_record_visitor visitor = { .on_record = keep_text,
		                                    .self = buf };

	OK(tkb_remote_records(remote, name, &visitor, ERR));
	return tkb_buf_bytes(buf);
}

static int count_one(void *self, const struct tkb_digest *digest,
                     struct tkb_bytes bytes, uint64_t age_s,
                     struct tkb_error *err)
{
	(void)digest, (void)bytes, (void)age_s, (void)err;
	(*(unsigned *)self)++;
	return 0;
}

unsigned count_under(struct tkb_remote *remote, const char *name)
{
	unsigned count = 0;
	const struct tkb_record_visitor visitor = { .on_record = count_one,
		                                    .self = &count };

	OK(tkb_remote_records(remote, name, &visitor, ERR));
	return count;
}

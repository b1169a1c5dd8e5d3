/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

#include <unistd.h>

#include "fake_http.h"
#include "nginx.h"
#include "registry.h"
#include "s3_fixture.h"

/* Signed refs and lists of what is revoked, in every kind of remote. */

#define PROD "prod/model"

enum {
	RECORDS = 33 /* a ref with so many is compacted */
};

static const char *const models[] = { "team/*" };
static const char *const products[] = { "prod/*" };

/* "ci" may publish; "release" may promote and revoke. */
static void arrange(struct fleet *fleet, const char *url)
{
	const struct tkb_remote_options options = { SIZED(options),
		                                    .trust = &fleet->trust };

	*fleet = (struct fleet){ .ci = make_key(),
		                 .second = test_key(TKB_KEY_KIND_P256) };
	fleet->keys[0] = (struct tkb_trust_key){ .key = fleet->ci,
		                                 .name = "ci",
		                                 .publish = models,
		                                 .publish_count = 1 };
	fleet->keys[1] = (struct tkb_trust_key){ .key = fleet->second,
		                                 .name = "release",
		                                 .promote = products,
		                                 .promote_count = 1,
		                                 .is_revoker = true };
	fleet->trust = (struct tkb_trust){
		SIZED(fleet->trust),
		.keys = fleet->keys,
		.key_count = 2,
		.memory = text("%s/seen", test_folder()),
		.is_replay_refused = true,
	};
	fleet->remote = must_open_remote(url, NULL);
	fleet->strict = must_open_remote(url, &options);
}

static void revoke_by(struct fleet *fleet, const struct tkb_digest *digest,
                      size_t count)
{

	OK(tkb_revoke(fleet->remote, digest, count, signing_with(fleet->second),
	              NULL, ERR));
}

/* Signed records become one, by a gc of whoever has signed them, and by nobody else. */
static void check_compaction(struct fleet *fleet)
{
	struct tkb_remote_gc_options options = { SIZED(options) };
	struct tkb_remote_gc_report report = { SIZED(report) };
	const struct tkb_push_options pushing = {
		SIZED(pushing), .signing = signing_with(fleet->ci),
		.is_compaction_off = true
	};

	for (unsigned i = count_under(fleet->remote, REF); i < RECORDS; i++)
		(void)push_with(fleet->remote,
		                autotunes(text("part-%u", i), i, i + 1),
		                pushing);
	OK(tkb_remote_gc(fleet->remote, &options, &report, ERR));
	CHECK_INT(report.compacted_count, 0);
	options.signing = signing_with(fleet->second);
	OK(tkb_remote_gc(fleet->remote, &options, &report, ERR));
	CHECK_INT(report.compacted_count, 0);
	CHECK_INT(count_under(fleet->remote, REF), RECORDS);
	options.signing = signing_with(fleet->ci);
	OK(tkb_remote_gc(fleet->remote, &options, &report, ERR));
	CHECK_INT(report.compacted_count, RECORDS);
	CHECK_INT(count_under(fleet->remote, REF), 1);
	CHECK_INT(pull_ref(fleet->strict, REF, "compacted"), 0);
	CHECK_INT(pulled.emitted_count, POOL + RECORDS - 2);
}

/* The whole life of a ref: pushed, signed, pulled, promoted, revoked. */
static void check_life(const char *url)
{
	const char *one = cache_of("one", (struct part){ 0, 10 });
	const char *other = cache_of("other", (struct part){ 10, POOL });
	struct tkb_sign_options options;
	struct tkb_key_info ci = { SIZED(ci) };
	struct fleet fleet;

	arrange(&fleet, url);
	(void)push_signed(fleet.remote, one, fleet.ci);
	FAILS(pull_ref(fleet.strict, REF, "cold"), TKB_ERR_UNTRUSTED,
	      "has no revocation list");
	revoke_by(&fleet, NULL, 0);
	CHECK_INT(pull_ref(fleet.strict, REF, "dev"), 0);
	CHECK_INT(pulled.emitted_count, 10);

	(void)push_all(fleet.remote, other);
	CHECK_INT(pull_ref(fleet.strict, REF, "dev"), TKB_ERR_UNTRUSTED);
	options = sign_with(fleet.ci, TKB_TRUST_STAGE_DEV);
	OK(tkb_ref_sign(fleet.remote, REF, &options, NULL, ERR));
	CHECK_INT(pull_ref(fleet.strict, REF, "dev"), 0);
	CHECK_INT(pulled.emitted_count, POOL - 10);

	CHECK_INT(pull_ref(fleet.strict, PROD, "prod"), TKB_MISS);
	options = sign_with(fleet.second, TKB_TRUST_STAGE_PROD);
	OK(tkb_ref_promote(fleet.strict, REF, PROD, &options, NULL, ERR));
	CHECK_INT(pull_ref(fleet.strict, PROD, "prod"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
	check_is_part(text("%s/prod", test_folder()), (struct part){ 0, POOL });

	check_compaction(&fleet);
	OK(tkb_key_look(fleet.ci, &ci, ERR));
	revoke_by(&fleet, &ci.id, 1);
	FAILS(pull_ref(fleet.strict, REF, "late"), TKB_ERR_UNTRUSTED,
	      "'ci' has signed it, whose key is revoked");
	CHECK_INT(pull_ref(fleet.strict, PROD, "still"), 0);
	/* Signatures of records that are gone go, and no list does. */
	OK(tkb_ref_delete(fleet.remote, REF, NULL, ERR));
	CHECK_INT(count_under(fleet.remote, SIGNED), 0);
	OK(tkb_remote_gc(fleet.remote, NULL, NULL, ERR));
	CHECK_INT(count_under(fleet.remote, "@revoked"), 1);
	CHECK_INT(pull_ref(fleet.strict, PROD, "again"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
}

TEST(trust, holds_in_a_folder)
{
	check_life(text("%s/remote", test_folder()));
}

TEST(trust, holds_in_redis)
{
	struct server server = start_redis("");

	check_life(text("redis://127.0.0.1:%u", server.port));
}

TEST(trust, holds_in_redis_by_a_socket_where_all_expires)
{
	struct server server = start_redis("");

	check_life(text("redis+unix://%s?ttl=1d", server.socket));
}

TEST(trust, holds_in_http)
{
	const struct server server = start_nginx(nginx_dav());

	check_life(text("http://127.0.0.1:%u/some/where", server.port));
}

TEST(trust, holds_in_webdav)
{
	if (nginx_dav_module()[0] == '\0')
		skip();
	const struct server server =
		start_nginx_with(nginx_dav_module(), nginx_webdav());

	check_life(text("http://127.0.0.1:%u", server.port));
}

TEST(trust, holds_in_http_with_a_document)
{
	const struct server server = start_web(0);

	check_life(text("http://127.0.0.1:%u/base", server.port));
}

TEST(trust, holds_in_s3)
{
	start_s3();
	check_life(s3_url(text("%s/some", new_bucket("trust")), ""));
}

TEST(trust, holds_in_a_registry)
{
	const struct server server = start_registry("");

	check_life(text("oci://127.0.0.1:%u/some/where", server.port));
}

TEST(trust, holds_behind_a_near_folder)
{
	struct server server = start_redis("");

	check_life(text("%s/near,redis://127.0.0.1:%u", test_folder(),
	                server.port));
}

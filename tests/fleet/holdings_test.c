/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <unistd.h>

#include <tkbundle/holdings.h>

#include "server.h"

/* What a ref holds, without fetching it. */

static struct tkb_holdings *look(struct tkb_remote *remote, int wanted)
{
	struct tkb_holdings *holdings = NULL;

	CHECK_INT(tkb_holdings_open(remote, REF, NULL, &holdings, ERR), wanted);
	CHECK(holdings != NULL);
	return holdings;
}

TEST(holdings, of_a_ref_has_each_entry_once_as_its_manifests_have_it)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_cache *cache = NULL;

	(void)push_part(remote, (struct part){ 0, 8 });
	(void)push_part(remote, (struct part){ 8, POOL });
	OK(tkb_collect_to_file(root, NULL, "pool.tkb", NULL, ERR));
	(void)push_bytes(remote, read_file("pool.tkb"));
	struct tkb_holdings *holdings = look(remote, 0);
	OK(tkb_cache_open(root, NULL, &cache, ERR));

	CHECK_INT(tkb_holdings_record_count(holdings), 3);
	CHECK_INT(tkb_holdings_item_count(holdings), POOL);
	for (size_t i = 0; i < POOL; i++) {
		const struct tkb_entry *entry =
			tkb_holdings_item(holdings, i)->entry;

		CHECK_STR(entry->key, tkb_cache_entry(cache, i)->key);
		CHECK_INT(tkb_entry_size(entry),
		          tkb_entry_size(tkb_cache_entry(cache, i)));
	}
	tkb_cache_close(cache);
	tkb_holdings_close(holdings);
}

TEST(holdings, lack_what_is_gone_and_say_so)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_error err = { 0 };
	struct tkb_holdings *holdings = NULL;
	size_t gone = 0;

	(void)push_part(remote, (struct part){ 0, 5 });
	(void)push_part(remote, (struct part){ 5, POOL });
	SYS(unlink(blob_of("remote", record_files("remote")[0])));
	CHECK_INT(tkb_holdings_open(remote, REF, NULL, &holdings, &err),
	          TKB_ERR_PARTIAL);

	CHECK_STR(err.message, "a blob of ref '" REF "' is gone");
	for (size_t i = 0; i < 2; i++) {
		const struct tkb_holdings_record *record =
			tkb_holdings_record(holdings, i);

		gone += record->is_gone ? record->entry_count : 0;
		CHECK(record->is_gone == (record->frame_count == 0));
	}
	CHECK_INT(tkb_holdings_item_count(holdings), POOL - gone);
	CHECK(gone == 5 || gone == POOL - 5);
	tkb_holdings_close(holdings);
}

TEST(holdings, of_a_ref_that_is_not_there_are_a_miss)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_holdings *holdings = NULL;

	CHECK_INT(tkb_holdings_open(remote, REF, NULL, &holdings, ERR),
	          TKB_MISS);
	CHECK(holdings == NULL);
}

TEST(holdings, believe_no_record_that_lists_less_than_its_bundle_has)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	OK(tkb_collect_to_file(pool(), NULL, "pool.tkb", NULL, ERR));
	(void)push_bytes(remote, read_file("pool.tkb"));
	const char *record = text(
		"%s", (const char *)read_file(record_files("remote")[0]).data);
	const char *second = strstr(record, "]],[\"") + 2;
	const char *rest = strstr(second, "]]],") + 2;

	OK(tkb_remote_add(
		remote, REF,
		tkb_text(text("%.*s%s", (int)(second - record), record, rest)),
		ERR));
	struct tkb_holdings *holdings = look(remote, 0);

	CHECK_INT(tkb_holdings_record_count(holdings), 2);
	CHECK_INT(tkb_holdings_item_count(holdings), POOL);
	tkb_holdings_close(holdings);
}

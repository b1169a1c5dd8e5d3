/* SPDX-License-Identifier: Apache-2.0 */
#include "signing.h"

#include <unistd.h>

/* Refs that are signed later, and refs that are promoted. */

#define PROD "prod/model"

static const char *const products[] = { "prod/*" };

/* "release" may promote. */
static struct fleet *arrange(void)
{
	return arrange_fleet((struct tkb_trust_key){ .name = "release",
	                                             .promote = products,
	                                             .promote_count = 1 },
	                     NULL);
}

static int promote(const struct fleet *fleet, struct tkb_sign_report *report)
{
	const struct tkb_sign_options options =
		sign_with(fleet->second, TKB_TRUST_STAGE_PROD);

	*report = DEFAULTS(tkb_sign_report);
	return tkb_ref_promote(fleet->strict, REF, PROD, &options, report, ERR);
}

TEST(sign, makes_a_ref_trusted_that_was_pushed_without_a_key)
{
	const char *root = pool();
	struct fleet *fleet = arrange();
	const struct tkb_sign_options options =
		sign_with(fleet->ci, TKB_TRUST_STAGE_DEV);
	struct tkb_sign_report report = { SIZED(report) };

	FAILS(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR),
	      TKB_MISS, "");
	(void)push_all(fleet->remote, root);
	CHECK_INT(pull_ref(fleet->strict, REF, "cold"), TKB_ERR_UNTRUSTED);
	OK(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR));
	CHECK_INT(report.signed_count, 1);
	CHECK_INT(pull_ref(fleet->strict, REF, "warm"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
	OK(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR));
	CHECK_INT(report.signed_count, 0);
	CHECK_INT(report.present_count, 1);
	CHECK_INT(count_under(fleet->remote, SIGNED), 1);
}

/* A later one has a higher sequence, within the same second, too. */
TEST(sign, anew_makes_another_signature)
{
	struct fleet *fleet = with_pool(arrange());
	struct tkb_sign_options options =
		sign_with(fleet->ci, TKB_TRUST_STAGE_DEV);
	struct tkb_sign_report report = { SIZED(report) };

	options.is_renewal = true;
	options.is_dry_run = true;
	OK(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR));
	CHECK_INT(report.signed_count, 1);
	CHECK_INT(count_under(fleet->remote, SIGNED), 1);
	options.is_dry_run = false;
	OK(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR));
	CHECK_INT(count_under(fleet->remote, SIGNED), 2);
}

static bool has_begun(void *self)
{
	return ((const struct countdown *)self)->done > 0;
}

TEST(sign, tells_its_progress_and_ends_between_two_records)
{
	struct fleet *fleet = arrange();
	struct tkb_sign_options options =
		sign_with(fleet->ci, TKB_TRUST_STAGE_DEV);
	struct tkb_sign_report report = { SIZED(report) };
	struct countdown progress = { 0 };
	struct tkb_watch watch = { SIZED(watch), .self = &progress,
		                   .on_progress = see_countdown,
		                   .is_cancelled = has_begun };

	CHECK(pool() != NULL);
	push_singly(fleet->remote, 3);
	options.watch = &watch;
	FAILS(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR),
	      TKB_ERR_CANCELLED, "cancelled");
	CHECK_INT(progress.done, 1);
	CHECK_INT(progress.total, 3);
	CHECK_INT(count_under(fleet->remote, SIGNED), 1);

	watch.is_cancelled = NULL;
	OK(tkb_ref_sign(fleet->remote, REF, &options, &report, ERR));
	CHECK_INT(report.signed_count, 2);
	CHECK_INT(report.present_count, 1);
	CHECK_INT(progress.done, 3);
}

TEST(sign, without_a_key_signs_nothing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_sign_options options = { SIZED(options) };

	FAILS(tkb_ref_sign(remote, REF, &options, NULL, ERR), TKB_ERR_INVALID,
	      "no key");
}

TEST(promote, takes_what_the_policy_trusts_and_uploads_nothing)
{
	const char *one = cache_of("one", (struct part){ 0, 10 });
	const char *other = cache_of("other", (struct part){ 10, POOL });
	struct fleet *fleet = arrange();
	struct tkb_sign_report report;

	(void)push_signed(fleet->remote, one, fleet->ci);
	(void)push_all(fleet->remote, other);
	spy_reset();
	FAILS(promote(fleet, &report), TKB_ERR_UNTRUSTED,
	      "no key of the policy has signed it");
	CHECK_INT(report.signed_count, 1);
	CHECK_INT(report.untrusted_count, 1);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_GET), 0);
	CHECK_INT(count_under(fleet->remote, PROD), 1);
	CHECK_INT(pull_ref(fleet->strict, PROD, "warm"), 0);
	CHECK_INT(pulled.emitted_count, 10);
	/* The signature of the source is none of the product. */
	CHECK_INT(count_under(fleet->remote, "@signed/" PROD), 1);
	CHECK_INT(promote(fleet, &report), TKB_ERR_UNTRUSTED);
	CHECK_INT(report.present_count, 1);
}

TEST(promote, leaves_out_records_whose_blob_is_gone)
{
	struct fleet *fleet = with_pool(arrange());
	struct tkb_sign_report report;

	SYS(unlink(blob_files("remote")[0]));
	FAILS(promote(fleet, &report), TKB_ERR_PARTIAL, "1 blob is gone");
	CHECK_INT(report.gone_count, 1);
	CHECK_INT(count_under(fleet->remote, PROD), 0);
	CHECK_INT(count_under(fleet->remote, "@signed/" PROD), 0);
}

static void lose_blob(const struct spy_event *event)
{
	if (event->op == SPY_ADD && count_texts(blob_files("remote")) != 0)
		SYS(unlink(blob_files("remote")[0]));
}

/* A gc that has read the refs before removes it. */
TEST(promote, takes_back_a_record_whose_blob_goes_meanwhile)
{
	struct fleet *fleet = with_pool(arrange());
	struct tkb_sign_report report;

	spy.after = lose_blob;
	CHECK_INT(promote(fleet, &report), TKB_ERR_PARTIAL);
	spy_reset();
	CHECK_CONTAINS(ERR->message, "1 blob is gone");
	CHECK_INT(count_under(fleet->remote, PROD), 0);
}

/* What gc and delete do to the source is nothing to the product. */
TEST(promote, makes_a_ref_that_outlives_its_source)
{
	struct fleet *fleet = with_pool(arrange());
	struct tkb_remote_gc_options options = { SIZED(options),
		                                 .has_grace = true };
	struct tkb_sign_report report;

	CHECK_INT(promote(fleet, &report), 0);
	OK(tkb_ref_delete(fleet->remote, REF, NULL, ERR));
	OK(tkb_remote_gc(fleet->remote, &options, NULL, ERR));
	CHECK_INT(pull_ref(fleet->strict, PROD, "warm"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
}

TEST(promote, wants_a_policy_and_another_name)
{
	struct fleet *fleet = arrange();
	const struct tkb_sign_options options =
		sign_with(fleet->second, TKB_TRUST_STAGE_PROD);
	struct tkb_sign_report report;

	CHECK_INT(promote(fleet, &report), TKB_MISS);
	FAILS(tkb_ref_promote(fleet->remote, REF, PROD, &options, NULL, ERR),
	      TKB_ERR_INVALID, "no policy");
	FAILS(tkb_ref_promote(fleet->strict, REF, REF, &options, NULL, ERR),
	      TKB_ERR_INVALID, "to itself");
}

/* The same fleet, with an inbox. */
static struct fleet *arrange_inbox(void)
{
	struct fleet *fleet = arrange();

	fleet->trust.inbox = "inbox";
	return fleet;
}

static void sign_dev(const struct fleet *fleet, const char *ref)
{
	const struct tkb_sign_options options =
		sign_with(fleet->ci, TKB_TRUST_STAGE_DEV);

	OK(tkb_ref_sign(fleet->remote, ref, &options, NULL, ERR));
}

TEST(inbox, gives_nothing_even_of_what_is_signed_before_it_is_promoted)
{
	const char *root = pool();
	struct fleet *fleet = arrange_inbox();
	const struct tkb_sign_options options =
		sign_with(fleet->second, TKB_TRUST_STAGE_PROD);

	OK(tkb_push(fleet->remote, "inbox/" PROD, root, NULL, NULL, ERR));
	sign_dev(fleet, "inbox/" PROD);
	spy_reset();
	FAILS(pull_ref(fleet->strict, "inbox/" PROD, "cold"), TKB_ERR_UNTRUSTED,
	      "it is in the inbox");
	CHECK_INT(spy_count(SPY_GET), 0);
	OK(tkb_ref_promote(fleet->strict, "inbox/" PROD, PROD, &options, NULL,
	                   ERR));
	CHECK_INT(pull_ref(fleet->strict, PROD, "warm"), 0);
	CHECK_INT(pulled.emitted_count, POOL);
}

TEST(inbox, is_what_lies_below_its_name_under_a_policy_that_refuses)
{
	const char *root = pool();
	struct fleet *fleet = arrange_inbox();

	(void)push_signed(fleet->remote, root, fleet->ci);
	OK(tkb_push(fleet->remote, "inboxes", root, NULL, NULL, ERR));
	sign_dev(fleet, "inboxes");
	CHECK_INT(pull_ref(fleet->strict, "inboxes", "near"), 0);
	OK(tkb_push(fleet->remote, "inbox/a", root, NULL, NULL, ERR));
	fleet->trust.unsigned_records = TKB_UNSIGNED_ACCEPT;
	CHECK_INT(pull_ref(fleet->strict, "inbox/a", "accepted"), 0);
}

/* Only what is trusted, and there, counts as known. */
TEST(inbox, gets_what_the_ref_behind_it_lacks)
{
	const char *one = cache_of("one", (struct part){ 0, 10 });
	const char *all = cache_of("all", (struct part){ 0, POOL });
	struct fleet *fleet = arrange_inbox();
	const struct tkb_push_options options = { SIZED(options),
		                                  .base_ref = REF };
	struct tkb_push_report report = { SIZED(report) };

	(void)push_all(fleet->remote, all);
	OK(tkb_push(fleet->strict, "inbox/a", one, &options, &report, ERR));
	CHECK_INT(report.pushed_count, 10);
	(void)push_signed(fleet->remote, one, fleet->ci);
	OK(tkb_push(fleet->strict, "inbox/b", all, &options, &report, ERR));
	CHECK_INT(report.pushed_count, POOL - 10);
	CHECK_INT(report.present_count, 10);
}

TEST(inbox, gets_again_what_the_ref_behind_it_has_lost)
{
	const char *root = pool();
	struct fleet *fleet = arrange_inbox();
	const struct tkb_push_options options = { SIZED(options),
		                                  .base_ref = REF };
	struct tkb_push_report report = { SIZED(report) };

	(void)push_signed(fleet->remote, root, fleet->ci);
	SYS(unlink(blob_files("remote")[0]));
	OK(tkb_push(fleet->strict, "inbox/a", root, &options, &report, ERR));
	CHECK_INT(report.pushed_count, POOL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <tkbundle/fleet.h>

/* What a recorder notes, by way of a remote. */

#define REF "model"
#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"

TKB_AUTO_POINTER(close_remote_at, struct tkb_remote, tkb_remote_close)

static struct tkb_remote *open_folder(void)
{
	struct tkb_remote *remote = NULL;

	OK(tkb_remote_open(text("%s/remote", test_folder()), NULL, &remote,
	                   ERR));
	return remote;
}

/* "key=payload@device:kernel,kernel" of each that can be used. */
static const char *usable(const struct tkb_launchers *launchers)
{
	const char *list = "";

	for (size_t i = 0; i < tkb_launchers_count(launchers); i++) {
		const struct tkb_launcher *launcher =
			tkb_launchers_at(launchers, i);

		list = text("%s%s=%.*s@%u:", list, launcher->cache_key,
		            (int)launcher->payload.size,
		            (const char *)launcher->payload.data,
		            launcher->device);
		for (size_t j = 0; j < launcher->kernel_count; j++)
			list = text("%s%.4s,", list, launcher->kernels[j].key);
		list = text("%s ", list);
	}
	return list;
}

static void fill(struct tkb_recorder *recorder)
{
	put(recorder, ADD, 0);
	save(recorder, "all", "one", TKB_NEED_ALL, keys_of(2, ADD, MATMUL));
	save(recorder, "any", "two", TKB_NEED_ANY, keys_of(2, ABSENT, SOFTMAX));
}

static struct tkb_push_report push_recorded(struct tkb_recorder *recorder,
                                            struct tkb_remote *remote,
                                            const char *root)
{
	struct tkb_push_report report = { SIZED(report) };

	DONE(tkb_recorder_push(recorder, remote, REF, root, NULL, &report, ERR),
	     report.left_out_count > 0);
	return report;
}

/* Pull, and what can be used then. */
static const char *pulled(struct tkb_remote *remote, const char *root)
{
	LAUNCHERS(launchers) = NULL;

	OK(tkb_pull(remote, REF, root, NULL, NULL, ERR));
	OK(tkb_pull_launchers(remote, REF, root, NULL, NULL, &launchers, ERR));
	return usable(launchers);
}

TEST(recorder_push, and_pull_give_back_what_a_file_and_an_emit_do)
{
	const char *root = h100();
	RECORDER(one) = recording();
	RECORDER(other) = recording();
	LAUNCHERS(launchers) = NULL;
	TKB_AUTO(close_remote_at) struct tkb_remote *remote = open_folder();

	fill(one);
	fill(other);
	BUNDLE(bundle) = open_bytes(recorded(one, root));
	emit_bundle(bundle, "out", TKB_LAYOUT_AUTO);
	OK(tkb_launchers_open(bundle, "out", NULL, &launchers, ERR));

	struct tkb_push_report report = push_recorded(other, remote, root);
	CHECK_INT(report.pushed_count, 3);
	CHECK_INT(report.blob_count, 1);
	CHECK_STR(pulled(remote, "pulled"), usable(launchers));
	CHECK_STR(usable(launchers), "all=one@0:7L6S,D3PP, any=two@0:D4QP, ");
}

TEST(recorder_push, by_several_is_the_union_also_when_it_was_compacted)
{
	enum {
		COUNT = 34 /* more than a ref keeps apart */
	};
	const char *root = h100();
	TKB_AUTO(close_remote_at) struct tkb_remote *remote = open_folder();
	const char *wanted = "";
	uint64_t compacted = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		RECORDER(recorder) = recording();
		const char *key = text("conf %02u", i);

		save(recorder, key, key, TKB_NEED_ALL,
		     keys_of(1, i % 2 == 0 ? ADD : MATMUL));
		compacted +=
			push_recorded(recorder, remote, root).compacted_count;
		wanted = text("%s%s=%s@0:%s, ", wanted, key, key,
		              i % 2 == 0 ? "7L6S" : "D3PP");
	}
	CHECK(compacted > 0);
	CHECK_STR(pulled(remote, "pulled"), wanted);
}

TEST(recorder_push, of_nothing_pushes_nothing)
{
	RECORDER(recorder) = recording();
	TKB_AUTO(close_remote_at) struct tkb_remote *remote = open_folder();
	struct tkb_ref_info info = { SIZED(info) };

	CHECK_INT(push_recorded(recorder, remote, "nowhere").blob_count, 0);
	CHECK_INT(tkb_ref_look(remote, REF, &info, ERR), TKB_MISS);
}

TEST(recorder_push, finalises_unless_it_is_dry_or_fails)
{
	const char *root = h100();
	const struct tkb_push_options dry = {
		SIZED(dry),
		.collect = &CHOSEN(tkb_collect_options, .is_dry_run = true)
	};
	const struct tkb_push_options triton = {
		SIZED(triton), .layout = TKB_PUSH_LAYOUT_TRITON
	};
	RECORDER(recorder) = recording();
	TKB_AUTO(close_remote_at) struct tkb_remote *remote = open_folder();
	struct tkb_push_report report = { SIZED(report) };

	fill(recorder);
	FAILS(tkb_recorder_push(recorder, remote, REF, root, &dry, &report,
	                        ERR),
	      TKB_ERR_PARTIAL, "it is wanted");
	CHECK_INT(report.pushed_count, 3);
	CHECK_INT(report.blob_count, 0);
	FAILS(tkb_recorder_push(recorder, remote, REF, root, &triton, NULL,
	                        ERR),
	      TKB_ERR_INVALID, "bundles");
	CHECK_INT(tkb_recorder_push(recorder, remote, REF, "nowhere", NULL,
	                            NULL, ERR),
	          TKB_MISS);
	put(recorder, SOFTMAX, 0);
	CHECK_INT(push_recorded(recorder, remote, root).blob_count, 1);
	FAILS(tkb_recorder_put(recorder, ADD, 0, ERR), TKB_ERR_INVALID,
	      "collected already");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "saved.h"

#include "forge.h"

/* Lists of launchers, and frames for them, that no tkbundle would write. */

#define MIB ((size_t)1 << 20)

static void check_refused(const struct forge *forge, const char *message)
{
	struct tkb_bundle *bundle = NULL;
	struct tkb_error err = { 0 };

	forge_write(forge, "hostile.tkb");
	int rc = tkb_bundle_open("hostile.tkb", &bundle, &err);
	if (rc != TKB_ERR_CORRUPT)
		fail_msg("%d, not '%s': %.*s", rc, message,
		         (int)forge->manifest.size,
		         (const char *)forge->manifest.data);
	CHECK_CONTAINS(err.message, message);
	CHECK(bundle == NULL);
}

TEST(launcher_payload, payloads_that_are_in_no_frame_are_refused)
{
	struct forge *forge = forge_three();

	forge->frames[1].entries = "1";
	forge->frames[1].member_count = 1;
	check_refused(forge, "is in no frame");
	forge->frame_count = 1;
	check_refused(forge, "is in no frame");
}

TEST(launcher_payload, payloads_are_in_one_frame_each)
{
	struct forge *forge = forge_three();

	forge->frames[1].entries = "1-2";
	forge->frames[2] = forge->frames[1];
	forge->frames[2].entries = "2";
	forge->frame_count = 3;
	check_refused(forge, "line 4 of 'tkbundle.frames'");
	forge->frame_count = 2;
	forge->frames[1].entries = "1-3";
	check_refused(forge, "line 3 of 'tkbundle.frames'");
}

#define PAYLOAD "\"payload\":[\"" HELLO "\",5]"

struct edit {
	const char *from;
	const char *to;
	const char *message;
};

static const char *letters(size_t count)
{
	char *all = test_alloc(count);

	memset(all, 'x', count);
	return all;
}

static const char *many_needs(size_t count)
{
	BUF(buf, MIB);

	tkb_buf_add_text(&buf, "\"needs\":[");
	for (size_t i = 0; i < count; i++)
		tkb_buf_add_text(&buf,
		                 text("%s\"%032zx\"", i == 0 ? "" : ",", i));
	tkb_buf_add_byte(&buf, ']');
	return text("%.*s", (int)buf.size, (const char *)buf.data);
}

/* The launchers of `forge_three`, each with one edit, are refused. */
static void check_edits(const struct edit *edits, size_t count)
{
	struct forge *forge = forge_three();
	const struct tkb_bytes good = forge->manifest;
	const char *launchers = strstr(good.data, "\"launchers\"");
	const char *before =
		text("%.*s", (int)(launchers - (const char *)good.data),
	             (const char *)good.data);

	for (size_t i = 0; test_row("edits", i, count); i++) {
		forge->manifest = tkb_text(text(
			"%s%s", before,
			forge_replace(launchers, edits[i].from, edits[i].to)));
		check_refused(forge, edits[i].message);
	}
}

TEST(launcher_payload, launchers_whose_key_or_name_is_malformed_are_refused)
{
	static const char key[] = "\"key\":\"a\"";
	static const char name[] = "\"name\":\"kernel\"";
	const struct edit edits[] = {
		{ key, "\"key\":\"b\"", "launchers are not in order" },
		{ key, "\"key\":\"bb\"", "launchers are not in order" },
		{ key, "\"key\":\"\"", "a launcher's key is not allowed" },
		{ key, text("\"key\":\"%s\"", letters(1025)),
		  "a launcher's key is not allowed" },
		{ key, "\"key\":\"\\u0007\"", "a control character" },
		{ key, "\"key\":\"\x7f\"", "a launcher's key is not allowed" },
		{ key, "\"key\":7", "" },
		{ key, "\"key\":null", "" },
		{ key, "\"kez\":\"a\"", "a member is missing" },
		{ "\"key\":\"a\",", "", "a member is missing" },
		{ name, "\"name\":\"\"", "a launcher's name is not allowed" },
		{ name, text("\"name\":\"%s\"", letters(256)),
		  "a launcher's name is not allowed" },
		{ name, "\"name\":\"a\\u000ab\"", "a control character" },
		{ name, "\"name\":\"\x7f\"",
		  "a launcher's name is not allowed" },
		{ name, "\"name\":[]", "" },
		{ "\"name\":\"kernel\",\"need\":\"all\"", "\"need\":\"all\"",
		  "a member is missing" },
		{ "\"launchers\":[", "\"launchers\":[7,",
		  "a launcher is not an object" },
		{ "\"launchers\":[", "\"launchers\":[{},",
		  "a member is missing" },
		{ "\"key\":\"a\",\"name\":\"kernel\"",
		  "\"name\":\"kernel\",\"key\":\"a\"", "" },
		{ "\"key\":\"a\"", "\"key\":\"a\",\"key\":\"a\"", "" },
	};

	check_edits(edits, TKB_COUNT_OF(edits));
}

TEST(launcher_payload, launchers_whose_needs_are_malformed_are_refused)
{
	static const char need[] = "\"need\":\"all\"";
	const struct edit edits[] = {
		{ need, "\"need\":\"some\"", "a need is not known" },
		{ need, "\"need\":\"\"", "a need is not known" },
		{ need, "\"need\":\"ALL\"", "a need is not known" },
		{ need, "\"need\":1", "a need is missing" },
		{ "\"need\":\"all\",", "", "a member is missing" },
		{ NEEDS, "\"needs\":[]", "a launcher needs nothing" },
		{ NEEDS, "\"needs\":{}", "needs are not a list" },
		{ NEEDS, "\"needs\":[1]", "a needed key is not a string" },
		{ NEEDS, "\"needs\":[[]]", "a needed key is not a string" },
		{ NEEDS,
		  "\"needs\":[\"" FORGE_KERNEL "\",\"" FORGE_KERNEL "\"]",
		  "a launcher needs a key twice" },
		{ NEEDS, "\"needs\":[\"../etc\"]", "a key has no known shape" },
		{ NEEDS, "\"needs\":[\"\"]", "a key has no known shape" },
		{ NEEDS, many_needs(1025), "a launcher needs too much" },
		{ NEEDS ",", "", "a member is missing" },
	};

	check_edits(edits, TKB_COUNT_OF(edits));
}

TEST(launcher_payload, launchers_whose_payload_is_malformed_are_refused)
{
	const struct edit edits[] = {
		{ PAYLOAD, "\"payload\":\"" HELLO "\"",
		  "a payload is not a list" },
		{ PAYLOAD, "\"payload\":[]", "a digest is missing" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "\"]", "" },
		{ PAYLOAD, "\"payload\":[5,\"" HELLO "\"]",
		  "a digest is missing" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "\",5,0]",
		  "a payload has too many parts" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "\",-5]", "" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "\",\"5\"]", "" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "\",67108865]", "" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "0\",5]",
		  "a digest is not 64 digits" },
		{ PAYLOAD, "\"payload\":[\"2CF2\",5]",
		  "a digest is not 64 digits" },
		{ PAYLOAD, "\"payload\":[\"" HELLO "\",6]",
		  "one payload with two sizes" },
		{ "," PAYLOAD, "", "a member is missing" },
	};

	check_edits(edits, TKB_COUNT_OF(edits));
}

TEST(launcher_payload, launchers_may_have_members_that_are_not_known)
{
	struct forge *forge = forge_three();

	forge_edit(forge, PAYLOAD, PAYLOAD ",\"zebra\":[1,{\"a\":2}]");
	forge_edit(forge, "\"key\":\"b\"", "\"hint\":7,\"key\":\"b\"");
	forge_edit(forge, NEEDS, many_needs(1024));
	forge_write(forge, "newer.tkb");

	struct tkb_bundle *bundle = test_bundle("newer.tkb");
	check_sound(bundle);
	CHECK_INT(tkb_bundle_launcher_count(bundle), 3);
	CHECK_INT(tkb_bundle_launcher(bundle, 0)->need_count, 1024);
}

TEST(launcher_payload, launchers_are_at_most_100000)
{
	struct forge *forge = forge_three();
	const char *const good = forge->manifest.data;
	const char *const launchers = strstr(good, "\"launchers\":[");
	const char *const end = strstr(launchers, "],\"profile\"");
	BUF(buf, 64 * MIB);

	tkb_buf_add(&buf,
	            (struct tkb_bytes){ good, (size_t)(launchers - good) });
	tkb_buf_add_text(&buf, "\"launchers\":[");
	for (unsigned i = 0; i < 100000; i++) {
		char key[] = LAUNCHER("00000000", "all", HELLO) ",";
		char *digits = strchr(key, '0');

		for (unsigned j = 0, rest = i; j < 8; j++, rest /= 10)
			digits[7 - j] = (char)('0' + rest % 10);
		tkb_buf_add_text(&buf, key);
	}
	buf.size--;
	const size_t size = buf.size;
	tkb_buf_add_text(&buf, end);
	forge->manifest = tkb_buf_bytes(&buf);
	forge->frames[1].entries = "1";
	forge->frames[1].member_count = 1;
	forge_write(forge, "most.tkb");
	struct tkb_bundle *bundle = test_bundle("most.tkb");
	CHECK_INT(tkb_bundle_launcher_count(bundle), 100000);
	check_sound(bundle);

	buf.size = size;
	tkb_buf_add_text(&buf, "," LAUNCHER("x", "all", HELLO));
	tkb_buf_add_text(&buf, end);
	forge->manifest = tkb_buf_bytes(&buf);
	check_refused(forge, "too many launchers");
}

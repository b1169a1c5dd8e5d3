/* SPDX-License-Identifier: Apache-2.0 */
#include "emitting.h"

static void note_result(void *self, const struct tkb_result *result)
{
	struct did *did = self;

	did->told++;
	if (result->outcome != TKB_OUTCOME_SKIPPED &&
	    result->outcome != TKB_OUTCOME_FAILED)
		return;
	did->last = *result;
	did->message = text("%s", result->message);
}

struct did emit_with(const char *path, const char *root,
                     const struct tkb_emit_options *options)
{
	struct tkb_bundle *bundle = test_bundle(path);
	struct tkb_emit_options own = { SIZED(own) };
	struct tkb_watch watch = { SIZED(watch) };
	struct did did = { .message = "",
		           .report.struct_size = sizeof(did.report) };

	if (options != NULL)
		own = *options;
	if (own.watch != NULL)
		watch = *own.watch;
	watch.self = &did;
	watch.on_result = note_result;
	own.watch = &watch;
	did.rc = tkb_emit(bundle, root, &own, &did.report, &did.err);
	return did;
}

struct did emit_once(const char *path, const char *root)
{
	return emit_with(path, root, NULL);
}

void check_did(struct did did, uint64_t emitted, uint64_t present,
               uint64_t repaired, const char *file, int line)
{
	const struct tkb_emit_report *report = &did.report;

	if (did.rc == 0 && report->emitted_count == emitted &&
	    report->present_count == present &&
	    report->repaired_count == repaired && report->busy_count == 0 &&
	    report->skipped_count == 0 && report->failed_count == 0 &&
	    report->damaged_count == 0 && report->unsafe_count == 0 &&
	    did.told == emitted + present + repaired)
		return;
	print_error("returned %d (%s); emitted %d, present %d, repaired %d, "
	            "busy %d, skipped %d, failed %d, damaged %d, unsafe %d; "
	            "%s\n",
	            did.rc, did.err.message, (int)report->emitted_count,
	            (int)report->present_count, (int)report->repaired_count,
	            (int)report->busy_count, (int)report->skipped_count,
	            (int)report->failed_count, (int)report->damaged_count,
	            (int)report->unsafe_count, did.message);
	_fail(file, line);
}

bool is_group(const char *name)
{
	return strncmp(name, "__grp__", 7) == 0;
}

/* `bytes` with each `from` replaced by `to`. */
static struct tkb_bytes replaced(struct tkb_bytes bytes, const char *from,
                                 const char *to)
{
	const char *old =
		text("%.*s", (int)bytes.size, (const char *)bytes.data);
	const char *done = "";
	const char *found;

	if (from[0] == '\0')
		return bytes;
	for (found = strstr(old, from); found != NULL;
	     found = strstr(old, from)) {
		done = text("%s%.*s%s", done, (int)(found - old), old, to);
		old = found + strlen(from);
	}
	return tkb_text(text("%s%s", done, old));
}

void check_entry(const char *entry, const char *wanted, const char *from,
                 const char *to)
{
	const char **names = list(wanted);

	CHECK_INT(count_names(entry), count_names(wanted));
	for (size_t i = 0; names[i] != NULL; i++) {
		const char *path = text("%s/%s", entry, names[i]);
		const struct tkb_bytes got = read_file(path);
		struct tkb_bytes bytes =
			read_file(text("%s/%s", wanted, names[i]));

		if (is_group(names[i]))
			bytes = replaced(bytes, from, to);
		if (!tkb_bytes_equal(got, bytes))
			fail_msg("'%s' differs", path);
		CHECK(S_ISREG(stat_of(path).st_mode));
	}
}

void check_root(const char *root, const char *wanted, const char *from,
                const char *to)
{
	const char **names = list(wanted);
	size_t count = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		if (names[i][0] == '.')
			continue;
		check_entry(text("%s/%s", root, names[i]),
		            text("%s/%s", wanted, names[i]), from, to);
		count++;
	}
	CHECK_INT(count_names(root),
	          count + exists(text("%s/.tkbundle", root)));
}

size_t count_stages(const char *root)
{
	const char *own = text("%s/.tkbundle", root);
	size_t count = 0;

	if (!exists(own))
		return 0;
	const char **names = list(own);
	for (size_t i = 0; names[i] != NULL; i++)
		count += strncmp(names[i], "stage-", 6) == 0;
	return count;
}

void distrust(void)
{
	remove_folder("out/.tkbundle");
}

void pack_key(const char *key)
{
	unpack("triton-3.6.0-cpu", "forged");
	forge_collect("forged/.triton/cache", key, false, "a.tkb");
}

void arrange(void)
{
	pack_key(FORGE_KERNEL);
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	distrust();
	copy_folder("out", "good");
}

void check_good(void)
{
	check_root("out", "good", "", "");
	CHECK_INT(count_stages("out"), 0);
}

void check_repaired(void)
{
	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 1);
	check_good();
}

const char *mark(void)
{
	const char *boot = read_file("/proc/sys/kernel/random/boot_id").data;

	return text("out/.tkbundle/trusted-%.36s", boot);
}

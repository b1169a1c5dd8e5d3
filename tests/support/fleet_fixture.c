/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "records/record.h"

enum {
	NAMES_LIMIT = 1024
};

/* Emit there, so that the group files have the right paths. */
static const char *make_pool(const char *fixture, const char *cache)
{
	const char *root = text("%s/pool", test_folder());

	if (exists(root))
		return root;
	spy_reset();
	unpack(fixture, "unpacked");
	OK(tkb_collect_to_file(text("unpacked/%s", cache), NULL, "pool.tkb",
	                       NULL, ERR));
	struct tkb_bundle *bundle = test_bundle("pool.tkb");
	OK(tkb_emit(bundle, root, NULL, NULL, ERR));
	CHECK_INT(run("rm", "-rf", text("%s/.tkbundle", root), NULL).status, 0);
	return root;
}

const char *pool(void)
{
	return make_pool("triton-3.6.0-h100", ".triton/cache");
}

const char *large_pool(void)
{
	return make_pool("inductor-2.11-llama4-h100",
	                 ".cache/torchinductor/triton/0");
}

const char **pool_keys(void)
{
	return list(pool());
}

const char *cache_of(const char *name, struct part part)
{
	const char *root = text("%s/%s", test_folder(), name);
	const char **keys = pool_keys();

	SYS(mkdir(root, 0777));
	for (size_t i = part.first; i < part.end; i++)
		copy_folder(text("%s/%s", pool(), keys[i]),
		            text("%s/%s", root, keys[i]));
	return root;
}

const char *autotunes(const char *name, unsigned from, unsigned to)
{
	const char *root = text("%s/%s", test_folder(), name);

	if (!exists(root))
		SYS(mkdir(root, 0777));
	for (unsigned i = from; i < to; i++) {
		const char *key = text("%052u", i);
		char *base32 = test_alloc(strlen(key));

		/* Digits of base 32 begin with letters. */
		for (size_t j = 0; key[j] != '\0'; j++)
			base32[j] = (char)('A' + (key[j] - '0'));
		SYS(mkdir(text("%s/%s", root, base32), 0777));
		write_text(text("%s/%s/kernel.autotune.json", root, base32),
		           text("{\"n\":%u}", i));
	}
	return root;
}

const char *inductor_cache(void)
{
	const char *root = text("%s/ind/.cache/torchinductor", test_folder());

	spy_reset();
	unpack("inductor-2.11-llama4-h100", "ind");
	copy_folder(text("%s/triton/0", root), text("%s/triton/1", root));
	return root;
}

const char *out(const char *name)
{
	return text("%s/%s", test_folder(), name);
}

const char *spy_url(const char *name)
{
	return text("spy://%s/%s", test_folder(), name);
}

struct tkb_push_report push_with(struct tkb_remote *remote, const char *root,
                                 struct tkb_push_options options)
{
	struct tkb_push_report report = { SIZED(report) };

	DONE(tkb_push(remote, REF, root, &options, &report, ERR),
	     report.left_out_count > 0);
	return report;
}

struct tkb_push_report push_bytes(struct tkb_remote *remote,
                                  struct tkb_bytes bundle)
{
	const struct tkb_source source = tkb_memory_source(&bundle);
	const struct tkb_push_options options = { SIZED(options),
		                                  .is_compaction_off = true };
	struct tkb_push_report report = { SIZED(report) };

	OK(tkb_push_bundle(remote, REF, &source, &options, &report, ERR));
	return report;
}

struct tkb_push_report push_all(struct tkb_remote *remote, const char *root)
{
	return push_with(remote, root, DEFAULTS(tkb_push_options));
}

struct tkb_push_report push_part(struct tkb_remote *remote, struct part part)
{
	struct tkb_collect_options collect = { SIZED(collect) };
	struct tkb_push_options options = { SIZED(options), .collect = &collect,
		                            .is_compaction_off = true };

	collect.keys = pool_keys() + part.first;
	collect.key_count = part.end - part.first;
	return push_with(remote, pool(), options);
}

void push_three(struct tkb_remote *remote)
{
	static const struct part parts[] = { { 0, 5 }, { 5, 9 }, { 9, POOL } };

	CHECK(pool() != NULL);
	for (size_t i = 0; i < TKB_COUNT_OF(parts); i++)
		(void)push_part(remote, parts[i]);
	spy_reset();
}

void push_singly(struct tkb_remote *remote, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK_INT(push_part(remote, (struct part){ i, i + 1 })
		                  .pushed_count,
		          1);
}

struct tkb_pull_report pull_with(struct tkb_remote *remote, const char *root,
                                 struct tkb_pull_options options)
{
	struct tkb_pull_report report = { SIZED(report) };

	DONE(tkb_pull(remote, REF, root, &options, &report, ERR),
	     report.gone_count + report.busy_count + report.failed_count +
	                     report.unsafe_count >
	             0);
	return report;
}

struct tkb_pull_report pull_all(struct tkb_remote *remote, const char *root)
{
	return pull_with(remote, root, DEFAULTS(tkb_pull_options));
}

/* Read file `path`, with each `from` replaced by `to`. */
static void read_replaced(const char *path, const char *from, const char *to,
                          struct tkb_buf *out)
{
	const struct tkb_bytes got = read_file(path);
	const char *at = got.data;
	const char *end = at + got.size;

	tkb_buf_reset(out);
	while (at < end) {
		const char *next =
			memmem(at, (size_t)(end - at), from, strlen(from));
		const char *stop = next == NULL ? end : next;

		tkb_buf_add(out, (struct tkb_bytes){ at, (size_t)(stop - at) });
		if (next != NULL)
			tkb_buf_add_text(out, to);
		at = next == NULL ? end : next + strlen(from);
	}
}

/* The group files have other paths; all other files are the same. */
static void check_same_entry(const char *root, const char *key)
{
	BUF(got, BLOB_LIMIT);
	BUF(wanted, BLOB_LIMIT);
	const char *there = text("%s/%s", pool(), key);
	const char *here = text("%s/%s", root, key);
	const char **names = list(there);

	if (!exists(here))
		fail_msg("'%s' is not there", here);
	CHECK_INT(count_names(here), count_texts(names));
	for (size_t i = 0; names[i] != NULL; i++) {
		const char *path = text("%s/%s", here, names[i]);

		CHECK(exists(path));
		read_replaced(path, root, root, &got);
		read_replaced(text("%s/%s", there, names[i]), pool(), root,
		              &wanted);
		if (!tkb_bytes_equal(tkb_buf_bytes(&got),
		                     tkb_buf_bytes(&wanted)))
			fail_msg("'%s' is not as it was pushed", path);
	}
}

void check_has_part(const char *root, struct part part)
{
	const char **keys = pool_keys();

	for (size_t i = part.first; i < part.end; i++)
		check_same_entry(root, keys[i]);
}

void check_pulled(struct tkb_remote *remote, const char *name, struct part part)
{
	const char *root = out(name);

	CHECK_INT(pull_all(remote, root).gone_count, 0);
	check_is_part(root, part);
}

size_t count_entries(const char *root)
{
	size_t count = 0;

	if (!exists(root))
		return 0;
	const char **names = list(root);
	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(names[i], ".tkbundle") == 0) {
			check_nothing_of_ours(root);
			continue;
		}
		check_same_entry(root, names[i]);
		count++;
	}
	return count;
}

void check_is_part(const char *root, struct part part)
{
	check_has_part(root, part);
	CHECK_INT(count_entries(root), part.end - part.first);
}

struct tkb_collect_report weigh(const char *root)
{
	const struct tkb_collect_options options = { SIZED(options),
		                                     .is_dry_run = true,
		                                     .is_strict = true };
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect(root, &options, NULL, &report, ERR));
	return report;
}

size_t count_texts(const char **texts)
{
	size_t count = 0;

	while (texts[count] != NULL)
		count++;
	return count;
}

const char **blob_files(const char *remote)
{
	const char *cas = text("%s/%s/cas", test_folder(), remote);
	const char **out = test_alloc(NAMES_LIMIT * sizeof(*out));
	const char **shelves = exists(cas) ? list(cas) : out;
	size_t count = 0;

	for (; *shelves != NULL; shelves++) {
		const char **names = list(text("%s/%s", cas, *shelves));

		for (; *names != NULL; names++) {
			CHECK(count + 1 < NAMES_LIMIT);
			out[count++] = text("%s/%s/%s", cas, *shelves, *names);
		}
	}
	return out;
}

const char **record_files(const char *remote)
{
	const char *ref = text("%s/%s/ref/team,model", test_folder(), remote);
	const char **names =
		exists(ref) ? list(ref) : test_alloc(sizeof(*names));

	for (size_t i = 0; names[i] != NULL; i++)
		names[i] = text("%s/%s", ref, names[i]);
	return names;
}

const char *blob_of(const char *remote, const char *record)
{
	struct tkb_record parsed = { .size = 0 };

	OK(tkb_record_parse(read_file(record), &parsed, ERR));
	const char *hex = hex_of(&parsed.blob);
	tkb_record_release(&parsed);
	return text("%s/%s/cas/%.2s/%s", test_folder(), remote, hex, hex);
}

void flip(const char *path, unsigned at)
{
	flip_bit(path, read_file(path).size * at / 16);
}

void make_old(const char *path, unsigned seconds)
{
	const time_t then = time(NULL) - (time_t)seconds;
	const struct timespec times[] = { { .tv_sec = then },
		                          { .tv_sec = then } };

	SYS(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
}

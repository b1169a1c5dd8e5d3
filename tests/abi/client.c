/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/tkbundle.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * A program of the first version: compiled with the headers in v1/, it runs with
 * the libraries of today. It shares the cache at argv[1] in the folder argv[2],
 * and looks at what comes of it.
 */

static struct tkb_error err;

static void must(const char *what, int rc)
{
	if (rc == 0)
		return;
	(void)fprintf(stderr, "%s: %d, %s\n", what, rc, err.message);
	exit(1);
}

static void note(void *self, const struct tkb_result *result)
{
	size_t *counts = self;

	counts[result->outcome]++;
}

static void pack(const char *cache, const char *path)
{
	size_t counts[TKB_OUTCOME_UNFINISHED + 1] = { 0 };
	const struct tkb_watch watch = { .struct_size = sizeof(watch),
		                         .self = counts,
		                         .on_result = note };
	const struct tkb_collect_options options = { .struct_size =
		                                             sizeof(options),
		                                     .watch = &watch };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };

	must("collect",
	     tkb_collect_to_file(cache, &options, path, &report, &err));
	(void)printf("collected %d, told %d\n", (int)report.collected_count,
	             (int)counts[TKB_OUTCOME_COLLECTED]);
}

static void look(const char *path)
{
	struct tkb_verify_report verified = { .struct_size = sizeof(verified) };
	const struct tkb_emit_options options = { .struct_size =
		                                          sizeof(options),
		                                  .is_dry_run = true };
	struct tkb_emit_report emitted = { .struct_size = sizeof(emitted) };
	struct tkb_bundle *bundle = NULL;
	size_t files = 0;

	must("open", tkb_bundle_open(path, &bundle, &err));
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
		files += tkb_bundle_entry(bundle, i)->file_count;
	must("verify", tkb_bundle_verify(bundle, NULL, &verified, &err));
	must("emit", tkb_emit(bundle, "dry", &options, &emitted, &err));
	tkb_bundle_close(bundle);
	(void)printf("verified %d, same files %d, would emit %d\n",
	             (int)verified.verified_count, verified.file_count == files,
	             (int)emitted.emitted_count);
}

static void share(const char *cache, const char *place)
{
	struct tkb_push_report pushed = { .struct_size = sizeof(pushed) };
	struct tkb_pull_report pulled = { .struct_size = sizeof(pulled) };
	const struct tkb_emit_options emit = { .struct_size = sizeof(emit),
		                               .is_dry_run = true };
	const struct tkb_pull_options options = { .struct_size =
		                                          sizeof(options),
		                                  .emit = &emit };
	struct tkb_ref_info info = { .struct_size = sizeof(info) };
	struct tkb_remote *remote = NULL;

	must("open", tkb_remote_open(place, NULL, &remote, &err));
	must("push", tkb_push(remote, "r", cache, NULL, &pushed, &err));
	must("pull", tkb_pull(remote, "r", "pulled", &options, &pulled, &err));
	must("look", tkb_ref_look(remote, "r", &info, &err));
	tkb_remote_close(remote);
	(void)printf("pushed %d, wanted %d, records %d, entries %d\n",
	             (int)pushed.pushed_count, (int)pulled.wanted_count,
	             (int)info.record_count, (int)info.entry_count);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	pack(argv[1], argv[3]);
	look(argv[3]);
	share(argv[1], argv[2]);
	return 0;
}

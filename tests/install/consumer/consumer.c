/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/tkbundle.h>

/*
 * Packs the cache CACHE into memory, opens the bundle from there and emits it
 * to ROOT:
 *
 *     consumer CACHE ROOT
 */
struct memory {
	unsigned char *data;
	size_t size;
};

static int append(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct memory *memory = self;
	unsigned char *data = realloc(memory->data, memory->size + bytes.size);

	(void)err;
	if (data == NULL)
		return TKB_ERR_NOMEM;

	memory->data = data;
	memcpy(data + memory->size, bytes.data, bytes.size);
	memory->size += bytes.size;
	return 0;
}

static int use(const struct memory *memory, const char *root,
               struct tkb_error *err)
{
	const struct tkb_bytes bytes = { memory->data, memory->size };
	struct tkb_emit_report report = { .struct_size = sizeof(report) };
	struct tkb_bundle *bundle;
	int rc;

	rc = tkb_bundle_open_memory(bytes, "memory", &bundle, err);
	if (rc != 0)
		return rc;

	rc = tkb_bundle_verify(bundle, NULL, NULL, err);
	if (rc == 0)
		rc = tkb_emit(bundle, root, NULL, &report, err);
	if (rc == 0)
		printf("holds %u, emitted %u, failed %u\n",
		       (unsigned)tkb_bundle_entry_count(bundle),
		       (unsigned)report.emitted_count,
		       (unsigned)report.failed_count);
	tkb_bundle_close(bundle);
	return rc;
}

int main(int argc, char **argv)
{
	struct memory memory = { NULL, 0 };
	const struct tkb_sink sink = { append, &memory };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_error err = { 0 };
	char compiled[32];
	int rc;

	if (argc != 3)
		return 2;

	(void)snprintf(compiled, sizeof(compiled), "%d.%d.%d",
	               TKB_VERSION_MAJOR, TKB_VERSION_MINOR, TKB_VERSION_PATCH);
	printf("headers %s, library %s\n", compiled, tkb_version());
	rc = tkb_collect(argv[1], NULL, &sink, &report, &err);
	if (rc == 0)
		printf("collected %u, left out %u\n",
		       (unsigned)report.collected_count,
		       (unsigned)report.left_out_count);
	if (rc == 0)
		rc = use(&memory, argv[2], &err);
	if (rc != 0)
		(void)fprintf(stderr, "consumer: %s\n", err.message);
	free(memory.data);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

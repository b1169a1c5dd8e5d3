/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <tkbundle/tkbundle.h>

/*
 * Uses both libraries: pushes the cache at argv[1] to the folder argv[2], and
 * pulls it from there to argv[3].
 */
int main(int argc, char **argv)
{
	struct tkb_push_report pushed = { .struct_size = sizeof(pushed) };
	struct tkb_pull_report pulled = { .struct_size = sizeof(pulled) };
	struct tkb_remote *remote = NULL;
	struct tkb_error err = { 0 };
	int rc;

	if (argc != 4)
		return 2;
	rc = tkb_remote_open(argv[2], NULL, &remote, &err);
	if (rc == 0)
		rc = tkb_push(remote, "ref", argv[1], NULL, &pushed, &err);
	if (rc == 0)
		rc = tkb_pull(remote, "ref", argv[3], NULL, &pulled, &err);
	tkb_remote_close(remote);
	if (rc != 0) {
		fprintf(stderr, "consumer_remote: %s\n", err.message);
		return 1;
	}
	printf("pushed %d, emitted %d\n", (int)pushed.pushed_count,
	       (int)pulled.emitted_count);
	return 0;
}

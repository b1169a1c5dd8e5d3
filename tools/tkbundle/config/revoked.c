/* SPDX-License-Identifier: Apache-2.0 */
#include "config/revoked.h"

#include <stdlib.h>

struct digests {
	struct tkb_digest *items; /* owned */
	size_t count;
};

static void digests_release(struct digests *digests)
{
	free(digests->items);
}

static int add_revoked_digest(void *self, const struct tkb_digest *digest,
                              struct tkb_error *err)
{
	struct digests *const digests = self;
	struct tkb_digest *const items =
		table_grow(digests->items, digests->count, sizeof(*items));

	if (items == NULL)
		return cli_error_nomem(err);
	digests->items = items;
	items[digests->count++] = *digest;
	return 0;
}

int revoked_find(const struct remote_use *use, const char *root,
                 struct tkb_origins **out, struct tkb_error *err)
{
	TKB_AUTO(digests_release) struct digests digests = { .count = 0 };
	int rc;

	rc = use->library.revoked(use->remote, add_revoked_digest, &digests,
	                          err);
	return rc == 0 ? tkb_origins_open(root, digests.items, digests.count,
	                                  out, err)
	               : rc;
}

enum status revoked_open(struct cli *cli, const struct arguments *args,
                         const char *root, struct tkb_origins **out)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	struct tkb_error err = { .status = 0 };
	const enum status status = remote_use_begin(&use, args, true);
	int rc;

	if (status != STATUS_DONE)
		return status;
	rc = revoked_find(&use, root, out, &err);
	return rc == 0 ? STATUS_DONE
	               : remote_use_failed(&use, rc, &err, "the list");
}

void revoked_close(struct tkb_origins **origins)
{
	tkb_origins_close(*origins);
}

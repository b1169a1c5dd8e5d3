/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/signers.h"

#include <string.h>

enum status signers_check(const struct cli *cli, const struct arguments *args)
{
	if (args->trust.sign.count == 0 &&
	    (args->trust.expires.is_set ||
	     args->trust.passphrase_file != NULL ||
	     args->trust.passphrase_command != NULL))
		return cli_misused(cli, "'--expires' and '--passphrase-...' "
		                        "are for '--sign'");
	return passphrase_check(cli, args);
}

void signers_release(struct signers *signers,
                     const struct remote_library *library)
{
	for (size_t i = 0; i < signers->count; i++)
		library->key_close(signers->keys[i]);
	signers->count = 0;
}

/* With a Sigstore bundle of somebody else, a public key is enough. */
static int check_private(const struct remote_library *library,
                         const struct arguments *args,
                         const struct tkb_key *key, const char *path,
                         struct tkb_error *err)
{
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	const int rc = library->key_look(key, &info, err);

	if (rc != 0 || info.is_private || args->trust.exported != NULL ||
	    args->trust.imported.count > 0)
		return rc;
	return cli_error(err, TKB_ERR_INVALID,
	                 "'%.300s' is a public key, which cannot sign", path);
}

static int read_keys(struct signers *signers, const struct cli *cli,
                     const struct remote_library *library,
                     const struct arguments *args, struct passphrase_kept *kept,
                     struct tkb_error *err)
{
	const struct texts *const files = &args->trust.sign;

	for (size_t i = 0; i < files->count; i++) {
		struct passphrase passphrase =
			passphrase_of(args, files->items[i]);
		int rc;

		passphrase.kept = kept;
		rc = key_file_read(cli, library, files->items[i], &passphrase,
		                   &signers->keys[i], err);
		if (rc != 0)
			return rc;
		signers->count++;
		rc = check_private(library, args, signers->keys[i],
		                   files->items[i], err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int signers_read(struct signers *signers, const struct cli *cli,
                 const struct remote_library *library,
                 const struct arguments *args, struct tkb_error *err)
{
	struct passphrase_kept kept = { .size = 0 };
	int rc;

	if (args->trust.sign.count > SIGNERS_LIMIT)
		return cli_error(err, TKB_ERR_INVALID,
		                 "at most %d keys sign at once", SIGNERS_LIMIT);
	rc = read_keys(signers, cli, library, args, &kept, err);
	explicit_bzero(&kept, sizeof(kept));
	if (rc != 0)
		return rc;
	signers->signing = (struct tkb_signing){
		.struct_size = sizeof(signers->signing),
		.keys = (const struct tkb_key *const *)signers->keys,
		.key_count = signers->count,
		.lifetime_s = args->trust.expires.value,
	};
	return 0;
}

const struct tkb_signing *signers_signing(const struct signers *signers)
{
	return signers->count > 0 ? &signers->signing : NULL;
}

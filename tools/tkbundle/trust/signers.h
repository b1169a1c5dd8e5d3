/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGNERS_H
#define TKBUNDLE_SIGNERS_H

#include "trust/key_file.h"

/* The keys of --sign, for the library. */

enum {
	SIGNERS_LIMIT = 16
};

#define ARGS_SIGN(text)                                                        \
	{                                                                      \
		OPTION(TEXTS, "sign", "KEY_FILE", trust.sign, text)            \
	}
#define ARGS_EXPIRES                                                           \
	{                                                                      \
		OPTION(AGE, "expires", "AGE", trust.expires,                   \
		       "when the signature expires; default after 90d"),       \
			.min = 1                                               \
	}

/* A zeroed struct has no keys. */
struct signers {
	struct tkb_key *keys[SIGNERS_LIMIT]; /* owned */
	size_t count;
	struct tkb_signing signing; /* array of these keys */
};

/*
 * Refuse options for a key without '--sign', and two options for the
 * passphrase.
 *
 * @return STATUS_DONE or STATUS_USAGE
 */
enum status signers_check(const struct cli *cli, const struct arguments *args);

void signers_release(struct signers *signers,
                     const struct remote_library *library);

/*
 * Read the keys, and ask for their passphrases.
 *
 * @return 0, also where there are none; TKB_ERR_INVALID, or what
 *         key_file_read() returns
 */
TKB_NODISCARD int signers_read(struct signers *signers, const struct cli *cli,
                               const struct remote_library *library,
                               const struct arguments *args,
                               struct tkb_error *err);

/* The keys for struct tkb_push_options; NULL: there are none. */
const struct tkb_signing *signers_signing(const struct signers *signers);

#endif

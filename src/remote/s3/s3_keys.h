/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_S3_S3_KEYS_H
#define TKB_REMOTE_S3_S3_KEYS_H

/*
 * Credentials for S3. As for Amazon's programs, they come from the first of these
 * that has some; a profile in the URL skips the first two:
 *
 *     AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
 *     AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN: the role of a pod, from STS
 *     the profile's web_identity_token_file and role_arn
 *     its keys in ~/.aws/credentials
 *     its credential_process
 *     its keys in ~/.aws/config
 *     AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI: the role of a pod or
 *     of a task
 *     the role of the machine, from its metadata service (IMDSv2)
 *
 * SSO, and roles that a profile gets by the keys of another, are left to
 * credential_process.
 */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_S3_SETTINGS_LIMIT = 1024 * 1024
};

/* Owned, and wiped on release. */
struct tkb_s3_keys {
	char *id; /* NULL: there are none */
	char *secret;
	char *token;       /* session token, or NULL */
	uint64_t renew_ns; /* when to look for others, as tkb_now_ns(); 0:
	                      never */
	uint64_t end_ns;   /* when they end; 0: never */
};

void tkb_s3_keys_release(struct tkb_s3_keys *keys);

/*
 * Set a member to a copy of `value`. TKB_ERR_DENIED: it has a character that would
 * break a header; `what` names it.
 */
TKB_NODISCARD int tkb_s3_keys_set(char **member, const char *value,
                                  const char *what, struct tkb_error *err);

/*
 * Read keys from the environment and the profile. Returns 0, TKB_MISS (there are
 * none, or others come first), TKB_ERR_DENIED or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_s3_keys_read(const struct tkb_remote_url *url,
                                   struct tkb_s3_keys *out,
                                   struct tkb_error *err);

/*
 * Find keys wherever they come from; `region` is where STS is asked. Returns 0,
 * TKB_ERR_DENIED if there are none, TKB_ERR_UNAVAILABLE (STS or the container's
 * server), TKB_ERR_NOMEM, or what tkb_op_limits_check() returns.
 */
TKB_NODISCARD int tkb_s3_keys_find(const struct tkb_remote_url *url,
                                   const char *region,
                                   const struct tkb_op_limits *limits,
                                   struct tkb_s3_keys *out,
                                   struct tkb_error *err);

/* The name of the profile to use. */
const char *tkb_s3_profile(const struct tkb_remote_url *url);

/* The files with settings of profiles. */
enum tkb_s3_file {
	TKB_S3_CREDENTIALS,
	TKB_S3_CONFIG
};

/*
 * Write the file's path into `out`: the one in the environment, or else
 * ~/.aws/credentials or ~/.aws/config. TKB_MISS: no home.
 */
TKB_NODISCARD int tkb_s3_file_path(enum tkb_s3_file file, struct tkb_buf *out,
                                   struct tkb_error *err);

/*
 * Read the value of `name` in the profile in a file into `out`, replacing its
 * contents. TKB_MISS: no file, no such profile in it, or no value.
 */
TKB_NODISCARD int tkb_s3_setting(enum tkb_s3_file file, const char *profile,
                                 const char *name, struct tkb_buf *out,
                                 struct tkb_error *err);

/* As tkb_s3_setting(), of the profile to use, from either file. */
TKB_NODISCARD int tkb_s3_profile_setting(const struct tkb_remote_url *url,
                                         const char *name, struct tkb_buf *out,
                                         struct tkb_error *err);

#endif

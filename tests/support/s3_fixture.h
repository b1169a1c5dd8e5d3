/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_S3_FIXTURE_H
#define TKB_TESTS_S3_FIXTURE_H

/*
 * An S3 server: moto, behind a guard that checks each signature by botocore
 * (s3_server.py). One serves all tests of a program, each has its own bucket.
 * A test is skipped where there is no moto; ./bootstrap installs it.
 */

#include "remote_fixture.h"
#include "server.h"

/* Start it, if need be; the environment has keys that it knows, and no more. */
void start_s3(void);
unsigned s3_port(void);

/*
 * The environment has nothing of AWS', and an empty home; this machine is asked
 * for no role.
 */
void forget_aws(void);
/* NULL: none. */
void set_keys(const char *id, const char *secret, const char *token);

/* A new bucket, whose name begins with `word`. */
const char *new_bucket(const char *word);

/* "s3://<where>?endpoint=...<rest>" */
const char *s3_url(const char *where, const char *rest);

/* What the guard answers to "/_test/<command>". */
const char *ask_s3(const char *command);

/* The remote opens, and listing its refs fails with this. */
void check_refusal(const char *url, int status, const char *part);

/* Opening fails with this. */
void check_unopened(const char *url, int status, const char *part);

#endif

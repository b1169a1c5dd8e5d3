/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that reads and writes foreign archives with libarchive, for `tkbundle
 * import` and `export`. It gives up all rights that it does not need: see sandbox.h.
 *
 *     tkbundle-archive unpack        from standard input, into folder 4
 *     tkbundle-archive pack FORMAT TIME [sum]
 *                                    records from standard input, the archive
 *                                    to standard output; of a tar, report the
 *                                    digest that it has without compression
 *
 * Messages go to descriptor 3: see report.h.
 */
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "pack.h"
#include "report.h"
#include "sandbox.h"
#include "unpack.h"

static int enter_sandbox(int folder_fd, struct tkb_error *err)
{
	struct sandbox sandbox = { 0 };
	int rc;

	/* Names in archives are UTF-8; times are the same everywhere. */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	(void)umask(077);
	rc = sandbox_enter(folder_fd, &sandbox, err);
	if (rc == 0 && !sandbox.has_landlock)
		report(REPORT_NOTE, "this kernel has no Landlock: the archive "
		                    "is read without it");
	if (rc == 0 && !sandbox.has_seccomp)
		report(REPORT_NOTE, "this kernel has no seccomp: the archive "
		                    "is read without it");
	return rc;
}

static int run_unpack(struct tkb_error *err)
{
	struct unpacked done = { 0 };
	int rc;

	rc = enter_sandbox(REPORT_FOLDER_FD, err);
	if (rc == 0)
		rc = unpack(STDIN_FILENO, REPORT_FOLDER_FD, &done, err);
	if (rc == 0)
		report(REPORT_DONE, "%" PRIu64 " %" PRIu64, done.file_count,
		       done.size);
	return rc;
}

static int run_pack(const char *format, const char *time, bool has_sum,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	struct tkb_digest sum = { { 0 } };
	char hex[TKB_DIGEST_HEX_SIZE];
	int rc;

	/*
	 * OpenSSL may read its configuration file, so load it before the
	 * sandbox.
	 */
	rc = has_sum ? tkb_hasher_open(&hasher, err) : 0;
	if (rc == 0)
		rc = enter_sandbox(-1, err);
	if (rc == 0)
		rc = pack(STDIN_FILENO, STDOUT_FILENO, format,
		          strtoll(time, NULL, 10), has_sum ? &hasher : NULL,
		          &sum, err);
	if (rc < 0)
		return rc;
	tkb_digest_to_hex(&sum, hex);
	if (has_sum)
		report(REPORT_SUM, "%s", hex);
	report(REPORT_DONE, "0 0");
	return 0;
}

int main(int argc, char **argv)
{
	static const char misused[] =
		"tkbundle-archive: started by tkbundle import and export\n";
	struct tkb_error err = { 0 };
	int rc;

	/* Die when the parent process dies. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/*
	 * Let a write beyond `ulimit -f` fail with an error that is reported.
	 */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "unpack") == 0) {
		rc = run_unpack(&err);
	} else if ((argc == 4 || argc == 5) && strcmp(argv[1], "pack") == 0) {
		rc = run_pack(argv[2], argv[3], argc == 5, &err);
	} else {
		(void)!write(STDERR_FILENO, misused, strlen(misused));
		return 2;
	}
	if (rc < 0)
		report(REPORT_FAILED, "%d %s", rc, err.message);
	/*
	 * Nothing is left to do, and the sandbox forbids what exit() may call.
	 */
	_exit(rc < 0 ? 1 : 0);
}

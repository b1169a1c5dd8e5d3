/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_SANDBOX_H
#define TKBUNDLE_ARCHIVE_SANDBOX_H

#include <stdbool.h>

#include <tkbundle/error.h>

/*
 * A process gives up the rights that it does not need, before it reads what a
 * stranger wrote. What it has open stays open. Behind that it has no network, starts
 * no program, opens nothing but files in one folder, and writes none there that is
 * larger than a limit.
 */

/* What the kernel has of that. */
struct sandbox {
	bool has_landlock; /* else the folder is not enforced */
	bool has_seccomp;  /* else the network is not, nor programs */
};

/*
 * Enter the sandbox, for good. `folder_fd` is the folder in which files can be
 * made, written and read; -1: there is none.
 *
 * @param out  what holds: what an older kernel has not is no failure
 * @return 0 or TKB_ERR_IO
 */
TKB_NODISCARD int sandbox_enter(int folder_fd, struct sandbox *out,
                                struct tkb_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_SANDBOX_H
#define TKBUNDLE_ARCHIVE_SANDBOX_H

#include <stdbool.h>

#include <tkbundle/error.h>

/*
 * Before a process reads untrusted input, it gives up all rights that it does
 * not need. Descriptors that are open stay usable. Afterwards it cannot use the
 * network, start a program, or open files outside one folder, and its files
 * there cannot exceed a size limit.
 */

/* Which of these the kernel supports. */
struct sandbox {
	bool has_landlock; /* if not, access is not limited to the folder */
	bool has_seccomp;  /* if not, network and programs are not blocked */
};

/*
 * Enter the sandbox; there is no way back. `folder_fd` is the folder in which
 * files can be created, written and read; -1: none.
 *
 * @param out  what is enforced; a feature that the kernel lacks is not a
 *             failure
 * @return 0 or TKB_ERR_IO
 */
TKB_NODISCARD int sandbox_enter(int folder_fd, struct sandbox *out,
                                struct tkb_error *err);

#endif

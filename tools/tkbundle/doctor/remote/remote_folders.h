/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_FOLDERS_H
#define TKBUNDLE_REMOTE_FOLDERS_H

#include "config/remote_use.h"
#include "doctor/machine/finding.h"

/* Which of a remote's tiers that are folders exist. */
enum remote_folders {
	REMOTE_FOLDERS_THERE,  /* all */
	REMOTE_FOLDERS_NEW,    /* one before the last does not exist yet */
	REMOTE_FOLDERS_MISSING /* the last does not exist, or one does not
	                          answer */
};

/*
 * Check the folders in child processes, since a dead mount would block us, and
 * note what is wrong. A missing folder may be normal: the first push makes it.
 */
enum remote_folders remote_folders_look(struct remote_use *use,
                                        struct findings *findings);

#endif

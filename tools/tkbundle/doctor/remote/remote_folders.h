/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_FOLDERS_H
#define TKBUNDLE_REMOTE_FOLDERS_H

#include "config/remote_use.h"
#include "doctor/machine/finding.h"

/* Which of a remote's tiers that are folders are there. */
enum remote_folders {
	REMOTE_FOLDERS_THERE,  /* all */
	REMOTE_FOLDERS_NEW,    /* one in front of the last is not there yet */
	REMOTE_FOLDERS_MISSING /* the last is not, or one does not answer */
};

/*
 * Look for the folders, in children, as they may lie on dead mounts; and note what
 * is wrong. Whoever writes to the remote makes a folder that is not there.
 */
enum remote_folders remote_folders_look(struct remote_use *use,
                                        struct findings *findings);

#endif

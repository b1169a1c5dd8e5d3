/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_STATUS_H
#define TKBUNDLE_STATUS_H

/* The exit statuses of the program; the manual page explains them. */
enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_ABSENT = 3,
	STATUS_PARTIAL = 4,
	STATUS_UNTRUSTED = 5
};

#endif

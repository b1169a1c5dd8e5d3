/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_REPORT_H
#define TKBUNDLE_ARCHIVE_REPORT_H

/*
 * Messages to the program that started this one, on a descriptor of their own.
 * Each message is a letter, a text, and a NUL.
 */
enum {
	REPORT_FD = 3,       /* messages */
	REPORT_FOLDER_FD = 4 /* the folder to unpack into */
};

enum report_kind {
	REPORT_DONE = 'd',     /* how many files, and bytes */
	REPORT_FAILED = 'e',   /* a status, and a sentence */
	REPORT_LINK = 'l',     /* the name of a link that was left out */
	REPORT_NOTE = 'n',     /* a sentence for the user */
	REPORT_PROGRESS = 'p', /* bytes of the archive read so far */
	REPORT_SUM = 's'       /* the digest of a tar without compression */
};

/* Send a message; a text that is too long is cut. */
__attribute__((format(printf, 2, 3))) void report(enum report_kind kind,
                                                  const char *format, ...);

#endif

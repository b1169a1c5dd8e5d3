/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_REPORT_H
#define TKBUNDLE_ARCHIVE_REPORT_H

/*
 * What this program tells the one that started it, on a descriptor of its own:
 * messages, each a letter, a text, and a zero.
 */
enum {
	REPORT_FD = 3,       /* messages */
	REPORT_FOLDER_FD = 4 /* where an archive is unpacked */
};

enum report_kind {
	REPORT_DONE = 'd',     /* how many files, and bytes */
	REPORT_FAILED = 'e',   /* a status, and a sentence */
	REPORT_LINK = 'l',     /* the name of a link that was left out */
	REPORT_NOTE = 'n',     /* a sentence */
	REPORT_PROGRESS = 'p', /* how many bytes of the archive were read */
	REPORT_SUM = 's'       /* the digest of a tar without compression */
};

/* Send a message; a text that is too long is cut. */
__attribute__((format(printf, 2, 3))) void report(enum report_kind kind,
                                                  const char *format, ...);

#endif

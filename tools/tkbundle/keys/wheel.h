/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_WHEEL_H
#define TKBUNDLE_WHEEL_H

#include <stdbool.h>

enum {
	WHEEL_DIGEST_SIZE =
		17 /* 16 digits, enough to distinguish builds, and a NUL */
};

/*
 * The first digits of the SHA-256 of a file that a wheel has installed. They
 * are read from the wheel's list, RECORD, which pip and uv keep: so a library
 * of 400 MB need not be read. False if the list lacks the file, as for a
 * package built in place, or gives another size.
 *
 * @param folder   folder of packages, "/opt/venv/lib/python3.12/site-packages"
 * @param list     folder of the list: "triton-3.6.0.dist-info"
 * @param file     below the folder: "triton/_C/libtriton.so"
 */
bool wheel_digest(const char *folder, const char *list, const char *file,
                  char out[WHEEL_DIGEST_SIZE]);

#endif

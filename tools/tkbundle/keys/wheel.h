/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_WHEEL_H
#define TKBUNDLE_WHEEL_H

#include <stdbool.h>

enum {
	WHEEL_DIGEST_SIZE =
		17 /* 16 digits, which tell builds apart, and a NUL */
};

/*
 * The first digits of the SHA-256 of a file that a wheel has installed. They are those
 * of its list, RECORD, which pip and uv keep: so a library of 400 MB need not be
 * read. False where the list lacks it, as of a package built in place, or where the
 * file has another size than there.
 *
 * @param folder   of packages, "/opt/venv/lib/python3.12/site-packages"
 * @param list     of the package: "triton-3.6.0.dist-info"
 * @param file     below the folder: "triton/_C/libtriton.so"
 */
bool wheel_digest(const char *folder, const char *list, const char *file,
                  char out[WHEEL_DIGEST_SIZE]);

#endif

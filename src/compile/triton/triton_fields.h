/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_FIELDS_H
#define TKB_COMPILE_TRITON_TRITON_FIELDS_H

/*
 * What a job for triton_worker.py holds, and its answer: fields as those of
 * fields.h, of these names. The worker has them, and the sizes of what message.h
 * and error.h define, as numbers.
 */

enum tkb_triton_field {
	/* Of a job. */
	TKB_TRITON_FILE = 1, /* an absolute path */
	TKB_TRITON_SHOWN,    /* the same as the caller gave it, for messages */
	TKB_TRITON_KERNEL,
	TKB_TRITON_SIGNATURE,
	TKB_TRITON_ARCH, /* "90" */
	TKB_TRITON_NUM_WARPS,
	TKB_TRITON_NUM_STAGES,
	TKB_TRITON_OPTIONS, /* a JSON object */
	TKB_TRITON_PTXAS,   /* the path of one that must be taken */

	/* Of an answer. The kernel's name is what its files are called. */
	TKB_TRITON_HASH = 64, /* in hexadecimal */
	TKB_TRITON_FOLDER,    /* the entry's; its last part is the key */
	TKB_TRITON_NAME,
	TKB_TRITON_IS_HIT, /* "1" */
	TKB_TRITON_VERSION,
	TKB_TRITON_NOTE
};

#endif

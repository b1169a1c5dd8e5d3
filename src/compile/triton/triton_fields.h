/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_FIELDS_H
#define TKB_COMPILE_TRITON_TRITON_FIELDS_H

/*
 * Jobs for triton_worker.py and their answers: fields as in fields.h, with the
 * numbers below. triton_worker.py repeats these numbers, and the sizes of the
 * structs in message.h and error.h.
 */

enum tkb_triton_field {
	/* In jobs. */
	TKB_TRITON_FILE = 1, /* an absolute path */
	TKB_TRITON_SHOWN,    /* the path as the caller gave it, for messages */
	TKB_TRITON_KERNEL,   /* this and the next: not for a file of IR */
	TKB_TRITON_SIGNATURE,
	TKB_TRITON_ARCH, /* "90" */
	TKB_TRITON_NUM_WARPS,
	TKB_TRITON_NUM_STAGES,
	TKB_TRITON_OPTIONS,  /* a JSON object */
	TKB_TRITON_PTXAS,    /* path of the ptxas to use */
	TKB_TRITON_METADATA, /* for IR or a recorded kernel: text of Triton's
	                        JSON */
	TKB_TRITON_CHOICE,   /* one of the choices of an answer */
	TKB_TRITON_WINNERS,  /* "1" */
	TKB_TRITON_STAGE,    /* "ptx": answer with this stage, not with an
	                        entry */
	TKB_TRITON_PRINTS,   /* set: show the IR after each pass */
	TKB_TRITON_RECORDED, /* a key: instead of file, kernel and signature */
	TKB_TRITON_SPECIALISATION, /* of the recorded key, as JSON */
	TKB_TRITON_IR,             /* of the recorded key, as text */

	/* In answers. */
	TKB_TRITON_HASH = 64, /* hexadecimal */
	TKB_TRITON_FOLDER,    /* of the entry; absent if a stage was
	                         requested */
	TKB_TRITON_NAME,
	TKB_TRITON_IS_HIT, /* "1" */
	TKB_TRITON_VERSION,
	TKB_TRITON_NOTE,
	TKB_TRITON_IS_UNASKED, /* "1" */
	TKB_TRITON_CHOICES,    /* one of several */
	TKB_TRITON_KEY,
	TKB_TRITON_PRODUCT, /* the stage */

	/* What the answer depends on (triton_depends.h); absent: unknown. */
	TKB_TRITON_READ,     /* a file that was read or looked for */
	TKB_TRITON_SEARCHED, /* a folder, searched for modules */
	TKB_TRITON_LISTED,   /* a folder */
	TKB_TRITON_VARIABLE, /* a name, or "*" for all */
	TKB_TRITON_LINK,     /* a symbolic link */
	TKB_TRITON_SHARED,   /* the five fields above, but for all jobs of
	                        the worker */
	TKB_TRITON_BEGAN,    /* when the worker began, in ns since 1970 */
	TKB_TRITON_PROGRAM   /* path of the Python that runs the worker */
};

#endif

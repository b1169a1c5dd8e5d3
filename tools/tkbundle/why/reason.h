/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REASON_H
#define TKBUNDLE_REASON_H

#include <stdbool.h>

/*
 * Why something was compiled anew, or why two entries differ: which part of an
 * engine's key, or of the bytes under it, is different. Notes of starts, `why`,
 * `doctor` and `fleet` use the same words and sentences.
 */
enum reason {
	/* A part of the key differs: the first of these. */
	REASON_TARGET,      /* the architecture that it is compiled for */
	REASON_TRITON,      /* the version of Triton */
	REASON_LIBTRITON,   /* another build of that version */
	REASON_PTXAS,       /* the ptxas that makes machine code */
	REASON_COMPILER,    /* LLVM, NVRTC or nvJitLink, of what compile made */
	REASON_TORCH,       /* the version of PyTorch */
	REASON_ENGINE,      /* the version of the engine */
	REASON_GPU,         /* the name of the GPU */
	REASON_DRIVER,      /* the driver */
	REASON_HOME,        /* a setting that holds $HOME */
	REASON_PATH,        /* another setting that is a path, or a folder */
	REASON_ENVIRONMENT, /* any other variable */
	REASON_OPTIONS,     /* num_warps and the like; an engine's own */
	REASON_SIGNATURE,   /* types and alignments of arguments */
	REASON_CONSTANTS,   /* values of constexprs */
	REASON_SOURCE,      /* the source, or the line on which it begins */
	/* The key is the same. */
	REASON_DEBUG_LINES, /* only names and lines of sources differ */
	REASON_BYTES,       /* the files differ besides */
	/* No key of it is known here, or what has it could not be used. */
	REASON_NOT_IN_BUNDLE, /* nobody has pushed or packed it */
	REASON_UNTRUSTED,     /* the policy did not trust what was there */
	REASON_NOT_PULLED,    /* the pull failed, or came too late */
	REASON_DAMAGED,       /* it was torn, so it was compiled again */
	REASON_UNKNOWN,       /* the part that differs is not recorded */
	REASON_COUNT
};

/* "ptxas", "not-in-bundle": as files and --json have it. */
const char *reason_word(enum reason reason);

/* "another ptxas": goes on a line for people. */
const char *reason_text(enum reason reason);

/* The reason that is called `word`; false if none is. */
bool reason_find(const char *word, enum reason *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REASON_H
#define TKBUNDLE_REASON_H

#include <stdbool.h>

/*
 * Reasons why something was compiled anew, or why two entries differ: the part
 * of an engine's key, or of the bytes under it, that is different. Notes of
 * starts, `why`, `doctor` and `fleet` use the same words and sentences.
 */
enum reason {
	/* A part of the key differs; which one counts if several do: rank_of(). */
	REASON_TARGET,      /* the architecture that it is compiled for */
	REASON_TRITON,      /* the version of Triton */
	REASON_LIBTRITON,   /* another build of that version */
	REASON_PTXAS,       /* the ptxas that makes machine code */
	REASON_COMPILER,    /* LLVM, NVRTC or nvJitLink, for entries made by
	                       compile; one of those that vLLM's hash covers */
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
	REASON_BYTES,       /* the files also differ in other ways */
	/* No similar entry is known here, or it could not be used. */
	REASON_NOT_IN_BUNDLE, /* nobody has pushed or packed it */
	REASON_UNTRUSTED,     /* the policy did not trust what was there */
	REASON_NOT_PULLED,    /* the pull failed, or came too late */
	REASON_DAMAGED,       /* the entry was torn */
	REASON_UNKNOWN,       /* the part that differs is not recorded */
	REASON_COUNT
};

/* The word for files and --json: "ptxas", "not-in-bundle". */
const char *reason_word(enum reason reason);

/* The text for people: "another ptxas". */
const char *reason_text(enum reason reason);

/* Find the reason with this word; false if there is none. */
bool reason_find(const char *word, enum reason *out);

#endif

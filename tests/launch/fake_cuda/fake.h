/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_CUDA_FAKE_H
#define FAKE_CUDA_FAKE_H

/*
 * What a test sees of a driver that only writes down what it is told.
 *
 * There are two devices with a context each: fake_context(0) is current, and
 * the NULL stream is its; fake_stream(d) is one of device d.
 */

#include <cuda.h>

enum {
	FAKE_PARAMETERS = 32,
	FAKE_ATTRIBUTES = 8
};

/* The last launch. */
struct fake_launch {
	int is_extended;
	const char *kernel; /* its name */
	const void *cubin;
	unsigned int grid[3];
	unsigned int block[3];
	unsigned int shared;
	CUstream stream;
	unsigned long long parameters[FAKE_PARAMETERS]; /* as many bytes each
	                                                   as `sizes` says */
	CUlaunchAttribute attributes[FAKE_ATTRIBUTES];
	unsigned int attribute_count;
};

/*
 * Forget everything but what is loaded; parameters have so many bytes: "8884",
 * a digit each.
 */
void fake_reset(const char *sizes);

/* Call number `n` from now on, counted from 1, fails so. */
void fake_fail(int n, CUresult with);

/* The same for every call of one function; NULL: none. */
void fake_fail_all(const char *function, CUresult with);

/* Make loading slow, so that threads meet in it. */
void fake_delay(int milliseconds);

/* The functions that were called, a space behind each. */
const char *fake_calls(void);
int fake_count(const char *function);
int fake_loaded(void);                     /* libraries now */
int fake_asked(int device, int attribute); /* 0: never */
const struct fake_launch *fake_last(void);
int fake_launches(void);
int fake_depth(void); /* of pushed contexts */

CUstream fake_stream(int device);
CUcontext fake_context(int device);

#endif

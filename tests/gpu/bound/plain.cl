/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Products and convolutions as one writes them first: a thread computes one
 * result, and sizes are arguments. plain.ll is made of this file by clang 14 and
 * opt 22, and names no features of a GPU:
 *
 *     clang-14 -x cl -cl-std=CL2.0 --target=nvptx64-nvidia-cuda -O2 -S -emit-llvm
 *         -fno-unroll-loops -fno-vectorize -fno-slp-vectorize -ffp-contract=off
 *     opt-22 -S -passes=globaldce
 *
 * Loops say nothing there of how they are to be unrolled, and the inputs, each
 * second parameter, are said to be aligned as a launcher has them: `align 16`.
 */
#define X (__nvvm_read_ptx_sreg_ctaid_x() * 64 + __nvvm_read_ptx_sreg_tid_x())
#define Y __nvvm_read_ptx_sreg_ctaid_y()

#define GEMV(NAME, IN, SUM, AT)                                                \
	__kernel void NAME(__global const IN *w, __global const IN *x,         \
	                   __global SUM *y, int rows, int columns)             \
	{                                                                      \
		int row = X;                                                   \
		SUM sum = 0;                                                   \
		if (row >= rows)                                               \
			return;                                                \
		for (int k = 0; k < columns; k++)                              \
			sum += (SUM)w[AT] * (SUM)x[k];                         \
		y[row] = sum;                                                  \
	}

GEMV(gemv_int8, char, int, row *columns + k)
GEMV(gemv_int8_columns, char, int, k *rows + row)
GEMV(gemv_float, float, float, row *columns + k)
GEMV(gemv_float_columns, float, float, k *rows + row)

/* y[m, n] = sum of x[m, k] * w[n, k]: rows of m, a thread for each of n */
#define MATMUL(NAME, IN, SUM)                                                  \
	__kernel void NAME(__global const IN *w, __global const IN *x,         \
	                   __global SUM *y, int rows, int columns)             \
	{                                                                      \
		int row = X;                                                   \
		SUM sum = 0;                                                   \
		if (row >= rows)                                               \
			return;                                                \
		for (int k = 0; k < columns; k++)                              \
			sum += (SUM)w[row * columns + k] *                     \
			       (SUM)x[Y * columns + k];                        \
		y[Y * rows + row] = sum;                                       \
	}

MATMUL(matmul_int8, char, int)
MATMUL(matmul_float, float, float)

/*
 * A convolution of `channels` images (height, width, channels), each of whose
 * rows has width + size - 1 pixels: w[out][dy][dx][channel], or by columns,
 * w[dy][dx][channel][out].
 */
#define CONVOLUTION(NAME, IN, SUM, AT)                                         \
	__kernel void NAME(__global const IN *w, __global const IN *x,         \
	                   __global SUM *y, int size, int channels, int outs,  \
	                   int width)                                          \
	{                                                                      \
		int at = X;                                                    \
		int out = __nvvm_read_ptx_sreg_ctaid_z();                      \
		SUM sum = 0;                                                   \
		if (at >= width)                                               \
			return;                                                \
		for (int dy = 0; dy < size; dy++)                              \
			for (int dx = 0; dx < size; dx++)                      \
				for (int c = 0; c < channels; c++)             \
					sum += (SUM)w[AT] *                    \
					       (SUM)x[((Y + dy) * (width +     \
					                           size - 1) + \
					               at + dx) *              \
					                      channels +       \
					              c];                      \
		y[(Y * width + at) * outs + out] = sum;                        \
	}

#define BY_ROWS ((out * size + dy) * size + dx) * channels + c
#define BY_COLUMNS ((dy * size + dx) * channels + c) * outs + out

CONVOLUTION(convolution_int8, char, int, BY_ROWS)
CONVOLUTION(convolution_int8_columns, char, int, BY_COLUMNS)
CONVOLUTION(convolution_float, float, float, BY_ROWS)
CONVOLUTION(convolution_float_columns, float, float, BY_COLUMNS)

/* Each channel by itself: w[dy][dx][channel]; a thread for each channel. */
#define DEPTHWISE(NAME, IN, SUM)                                               \
	__kernel void NAME(__global const IN *w, __global const IN *x,         \
	                   __global SUM *y, int size, int channels, int width) \
	{                                                                      \
		int c = X;                                                     \
		int at = __nvvm_read_ptx_sreg_ctaid_z();                       \
		SUM sum = 0;                                                   \
		if (c >= channels)                                             \
			return;                                                \
		for (int dy = 0; dy < size; dy++)                              \
			for (int dx = 0; dx < size; dx++)                      \
				sum += (SUM)w[(dy * size + dx) * channels +    \
				              c] *                             \
				       (SUM)x[((Y + dy) * (width + size - 1) + \
				               at + dx) *                      \
				                      channels +               \
				              c];                              \
		y[(Y * width + at) * channels + c] = sum;                      \
	}

DEPTHWISE(depthwise_int8, char, int)
DEPTHWISE(depthwise_float, float, float)

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

/*
 * As much of CUDA's driver interface as a launcher uses, for machines without
 * CUDA. Names and types are those of CUDA 12.0; of the values, only success is.
 */

#include <stddef.h>

#define CUDA_VERSION 12000

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_SUPPORTED = 801
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUlib_st *CUlibrary;
typedef struct CUstream_st *CUstream;

typedef enum {
	CU_JIT_MAX_REGISTERS
} CUjit_option;
typedef enum {
	CU_LIBRARY_BINARY_IS_PRESERVED = 1
} CUlibraryOption;
typedef enum {
	CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
	CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
} CUfunction_attribute;
typedef enum {
	CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
	CU_CLUSTER_SCHEDULING_POLICY_SPREAD
} CUclusterSchedulingPolicy;
typedef enum {
	CU_LAUNCH_ATTRIBUTE_IGNORE,
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
} CUlaunchAttributeID;

typedef union {
	char pad[64];
	int cooperative;
	struct {
		unsigned int x, y, z;
	} clusterDim;
	CUclusterSchedulingPolicy clusterSchedulingPolicyPreference;
	int programmaticStreamSerializationAllowed;
} CUlaunchAttributeValue;

typedef struct {
	CUlaunchAttributeID id;
	CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

CUresult cuLibraryLoadData(CUlibrary *library, const void *code,
                           CUjit_option *jit, void **jit_values,
                           unsigned int jit_count, CUlibraryOption *options,
                           void **values, unsigned int count);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library,
                            const char *name);
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                              CUkernel kernel, CUdevice device);
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext *context);
CUresult cuLaunchKernel(CUfunction function, unsigned int x, unsigned int y,
                        unsigned int z, unsigned int block_x,
                        unsigned int block_y, unsigned int block_z,
                        unsigned int shared, CUstream stream, void **parameters,
                        void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra);

#ifdef __cplusplus
}
#endif

#endif

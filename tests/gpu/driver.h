/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_DRIVER_H
#define GPU_DRIVER_H

/*
 * The functions of the CUDA driver that gemv.c and oracle.c call, loaded when they
 * run: neither its header nor its library is needed to compile them.
 */

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address; /* on the device */

struct driver {
	int (*init)(unsigned);
	int (*get_device)(int *, int);
	int (*get_name)(char *, int, int);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	int (*load)(void **, const void *);
	int (*unload)(void *);
	int (*get_function)(void **, void *, const char *);
	int (*alloc)(address *, size_t);
	int (*copy_in)(address, const void *, size_t);
	int (*copy_out)(void *, address, size_t);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
	              unsigned, unsigned, void *, void **, void **);
	int (*make_event)(void **, unsigned);
	int (*record)(void *, void *);
	int (*wait)(void *);
	int (*elapsed)(float *, void *, void *);
};

static void check(int rc, const char *what)
{
	if (rc == 0)
		return;
	(void)fprintf(stderr, "%s: CUDA error %d\n", what, rc);
	exit(1);
}

static void *need(void *library, const char *name)
{
	void *const found = dlsym(library, name);

	if (found == NULL) {
		(void)fprintf(stderr, "the driver has no %s\n", name);
		exit(1);
	}
	return found;
}

/* ISO C has no cast from an object's address to a function's. */
#define NEED(field, name)                                                      \
	do {                                                                   \
		void *const found = need(library, name);                       \
		memcpy(&driver->field, &found, sizeof(found));                 \
	} while (0)

/* Load the driver, use its first device, and print that one's name. */
static void open_driver(struct driver *driver)
{
	void *const library = dlopen("libcuda.so.1", RTLD_NOW);
	char name[256];
	void *context;
	int device;

	if (library == NULL) {
		(void)fprintf(stderr, "%s\n", dlerror());
		exit(77); /* skipped */
	}
	NEED(init, "cuInit");
	NEED(get_device, "cuDeviceGet");
	NEED(get_name, "cuDeviceGetName");
	NEED(retain, "cuDevicePrimaryCtxRetain");
	NEED(set_current, "cuCtxSetCurrent");
	NEED(load, "cuModuleLoadData");
	NEED(unload, "cuModuleUnload");
	NEED(get_function, "cuModuleGetFunction");
	NEED(alloc, "cuMemAlloc_v2");
	NEED(copy_in, "cuMemcpyHtoD_v2");
	NEED(copy_out, "cuMemcpyDtoH_v2");
	NEED(launch, "cuLaunchKernel");
	NEED(make_event, "cuEventCreate");
	NEED(record, "cuEventRecord");
	NEED(wait, "cuEventSynchronize");
	NEED(elapsed, "cuEventElapsedTime");
	check(driver->init(0), "cuInit");
	check(driver->get_device(&device, 0), "cuDeviceGet");
	check(driver->get_name(name, sizeof(name), device), "cuDeviceGetName");
	check(driver->retain(&context, device), "cuDevicePrimaryCtxRetain");
	check(driver->set_current(context), "cuCtxSetCurrent");
	(void)printf("%s\n", name);
}

#endif

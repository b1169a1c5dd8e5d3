/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	GPUS_LIMIT = 1024
};

/*
 * The needed parts of nvml.h, which is not available where tkbundle is built.
 */
struct nvml_device;

/* The functions return 0, or a status that error_text() explains. */
struct library {
	void *handle; /* owned */
	bool is_on;   /* it must be shut down */
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_text)(int status);
	int (*driver_version)(char *out, unsigned size);
	int (*cuda_version)(int *out); /* NULL in an older NVML */
	int (*device_count)(unsigned *out);
	int (*device_at)(unsigned index, struct nvml_device **out);
	int (*device_name)(struct nvml_device *device, char *out,
	                   unsigned size);
	int (*device_uuid)(struct nvml_device *device, char *out,
	                   unsigned size);
	int (*device_capability)(struct nvml_device *device, int *major,
	                         int *minor);
};

static const struct {
	const char *name;
	size_t offset; /* in struct library */
	bool is_new;   /* drivers from before 2018 do not have it */
} functions[] = {
	{ "nvmlInit_v2", offsetof(struct library, init), false },
	{ "nvmlShutdown", offsetof(struct library, shutdown), false },
	{ "nvmlErrorString", offsetof(struct library, error_text), false },
	{ "nvmlSystemGetDriverVersion",
	  offsetof(struct library, driver_version), false },
	{ "nvmlSystemGetCudaDriverVersion_v2",
	  offsetof(struct library, cuda_version), true },
	{ "nvmlDeviceGetCount_v2", offsetof(struct library, device_count),
	  false },
	{ "nvmlDeviceGetHandleByIndex_v2", offsetof(struct library, device_at),
	  false },
	{ "nvmlDeviceGetName", offsetof(struct library, device_name), false },
	{ "nvmlDeviceGetUUID", offsetof(struct library, device_uuid), false },
	{ "nvmlDeviceGetCudaComputeCapability",
	  offsetof(struct library, device_capability), false },
};

static void close_library(struct library *library)
{
	if (library->is_on)
		(void)library->shutdown();
	if (library->handle != NULL)
		(void)dlclose(library->handle);
}

void tkb_nvml_release(struct tkb_nvml *nvml)
{
	free(nvml->gpus);
	*nvml = (struct tkb_nvml){ 0 };
}

static bool give_up(struct tkb_nvml *nvml, const char *what, const char *why)
{
	(void)snprintf(nvml->why, sizeof(nvml->why), "%s: %s", what,
	               why != NULL ? why : "no reason is given");
	return false;
}

static bool open_library(struct library *library, const char *path,
                         struct tkb_nvml *nvml)
{
	library->handle = dlopen(path != NULL ? path : "libnvidia-ml.so.1",
	                         RTLD_NOW | RTLD_LOCAL);
	if (library->handle == NULL)
		return give_up(nvml, "NVML cannot be loaded", dlerror());
	for (size_t i = 0; i < TKB_COUNT_OF(functions); i++) {
		void *found = dlsym(library->handle, functions[i].name);

		if (found == NULL && !functions[i].is_new)
			return give_up(nvml, "NVML has no such function",
			               functions[i].name);
		/*
		 * ISO C cannot cast an object pointer to a function pointer:
		 * copy it.
		 */
		memcpy((char *)library + functions[i].offset, &found,
		       sizeof(found));
	}
	return true;
}

/* If `status` is not 0, note the failure and return false. */
static bool check_nvml(const struct library *library, int status,
                       struct tkb_nvml *nvml)
{
	if (status == 0)
		return true;
	return give_up(nvml, "NVML fails", library->error_text(status));
}

static bool read_gpu(const struct library *library, unsigned index,
                     struct tkb_nvml *nvml)
{
	struct tkb_gpu *gpu = &nvml->gpus[index];
	struct nvml_device *device = NULL;

	return check_nvml(library, library->device_at(index, &device), nvml) &&
	       check_nvml(library,
	                  library->device_name(device, gpu->name,
	                                       sizeof(gpu->name) - 1),
	                  nvml) &&
	       check_nvml(library,
	                  library->device_uuid(device, gpu->uuid,
	                                       sizeof(gpu->uuid) - 1),
	                  nvml) &&
	       check_nvml(library,
	                  library->device_capability(device, &gpu->major,
	                                             &gpu->minor),
	                  nvml);
}

static int read_gpus(const struct library *library, unsigned count,
                     struct tkb_nvml *nvml, struct tkb_error *err)
{
	nvml->gpus = tkb_alloc_array(count, sizeof(*nvml->gpus));
	if (nvml->gpus == NULL)
		return tkb_fail_nomem(err);
	for (unsigned i = 0; i < count; i++) {
		if (!read_gpu(library, i, nvml))
			return TKB_MISS;
		nvml->gpu_count++;
	}
	return 0;
}

static int ask_nvml(struct library *library, const char *path,
                    struct tkb_nvml *nvml, struct tkb_error *err)
{
	unsigned count = 0;

	if (!open_library(library, path, nvml))
		return TKB_MISS;
	library->is_on = check_nvml(library, library->init(), nvml);
	if (!library->is_on ||
	    !check_nvml(library,
	                library->driver_version(nvml->driver,
	                                        sizeof(nvml->driver) - 1),
	                nvml) ||
	    !check_nvml(library, library->device_count(&count), nvml))
		return TKB_MISS;
	if (library->cuda_version != NULL &&
	    library->cuda_version(&nvml->cuda) != 0)
		nvml->cuda = 0;
	if (count > GPUS_LIMIT)
		count = GPUS_LIMIT;
	return read_gpus(library, count, nvml, err);
}

int tkb_nvml_read(const char *path, struct tkb_nvml *out, struct tkb_error *err)
{
	TKB_AUTO(close_library) struct library library = { .is_on = false };

	*out = (struct tkb_nvml){ 0 };
	return ask_nvml(&library, path, out, err);
}

/* Does the list of visible GPUs name `gpu`, which has number `index`? */
static bool is_listed(const char *list, const struct tkb_gpu *gpu, size_t index)
{
	while (*list != '\0') {
		const size_t size = strcspn(list, ",");

		if (tkb_begins_with(list, "GPU-")) {
			if (strncmp(list, gpu->uuid, size) == 0)
				return true;
		} else if (strtoul(list, NULL, 10) == index) {
			return true;
		}
		list += size;
		list += *list == ',';
	}
	return false;
}

/* Are all items UUIDs, or indices in NVML's order? */
static bool can_be_understood(const char *list)
{
	const char *order = getenv("CUDA_DEVICE_ORDER");
	const bool has_indices =
		order != NULL && strcmp(order, "PCI_BUS_ID") == 0;

	while (*list != '\0') {
		const size_t size = strcspn(list, ",");

		if (!tkb_begins_with(list, "GPU-") &&
		    (!has_indices || size == 0 ||
		     strspn(list, "0123456789") != size))
			return false;
		list += size;
		list += *list == ',';
	}
	return true;
}

bool tkb_nvml_is_visible(const struct tkb_nvml *nvml, size_t index)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");

	if (list == NULL)
		return true;
	if (list[0] == '-')
		return false;
	return !can_be_understood(list) ||
	       is_listed(list, &nvml->gpus[index], index);
}

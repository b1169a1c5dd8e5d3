/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * NVML for tests: its GPUs are what FAKE_NVML says, "major.minor:uuid:name",
 * with commas between; FAKE_NVML_FAILS names the function that fails, FAKE_NVML_HANGS
 * one that does not return. FAKE_NVML_CUDA is the newest CUDA, as 13000.
 */

struct nvml_device {
	int major;
	int minor;
	char uuid[64];
	char name[96];
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int status);
int nvmlSystemGetDriverVersion(char *out, unsigned size);
int nvmlSystemGetCudaDriverVersion_v2(int *out);
int nvmlDeviceGetCount_v2(unsigned *out);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **out);
int nvmlDeviceGetName(struct nvml_device *device, char *out, unsigned size);
int nvmlDeviceGetUUID(struct nvml_device *device, char *out, unsigned size);
int nvmlDeviceGetCudaComputeCapability(struct nvml_device *device, int *major,
                                       int *minor);

static struct nvml_device devices[8];
static unsigned device_count;
static int init_count;

static int outcome(const char *function)
{
	const char *failing = getenv("FAKE_NVML_FAILS");
	const char *hanging = getenv("FAKE_NVML_HANGS");

	if (init_count == 0)
		abort(); /* not initialised */
	while (hanging != NULL && strcmp(hanging, function) == 0)
		(void)pause();
	return failing != NULL && strcmp(failing, function) == 0 ? 999 : 0;
}

int nvmlInit_v2(void)
{
	const char *at = getenv("FAKE_NVML");

	init_count++;
	device_count = 0;
	while (at != NULL && *at != '\0') {
		struct nvml_device *device = &devices[device_count++];

		(void)sscanf(at, "%d.%d:%63[^:]:%95[^,]", &device->major,
		             &device->minor, device->uuid, device->name);
		at = strchr(at, ',');
		at = at != NULL ? at + 1 : NULL;
	}
	return outcome("init");
}

int nvmlShutdown(void)
{
	init_count--;
	return 0;
}

const char *nvmlErrorString(int status)
{
	return status == 999 ? "Unknown Error" : NULL;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
	(void)snprintf(out, size, "580.65.06");
	return outcome("driver");
}

int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
	const char *cuda = getenv("FAKE_NVML_CUDA");

	*out = cuda != NULL ? (int)strtol(cuda, NULL, 10) : 13000;
	return outcome("cuda");
}

int nvmlDeviceGetCount_v2(unsigned *out)
{
	*out = device_count;
	return outcome("count");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct nvml_device **out)
{
	*out = &devices[index];
	return outcome("handle");
}

int nvmlDeviceGetName(struct nvml_device *device, char *out, unsigned size)
{
	(void)snprintf(out, size, "%s", device->name);
	return outcome("name");
}

int nvmlDeviceGetUUID(struct nvml_device *device, char *out, unsigned size)
{
	(void)snprintf(out, size, "%s", device->uuid);
	return outcome("uuid");
}

int nvmlDeviceGetCudaComputeCapability(struct nvml_device *device, int *major,
                                       int *minor)
{
	*major = device->major;
	*minor = device->minor;
	return outcome("capability");
}

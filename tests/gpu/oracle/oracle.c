/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Run kernels as they are and finalized, on a GPU: both must leave behind what
 * tests/oracle foretold.
 *
 *     cc -O2 -o oracle oracle.c -ldl
 *     ./oracle KERNELS COUNT
 *
 * KERNELS holds NUMBER.io, the working folder NUMBER.plain.cubin and
 * NUMBER.finalized.cubin. It needs the CUDA driver and nothing else, not even its
 * header.
 */

#include "../driver.h"

#include <stdint.h>

enum {
	POINTERS = 4,
	SIZE = 512,
	ROOM = 1024 /* for each pointer, on the device */
};

/* One input of a kernel, as its file has it. */
struct sample {
	uint64_t offsets[POINTERS]; /* behind what is a multiple of 256 */
	uint64_t n;
	uint64_t m;
	unsigned char before[POINTERS][SIZE];
	unsigned char after[POINTERS][SIZE];
};

static char *read_whole(const char *path, size_t *size_out)
{
	FILE *const file = fopen(path, "rb");
	char *bytes;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
		perror(path);
		exit(1);
	}
	size = ftell(file);
	rewind(file);
	bytes = malloc((size_t)size + 1);
	if (bytes == NULL ||
	    fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		exit(1);
	}
	(void)fclose(file);
	*size_out = (size_t)size;
	return bytes;
}

/* One thread; a module of its own, for it may have globals that it writes. */
static void run(const struct driver *driver, const char *path, address memory,
                const struct sample *sample, unsigned char out[POINTERS][SIZE])
{
	size_t size = 0;
	char *const cubin = read_whole(path, &size);
	address pointers[POINTERS];
	uint32_t n = (uint32_t)sample->n;
	uint64_t m = sample->m;
	void *arguments[] = { &pointers[0], &pointers[1], &pointers[2],
		              &pointers[3], &n,           &m };
	void *function;
	void *module;

	for (int i = 0; i < POINTERS; i++) {
		pointers[i] = memory + (address)i * ROOM + sample->offsets[i];
		check(driver->copy_in(pointers[i], sample->before[i], SIZE),
		      "copying in");
	}
	check(driver->load(&module, cubin), path);
	check(driver->get_function(&function, module, "kernel"), path);
	check(driver->launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments,
	                     NULL),
	      path);
	for (int i = 0; i < POINTERS; i++)
		check(driver->copy_out(out[i], pointers[i], SIZE), path);
	check(driver->unload(module), path);
	free(cubin);
}

/* The first byte that differs, or -1. */
static long difference(unsigned char a[POINTERS][SIZE],
                       unsigned char b[POINTERS][SIZE])
{
	for (long at = 0; at < (long)POINTERS * SIZE; at++) {
		if (a[at / SIZE][at % SIZE] != b[at / SIZE][at % SIZE])
			return at;
	}
	return -1;
}

static int tell(int number, const char *what, long at)
{
	if (at < 0)
		return 0;
	(void)printf("kernel %d: %s, '%c' at %ld\n", number, what,
	             (char)('a' + at / SIZE), at % SIZE);
	return 1;
}

static int run_kernel(const struct driver *driver, address memory,
                      const char *folder, int number, long *inputs)
{
	unsigned char plain[POINTERS][SIZE];
	unsigned char finalized[POINTERS][SIZE];
	char path[4096];
	size_t size = 0;
	char *bytes;
	int wrong = 0;

	(void)snprintf(path, sizeof(path), "%s/%d.io", folder, number);
	bytes = read_whole(path, &size);
	for (size_t at = 0; at + sizeof(struct sample) <= size;
	     at += sizeof(struct sample)) {
		struct sample sample;

		memcpy(&sample, bytes + at, sizeof(sample));
		(void)snprintf(path, sizeof(path), "%d.plain.cubin", number);
		run(driver, path, memory, &sample, plain);
		(void)snprintf(path, sizeof(path), "%d.finalized.cubin",
		               number);
		run(driver, path, memory, &sample, finalized);
		wrong += tell(number, "finalizing changed it",
		              difference(plain, finalized));
		wrong += tell(number, "it is not as foretold",
		              difference(plain, sample.after));
		(*inputs)++;
	}
	free(bytes);
	return wrong;
}

int main(int argc, char **argv)
{
	static struct driver driver;
	address memory = 0;
	long inputs = 0;
	int wrong = 0;
	int count;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: oracle KERNELS COUNT\n");
		return 2;
	}
	count = atoi(argv[2]);
	open_driver(&driver);
	check(driver.alloc(&memory, (size_t)POINTERS * ROOM), "memory");
	for (int i = 0; i < count; i++)
		wrong += run_kernel(&driver, memory, argv[1], i, &inputs);
	(void)printf("%d kernels, %ld inputs, %d differences\n", count, inputs,
	             wrong);
	return wrong != 0 || inputs < count;
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Run what make.py writes, as cubins, on a GPU: check the numbers against this
 * machine's, and time it.
 *
 *     cc -O2 -o gemv gemv.c -ldl
 *     ./gemv rows.cubin rows.finalized.cubin
 *
 * It needs the CUDA driver and nothing else, not even its header.
 */

#include "../driver.h"

#include <stdint.h>

enum {
	ROWS = 256,
	COLUMNS = 256,
	LAUNCHES = 1000,
	PRODUCTS = 8192 /* at once, where one would be too short to time */
};

struct world {
	struct driver driver;
	signed char weights[ROWS][COLUMNS];
	float scales[ROWS];
	signed char *inputs; /* PRODUCTS times COLUMNS */
	float *outputs;      /* PRODUCTS times ROWS */
	address device_inputs;
	address device_outputs;
};

static uint32_t next_byte(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 24;
}

/* The numbers of make.py. */
static void make_numbers(struct world *world)
{
	uint32_t state = 1;

	for (int row = 0; row < ROWS; row++) {
		for (int column = 0; column < COLUMNS; column++)
			world->weights[row][column] =
				(signed char)next_byte(&state);
	}
	state = 2;
	for (int row = 0; row < ROWS; row++)
		world->scales[row] = (float)(next_byte(&state) + 1) / 65536;
	state = 3;
	for (int i = 0; i < PRODUCTS * COLUMNS; i++)
		world->inputs[i] = (signed char)next_byte(&state);
}

static void *need_memory(size_t size)
{
	void *const out = malloc(size);

	if (out == NULL)
		exit(1);
	return out;
}

static void make_world(struct world *world)
{
	const size_t in_size = (size_t)PRODUCTS * COLUMNS;
	const size_t out_size = (size_t)PRODUCTS * ROWS * sizeof(float);

	open_driver(&world->driver);
	world->inputs = need_memory(in_size);
	world->outputs = need_memory(out_size);
	make_numbers(world);
	check(world->driver.alloc(&world->device_inputs, in_size), "memory");
	check(world->driver.alloc(&world->device_outputs, out_size), "memory");
	check(world->driver.copy_in(world->device_inputs, world->inputs,
	                            in_size),
	      "copying the inputs");
}

static void launch(struct world *world, void *function, unsigned products)
{
	void *scratch = NULL; /* what newer Tritons would have; not used */
	void *arguments[] = { &world->device_inputs, &world->device_outputs,
		              &scratch, &scratch };

	check(world->driver.launch(function, products, 1, 1, ROWS, 1, 1, 0,
	                           NULL, arguments, NULL),
	      "launching");
}

/* Every number must be the very same: sums are exact, and rounded once. */
static void check_numbers(struct world *world)
{
	long wrong = 0;

	check(world->driver.copy_out(world->outputs, world->device_outputs,
	                             (size_t)PRODUCTS * ROWS * sizeof(float)),
	      "copying the outputs");
	for (int i = 0; i < PRODUCTS * ROWS; i++) {
		const signed char *const input =
			world->inputs + (ptrdiff_t)(i / ROWS) * COLUMNS;
		const signed char *const weights = world->weights[i % ROWS];
		int32_t sum = 0;

		for (int k = 0; k < COLUMNS; k++)
			sum += weights[k] * input[k];
		wrong += world->outputs[i] !=
		         (float)sum * world->scales[i % ROWS];
	}
	if (wrong != 0) {
		(void)fprintf(stderr, "gemv: %ld numbers of %d are wrong\n",
		              wrong, PRODUCTS * ROWS);
		exit(1);
	}
}

static int compare(const void *a, const void *b)
{
	const float x = *(const float *)a;
	const float y = *(const float *)b;

	return (x > y) - (x < y);
}

/* The median, in microseconds. */
static float time_launches(struct world *world, void *function,
                           unsigned products)
{
	static float times[LAUNCHES];
	void *begin;
	void *end;

	check(world->driver.make_event(&begin, 0), "cuEventCreate");
	check(world->driver.make_event(&end, 0), "cuEventCreate");
	for (int i = 0; i < LAUNCHES; i++) {
		check(world->driver.record(begin, NULL), "cuEventRecord");
		launch(world, function, products);
		check(world->driver.record(end, NULL), "cuEventRecord");
		check(world->driver.wait(end), "waiting");
		check(world->driver.elapsed(&times[i], begin, end),
		      "cuEventElapsedTime");
	}
	qsort(times, LAUNCHES, sizeof(*times), compare);
	return times[LAUNCHES / 2] * 1000;
}

static char *read_whole(const char *path)
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
	bytes = need_memory((size_t)size + 1);
	if (fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		exit(1);
	}
	(void)fclose(file);
	return bytes;
}

static void run(struct world *world, const char *path)
{
	char *const cubin = read_whole(path);
	void *function;
	void *module;

	check(world->driver.load(&module, cubin), path);
	check(world->driver.get_function(&function, module, "gemv"), "gemv");
	launch(world, function, PRODUCTS);
	check_numbers(world);
	(void)printf("%s: right; one product %.2f us, %d products %.2f us\n",
	             path, (double)time_launches(world, function, 1), PRODUCTS,
	             (double)time_launches(world, function, PRODUCTS));
	free(cubin);
}

int main(int argc, char **argv)
{
	static struct world world;

	if (argc < 2) {
		(void)fprintf(stderr, "usage: gemv CUBIN...\n");
		return 2;
	}
	make_world(&world);
	/* In turns, so that what the machine does meanwhile hits all. */
	for (int round = 0; round < 3; round++) {
		for (int i = 1; i < argc; i++)
			run(&world, argv[i]);
	}
	return 0;
}

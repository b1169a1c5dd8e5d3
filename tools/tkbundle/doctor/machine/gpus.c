/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/machine.h>

#include "keys/ptx.h"

/*
 * The child: a line for each fact, with tabs between its parts
 */

static bool write_gpus(void *self, int fd)
{
	struct tkb_machine *machine = NULL;
	bool is_told;
	FILE *out;

	(void)self;
	if (tkb_machine_open(NULL, &machine, NULL) != 0)
		return false;
	out = fdopen(fd, "w");
	if (out == NULL)
		return false;
	(void)fprintf(out, "driver\t%s\ncuda\t%" PRIu32 "\nwhy\t%s\n",
	              tkb_machine_driver(machine), tkb_machine_cuda(machine),
	              tkb_machine_why(machine));
	for (size_t i = 0; i < tkb_machine_gpu_count(machine); i++) {
		const struct tkb_machine_gpu *const gpu =
			tkb_machine_gpu(machine, i);

		(void)fprintf(out, "gpu\t%s\t%" PRIu32 "\t%d\n", gpu->name,
		              gpu->major * 10 + gpu->minor, gpu->is_visible);
	}
	is_told = fflush(out) == 0;
	(void)fclose(out);
	tkb_machine_close(machine);
	return is_told;
}

void gpus_begin(struct gpus *gpus, struct ask *ask)
{
	*ask = (struct ask){ .function = write_gpus,
		             .out = gpus->answer,
		             .size = sizeof(gpus->answer) };
}

/*
 * The child's answer
 */

static void add_gpu(struct gpus *gpus, char *rest)
{
	struct gpu *const gpu = &gpus->items[gpus->count];
	const char *const name = strsep(&rest, "\t");
	const char *const arch = strsep(&rest, "\t");

	if (arch == NULL || rest == NULL || gpus->count == GPUS_LIMIT)
		return;
	(void)snprintf(gpu->name, sizeof(gpu->name), "%s", name);
	gpu->arch = (uint32_t)strtoul(arch, NULL, 10);
	gpu->is_visible = rest[0] == '1';
	gpus->visible_count += gpu->is_visible;
	gpus->count++;
}

static void read_gpu_line(struct gpus *gpus, char *line)
{
	const char *const word = strsep(&line, "\t");

	if (line == NULL)
		return;
	if (strcmp(word, "driver") == 0)
		(void)snprintf(gpus->driver, sizeof(gpus->driver), "%.90s",
		               line);
	else if (strcmp(word, "cuda") == 0)
		gpus->cuda = (uint32_t)strtoul(line, NULL, 10);
	else if (strcmp(word, "why") == 0)
		(void)snprintf(gpus->why, sizeof(gpus->why), "%.250s", line);
	else if (strcmp(word, "gpu") == 0)
		add_gpu(gpus, line);
}

void gpus_end(struct gpus *gpus, const struct ask *ask)
{
	char *rest = gpus->answer;

	if (ask->end == ASK_DONE) {
		do
			read_gpu_line(gpus, strsep(&rest, "\n"));
		while (rest != NULL);
	}
	gpus->is_late = ask->end == ASK_LATE;
	if (gpus->is_late)
		(void)snprintf(gpus->why, sizeof(gpus->why),
		               "the driver did not answer");
	else if (ask->end != ASK_DONE)
		(void)snprintf(gpus->why, sizeof(gpus->why),
		               "asking the driver failed");
	else if (gpus->count == 0 && gpus->why[0] == '\0')
		(void)snprintf(gpus->why, sizeof(gpus->why),
		               "the driver reports no GPU");
}

bool gpus_have_arch(const struct gpus *gpus, const char *arch)
{
	for (size_t i = 0; i < gpus->count; i++) {
		char own[16];

		(void)snprintf(own, sizeof(own), "%" PRIu32,
		               gpus->items[i].arch);
		if (gpus->items[i].is_visible && strcmp(own, arch) == 0)
			return true;
	}
	return false;
}

/* Is it the first visible GPU of its architecture? */
static bool is_first_of_arch(const struct gpus *gpus, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (gpus->items[i].is_visible &&
		    gpus->items[i].arch == gpus->items[index].arch)
			return false;
	}
	return gpus->items[index].is_visible;
}

void gpus_archs(const struct gpus *gpus, char *out, size_t size)
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < gpus->count; i++) {
		if (!is_first_of_arch(gpus, i) || length >= size)
			continue;
		(void)snprintf(out + length, size - length, "%ssm_%" PRIu32,
		               length > 0 ? " and " : "", gpus->items[i].arch);
		length = strlen(out);
	}
}

uint32_t gpus_ptx(const struct gpus *gpus)
{
	return tkb_ptx_of_cuda(gpus->cuda / 1000, gpus->cuda % 1000 / 10);
}

/*
 * Print
 */

static bool is_alike(const struct gpu *a, const struct gpu *b)
{
	return strcmp(a->name, b->name) == 0 && a->arch == b->arch &&
	       a->is_visible == b->is_visible;
}

static void print_gpus(const struct gpus *gpus, struct cli *cli)
{
	for (size_t i = 0; i < gpus->count;) {
		const struct gpu *const gpu = &gpus->items[i];
		const size_t first = i;

		while (i < gpus->count && is_alike(gpu, &gpus->items[i]))
			i++;
		cli_print(cli, "  gpu %zu%s%.0zu: %s, sm_%" PRIu32 "%s", first,
		          i - first > 1 ? "-" : "", i - first > 1 ? i - 1 : 0,
		          gpu->name, gpu->arch,
		          gpu->is_visible ? ""
		                          : ", hidden by CUDA_VISIBLE_DEVICES");
	}
	if (gpus->driver[0] != '\0')
		cli_print(cli, "  driver %s%s", gpus->driver,
		          gpus->cuda == 0 ? ", which does not report its CUDA"
		                          : "");
	if (gpus->cuda != 0)
		cli_print(cli, "  CUDA of the driver %" PRIu32 ".%" PRIu32,
		          gpus->cuda / 1000, gpus->cuda % 1000 / 10);
	if (gpus->why[0] != '\0')
		cli_print(cli, "  gpu not known: %s", gpus->why);
}

static void add_gpus_json(const struct gpus *gpus, struct json_out *json)
{
	json_out_open_array(json, "gpus");
	for (size_t i = 0; i < gpus->count; i++) {
		json_out_open_object(json, NULL);
		json_out_text(json, "name", gpus->items[i].name);
		json_out_number(json, "arch", gpus->items[i].arch);
		json_out_flag(json, "is_visible", gpus->items[i].is_visible);
		json_out_close(json);
	}
	json_out_close(json);
	json_out_text(json, "driver",
	              gpus->driver[0] != '\0' ? gpus->driver : NULL);
	json_out_number(json, "driver_cuda", gpus->cuda);
	json_out_text(json, "no_gpu", gpus->why[0] != '\0' ? gpus->why : NULL);
}

/* Is there an NVML that does not work, for example because of its version? */
static bool is_broken(const struct gpus *gpus)
{
	static const char word[] = "NVML ";

	return strncmp(gpus->why, word, strlen(word)) == 0 &&
	       strstr(gpus->why, "cannot open shared object file") == NULL;
}

void gpus_print(const struct gpus *gpus, struct cli *cli,
                struct findings *findings)
{
	add_gpus_json(gpus, &cli->json);
	print_gpus(gpus, cli);
	if (is_broken(gpus))
		findings_add(findings, FINDING_RISK, "target",
		             "%s, so what fits a GPU is not checked\trepair "
		             "the driver: 'nvidia-smi' must work here; after "
		             "an update of the driver, restart the container "
		             "or the machine",
		             gpus->why);
	else if (gpus->why[0] != '\0')
		findings_add(findings, FINDING_RISK, "target",
		             "no GPU is known here, so what fits one is not "
		             "checked\trun doctor where the server runs, with "
		             "its GPU");
	else if (gpus->visible_count == 0)
		findings_add(findings, FINDING_FAULT, "target",
		             "CUDA_VISIBLE_DEVICES hides all %zu GPUs\tunset "
		             "CUDA_VISIBLE_DEVICES, or name a GPU in it",
		             gpus->count);
}

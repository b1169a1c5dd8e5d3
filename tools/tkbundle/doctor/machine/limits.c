/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/limits.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"

enum {
	PATH_SIZE = 4096,
	LINE_SIZE = 4096
};

/* Less than this is too little for compiling in parallel. */
#define MEMORY_LEAST (UINT64_C(2) * 1000 * 1000 * 1000)

struct limits {
	uint64_t memory; /* bytes; UINT64_MAX: none */
	double cores;    /* 0: none */
};

/* Read the first line of a file; false if it cannot be read. */
static bool read_limit_line(const char *folder, const char *group,
                            const char *name, char out[LINE_SIZE])
{
	char path[2 * PATH_SIZE];
	bool is_read;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s%s/%s", folder, group, name);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	is_read = fgets(out, LINE_SIZE, file) != NULL;
	(void)fclose(file);
	return is_read;
}

static void take_memory(struct limits *limits, const char *line)
{
	uint64_t size = 0;

	/*
	 * For "no limit", version 1 writes a number that is larger than any
	 * memory.
	 */
	if (sscanf(line, "%" SCNu64, &size) == 1 && size < INT64_MAX / 2 &&
	    size < limits->memory)
		limits->memory = size;
}

static void take_cores(struct limits *limits, double quota, double period)
{
	if (quota > 0 && period > 0 &&
	    (limits->cores == 0 || quota / period < limits->cores))
		limits->cores = quota / period;
}

/* Read the limits of a group, of version 2 or 1. */
static void read_group(struct limits *limits, const char *group)
{
	char line[LINE_SIZE];
	double quota = 0;
	double period = 0;

	if (read_limit_line("/sys/fs/cgroup", group, "memory.max", line))
		take_memory(limits, line);
	if (read_limit_line("/sys/fs/cgroup/memory", group,
	                    "memory.limit_in_bytes", line))
		take_memory(limits, line);
	if (read_limit_line("/sys/fs/cgroup", group, "cpu.max", line) &&
	    sscanf(line, "%lf %lf", &quota, &period) == 2)
		take_cores(limits, quota, period);
	if (read_limit_line("/sys/fs/cgroup/cpu", group, "cpu.cfs_quota_us",
	                    line) &&
	    sscanf(line, "%lf", &quota) == 1 &&
	    read_limit_line("/sys/fs/cgroup/cpu", group, "cpu.cfs_period_us",
	                    line) &&
	    sscanf(line, "%lf", &period) == 1)
		take_cores(limits, quota, period);
}

/* Read the limits of a group and of those that contain it. */
static void read_groups(struct limits *limits, char *group)
{
	for (;;) {
		char *slash;

		read_group(limits, group);
		slash = strrchr(group, '/');
		if (slash == NULL)
			return;
		*slash = '\0';
	}
}

static struct limits read_limits(void)
{
	struct limits limits = { .memory = UINT64_MAX };
	FILE *const file = fopen("/proc/self/cgroup", "re");
	char line[LINE_SIZE];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		char *const group = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (group != NULL)
			read_groups(&limits, group);
	}
	if (file != NULL)
		(void)fclose(file);
	/* In a container, the root of the file system is its own group. */
	read_group(&limits, "");
	return limits;
}

void limits_print(struct cli *cli, struct findings *findings)
{
	const struct limits limits = read_limits();
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
	                        (uint64_t)sysconf(_SC_PAGESIZE);
	const bool has_memory = limits.memory < memory;
	char of_all[TEXT_SIZE_SIZE];
	char size[TEXT_SIZE_SIZE];

	text_size(memory, of_all);
	text_size(has_memory ? limits.memory : memory, size);
	json_out_number(&cli->json, "cores", (uint64_t)cores);
	json_out_real(&cli->json, "cores_limit", limits.cores);
	json_out_number(&cli->json, "memory", memory);
	json_out_number(&cli->json, "memory_limit",
	                has_memory ? limits.memory : 0);
	if (limits.cores > 0)
		cli_print(cli, "  %.3g of %ld cores, %s of %s memory",
		          limits.cores, cores, size, of_all);
	else
		cli_print(cli, "  %ld cores, %s%s%s memory", cores, size,
		          has_memory ? " of " : "", has_memory ? of_all : "");
	if (has_memory && limits.memory < MEMORY_LEAST)
		findings_add(findings, FINDING_RISK, "limits",
		             "this container has %s of memory, which may be "
		             "too little to compile what is missing\tgive it "
		             "more, or compile elsewhere",
		             size);
	if (limits.cores > 0 && limits.cores < 1)
		findings_add(findings, FINDING_RISK, "limits",
		             "this container has %.2g of a core, so what is "
		             "missing is compiled slowly\tgive it more, or "
		             "compile elsewhere",
		             limits.cores);
}

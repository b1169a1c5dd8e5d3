/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/entry_out.h"

static void write_kind(const struct tkb_entry *entry, char *out, size_t size)
{
	(void)snprintf(out, size, "%s", tkb_kind_name(entry->kind));
}

static void write_name(const struct tkb_entry *entry, char *out, size_t size)
{
	(void)snprintf(out, size, "%s", entry->name);
}

static void write_target(const struct tkb_entry *entry, char *out, size_t size)
{
	const struct tkb_target *const target = &entry->target;

	(void)snprintf(out, size, "%s:%s:%" PRIu32, target->backend,
	               target->arch, target->warp_size);
}

static void write_producer(const struct tkb_entry *entry, char *out,
                           size_t size)
{
	(void)snprintf(out, size, "%s %s", entry->producer,
	               entry->producer_version);
}

const struct diff_fact diff_facts[DIFF_FACT_COUNT] = {
	{ DIFF_KIND, "kind", write_kind },
	{ DIFF_NAME, "name", write_name },
	{ DIFF_DEVICES, "devices", entry_out_devices },
	{ DIFF_TARGET, "target", write_target },
	{ DIFF_PRODUCER, "producer", write_producer },
};

static bool same_devices(const struct tkb_entry *a, const struct tkb_entry *b)
{
	return a->device_count == b->device_count &&
	       memcmp(a->devices, b->devices,
	              a->device_count * sizeof(*a->devices)) == 0;
}

static bool same_target(const struct tkb_target *a, const struct tkb_target *b)
{
	return strcmp(a->backend, b->backend) == 0 &&
	       strcmp(a->arch, b->arch) == 0 && a->warp_size == b->warp_size;
}

static bool same_producer(const struct tkb_entry *a, const struct tkb_entry *b)
{
	return strcmp(a->producer, b->producer) == 0 &&
	       strcmp(a->producer_version, b->producer_version) == 0;
}

unsigned diff_facts_compare(const struct tkb_entry *a,
                            const struct tkb_entry *b)
{
	unsigned facts = 0;

	if (a->kind != b->kind)
		facts |= DIFF_KIND;
	if (strcmp(a->name, b->name) != 0)
		facts |= DIFF_NAME;
	if (!same_devices(a, b))
		facts |= DIFF_DEVICES;
	if (!same_target(&a->target, &b->target))
		facts |= DIFF_TARGET;
	if (!same_producer(a, b))
		facts |= DIFF_PRODUCER;
	return facts;
}

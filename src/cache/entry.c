/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/entry.h>

#include <string.h>

#include "base/base.h"
#include "base/digest.h"
#include "cache/entry.h"
#include "cache/names.h"
#include "tree/unit.h"

const char *tkb_kind_name(enum tkb_kind kind)
{
	static const char *const names[] = {
		[TKB_KIND_AUTOTUNE] = "autotune",
		[TKB_KIND_KERNEL] = "kernel",
		[TKB_KIND_MODULE] = "module",
		[TKB_KIND_UNIT] = "unit",
	};

	return (size_t)kind < TKB_COUNT_OF(names) ? names[kind] : "";
}

const char *tkb_outcome_name(enum tkb_outcome outcome)
{
	static const char *const names[] = {
		[TKB_OUTCOME_COLLECTED] = "collected",
		[TKB_OUTCOME_LEFT_OUT] = "left out",
		[TKB_OUTCOME_EMITTED] = "emitted",
		[TKB_OUTCOME_PRESENT] = "present",
		[TKB_OUTCOME_REPAIRED] = "repaired",
		[TKB_OUTCOME_SKIPPED] = "skipped",
		[TKB_OUTCOME_FAILED] = "failed",
		[TKB_OUTCOME_VERIFIED] = "verified",
		[TKB_OUTCOME_REMOVED] = "removed",
		[TKB_OUTCOME_MISSING] = "missing",
		[TKB_OUTCOME_UNFINISHED] = "unfinished",
	};

	return (size_t)outcome < TKB_COUNT_OF(names) ? names[outcome] : "";
}

uint64_t tkb_entry_size(const struct tkb_entry *entry)
{
	uint64_t size = 0;

	for (size_t i = 0; i < entry->file_count; i++)
		size += entry->files[i].size;
	return size;
}

uint64_t tkb_entry_file_limit(const struct tkb_entry *entry)
{
	return entry->kind == TKB_KIND_UNIT ? TKB_UNIT_FILE_SIZE_LIMIT
	                                    : TKB_FILE_SIZE_LIMIT;
}

uint64_t tkb_entry_limit(const struct tkb_entry *entry)
{
	return entry->kind == TKB_KIND_UNIT ? TKB_UNIT_SIZE_LIMIT
	                                    : TKB_ENTRY_SIZE_LIMIT;
}

uint64_t tkb_entry_tar_size(const struct tkb_entry *entry)
{
	uint64_t size = 0;

	for (size_t i = 0; i < entry->file_count; i++)
		size += 512 + (entry->files[i].size + 511) / 512 * 512;
	return size;
}

int tkb_entry_compare(const struct tkb_entry *a, const struct tkb_entry *b)
{
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = a->kind == TKB_KIND_UNIT ? strcmp(a->tree, b->tree) : 0;
	if (order == 0)
		order = strcmp(a->name, b->name);
	if (order == 0)
		order = strcmp(a->key, b->key);
	if (order == 0)
		order = strcmp(a->platform, b->platform);
	if (order == 0)
		order = (a->devices[0] > b->devices[0]) -
		        (a->devices[0] < b->devices[0]);
	return order;
}

int tkb_compare_files(const void *a, const void *b)
{
	const struct tkb_file *left = a;
	const struct tkb_file *right = b;

	return tkb_name_compare(left->name, right->name);
}

size_t tkb_entry_find_file(const struct tkb_entry *entry, const char *name)
{
	size_t i = 0;

	while (i < entry->file_count && strcmp(entry->files[i].name, name) != 0)
		i++;
	return i;
}

bool tkb_entry_has_same_files(const struct tkb_entry *a,
                              const struct tkb_entry *b)
{
	if (a->file_count != b->file_count)
		return false;
	for (size_t i = 0; i < a->file_count; i++) {
		const struct tkb_file *left = &a->files[i];
		const struct tkb_file *right = &b->files[i];

		if (strcmp(left->name, right->name) != 0 ||
		    left->size != right->size ||
		    left->sentinels != right->sentinels ||
		    left->style != right->style ||
		    left->is_executable != right->is_executable ||
		    left->is_last != right->is_last ||
		    !tkb_digest_equal(&left->digest, &right->digest))
			return false;
	}
	return true;
}

bool tkb_target_is_equal(const struct tkb_target *a, const struct tkb_target *b)
{
	return strcmp(a->backend, b->backend) == 0 &&
	       strcmp(a->arch, b->arch) == 0 && a->warp_size == b->warp_size;
}

bool tkb_target_is_wanted(const struct tkb_target *target,
                          const struct tkb_target *wanted, size_t count)
{
	bool fits = count == 0;

	for (size_t i = 0; i < count && !fits; i++) {
		const struct tkb_target *one = &wanted[i];

		fits = strcmp(one->backend, target->backend) == 0 &&
		       (one->arch == NULL || one->arch[0] == '\0' ||
		        strcmp(one->arch, target->arch) == 0) &&
		       (one->warp_size == 0 ||
		        one->warp_size == target->warp_size);
	}
	return fits;
}

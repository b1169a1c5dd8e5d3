/* SPDX-License-Identifier: Apache-2.0 */
#include "config/choices.h"

struct tkb_collect_options choices_for_collect(const struct arguments *args,
                                               const struct root *root)
{
	return (struct tkb_collect_options){
		.struct_size = sizeof(struct tkb_collect_options),
		.keys = args->keys.items,
		.key_count = args->keys.count,
		.has_device = args->device.is_set,
		.device = args->device.value,
		/* The words of --profile are in the enum's order. */
		.profile = (enum tkb_profile)args->profile.value,
		.is_kernels_only = args->is_kernels_only,
		.is_stripped = args->strips_locations,
		.is_strict = args->is_strict,
		.settle_ms = (uint32_t)args->settle.value,
		.is_dry_run = args->is_dry_run,
		.threads = args->jobs.value,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
	};
}

struct tkb_emit_options choices_for_emit(const struct arguments *args,
                                         const struct root *root)
{
	struct tkb_emit_options options = {
		.struct_size = sizeof(options),
		.keys = args->keys.items,
		.key_count = args->keys.count,
		.devices = args->devices.items,
		.device_count = args->devices.count,
		.targets = args->targets.items,
		.target_count = args->targets.count,
		/* The words of --layout are in the enum's order. */
		.layout = (enum tkb_layout)args->layout.value,
		.is_synced = args->is_sync,
		.is_dry_run = args->is_dry_run,
		.threads = args->jobs.value,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
		/* A default root is the one that Triton uses. */
		.is_layout_ignored = !root->is_given,
	};

	/* If the folder does not exist, its name decides the layout. */
	if (options.layout == TKB_LAYOUT_AUTO && root->is_inductor)
		options.layout = TKB_LAYOUT_INDUCTOR;
	return options;
}

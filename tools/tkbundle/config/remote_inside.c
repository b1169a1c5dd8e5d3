/* SPDX-License-Identifier: Apache-2.0 */
#include "config/remote_library.h"

/* Of a program that has the library inside. */
int remote_library_load(struct remote_library *out, struct tkb_error *err)
{
	(void)err;
	*out = (struct remote_library){
		.open = tkb_remote_open,
		.close = tkb_remote_close,
		.tier_count = tkb_remote_tier_count,
		.tier_name = tkb_remote_tier_name,
		.tier_warning = tkb_remote_tier_warning,
		.refs = tkb_remote_refs,
		.gc = tkb_remote_gc,
		.verify = tkb_remote_verify,
		.ref_expand = tkb_ref_expand,
		.ref_look = tkb_ref_look,
		.ref_delete = tkb_ref_delete,
		.pull = tkb_pull,
		.pull_bundle = tkb_pull_bundle,
		.push = tkb_push,
		.push_bundle = tkb_push_bundle,
	};
	return 0;
}

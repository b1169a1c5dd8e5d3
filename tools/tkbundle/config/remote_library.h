/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_LIBRARY_H
#define TKBUNDLE_REMOTE_LIBRARY_H

#include <tkbundle/fleet.h>
#include <tkbundle/remote.h>

/*
 * The functions of the library for remotes.
 *
 * It needs libraries for HTTP, TLS and Redis, which take three times as long to
 * load as all the rest of the program. So the program is not linked with it;
 * the verbs that use a remote load it.
 */
struct remote_library {
	__typeof__(tkb_remote_open) *open;
	__typeof__(tkb_remote_close) *close;
	__typeof__(tkb_remote_tier_count) *tier_count;
	__typeof__(tkb_remote_tier_name) *tier_name;
	__typeof__(tkb_remote_tier_warning) *tier_warning;
	__typeof__(tkb_remote_tier_authorities) *tier_authorities;
	__typeof__(tkb_remote_refs) *refs;
	__typeof__(tkb_remote_gc) *gc;
	__typeof__(tkb_remote_verify) *verify;
	__typeof__(tkb_ref_expand) *ref_expand;
	__typeof__(tkb_ref_look) *ref_look;
	__typeof__(tkb_ref_delete) *ref_delete;
	__typeof__(tkb_pull) *pull;
	__typeof__(tkb_pull_bundle) *pull_bundle;
	__typeof__(tkb_push) *push;
	__typeof__(tkb_push_bundle) *push_bundle;
};

/*
 * Load the library, once and until the program ends.
 *
 * @return 0 or TKB_ERR_IO
 */
TKB_NODISCARD int remote_library_load(struct remote_library *out,
                                      struct tkb_error *err);

#endif

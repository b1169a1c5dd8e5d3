/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include "base/disable.h"
#include "remote/remote.h"
#include "emit/options.h"

/* All bundles of the ref as one: a merge unites their launchers. */
int tkb_pull_launchers(struct tkb_remote *remote, const char *ref,
                       const char *cache_root,
                       const struct tkb_pull_options *options,
                       const struct tkb_launchers_options *chosen,
                       struct tkb_launchers **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT(UINT64_MAX);
	const struct tkb_sink sink = tkb_blob_buffer_sink(&hold);
	const struct tkb_source source = tkb_blob_buffer_source(&hold);
	struct tkb_launchers_options own;
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_launchers_options_read(&own, chosen, err);
	if (rc < 0)
		return rc;
	/* None are given then: nothing need be fetched for that. */
	if (!own.is_enabled && tkb_is_disabled())
		return tkb_launchers_open(NULL, cache_root, &own, out, err);
	rc = tkb_pull_bundle(remote, ref, options, &sink, NULL, err);
	if (rc == 0)
		rc = tkb_bundle_open_source(&source, "the ref's bundle",
		                            &bundle, err);
	if (rc == 0)
		rc = tkb_launchers_open(bundle, cache_root, &own, out, err);
	tkb_bundle_close(bundle);
	return rc;
}

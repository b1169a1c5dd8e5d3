/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/struct.h"
#include "cache/watch.h"
#include "remote/backends.h"
#include "remote/net/authorities.h"
#include "remote/net/url.h"

#define DEFAULT_BLOB_SIZE ((uint64_t)2048 * TKB_MIB)
#define PART_SIZE ((uint64_t)256 * TKB_MIB)
#define DEFAULT_RECORD_SIZE ((uint64_t)16 * TKB_MIB)

TKB_AUTO_POINTER(close_at, struct tkb_remote, tkb_remote_close)

/* Count the URLs in the list. */
static size_t count_urls(const char *urls)
{
	size_t count = 1;

	for (; *urls != '\0'; urls++)
		count += *urls == ',';
	return count;
}

static int open_tiers(struct tkb_remote *remote, char *urls,
                      const struct tkb_remote_options *options,
                      struct tkb_error *err)
{
	char *rest = urls;
	int rc = 0;

	while (rest != NULL && rc == 0) {
		const char *url = strsep(&rest, ",");
		struct tkb_tier *tier = &remote->tiers[remote->tier_count];

		rc = tkb_tier_open(tier, url, options, err);
		if (rc == 0) {
			tier->watch = &remote->watch;
			remote->tier_count++;
		}
	}
	return rc;
}

static int read_options(struct tkb_remote *remote,
                        const struct tkb_remote_options *options,
                        struct tkb_error *err)
{
	const char *path;
	int rc;

	rc = TKB_STRUCT_READ(tkb_remote_options, backend_count,
	                     &remote->options, options, err);
	path = remote->options.fallback_cafile;
	if (rc < 0 || path == NULL)
		return rc;
	remote->fallback_cafile = strdup(path);
	remote->options.fallback_cafile = remote->fallback_cafile;
	return remote->fallback_cafile == NULL ? tkb_fail_nomem(err) : 0;
}

int tkb_remote_open(const char *urls, const struct tkb_remote_options *options,
                    struct tkb_remote **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_remote *remote = tkb_alloc_array(1, sizeof(*remote));
	TKB_AUTO(tkb_free_at) char *copy = strdup(urls);
	const size_t count = count_urls(urls);
	int rc;

	if (remote == NULL || copy == NULL)
		return tkb_fail_nomem(err);
	remote->urls = strdup(urls);
	if (remote->urls == NULL)
		return tkb_fail_nomem(err);
	if (count > TKB_TIERS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID, "more than %d remotes",
		                TKB_TIERS_LIMIT);
	rc = read_options(remote, options, err);
	if (rc == 0)
		rc = tkb_watch_read(&remote->watch, remote->options.watch, err);
	if (rc < 0)
		return rc;
	options = &remote->options;
	remote->max_blob_size = options->max_blob_size != 0
	                                ? options->max_blob_size
	                                : DEFAULT_BLOB_SIZE;
	remote->max_record_size = options->max_record_size != 0
	                                  ? options->max_record_size
	                                  : DEFAULT_RECORD_SIZE;
	remote->tiers = tkb_alloc_array(count, sizeof(*remote->tiers));
	if (remote->tiers == NULL)
		return tkb_fail_nomem(err);
	rc = open_tiers(remote, copy, options, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(remote);
	return 0;
}

void tkb_remote_close(struct tkb_remote *remote)
{
	if (remote == NULL)
		return;
	for (size_t i = 0; i < remote->tier_count; i++)
		tkb_tier_close(&remote->tiers[i]);
	free(remote->tiers);
	free(remote->urls);
	free(remote->fallback_cafile);
	free(remote);
}

uint64_t tkb_remote_part_size(const struct tkb_remote *remote)
{
	return remote->max_blob_size < PART_SIZE ? remote->max_blob_size
	                                         : PART_SIZE;
}

static bool is_attachment_cancelled(void *self)
{
	const struct tkb_remote_attachment *attachment = self;

	return tkb_watch_is_cancelled(&attachment->own) ||
	       tkb_watch_is_cancelled(attachment->more);
}

void tkb_remote_attach_watch(struct tkb_remote_attachment *attachment,
                             struct tkb_remote *remote,
                             const struct tkb_watch *watch)
{
	*attachment = (struct tkb_remote_attachment){ .remote = remote,
		                                      .own = remote->watch,
		                                      .more = watch };
	remote->watch =
		(struct tkb_watch){ .struct_size = sizeof(attachment->own),
		                    .self = attachment,
		                    .is_cancelled = is_attachment_cancelled };
}

void tkb_remote_detach_watch(struct tkb_remote_attachment *attachment)
{
	if (attachment->remote != NULL)
		attachment->remote->watch = attachment->own;
	attachment->remote = NULL;
}

int tkb_remote_clone(const struct tkb_remote *remote,
                     const struct tkb_watch *watch, struct tkb_remote **out,
                     struct tkb_error *err)
{
	struct tkb_remote_options options = remote->options;
	struct tkb_remote *clone = NULL;
	int rc;

	options.watch = watch;
	rc = tkb_remote_open(remote->urls, &options, &clone, err);
	if (clone == NULL)
		return rc;
	for (size_t i = 0; i < clone->tier_count; i++) {
		clone->tiers[i].vain_ranks = remote->tiers[i].vain_ranks;
		clone->tiers[i].is_unreachable =
			remote->tiers[i].is_unreachable;
		clone->tiers[i].unreachable_error =
			remote->tiers[i].unreachable_error;
	}
	*out = clone;
	return 0;
}

bool tkb_remote_is_shared(const struct tkb_remote *remote)
{
	for (size_t i = 0; i < remote->tier_count; i++) {
		if (!remote->tiers[i].backend->is_shared)
			return false;
	}
	return true;
}

size_t tkb_remote_tier_count(const struct tkb_remote *remote)
{
	return remote->tier_count;
}

const char *tkb_remote_tier_name(const struct tkb_remote *remote, size_t index)
{
	return remote->tiers[index].url->name;
}

const char *tkb_remote_tier_folder(const struct tkb_remote *remote,
                                   size_t index)
{
	const struct tkb_tier *tier = &remote->tiers[index];

	return tier->backend == &tkb_backend_dir ? tier->url->path : NULL;
}

const char *tkb_remote_tier_warning(const struct tkb_remote *remote,
                                    size_t index)
{
	return tkb_remote_url_warning(remote->tiers[index].url);
}

bool tkb_remote_tier_authorities(const struct tkb_remote *remote, size_t index,
                                 char out[TKB_AUTHORITIES_SIZE])
{
	const struct tkb_tier *tier = &remote->tiers[index];
	struct tkb_authorities authorities;

	if (tier->backend != tkb_remote_backend_find(tier->url->scheme) ||
	    !tkb_url_asks_authorities(tier->url))
		return false;
	tkb_authorities_find(tier->url, &authorities);
	memcpy(out, authorities.text, sizeof(authorities.text));
	return true;
}

struct tkb_tier *tkb_fleet_tier(const struct tkb_remote *remote)
{
	for (size_t i = remote->tier_count; i > 0; i--) {
		if (!remote->tiers[i - 1].is_read_only)
			return &remote->tiers[i - 1];
	}
	return NULL;
}

void tkb_verdict_note(struct tkb_verdict *verdict, const struct tkb_tier *tier,
                      int rc, const struct tkb_error *err)
{
	verdict->is_done |= rc == 0;
	verdict->is_missing |= rc == TKB_MISS;
	if (rc >= 0)
		return;
	if (tier->ignores_errors && verdict->lenient_rc == 0) {
		verdict->lenient_rc = rc;
		verdict->lenient = *err;
	} else if (!tier->ignores_errors && verdict->strict_rc == 0) {
		verdict->strict_rc = rc;
		verdict->strict = *err;
	}
}

int tkb_verdict_of(const struct tkb_verdict *verdict, bool is_strict,
                   struct tkb_error *err)
{
	if (verdict->strict_rc != 0 && (is_strict || !verdict->is_done))
		return tkb_fail_as(err, verdict->strict_rc, &verdict->strict);
	if (verdict->is_done)
		return 0;
	if (verdict->is_missing)
		return TKB_MISS;
	if (verdict->lenient_rc != 0)
		return tkb_fail_as(err, verdict->lenient_rc, &verdict->lenient);
	return tkb_fail(err, TKB_ERR_DENIED, "no remote may be written");
}

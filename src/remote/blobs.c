/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "remote/net/limits.h"
#include "remote/remote.h"

enum {
	CHUNK = 1024 * 1024,
	QUESTIONS = 512 /* blobs that a backend is asked for at once */
};

int tkb_blob_send(const struct tkb_blob *blob, const struct tkb_sink *sink,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(CHUNK);
	uint64_t offset = 0;
	int rc = 0;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	while (rc == 0 && offset < blob->size) {
		size_t got = 0;

		rc = blob->source.read_at(blob->source.self, offset, chunk,
		                          CHUNK, &got, err);
		if (rc == 0 && got == 0) {
			errno = EIO;
			rc = tkb_fail(err, TKB_ERR_IO, "the blob is cut short");
		}
		if (rc == 0)
			rc = sink->write(sink->self,
			                 (struct tkb_bytes){ chunk, got }, err);
		offset += got;
	}
	return rc;
}

int tkb_blob_digest(const struct tkb_blob *blob, struct tkb_digest *out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	const struct tkb_sink sink = tkb_hasher_sink(&hasher);
	int rc;

	rc = tkb_hasher_open(&hasher, err);
	if (rc == 0)
		rc = tkb_hasher_begin(&hasher, err);
	if (rc == 0)
		rc = tkb_blob_send(blob, &sink, err);
	return rc < 0 ? rc : tkb_hasher_end(&hasher, out, err);
}

/* Arguments of tkb_tier_put() for one try. */
struct delivery {
	const struct tkb_digest *digest;
	const struct tkb_blob *blob;
};

/* A blob whose source checks the limits at each read. */
struct cargo {
	const struct tkb_source *source;
	const struct tkb_op_limits *limits;
};

static int read_cargo(void *self, uint64_t offset, void *data, size_t size,
                      size_t *got_out, struct tkb_error *err)
{
	const struct cargo *cargo = self;
	const int rc = tkb_op_limits_check(cargo->limits, err);

	return rc < 0 ? rc
	              : cargo->source->read_at(cargo->source->self, offset,
	                                       data, size, got_out, err);
}

static int put_blob_in_tier(struct tkb_tier *tier,
                            const struct tkb_op_limits *limits, void *self,
                            struct tkb_error *err)
{
	const struct delivery *delivery = self;
	struct cargo cargo = { &delivery->blob->source, limits };
	const struct tkb_blob blob = { delivery->blob->size,
		                       { read_cargo, &cargo } };

	return tier->backend->put(tier->self, limits, delivery->digest, &blob,
	                          err);
}

int tkb_tier_put(struct tkb_tier *tier, const struct tkb_digest *digest,
                 const struct tkb_blob *blob, struct tkb_error *err)
{
	struct delivery delivery = { digest, blob };
	const struct tkb_tier_work work = { put_blob_in_tier, &delivery };

	return tkb_tier_do(tier, &work, err);
}

/*
 * The size of a blob as a tier reports it; 0: unknown, or nobody watches the
 * progress.
 */
static uint64_t ask_for_size(struct tkb_remote *remote,
                             const struct tkb_digest *digest)
{
	uint64_t size = 0;
	bool is_there = false;
	int rc = TKB_MISS;

	/* A failure here is ignored: getting the blob will report it. */
	if (remote->watch.on_progress != NULL)
		rc = tkb_remote_has_sized(remote, digest, 1, &is_there, &size,
		                          NULL);
	return rc == 0 && is_there && size != TKB_SIZE_UNKNOWN ? size : 0;
}

int tkb_remote_get(struct tkb_remote *remote, const struct tkb_digest *digest,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer =
		TKB_BLOB_BUFFER_INIT(remote->max_blob_size);
	int rc;

	rc = tkb_remote_fetch_told(remote, digest, ask_for_size(remote, digest),
	                           &buffer, err);
	if (rc != 0)
		return rc;
	return tkb_blob_buffer_send(&buffer, 0, buffer.size, sink, err);
}

/* Measures the progress of an upload by what the backend reads. */
struct meter {
	const struct tkb_blob *blob;
	const struct tkb_watch *watch;
	uint64_t before; /* bytes sent to the tiers before this one */
	uint64_t total;
	uint64_t told;
};

static void report_upload(struct meter *meter, uint64_t done)
{
	if (done <= meter->told) /* a second try begins at 0 again */
		return;
	meter->told = done;
	meter->watch->on_progress(meter->watch->self, done, meter->total);
}

static int read_metered(void *self, uint64_t offset, void *data, size_t size,
                        size_t *got_out, struct tkb_error *err)
{
	struct meter *meter = self;
	const struct tkb_source *source = &meter->blob->source;

	/* A backend that reads more has sent what it read before. */
	report_upload(meter, meter->before + offset);
	return source->read_at(source->self, offset, data, size, got_out, err);
}

static int put_metered(struct tkb_tier *tier, const struct tkb_digest *digest,
                       struct meter *meter, struct tkb_error *err)
{
	const struct tkb_blob metered = { meter->blob->size,
		                          { read_metered, meter } };
	int rc;

	if (meter->watch == NULL || meter->watch->on_progress == NULL)
		return tkb_tier_put(tier, digest, meter->blob, err);
	rc = tkb_tier_put(tier, digest, &metered, err);
	meter->before += meter->blob->size;
	report_upload(meter, meter->before);
	return rc;
}

static uint64_t count_writable(const struct tkb_remote *remote)
{
	uint64_t count = 0;

	for (size_t i = 0; i < remote->tier_count; i++)
		count += !remote->tiers[i].is_read_only;
	return count;
}

int tkb_remote_put(struct tkb_remote *remote, const struct tkb_blob *blob,
                   struct tkb_digest *digest_out, struct tkb_error *err)
{
	struct tkb_uptake uptake = { 0 };

	return tkb_remote_put_watched(remote, blob, &remote->watch, digest_out,
	                              &uptake, err);
}

int tkb_remote_put_watched(struct tkb_remote *remote,
                           const struct tkb_blob *blob,
                           const struct tkb_watch *watch,
                           struct tkb_digest *digest_out,
                           struct tkb_uptake *uptake, struct tkb_error *err)
{
	const struct tkb_tier *fleet = tkb_fleet_tier(remote);
	struct meter meter = { .blob = blob,
		               .watch = watch,
		               .total = blob->size * count_writable(remote) };
	struct tkb_verdict verdict = { 0 };
	struct tkb_error large = { 0 }; /* a tier refuses so large a blob */
	struct tkb_digest digest;
	int rc;

	if (blob->size > remote->max_blob_size)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a blob of %llu bytes, more than %llu",
		                (unsigned long long)blob->size,
		                (unsigned long long)remote->max_blob_size);
	rc = tkb_blob_digest(blob, &digest, err);
	if (rc < 0)
		return rc;
	/* The farthest first, as with records. */
	for (size_t i = remote->tier_count; i-- > 0;) {
		struct tkb_tier *tier = &remote->tiers[i];
		struct tkb_error fault = { 0 };

		if (tier->is_read_only)
			continue;
		rc = put_metered(tier, &digest, &meter, &fault);
		uptake->tiers |= (tkb_tier_set)(rc == 0) << i;
		if (rc < 0 && tier == fleet)
			uptake->missed = fault;
		if (rc == TKB_ERR_TOO_LARGE)
			large = fault;
		else
			tkb_verdict_note(&verdict, tier, rc, &fault);
		if (rc == TKB_ERR_TOO_LARGE && tier == fleet &&
		    uptake->is_divisible)
			break;
	}
	if (large.status != 0 && !verdict.is_done && verdict.strict_rc == 0)
		return tkb_fail_as(err, large.status, &large);
	rc = tkb_verdict_of(&verdict, true, err);
	if (rc == 0 && digest_out != NULL)
		*digest_out = digest;
	return rc;
}

struct question {
	const struct tkb_digest *digests;
	size_t count;
	bool *answers;
	uint64_t *sizes;
};

static int ask_tier_for_blobs(struct tkb_tier *tier,
                              const struct tkb_op_limits *limits, void *self,
                              struct tkb_error *err)
{
	const struct question *question = self;
	int rc = 0;

	for (size_t at = 0; at < question->count && rc == 0; at += QUESTIONS) {
		const size_t left = question->count - at;

		rc = tier->backend->has(
			tier->self, limits, question->digests + at,
			left < QUESTIONS ? left : QUESTIONS,
			question->answers + at, question->sizes + at, err);
	}
	return rc;
}

int tkb_remote_has_sized(struct tkb_remote *remote,
                         const struct tkb_digest *digests, size_t count,
                         bool *out, uint64_t *sizes, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	bool *answers = tkb_alloc_array(count, sizeof(*answers));
	TKB_AUTO(tkb_free_at)
	uint64_t *told = tkb_alloc_array(count, sizeof(*told));
	struct question question = { digests, count, answers, told };
	const struct tkb_tier_work work = { ask_tier_for_blobs, &question };
	struct tkb_verdict verdict = { 0 };
	int rc;

	if (answers == NULL || told == NULL)
		return tkb_fail_nomem(err);
	if (count != 0)
		memset(out, 0, count * sizeof(*out));
	for (size_t i = 0; i < remote->tier_count && count != 0; i++) {
		struct tkb_error fault = { 0 };

		memset(answers, 0, count * sizeof(*answers));
		rc = tkb_tier_do(&remote->tiers[i], &work, &fault);
		tkb_verdict_note(&verdict, &remote->tiers[i], rc, &fault);
		for (size_t j = 0; j < count && rc == 0; j++) {
			if (sizes != NULL && answers[j] && !out[j])
				sizes[j] = told[j];
			out[j] |= answers[j];
		}
	}
	return count == 0 ? 0 : tkb_verdict_of(&verdict, true, err);
}

int tkb_remote_has(struct tkb_remote *remote, const struct tkb_digest *digests,
                   size_t count, bool *out, struct tkb_error *err)
{
	return tkb_remote_has_sized(remote, digests, count, out, NULL, err);
}

static int remove_in_tier(struct tkb_tier *tier,
                          const struct tkb_op_limits *limits, void *self,
                          struct tkb_error *err)
{
	return tier->backend->remove(tier->self, limits, self, err);
}

static int check_tier(const struct tkb_remote *remote, size_t tier,
                      struct tkb_error *err)
{
	if (tier >= remote->tier_count)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no tier %zu",
		                tier);
	return 0;
}

int tkb_remote_remove(struct tkb_remote *remote, size_t tier,
                      const struct tkb_digest *digest, struct tkb_error *err)
{
	struct tkb_digest wanted = *digest;
	const struct tkb_tier_work work = { remove_in_tier, &wanted };
	int rc;

	rc = check_tier(remote, tier, err);
	if (rc < 0)
		return rc;
	if (remote->tiers[tier].is_read_only)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "remote '%s' is read only here",
		                remote->tiers[tier].url->name);
	return tkb_tier_do(&remote->tiers[tier], &work, err);
}

/* A listing. It must not be retried once it has reported a blob. */
struct listing {
	const struct tkb_blob_visitor *visitor;
	bool has_begun;
};

static int tell_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                     uint64_t age_s, struct tkb_error *err)
{
	struct listing *listing = self;

	listing->has_begun = true;
	return listing->visitor->on_blob(listing->visitor->self, digest, size,
	                                 age_s, err);
}

static int list_blobs_of_tier(struct tkb_tier *tier,
                              const struct tkb_op_limits *limits, void *self,
                              struct tkb_error *err)
{
	struct listing *listing = self;
	const struct tkb_blob_visitor visitor = { tell_blob, listing };
	int rc;

	rc = tier->backend->list(tier->self, limits, &visitor, err);
	if (rc == TKB_ERR_UNAVAILABLE && listing->has_begun)
		return TKB_ERR_IO; /* stops the retries */
	return rc;
}

int tkb_remote_list(struct tkb_remote *remote, size_t tier,
                    const struct tkb_blob_visitor *visitor,
                    struct tkb_error *err)
{
	struct listing listing = { .visitor = visitor };
	const struct tkb_tier_work work = { list_blobs_of_tier, &listing };
	int rc;

	rc = check_tier(remote, tier, err);
	if (rc < 0)
		return rc;
	return tkb_tier_do(&remote->tiers[tier], &work, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "loop.h"
#include "world.h"
#include "forge.h"

/* A bundle of a kernel and a module, and what is done with it. */
struct subject {
	struct tkb_bytes bytes;
	struct tkb_bundle *bundle; /* open for those who read */
	struct tkb_bundle *opened; /* by the call */
	int pipe;
	uint32_t threads;
	struct tkb_verify_report wanted_report;
	struct tkb_verify_report report;
	struct world_sink wanted;
	struct world_sink got;
};

static struct subject subject;

/* What must not be changed by a call that fails. */
static struct tkb_bundle *const untouched =
	(struct tkb_bundle *)(uintptr_t)0x5a5a5a5a;

static void set_up(void)
{
	need_faults();
	world_cache();
	world_bundle("cache", "x.tkb");
	subject = (struct subject){ .bytes = read_file("x.tkb"), .pipe = -1 };
}

static const char *check_opened(void *self, enum fault_moment moment)
{
	(void)self;
	switch (moment) {
	case FAULT_REFUSED:
	case FAULT_STARVED:
		return subject.opened == untouched ? NULL
		                                   : "its out was touched";
	case FAULT_DONE_YET:
	case FAULT_DONE:
		return tkb_bundle_entry_count(subject.opened) == 2
		               ? NULL
		               : "it has other entries";
	}
	return NULL;
}

static void close_opened(void *self)
{
	(void)self;
	tkb_bundle_close(subject.opened);
}

static int open_path(void *self, struct tkb_error *err)
{
	(void)self;
	subject.opened = untouched;
	return tkb_bundle_open("x.tkb", &subject.opened, err);
}

TEST(bundle, opens_or_says_that_an_allocation_failed)
{
	const struct fault_call call = { .call = open_path,
		                         .check = check_opened,
		                         .release = close_opened };

	set_up();
	fault_each_allocation(&call);
}

static const char *check_escaped(void *self, enum fault_moment moment)
{
	const char *fault = check_opened(self, moment);

	if (fault != NULL || subject.opened == untouched)
		return fault;
	return strcmp(tkb_bundle_entry(subject.opened, 0)->producer,
	              "tri\"ton") == 0
	               ? NULL
	               : "a text is cut short";
}

TEST(bundle, with_escapes_opens_or_says_that_an_allocation_failed)
{
	const struct fault_call call = { .call = open_path,
		                         .check = check_escaped,
		                         .release = close_opened };
	struct forge *forge;

	set_up();
	forge = forge_open("x.tkb");
	forge_edit(forge, "\"producer\":[\"triton\"",
	           "\"producer\":[\"tri\\\"ton\"");
	forge_write(forge, "x.tkb");
	fault_each_allocation(&call);
}

static int open_memory(void *self, struct tkb_error *err)
{
	(void)self;
	subject.opened = untouched;
	return tkb_bundle_open_memory(subject.bytes, "memory", &subject.opened,
	                              err);
}

TEST(bundle, in_memory_opens_or_says_that_an_allocation_failed)
{
	const struct fault_call call = { .call = open_memory,
		                         .check = check_opened,
		                         .release = close_opened };

	set_up();
	fault_each_allocation(&call);
}

/* The pipe is as good as empty after each call: it is filled anew. */
static int open_pipe(void *self, struct tkb_error *err)
{
	int ends[2];
	int rc;

	(void)self;
	subject.opened = untouched;
	if (pipe2(ends, O_CLOEXEC) < 0 ||
	    write(ends[1], subject.bytes.data, subject.bytes.size) !=
	            (ssize_t)subject.bytes.size)
		return TKB_ERR_IO;
	(void)close(ends[1]);
	rc = tkb_bundle_open_fd(ends[0], "pipe", NULL, &subject.opened, err);
	(void)close(ends[0]); /* a copy was made, or it has failed */
	return rc;
}

TEST(bundle, from_a_pipe_opens_or_says_that_an_allocation_failed)
{
	const struct fault_call call = { .call = open_pipe,
		                         .check = check_opened,
		                         .release = close_opened };

	set_up();
	CHECK(subject.bytes.size < 65536); /* what a pipe holds */
	fault_each_allocation(&call);
}

static int add_file(void *self, size_t index, size_t file,
                    struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct tkb_sink sink = world_sink_on(self);

	(void)index;
	(void)file;
	return sink.write(sink.self, bytes, err);
}

static int read_file_of(void *self, struct tkb_error *err)
{
	const struct tkb_sink sink = world_sink(self);

	return tkb_bundle_read(subject.bundle, 0, 1, &sink, err);
}

static int read_entry_of(void *self, struct tkb_error *err)
{
	const struct tkb_file_visitor visitor = { add_file, self };

	(void)world_sink(self);
	return tkb_bundle_read_entry(subject.bundle, 0, &visitor, err);
}

static int read_all_of(void *self, struct tkb_error *err)
{
	const struct tkb_file_visitor visitor = { add_file, self };

	(void)world_sink(self);
	return tkb_bundle_read_all(subject.bundle, &visitor, NULL, err);
}

static const char *check_read(void *self, enum fault_moment moment)
{
	(void)self;
	if ((moment == FAULT_DONE || moment == FAULT_DONE_YET) &&
	    (subject.got.size != subject.wanted.size ||
	     memcmp(subject.got.data, subject.wanted.data, subject.got.size) !=
	             0))
		return "it gave other bytes";
	return NULL;
}

static void try_reading(int (*read)(void *self, struct tkb_error *err))
{
	const struct fault_call call = { .self = &subject.got,
		                         .call = read,
		                         .check = check_read };

	set_up();
	OK(tkb_bundle_open("x.tkb", &subject.bundle, ERR));
	OK(read(&subject.wanted, ERR));
	fault_each_allocation(&call);
	tkb_bundle_close(subject.bundle);
}

TEST(bundle, gives_a_file_or_says_that_an_allocation_failed)
{
	try_reading(read_file_of);
}

TEST(bundle, gives_an_entry_or_says_that_an_allocation_failed)
{
	try_reading(read_entry_of);
}

TEST(bundle, gives_all_or_says_that_an_allocation_failed)
{
	try_reading(read_all_of);
}

static int call_verify(void *self, struct tkb_error *err)
{
	const struct tkb_verify_options options = {
		.struct_size = sizeof(options), .threads = subject.threads
	};

	(void)self;
	world_dirty_report(&subject.report, sizeof(subject.report));
	return tkb_bundle_verify(subject.bundle, &options, &subject.report,
	                         err);
}

static const char *check_verified(void *self, enum fault_moment moment)
{
	(void)self;
	switch (moment) {
	case FAULT_REFUSED:
	case FAULT_STARVED:
		return world_report_is_dirty(&subject.report,
		                             sizeof(subject.report))
		               ? NULL
		               : "the report was touched";
	case FAULT_DONE_YET:
	case FAULT_DONE:
		return memcmp(&subject.report, &subject.wanted_report,
		              sizeof(subject.report)) == 0
		               ? NULL
		               : "the report is another";
	}
	return NULL;
}

static void try_verify(uint32_t threads, int wanted)
{
	const struct fault_call call = { .call = call_verify,
		                         .wanted = wanted,
		                         .check = check_verified };

	subject.threads = threads;
	OK(tkb_bundle_open("x.tkb", &subject.bundle, ERR));
	subject.wanted_report.struct_size = sizeof(subject.wanted_report);
	CHECK_INT(tkb_bundle_verify(subject.bundle, NULL,
	                            &subject.wanted_report, ERR),
	          wanted);
	fault_each_allocation(&call);
	tkb_bundle_close(subject.bundle);
}

TEST(bundle, is_not_called_damaged_where_an_allocation_failed)
{
	set_up();
	try_verify(1, 0);
}

TEST(bundle, is_not_called_damaged_where_one_failed_on_two_threads)
{
	set_up();
	try_verify(2, 0);
}

TEST(bundle, that_is_damaged_is_called_so_or_an_allocation_failed)
{
	char *copy;

	set_up();
	copy = memcpy(test_alloc(subject.bytes.size), subject.bytes.data,
	              subject.bytes.size);
	copy[subject.bytes.size / 2] ^= 1;
	write_file("x.tkb", (struct tkb_bytes){ copy, subject.bytes.size });
	try_verify(1, TKB_ERR_CORRUPT);
	CHECK_INT(subject.wanted_report.failed_count, 2);
}

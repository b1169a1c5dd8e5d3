/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "fleet_fixture.h"
#include "forge.h"
#include "loop.h"
#include "world.h"

/* A bundle of a kernel and a module, and what is done with it. */
struct subject {
	struct tkb_bytes bytes;
	struct tkb_bundle *bundle; /* open for those who read */
	struct tkb_bundle *opened; /* by the call */
	uint32_t threads;
	struct tkb_verify_report wanted_report;
	struct tkb_verify_report report;
};

static struct subject subject;

static void set_up(void)
{
	need_faults();
	world_cache();
	world_bundle("cache", "x.tkb");
	subject = (struct subject){ .bytes = read_file("x.tkb") };
}

static const char *check_opened(void)
{
	return tkb_bundle_entry_count(subject.opened) == 2
	               ? NULL
	               : "it has other entries";
}

static void close_opened(void)
{
	tkb_bundle_close(subject.opened);
}

static void try_open(int (*open)(struct tkb_error *err),
                     const char *(*check)(void))
{
	const struct fault_call call = { .call = open,
		                         .out = &subject.opened,
		                         .check = check,
		                         .release = close_opened };

	fault_each_allocation(&call);
}

static int open_path(struct tkb_error *err)
{
	return tkb_bundle_open("x.tkb", &subject.opened, err);
}

TEST(bundle, opens_or_says_that_an_allocation_failed)
{
	set_up();
	try_open(open_path, check_opened);
}

static const char *check_escaped(void)
{
	return strcmp(tkb_bundle_entry(subject.opened, 0)->producer,
	              "tri\"ton") == 0
	               ? check_opened()
	               : "a text is cut short";
}

TEST(bundle, with_escapes_opens_or_says_that_an_allocation_failed)
{
	struct forge *forge;

	set_up();
	forge = forge_open("x.tkb");
	forge_edit(forge, "\"producer\":[\"triton\"",
	           "\"producer\":[\"tri\\\"ton\"");
	forge_write(forge, "x.tkb");
	try_open(open_path, check_escaped);
}

static int open_memory(struct tkb_error *err)
{
	return tkb_bundle_open_memory(subject.bytes, "memory", &subject.opened,
	                              err);
}

TEST(bundle, in_memory_opens_or_says_that_an_allocation_failed)
{
	set_up();
	try_open(open_memory, check_opened);
}

/* The pipe is as good as empty after each call: it is filled anew. */
static int open_pipe(struct tkb_error *err)
{
	int ends[2];
	int rc;

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
	set_up();
	CHECK(subject.bytes.size < 65536); /* what a pipe holds */
	try_open(open_pipe, check_opened);
}

static int add_file(void *self, size_t index, size_t file,
                    struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	(void)index;
	(void)file;
	return fault_sink.write(fault_sink.self, bytes, err);
}

static const struct tkb_file_visitor adder = { .on_file = add_file };

static int read_file_of(struct tkb_error *err)
{
	return tkb_bundle_read(subject.bundle, 0, 1, &fault_sink, err);
}

static int read_entry_of(struct tkb_error *err)
{
	return tkb_bundle_read_entry(subject.bundle, 0, &adder, err);
}

static int read_all_of(struct tkb_error *err)
{
	return tkb_bundle_read_all(subject.bundle, &adder, NULL, err);
}

static void try_reading(int (*read)(struct tkb_error *err))
{
	struct fault_call call = { .call = read };

	set_up();
	subject.bundle = test_bundle("x.tkb");
	call.wanted_sent = fault_sent_by(read);
	fault_each_allocation(&call);
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

static int call_verify(struct tkb_error *err)
{
	const struct tkb_verify_options options =
		CHOSEN(tkb_verify_options, .threads = subject.threads);

	return tkb_bundle_verify(subject.bundle, &options, &subject.report,
	                         err);
}

static void try_verify(uint32_t threads, int wanted)
{
	const struct fault_call call = { .call = call_verify,
		                         .wanted = wanted,
		                         .report = &subject.report,
		                         .report_size = sizeof(subject.report),
		                         .wanted_report =
		                                 &subject.wanted_report };

	subject.threads = threads;
	subject.bundle = test_bundle("x.tkb");
	subject.wanted_report.struct_size = sizeof(subject.wanted_report);
	CHECK_INT(tkb_bundle_verify(subject.bundle, NULL,
	                            &subject.wanted_report, ERR),
	          wanted);
	fault_each_allocation(&call);
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
	set_up();
	flip("x.tkb", 8);
	try_verify(1, TKB_ERR_CORRUPT);
	CHECK_INT(subject.wanted_report.failed_count, 2);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include <execinfo.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>

#include "alloc.h"
#include "harness.h"

enum {
	DESCRIPTORS = 64,        /* looked at */
	THREAD_LOOKS = 10000,    /* before one that goes on is one too many */
	SENT_SIZE = 1024 * 1024, /* more than any call sends */
	SOIL = 0x5a
};

/* How the allocations of one run through the loop fail. */
struct mode {
	const char *name;
	bool all_later;
	bool no_err;
};

static const struct mode modes[] = {
	{ "one fails", false, false },
	{ "one fails, err is NULL", false, true },
	{ "it and all behind it fail", true, false },
};

/* What a child tells its parent. */
struct verdict {
	size_t nth; /* being tried */
	bool is_finished;
	struct alloc_trace trace;
	char wrong[1024];
};

struct loop {
	const struct fault_call *call;
	const struct mode *mode;
	struct verdict *verdict; /* shared with the child */
	size_t total;            /* allocations of an undisturbed call */
};

const char *wrong(const char *format, ...)
{
	static char sentences[4][1024]; /* one may be a part of the next */
	static unsigned count;
	char *sentence = sentences[count++ % TKB_COUNT_OF(sentences)];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(sentence, sizeof(sentences[0]), format, arguments);
	va_end(arguments);
	return sentence;
}

void need_faults(void)
{
	if (alloc_is_available())
		return;
	print_message("SKIP: this build has an allocator of its own\n");
	skip();
}

bool fault_is_done(enum fault_moment moment)
{
	return moment == FAULT_DONE || moment == FAULT_DONE_YET;
}

static bool is_soiled(const void *at, size_t from, size_t size)
{
	const unsigned char *bytes = at;

	while (from < size && bytes[from] == SOIL)
		from++;
	return from == size;
}

void fault_soil_report(void *report, size_t size)
{
	memset(report, SOIL, size);
	memcpy(report, &size, sizeof(size));
}

bool fault_report_is_soiled(const void *report, size_t size)
{
	return memcmp(report, &size, sizeof(size)) == 0 &&
	       is_soiled(report, sizeof(size), size);
}

/* What was sent. */
static struct {
	size_t size;
	unsigned char data[SENT_SIZE];
} sent;

static int write_sent(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	(void)err;
	if (bytes.size > sizeof(sent.data) - sent.size)
		abort();
	memcpy(sent.data + sent.size, bytes.data, bytes.size);
	sent.size += bytes.size;
	return 0;
}

const struct tkb_sink fault_sink = { .write = write_sent };

void fault_empty_sink(void)
{
	sent.size = 0;
}

struct tkb_bytes fault_sent(void)
{
	return (struct tkb_bytes){ sent.data, sent.size };
}

struct tkb_bytes fault_sent_by(int (*call)(struct tkb_error *err))
{
	fault_empty_sink();
	OK(call(ERR));
	return (struct tkb_bytes){
		memcpy(test_alloc(sent.size), sent.data, sent.size), sent.size
	};
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < DESCRIPTORS; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A thread that was joined is counted for a moment more. */
static bool is_alone(void)
{
	struct stat status = { .st_nlink = 0 };

	for (int i = 0; i < THREAD_LOOKS; i++) {
		/* ".", ".." and a folder for each thread */
		if (stat("/proc/self/task", &status) < 0 ||
		    status.st_nlink <= 3)
			return true;
		(void)sched_yield();
	}
	return false;
}

/* What must be as it was when a call has returned. */
struct footprint {
	long live;
	int descriptors;
};

static struct footprint look(void)
{
	return (struct footprint){ .live = alloc_live(),
		                   .descriptors = count_descriptors() };
}

static const char *compare(const struct footprint *before)
{
	const struct footprint now = look();

	if (!is_alone())
		return "it left a thread";
	if (ERR_peek_error() != 0)
		return "it left an error in OpenSSL's queue";
	if (now.live != before->live)
		return wrong("%ld allocations are left",
		             now.live - before->live);
	if (now.descriptors != before->descriptors)
		return wrong("%d descriptors are left",
		             now.descriptors - before->descriptors);
	return NULL;
}

static int make_call(const struct fault_call *call, struct tkb_error *err)
{
	fault_empty_sink();
	if (call->out != NULL)
		memset(call->out, SOIL, sizeof(void *));
	if (call->report != NULL)
		fault_soil_report(call->report, call->report_size);
	return call->call(err);
}

static const char *check_given(const struct fault_call *call)
{
	if (call->wanted_sent.size != 0 &&
	    !tkb_bytes_equal(fault_sent(), call->wanted_sent))
		return "it sent other bytes";
	return call->check == NULL ? NULL : call->check();
}

static const char *check_untouched(const struct fault_call *call)
{
	if (call->out != NULL && !is_soiled(call->out, 0, sizeof(void *)))
		return "its out was touched";
	if (call->report != NULL &&
	    !fault_report_is_soiled(call->report, call->report_size))
		return "the report was touched";
	return NULL;
}

static const char *check_call(const struct fault_call *call,
                              enum fault_moment moment)
{
	const bool is_whole = moment == FAULT_DONE_YET ||
	                      (moment == FAULT_DONE && !call->goes_on);
	const char *problem = fault_is_done(moment) ? check_given(call)
	                                            : check_untouched(call);

	if (problem == NULL && is_whole && call->wanted_report != NULL &&
	    memcmp(call->report, call->wanted_report, call->report_size) != 0)
		problem = "the report is another";
	if (problem == NULL && call->look != NULL)
		problem = call->look(moment);
	return problem;
}

/* Nothing fails now: all must be done, and nothing kept. */
static const char *do_undisturbed(const struct fault_call *call)
{
	const struct footprint before = look();
	struct tkb_error err = { 0 };
	const char *problem;
	int rc;

	alloc_arm(0, false, NULL);
	rc = make_call(call, &err);
	(void)alloc_disarm();
	if (rc != call->wanted)
		return wrong("without a fault it returned %d: %s", rc,
		             err.message);
	problem = check_call(call, FAULT_DONE);
	if (problem != NULL)
		return wrong("without a fault: %s", problem);
	if (call->release != NULL)
		call->release();
	return compare(&before);
}

static const char *judge(const struct loop *loop, int rc, bool was_hit,
                         const struct tkb_error *err)
{
	const struct fault_call *call = loop->call;
	enum fault_moment moment = FAULT_DONE_YET;
	const char *problem;

	if (rc != call->wanted && rc != TKB_ERR_NOMEM)
		return wrong("it returned %d: %s", rc, err->message);
	if (rc != call->wanted && !was_hit)
		return wrong("nothing failed, it returned %d: %s", rc,
		             err->message);
	if (rc < 0 && !loop->mode->no_err && err->message[0] == '\0')
		return "it failed without a word";
	if (rc != call->wanted)
		moment = loop->mode->all_later ? FAULT_STARVED : FAULT_REFUSED;
	problem = check_call(call, moment);
	if (problem != NULL)
		return wrong("it returned %d (%s), but %s", rc, err->message,
		             problem);
	return NULL;
}

/* One call with a fault, and one without; was there one? */
static const char *try_one(const struct loop *loop, bool *was_hit)
{
	const struct fault_call *call = loop->call;
	struct tkb_error err = { 0 };
	struct footprint before;
	const char *problem;
	int rc;

	if (call->prepare != NULL)
		call->prepare();
	before = look();
	alloc_arm(loop->verdict->nth, loop->mode->all_later,
	          &loop->verdict->trace);
	rc = make_call(call, loop->mode->no_err ? NULL : &err);
	*was_hit = alloc_disarm();
	problem = judge(loop, rc, *was_hit, &err);
	if (problem != NULL)
		return problem;
	if (rc == call->wanted && call->release != NULL)
		call->release();
	problem = compare(&before);
	if (problem != NULL)
		return wrong("it returned %d (%s), and %s", rc, err.message,
		             problem);
	return *was_hit ? do_undisturbed(call) : NULL;
}

/* In the child. */
static void try_all(struct loop *loop)
{
	struct verdict *verdict = loop->verdict;
	const char *problem = NULL;
	bool was_hit = true;

	for (verdict->nth = 1; was_hit; verdict->nth++) {
		problem = try_one(loop, &was_hit);
		if (problem != NULL) {
			(void)snprintf(verdict->wrong, sizeof(verdict->wrong),
			               "%s", problem);
			return;
		}
	}
	verdict->is_finished = true;
}

static void report(const struct loop *loop, const char *problem)
{
	const struct verdict *verdict = loop->verdict;

	print_error("allocation %zu of about %zu (%s): %s\n", verdict->nth,
	            loop->total, loop->mode->name, problem);
	(void)fflush(stderr);
	backtrace_symbols_fd(verdict->trace.addresses, verdict->trace.depth,
	                     STDERR_FILENO);
	fail();
}

static void run_mode(struct loop *loop)
{
	*loop->verdict = (struct verdict){ .nth = 0 };
	(void)fflush(NULL);
	const pid_t child = must_fork();
	if (child == 0) {
		try_all(loop);
		_exit(0);
	}
	const int status = end_of(child);
	if (loop->verdict->wrong[0] != '\0')
		report(loop, loop->verdict->wrong);
	if (!loop->verdict->is_finished)
		report(loop, text("the process died, status %d", status));
}

void fault_each_allocation(const struct fault_call *call)
{
	struct loop loop = { .call = call };
	const char *problem = NULL;

	need_faults();
	loop.verdict = mmap(NULL, sizeof(*loop.verdict), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(loop.verdict != MAP_FAILED);

	/* What libraries and threads keep, they get here. */
	ERR_clear_error();
	for (int i = 0; i < 2; i++) {
		if (call->prepare != NULL)
			call->prepare();
		problem = do_undisturbed(call);
	}
	if (problem != NULL)
		fail_msg("%s", problem);
	loop.total = alloc_count();
	for (size_t i = 0; i < TKB_COUNT_OF(modes); i++) {
		loop.mode = &modes[i];
		run_mode(&loop);
	}
	print_message("each of %zu allocations failed\n", loop.total);
	(void)munmap(loop.verdict, sizeof(*loop.verdict));
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_HARNESS_H
#define TKB_TESTS_HARNESS_H

/*
 * The base of every test program.
 *
 *     TEST(key, of_md5_has_32_digits)
 *     {
 *             CHECK(tkb_key_is_valid("..."));
 *     }
 *
 * A test registers itself; its name is its subject and a sentence that must
 * hold. It runs in an empty folder of its own, which is removed afterwards,
 * like everything that helpers return: bytes, servers, remotes. cmocka reports.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include <tkbundle/tkbundle.h>

#include "base/base.h"
#include "base/buf.h"

/* Sanitizers need address space and time, and several bytes for each byte. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#define TEST(subject, sentence)                                                \
	static void subject##_##sentence(void **state);                        \
	__attribute__((constructor)) static void                               \
		register_##subject##_##sentence(void)                          \
	{                                                                      \
		test_register(#subject ": " #sentence, subject##_##sentence);  \
	}                                                                      \
	static void subject##_##sentence(void **state __attribute__((unused)))

#define CHECK(condition) assert_true(condition)
#define CHECK_INT(got, wanted)                                                 \
	assert_int_equal((long long)(got), (long long)(wanted))
#define CHECK_STR(got, wanted) assert_string_equal(got, wanted)

/*
 * Check the result of a call; its error is shown if it differs.
 *
 *     OK(call)                   it returns 0
 *     FAILS(call, status, part)  it returns `status`, and its message has `part`
 *     DONE(call, is_part)        it has a report, and did everything, or a part
 *
 * The call gets ERR, the error of the test's thread, which is cleared before.
 * CHECK_OK() and so on are for calls that were made earlier, with another
 * error: a thread's or a child's.
 */
#define OK(call)                                                               \
	do {                                                                   \
		test_error = (struct tkb_error){ 0 };                          \
		CHECK_OK(call, ERR);                                           \
	} while (0)
#define FAILS(call, status, part)                                              \
	do {                                                                   \
		test_error = (struct tkb_error){ 0 };                          \
		CHECK_FAILS(call, status, ERR, part);                          \
	} while (0)
#define DONE(call, is_part)                                                    \
	do {                                                                   \
		test_error = (struct tkb_error){ 0 };                          \
		CHECK_DONE(call, is_part, ERR);                                \
	} while (0)
#define ERR (&test_error)
extern _Thread_local struct tkb_error test_error;

#define CHECK_OK(call, err)                                                    \
	check_status((call), TKB_OK, (err), #call, __FILE__, __LINE__)
#define CHECK_FAILS(call, status, err, part)                                   \
	do {                                                                   \
		check_status((call), (status), (err), #call, __FILE__,         \
		             __LINE__);                                        \
		check_contains((err)->message, (part), __FILE__, __LINE__);    \
	} while (0)
#define CHECK_DONE(call, is_part, err)                                         \
	do {                                                                   \
		const int got_ = (call);                                       \
                                                                               \
		check_status(got_, (is_part) ? TKB_ERR_PARTIAL : TKB_OK,       \
		             (err), #call, __FILE__, __LINE__);                \
	} while (0)

/* A system call that must return 0; its error is shown. */
#define SYS(call) check_sys((call), #call, __FILE__, __LINE__)

/* The first member of a public struct whose other members are 0. */
#define SIZED(of) .struct_size = sizeof(of)
#define DEFAULTS(type) ((struct type){ SIZED(struct type) })
#define CHOSEN(type, ...) ((struct type){ SIZED(struct type), __VA_ARGS__ })

/* Walk a table: a failing test prints the row. Do not break out of the loop. */
#define EACH(i, table)                                                         \
	for (size_t i = 0; test_row(#table, i, TKB_COUNT_OF(table)); i++)
bool test_row(const char *table, size_t index, size_t count);
void test_name_row(const char *name);

#define CHECK_CONTAINS(text, part)                                             \
	check_contains((text), (part), __FILE__, __LINE__)

void test_register(const char *name, void (*test)(void **state));

void check_status(int got, int wanted, const struct tkb_error *err,
                  const char *call, const char *file, int line);
void check_sys(int got, const char *call, const char *file, int line);
void check_contains(const char *text, const char *part, const char *file,
                    int line);

/* The test's own folder, absolute. It is also the working directory. */
const char *test_folder(void);

/* Memory that is freed with the test; a text made as by printf. */
void *test_alloc(size_t size);
struct tkb_buf *test_buf(size_t limit);
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Copies that live as long as the test; this one has a zero behind its bytes. */
struct tkb_bytes test_copy(const struct tkb_buf *buf);
char *test_bytes(struct tkb_bytes bytes);

/* A copy alone in its memory, so that a sanitizer sees a byte read behind it. */
struct tkb_bytes test_exact(struct tkb_bytes bytes);

/* Overwrite such a copy: who read it must have kept no reference. */
void test_spoil(struct tkb_bytes exact);

/* `count` of the parts, chosen by `seed`, which goes on. */
const char *test_mix(uint32_t *seed, size_t count, const char *const *parts,
                     size_t part_count);

/* By OpenSSL itself. */
struct tkb_digest digest_of(struct tkb_bytes bytes);
const char *hex_of(const struct tkb_digest *digest);
bool is_same_digest(const struct tkb_digest *a, const struct tkb_digest *b);

/*
 * Take `whole` with each of its bits flipped, and each of its beginnings: none must be
 * taken for right; and then itself, which must.
 */
void check_damaged(struct tkb_bytes whole,
                   bool (*is_right)(void *self, struct tkb_bytes bytes),
                   void *self);

/* Of a clock that only goes forward. */
uint64_t now_ms(void);
void nap_ms(unsigned ms);

/* A watch is asked whether the work is cancelled: it is. */
bool always(void *self);

/* A watch that ends the work after so many ms. */
struct patience {
	struct tkb_watch watch;
	uint64_t end_ms;
};
const struct tkb_watch *end_in_ms(struct patience *patience, unsigned ms);

/*
 * A watch that ends the work once it was asked so often, and one that does not;
 * both check the progress that they are told.
 */
struct countdown {
	size_t left;
	uint64_t done;
	uint64_t total;
	bool went_wrong;
	struct tkb_watch watch;
};

const struct tkb_watch *count_down(struct countdown *countdown);
const struct tkb_watch *look_on(struct countdown *countdown);

/* It was told of all the work, and there was some. */
void check_told_all(const struct countdown *countdown);

bool is_counted_down(void *self);
void see_countdown(void *self, uint64_t done, uint64_t total);

/* Call `end` when the test is over, failed or not, in reverse order. */
void at_end(void (*end)(void *self), void *self);

/* The parts of a text between its bars; ends with NULL. */
const char **words(const char *all);

/* How often `part` stands in `text`. */
size_t count_parts(const char *text, const char *part);

/* The fixtures of each Triton; the cache of each is its .triton/cache. */
#define EVERY_TRITON                                                           \
	"triton-3.0.0-cpu", "triton-3.1.0-cpu", "triton-3.2.0-cpu",            \
		"triton-3.3.1-cpu", "triton-3.4.0-cpu", "triton-3.5.1-cpu",    \
		"triton-3.6.0-cpu", "triton-3.7.1-cpu", "triton-3.8.0-cpu",    \
		"triton-3.9.0-cpu", "triton-3.6.0-h100"

/* Unpack fixtures/<name>.tar.gz into the new folder `into`. */
void unpack(const char *name, const char *into);

/* Copy folder `from`, with all in it, to `to`, which must not be there. */
void copy_folder(const char *from, const char *to);

/* A file's bytes, followed by a zero. The file must exist. */
struct tkb_bytes read_file(const char *path);
void write_file(const char *path, struct tkb_bytes bytes);
void write_text(const char *path, const char *contents);
bool exists(const char *path);

/* Replace the first `from` in a file by `to`; it must be there. */
void edit_file(const char *path, const char *from, const char *to);

/* Flip a bit of the file's byte at `offset`, in its place. */
void flip_bit(const char *path, uint64_t offset);

/*
 * Variables that are released with their block: a buffer, and a bundle that the
 * test assigns.
 */
#define BUF(name, limit)                                                       \
	TKB_AUTO(tkb_buf_release) struct tkb_buf name = TKB_BUF_INIT(limit)
#define BUNDLE(name) TKB_AUTO(test_close_bundle) struct tkb_bundle *name
TKB_AUTO_POINTER(test_close_bundle, struct tkb_bundle, tkb_bundle_close)

/* The bundle `path`, which must open, and a new key; closed with the test. */
struct tkb_bundle *test_bundle(const char *path);
struct tkb_key *test_key(enum tkb_key_kind kind);

/* The names in a folder, sorted, without "." and ".."; ends with NULL. */
const char **list(const char *folder);
size_t count_names(const char *folder);

/* The files below a folder whose names end so, sorted; ends with NULL. */
const char **files_below(const char *folder, const char *ending);

/* Make the folder and those above it. */
void make_folders(const char *path);

/* How a program ended. */
struct outcome {
	int status; /* exit status, or 128 and the signal */
	const char *out;
	size_t out_size;
	const char *err;
};

/* Run a program without a shell; arguments end with NULL. */
struct outcome run(const char *program, ...) __attribute__((sentinel));

/*
 * The arguments of a program: its name and those behind it, with the NULL that
 * ends them. As many as run() takes.
 */
char *const *arguments_of(const char *name, va_list rest);

/*
 * A child of the test, in which this returns 0: it ends by _exit(), and dies of a
 * signal or a check that fails instead of going on with the next test. It does not
 * outlive the test program.
 */
pid_t must_fork(void);

/* Wait for a child: its exit status, or 128 and the signal. */
int end_of(pid_t child);

/* Call `work` with each of the items in a thread of its own, and wait for all. */
#define IN_THREADS(work, items)                                                \
	in_threads((work), (items), TKB_COUNT_OF(items), sizeof((items)[0]))
void in_threads(void *(*work)(void *item), void *items, size_t count,
                size_t size);

/* Call `work` in a child; what that writes to `answer` is there afterwards. */
void in_child(void (*work)(void *answer), void *answer, size_t size);

/* In a child: become somebody without rights, who can reach `path`. */
bool become_nobody(const char *path);

/* Run a shell command, made as by printf. No part of it may fail. */
void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For a shell: what becomes of the file $F; the second after a power failure. */
#define HALVE_IT "truncate -s $(($(stat -c %s $F) / 2)) $F"
#define ZERO_IT "size=$(stat -c %s $F); : >$F; truncate -s $size $F"

/* Make of a script of the shell a program, in the test's folder; its path. */
const char *write_script(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The path of the `tkbundle` that was built with these tests; and of its worker. */
const char *program(void);
const char *compile_worker(void);

/* A real ptxas; without one, the test is skipped. */
const char *real_ptxas(void);

#endif

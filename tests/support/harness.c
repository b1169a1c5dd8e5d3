/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <spawn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <openssl/sha.h>

enum {
	TESTS_LIMIT = 512,
	ARGUMENTS_LIMIT = 64,
	FILES_LIMIT = 1024,
	TABLES_LIMIT = 4
};

extern char **environ;

_Thread_local struct tkb_error test_error;

static struct CMUnitTest tests[TESTS_LIMIT];
static size_t test_count;
static char folder[4096];

/* The tables that this thread walks, the outermost first. */
static _Thread_local struct {
	const char *table;
	const char *name;
	size_t index;
} rows[TABLES_LIMIT];
static _Thread_local size_t row_count;

struct block {
	struct block *next;
	max_align_t data[];
};

static struct block *blocks;

struct ending {
	struct ending *next;
	void (*end)(void *self);
	void *self;
};

static struct ending *endings;

static void release_buf(void *self)
{
	tkb_buf_release(self);
}

struct tkb_buf *test_buf(size_t limit)
{
	struct tkb_buf *buf = test_alloc(sizeof(*buf));

	buf->limit = limit;
	at_end(release_buf, buf);
	return buf;
}

static void close_bundle(void *self)
{
	tkb_bundle_close(self);
}

struct tkb_bundle *test_bundle(const char *path)
{
	struct tkb_bundle *bundle = NULL;

	OK(tkb_bundle_open(path, &bundle, ERR));
	at_end(close_bundle, bundle);
	return bundle;
}

static void close_key(void *self)
{
	tkb_key_close(self);
}

struct tkb_key *test_key(enum tkb_key_kind kind)
{
	struct tkb_key *key = NULL;

	OK(tkb_key_make(kind, &key, ERR));
	at_end(close_key, key);
	return key;
}

bool test_row(const char *table, size_t index, size_t count)
{
	size_t at = 0;

	while (at < row_count && strcmp(rows[at].table, table) != 0)
		at++;
	row_count = at;
	if (index == count)
		return false;
	CHECK(at < TABLES_LIMIT);
	rows[at].table = table;
	rows[at].name = "";
	rows[at].index = index;
	row_count++;
	return true;
}

void test_name_row(const char *name)
{
	CHECK(row_count != 0);
	rows[row_count - 1].name = name;
}

void *test_alloc(size_t size)
{
	struct block *block = calloc(1, sizeof(*block) + size + 1);

	CHECK(block != NULL);
	block->next = blocks;
	blocks = block;
	return block->data;
}

struct tkb_bytes test_copy(const struct tkb_buf *buf)
{
	char *copy = test_alloc(buf->size);

	CHECK_INT(tkb_buf_check(buf, NULL), 0);
	if (buf->size != 0)
		memcpy(copy, buf->data, buf->size);
	return (struct tkb_bytes){ copy, buf->size };
}

char *test_bytes(struct tkb_bytes bytes)
{
	char *copy = test_alloc(bytes.size + 1);

	if (bytes.size != 0)
		memcpy(copy, bytes.data, bytes.size);
	copy[bytes.size] = '\0';
	return copy;
}

struct tkb_bytes test_exact(struct tkb_bytes bytes)
{
	char *const copy = malloc(bytes.size == 0 ? 1 : bytes.size);

	CHECK(copy != NULL);
	at_end(free, copy);
	if (bytes.size != 0)
		memcpy(copy, bytes.data, bytes.size);
	return (struct tkb_bytes){ copy, bytes.size };
}

void test_spoil(struct tkb_bytes exact)
{
	memset((void *)(uintptr_t)exact.data, '#', exact.size);
}

const char *test_mix(uint32_t *seed, size_t count, const char *const *parts,
                     size_t part_count)
{
	const char *mix = "";

	for (size_t i = 0; i < count; i++) {
		*seed = *seed * 1664525u + 1013904223u;
		mix = text("%s%s", mix, parts[(*seed >> 16) % part_count]);
	}
	return mix;
}

void check_damaged(struct tkb_bytes whole,
                   bool (*is_right)(void *self, struct tkb_bytes bytes),
                   void *self)
{
	char *bytes = test_bytes(whole);
	const struct tkb_bytes changed = { bytes, whole.size };

	for (size_t bit = 0; bit < whole.size * 8; bit++) {
		bytes[bit / 8] ^= (char)(1u << bit % 8);
		if (is_right(self, changed))
			fail_msg("bit %zu may be flipped", bit);
		bytes[bit / 8] ^= (char)(1u << bit % 8);
	}
	for (size_t size = 0; size < whole.size; size++) {
		if (is_right(self, tkb_bytes_slice(changed, 0, size)))
			fail_msg("%zu bytes are enough", size);
	}
	CHECK(is_right(self, changed));
}

struct tkb_digest digest_of(struct tkb_bytes bytes)
{
	struct tkb_digest digest;

	(void)SHA256(bytes.data, bytes.size, digest.bytes);
	return digest;
}

const char *hex_of(const struct tkb_digest *digest)
{
	char *hex = test_alloc(TKB_DIGEST_HEX_SIZE);

	tkb_digest_to_hex(digest, hex);
	return hex;
}

bool is_same_digest(const struct tkb_digest *a, const struct tkb_digest *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void at_end(void (*end)(void *self), void *self)
{
	struct ending *ending = test_alloc(sizeof(*ending));

	*ending = (struct ending){ endings, end, self };
	endings = ending;
}

size_t count_parts(const char *text, const char *part)
{
	size_t count = 0;

	for (text = strstr(text, part); text != NULL;
	     text = strstr(text + 1, part))
		count++;
	return count;
}

uint64_t now_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void nap_ms(unsigned ms)
{
	const struct timespec nap = { .tv_sec = (time_t)(ms / 1000),
		                      .tv_nsec = (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&nap, NULL);
}

bool always(void *self)
{
	(void)self;
	return true;
}

static bool is_over(void *self)
{
	const struct patience *patience = self;

	return now_ms() >= patience->end_ms;
}

const struct tkb_watch *end_in_ms(struct patience *patience, unsigned ms)
{
	patience->end_ms = now_ms() + ms;
	patience->watch =
		CHOSEN(tkb_watch, .self = patience, .is_cancelled = is_over);
	return &patience->watch;
}

bool is_counted_down(void *self)
{
	struct countdown *patience = self;

	if (patience->left == 0)
		return true;
	patience->left--;
	return false;
}

void see_countdown(void *self, uint64_t done, uint64_t total)
{
	struct countdown *patience = self;

	patience->went_wrong |= done < patience->done || done > total;
	patience->done = done;
	patience->total = total;
}

const struct tkb_watch *look_on(struct countdown *countdown)
{
	countdown->watch = CHOSEN(tkb_watch, .self = countdown,
	                          .on_progress = see_countdown);
	return &countdown->watch;
}

const struct tkb_watch *count_down(struct countdown *countdown)
{
	(void)look_on(countdown);
	countdown->watch.is_cancelled = is_counted_down;
	return &countdown->watch;
}

void check_told_all(const struct countdown *countdown)
{
	CHECK(!countdown->went_wrong);
	CHECK(countdown->total > 0);
	CHECK_INT(countdown->done, countdown->total);
}

static const char *printed(const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	int size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *out = test_alloc((size_t)size + 1);
	(void)vsnprintf(out, (size_t)size + 1, format, arguments);
	return out;
}

const char *text(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *out = printed(format, arguments);
	va_end(arguments);
	return out;
}

const char **words(const char *all)
{
	const char **out = test_alloc((strlen(all) + 2) * sizeof(*out));
	size_t count = 0;

	for (const char *end = all; *end != '\0'; all = end + 1) {
		end = strchrnul(all, '|');
		out[count++] = text("%.*s", (int)(end - all), all);
	}
	return out;
}

void check_status(int got, int wanted, const struct tkb_error *err,
                  const char *call, const char *file, int line)
{
	if (got == wanted)
		return;
	print_error("%s\n  returned %d, not %d: %s\n", call, got, wanted,
	            err == NULL ? "" : err->message);
	_fail(file, line);
}

void check_sys(int got, const char *call, const char *file, int line)
{
	if (got == 0)
		return;
	print_error("%s\n  returned %d: %s\n", call, got,
	            strerror(got < 0 ? errno : got));
	_fail(file, line);
}

void check_contains(const char *haystack, const char *part, const char *file,
                    int line)
{
	if (strstr(haystack, part) != NULL)
		return;
	print_error("'%s'\n  does not say '%s'\n", haystack, part);
	_fail(file, line);
}

const char *test_folder(void)
{
	return folder;
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static int make_readable(const char *path, const struct stat *status, int type,
                         struct FTW *where)
{
	(void)where;
	if (type == FTW_D || type == FTW_DNR)
		(void)chmod(path, status->st_mode | 0700);
	return 0;
}

static int set_up(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	test_error = (struct tkb_error){ 0 };
	row_count = 0;
	(void)snprintf(folder, sizeof(folder), "%s/tkb-test-XXXXXX",
	               base == NULL || base[0] == '\0' ? "/tmp" : base);
	if (mkdtemp(folder) == NULL || chdir(folder) < 0)
		return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < row_count; i++)
		print_error("in %s[%zu] %s\n", rows[i].table, rows[i].index,
		            rows[i].name);
	while (endings != NULL) {
		const struct ending *ending = endings;

		endings = ending->next;
		ending->end(ending->self);
	}
	while (blocks != NULL) {
		struct block *next = blocks->next;

		free(blocks);
		blocks = next;
	}
	if (chdir("/") < 0)
		return -1;
	(void)nftw(folder, make_readable, 16, FTW_PHYS);
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void test_register(const char *name, void (*test)(void **state))
{
	if (test_count == TESTS_LIMIT)
		abort();
	tests[test_count++] = (struct CMUnitTest){ .name = name,
		                                   .test_func = test,
		                                   .setup_func = set_up,
		                                   .teardown_func = tear_down };
}

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	/* A shell ignores it for what it starts in the background. */
	(void)signal(SIGINT, SIG_DFL);
	/*
	 * Tests must not depend on this machine's GPU, nor on the certificates
	 * that it trusts.
	 */
	SYS(setenv("TKBUNDLE_GPU", "", 1));
	SYS(unsetenv("REQUESTS_CA_BUNDLE"));
	SYS(unsetenv("CURL_CA_BUNDLE"));
	SYS(unsetenv("SSL_CERT_FILE"));
	SYS(unsetenv("SSL_CERT_DIR"));
	return _cmocka_run_group_tests("tkbundle", tests, test_count, NULL,
	                               NULL);
}

static const char *slurp(int fd, size_t *size_out)
{
	BUF(buf, (size_t)1 << 30);
	char chunk[65536];
	ssize_t got;

	(void)lseek(fd, 0, SEEK_SET);
	for (got = read(fd, chunk, sizeof(chunk)); got > 0;
	     got = read(fd, chunk, sizeof(chunk)))
		tkb_buf_add(&buf, (struct tkb_bytes){ chunk, (size_t)got });
	CHECK_INT(got, 0);
	char *kept = test_alloc(buf.size + 1);
	if (buf.size != 0)
		memcpy(kept, buf.data, buf.size);
	if (size_out != NULL)
		*size_out = buf.size;
	return kept;
}

static int nameless_file(void)
{
	char path[] = "/tmp/tkb-out-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC);

	CHECK(fd >= 0);
	(void)unlink(path);
	return fd;
}

char *const *arguments_of(const char *name, va_list rest)
{
	const char **arguments =
		test_alloc(ARGUMENTS_LIMIT * sizeof(*arguments));
	size_t count = 0;

	for (; name != NULL; name = va_arg(rest, const char *)) {
		CHECK(count + 1 < ARGUMENTS_LIMIT);
		arguments[count++] = name;
	}
	arguments[count] = NULL;
	return (char *const *)(uintptr_t)arguments;
}

pid_t must_fork(void)
{
	static const int signals[] = { SIGABRT, SIGBUS,  SIGFPE,
		                       SIGILL,  SIGSEGV, SIGSYS };
	const pid_t parent = getpid();
	const pid_t child = fork();

	CHECK(child >= 0);
	if (child != 0)
		return child;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (size_t i = 0; i < TKB_COUNT_OF(signals); i++)
		(void)signal(signals[i], SIG_DFL);
	/* To cmocka: abort where a check fails. */
	(void)setenv("CMOCKA_TEST_ABORT", "1", 1);
	return 0;
}

int end_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		CHECK_INT(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void in_threads(void *(*work)(void *item), void *items, size_t count,
                size_t size)
{
	pthread_t *threads = test_alloc(count * sizeof(*threads));

	for (size_t i = 0; i < count; i++)
		SYS(pthread_create(&threads[i], NULL, work,
		                   (char *)items + i * size));
	for (size_t i = 0; i < count; i++)
		SYS(pthread_join(threads[i], NULL));
}

void in_child(void (*work)(void *answer), void *answer, size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(shared != MAP_FAILED);
	memcpy(shared, answer, size);
	const pid_t child = must_fork();
	if (child == 0) {
		work(shared);
		_exit(0);
	}
	CHECK_INT(end_of(child), 0);
	memcpy(answer, shared, size);
	SYS(munmap(shared, size));
}

bool become_nobody(const char *path)
{
	enum {
		NOBODY = 65534
	};

	return (geteuid() != 0 || (setgroups(0, NULL) == 0 &&
	                           setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	                           setresuid(NOBODY, NOBODY, NOBODY) == 0)) &&
	       access(path, X_OK) == 0;
}

struct outcome run(const char *name, ...)
{
	struct outcome outcome = { 0 };
	posix_spawn_file_actions_t actions;
	const int out = nameless_file();
	const int err = nameless_file();
	va_list rest;
	pid_t child;

	va_start(rest, name);
	char *const *arguments = arguments_of(name, rest);
	va_end(rest);

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
	                                       O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, out, 1);
	(void)posix_spawn_file_actions_adddup2(&actions, err, 2);
	CHECK_INT(
		posix_spawnp(&child, name, &actions, NULL, arguments, environ),
		0);
	(void)posix_spawn_file_actions_destroy(&actions);
	outcome.status = end_of(child);
	outcome.out = slurp(out, &outcome.out_size);
	outcome.err = slurp(err, NULL);
	(void)close(out);
	(void)close(err);
	return outcome;
}

static void must_run(const struct outcome *outcome, const char *what)
{
	if (outcome->status != 0)
		fail_msg("%s: %s", what, outcome->err);
}

void unpack(const char *name, const char *into)
{
	const char *archive = text("%s/%s.tar.gz", TKB_FIXTURES, name);

	CHECK_INT(mkdir(into, 0777), 0);
	struct outcome outcome = run("tar", "-xzf", archive, "-C", into, NULL);
	must_run(&outcome, archive);
}

void copy_folder(const char *from, const char *to)
{
	CHECK(!(exists(to)));
	struct outcome outcome = run("cp", "-a", from, to, NULL);
	must_run(&outcome, from);
}

struct tkb_bytes read_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct tkb_bytes bytes;

	if (fd < 0)
		fail_msg("cannot open '%s': %s", path, strerror(errno));
	bytes.data = slurp(fd, &bytes.size);
	(void)close(fd);
	return bytes;
}

void write_file(const char *path, struct tkb_bytes bytes)
{
	FILE *file = fopen(path, "we");

	if (file == NULL)
		fail_msg("cannot write '%s': %s", path, strerror(errno));
	if (bytes.size != 0)
		CHECK_INT(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	CHECK_INT(fclose(file), 0);
}

void write_text(const char *path, const char *contents)
{
	write_file(path, tkb_text(contents));
}

bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

void flip_bit(const char *path, uint64_t offset)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte = 0;

	CHECK_INT(pread(fd, &byte, 1, (off_t)offset), 1);
	byte ^= 1;
	CHECK_INT(pwrite(fd, &byte, 1, (off_t)offset), 1);
	(void)close(fd);
}

void edit_file(const char *path, const char *from, const char *to)
{
	const struct tkb_bytes old = read_file(path);
	const char *start = old.data;
	const char *found = memmem(start, old.size, from, strlen(from));
	BUF(edited, (size_t)1 << 30);

	if (found == NULL)
		fail_msg("'%s' does not hold '%s'", path, from);
	tkb_buf_add(&edited,
	            (struct tkb_bytes){ start, (size_t)(found - start) });
	tkb_buf_add_text(&edited, to);
	found += strlen(from);
	tkb_buf_add(&edited,
	            (struct tkb_bytes){ found,
	                                (size_t)(start + old.size - found) });
	write_file(path, tkb_buf_bytes(&edited));
}

static int not_a_dot(const struct dirent *item)
{
	return strcmp(item->d_name, ".") != 0 &&
	       strcmp(item->d_name, "..") != 0;
}

const char **list(const char *path)
{
	struct dirent **items = NULL;
	const int count = scandir(path, &items, not_a_dot, alphasort);

	if (count < 0)
		fail_msg("cannot list '%s': %s", path, strerror(errno));
	const char **names = test_alloc(((size_t)count + 1) * sizeof(*names));
	for (int i = 0; i < count; i++) {
		names[i] = text("%s", items[i]->d_name);
		free(items[i]);
	}
	free(items);
	return names;
}

size_t count_names(const char *path)
{
	const char **names = list(path);
	size_t count = 0;

	while (names[count] != NULL)
		count++;
	return count;
}

/* What nftw() looks for, and has found: it takes no argument of ours. */
static struct {
	const char *ending;
	const char **paths;
	size_t count;
} search;

static int look_at(const char *path, const struct stat *status, int type,
                   struct FTW *where)
{
	const size_t size = strlen(path);
	const size_t length = strlen(search.ending);

	(void)status, (void)where;
	if (type != FTW_F || size < length ||
	    strcmp(path + size - length, search.ending) != 0)
		return 0;
	CHECK(search.count < FILES_LIMIT);
	search.paths[search.count++] = text("%s", path);
	return 0;
}

const char **files_below(const char *root, const char *ending)
{
	search.ending = ending;
	search.paths = test_alloc((FILES_LIMIT + 1) * sizeof(*search.paths));
	search.count = 0;
	SYS(nftw(root, look_at, 16, FTW_PHYS));
	(void)tkb_sort_texts(search.paths, search.count);
	search.paths[search.count] = NULL;
	return search.paths;
}

void make_folders(const char *path)
{
	const struct outcome outcome = run("mkdir", "-p", path, NULL);

	must_run(&outcome, path);
}

void shell(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *script = printed(format, arguments);
	va_end(arguments);
	struct outcome outcome = run("sh", "-ec", script, NULL);
	if (outcome.status != 0)
		fail_msg("%s\n  exits %d: %s", script, outcome.status,
		         outcome.err);
}

const char *write_script(const char *name, const char *format, ...)
{
	const char *path = text("%s/%s", test_folder(), name);
	va_list arguments;

	va_start(arguments, format);
	write_text(path, text("#!/bin/sh\n%s", printed(format, arguments)));
	va_end(arguments);
	SYS(chmod(path, 0755));
	return path;
}

const char *program(void)
{
	return TKB_PROGRAM;
}

const char *compile_worker(void)
{
	const char *const path = program();

	return text("%.*s/tkbundle-compile", (int)(strrchr(path, '/') - path),
	            path);
}

const char *real_ptxas(void)
{
	const char *const path = getenv("TKB_TEST_PTXAS");

	if (path == NULL)
		skip();
	return path;
}

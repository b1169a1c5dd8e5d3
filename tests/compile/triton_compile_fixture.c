/* SPDX-License-Identifier: Apache-2.0 */
#include "triton_compile_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diff/cubin_diff.h"

const char *const triton_python = TKB_VENV "/bin/python3";
const char *const triton_worker = TKB_TRITON_WORKER;

const char *const copy_kernel =
	"@triton.jit\n"
	"def copy_kernel(x, out, n, SIZE: tl.constexpr):\n"
	"    at = tl.arange(0, SIZE)\n"
	"    tl.store(out + at, tl.load(x + at, at < n), at < n)\n";

static bool has_triton(const char *version)
{
	return access(triton_python, X_OK) == 0 &&
	       strncmp(run(triton_python, "-c",
	                   "import triton; print(triton.__version__)", NULL)
	                       .out,
	               version, strlen(version)) == 0;
}

void need_triton(const char *version)
{
	/* The one that is there: to look takes as long as many a test. */
	static char known[16];
	const char *folder = strcmp(version, TRITON_USUAL) == 0
	                             ? ""
	                             : text("%s/triton-%s", TKB_VENV, version);

	SYS(setenv("PYTHONPATH", folder, 1));
	SYS(setenv("PYTHONDONTWRITEBYTECODE", "1", 1));
	SYS(unsetenv("PYTHONUNBUFFERED"));
	if (strcmp(known, version) == 0)
		return;
	if (has_triton(version)) {
		(void)snprintf(known, sizeof(known), "%s", version);
		return;
	}
	print_message("Triton %s is not in " TKB_VENV
	              ", or not for this user: ./bootstrap test puts it "
	              "there\n",
	              version);
	skip();
}

bool is_python(unsigned minor)
{
	return strcmp(run(triton_python, "-c",
	                  "import platform, sys; "
	                  "print(sys.implementation.name, "
	                  "platform.machine(), *sys.version_info[:2])",
	                  NULL)
	                      .out,
	              text("cpython x86_64 3 %u\n", minor)) == 0;
}

struct tkb_triton *open_triton_of(const struct tkb_triton_options *options)
{
	const char *old = getenv("TMPDIR");
	const char *kept = old == NULL ? NULL : text("%s", old);
	struct tkb_triton_options chosen = *options;
	struct tkb_triton *triton = NULL;

	(void)mkdir("tmp", 0700);
	SYS(setenv("TMPDIR", text("%s/tmp", test_folder()), 1));
	chosen.worker = triton_worker;
	if (chosen.python == NULL)
		chosen.python = triton_python;
	if (chosen.cache_root == NULL)
		chosen.cache_root = "cache";
	OK(tkb_triton_open(&chosen, &triton, ERR));
	if (kept == NULL)
		SYS(unsetenv("TMPDIR"));
	else
		SYS(setenv("TMPDIR", kept, 1));
	return triton;
}

struct tkb_triton *open_triton(void)
{
	return open_triton_of(&CHOSEN(tkb_triton_options, .worker_count = 1));
}

struct tkb_triton *open_triton_for(const char *kernels)
{
	need_triton(TRITON_USUAL);
	write_kernels(kernels);
	return open_triton();
}

struct made make(struct tkb_triton *triton, const struct tkb_triton_unit *unit)
{
	const struct tkb_triton_compiled *compiled = NULL;
	struct tkb_triton_compile *compile = NULL;
	struct made made = { .log = "" };

	made.rc = tkb_triton_submit(triton, unit, &compile, &made.err);
	if (made.rc != 0)
		return made;
	made.rc = tkb_triton_wait(compile, TKB_FOREVER, &compiled, &made.err);
	made.log = test_bytes(tkb_triton_log(compile));
	if (made.rc == 0) {
		made.compiled = *compiled;
		made.compiled.key = text("%s", compiled->key);
		made.compiled.hash = text("%s", compiled->hash);
		made.compiled.folder = text("%s", compiled->folder);
		made.compiled.kernel = text("%s", compiled->kernel);
		made.compiled.version = text("%s", compiled->version);
		made.compiled.note = text("%s", compiled->note);
		made.compiled.product.data = test_bytes(compiled->product);
	}
	tkb_triton_free(compile);
	return made;
}

struct tkb_triton_unit unit_of(const char *kernel, const char *signature)
{
	return CHOSEN(tkb_triton_unit, .file = "kernels.py", .kernel = kernel,
	              .signature = signature, .target = "cuda:90");
}

struct made make_kernel(struct tkb_triton *triton, const char *kernel,
                        const char *signature)
{
	const struct tkb_triton_unit unit = unit_of(kernel, signature);

	return make(triton, &unit);
}

struct tkb_triton_compiled must_make(struct tkb_triton *triton,
                                     const char *kernel, const char *signature)
{
	const struct tkb_triton_unit unit = unit_of(kernel, signature);

	return must_make_unit(triton, &unit);
}

struct tkb_triton_compiled must_make_unit(struct tkb_triton *triton,
                                          const struct tkb_triton_unit *unit)
{
	const struct made made = make(triton, unit);

	if (made.rc < 0)
		print_error("%s\n", made.log);
	CHECK_OK(made.rc, &made.err);
	return made.compiled;
}

const char *file_of(const struct tkb_triton_compiled *made, const char *ending)
{
	return read_file(text("%s/%s.%s", made->folder, made->kernel, ending))
	        .data;
}

void must_refuse(struct tkb_triton *triton, const struct tkb_triton_unit *unit,
                 int status, const char *part)
{
	struct made made = make(triton, unit);

	CHECK_FAILS(made.rc, status, &made.err, part);
}

void must_fail(struct tkb_triton *triton, const char *kernel,
               const char *signature, int status, const char *part)
{
	const struct tkb_triton_unit unit = unit_of(kernel, signature);

	must_refuse(triton, &unit, status, part);
}

void write_kernels(const char *rest)
{
	write_text("kernels.py", text("import triton\n"
	                              "import triton.language as tl\n"
	                              "\n"
	                              "\n"
	                              "%s",
	                              rest));
}

/*
 * A text without the folders that stand in it: of "/srv/app/x.py" the name is
 * left, of what is called a directory nothing. PTX has them as numbers, too, in
 * its debug sections, at the end; and JSON the key.
 */
static const char *neutral(const char *path)
{
	const char *from = read_file(path).data;
	const char *end = strstr(from, "\t.section\t.debug");
	char *out = test_alloc(strlen(from) + 1);
	char *to = out;

	if (end == NULL)
		end = from + strlen(from);
	while (from < end) {
		const char *name;

		*to++ = *from++;
		if (from[-1] != '"' || *from != '/')
			continue;
		const char *close = strchr(from, '"');
		CHECK(close != NULL);
		for (name = close; name[-1] != '/'; name--)
			continue;
		if (strncmp(from - strlen("directory: \""),
		            "directory: ", strlen("directory: ")) != 0) {
			memcpy(to, name, (size_t)(close - name));
			to += close - name;
		}
		from = close;
	}
	*to = '\0';
	if (strncmp(out, "{\"hash\": \"", 10) == 0)
		memset(out + 10, '0', 64);
	return out;
}

static bool same_text(const char *a, const char *b)
{
	return exists(a) == exists(b) &&
	       (!exists(a) || strcmp(neutral(a), neutral(b)) == 0);
}

void check_same_cubin(const char *a, const char *b)
{
	TKB_AUTO(cubin_diff_release) struct cubin_diff diff = { .count = 0 };

	OK(cubin_diff_compare(read_file(a), read_file(b), a, &diff, ERR));
	for (size_t i = 0; i < diff.count; i++) {
		/* Where the source lies, and the PTX. */
		if (strcmp(diff.parts[i].name, ".debug_line") != 0 &&
		    strcmp(diff.parts[i].name, ".rela.debug_line") != 0 &&
		    strcmp(diff.parts[i].name, ".nv_debug_ptx_txt") != 0 &&
		    strcmp(diff.parts[i].name, CUBIN_DIFF_HEADERS) != 0)
			fail_msg("%s of %s differs", diff.parts[i].name, b);
	}
}

/* The kernel's name in the folder of an entry; NULL: it is another entry's. */
static const char *name_in(const char *folder)
{
	for (const char **names = list(folder); *names != NULL; names++) {
		if (strncmp(*names, "__grp__", 7) == 0)
			return text("%.*s", (int)(strlen(*names) - 12),
			            *names + 7);
	}
	return NULL;
}

/* The entry below `root` that is the same up to the first IR. */
static const char *find_same(const char *theirs, const char *name,
                             const char *root)
{
	for (const char **keys = list(root); *keys != NULL; keys++) {
		const char *ours = text("%s/%s", root, *keys);

		if (exists(text("%s/%s.ttir", ours, name)) &&
		    same_text(text("%s/%s.ttir", theirs, name),
		              text("%s/%s.ttir", ours, name)) &&
		    same_text(text("%s/%s.json", theirs, name),
		              text("%s/%s.json", ours, name)))
			return *keys;
	}
	fail_msg("there is none like %s", theirs);
	return NULL;
}

size_t check_same_kernels(const char *theirs, const char *ours, bool has_keys)
{
	static const char *const stages[] = { "source", "ttgir", "llir",
		                              "ptx" };
	size_t count = 0;

	for (const char **keys = list(theirs); *keys != NULL; keys++) {
		const char *their = text("%s/%s", theirs, *keys);
		const char *name = name_in(their);

		if (name == NULL)
			continue;
		const char *key = find_same(their, name, ours);
		const char *our = text("%s/%s", ours, key);
		if (has_keys)
			CHECK_STR(key, *keys);
		EACH(i, stages) {
			const char *a =
				text("%s/%s.%s", their, name, stages[i]);
			const char *b = text("%s/%s.%s", our, name, stages[i]);

			if (!same_text(a, b))
				fail_msg("%s differs", b);
		}
		check_same_cubin(text("%s/%s.cubin", their, name),
		                 text("%s/%s.cubin", our, name));
		count++;
	}
	return count;
}

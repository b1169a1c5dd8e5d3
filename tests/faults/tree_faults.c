/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"
#include "harness.h"
#include "ninja/logs.h"
#include "ninja/build.h"
#include "tree/paths.h"
#include "tree/secrets.h"

/* What a call makes. */
struct made {
	struct tkb_buf out;
	struct tkb_buf back;
	uint32_t sentinels;
	size_t count;
	struct tkb_ninja_build build;
	struct tkb_ninja_log log;
};

static struct made made;

static void begin(void)
{
	made = (struct made){ .out = TKB_BUF_INIT(TKB_MIB),
		              .back = TKB_BUF_INIT(TKB_MIB) };
}

static void end(void)
{
	tkb_buf_release(&made.out);
	tkb_buf_release(&made.back);
	tkb_ninja_build_release(&made.build);
	tkb_ninja_log_release(&made.log);
}

/* A call that fails leaves buffers, which are its caller's. */
static int ended(int rc)
{
	if (rc != 0)
		end();
	return rc;
}

static int move_paths(struct tkb_error *err)
{
	static const struct tkb_named_root roots[] = {
		{ .name = "a", .path = "/home/a" },
		{ .name = "b", .path = "/home/a/b" },
	};
	const struct tkb_bytes text = tkb_text("['/home/a/b/c', '/home/a']");
	int rc;

	rc = tkb_paths_scrub(text, TKB_PATH_STYLE_PYTHON, roots, 2, &made.out,
	                     &made.sentinels, err);
	if (rc == 0)
		rc = tkb_paths_restore(tkb_buf_bytes(&made.out),
		                       TKB_PATH_STYLE_PYTHON, roots, 2,
		                       made.sentinels, &made.back, err);
	return ended(rc);
}

static int hide_secrets(struct tkb_error *err)
{
	return ended(tkb_secrets_hide(
		tkb_text("{\"A_KEY\": \"x\", \"b\": \"B_KEY=y\"}"),
		TKB_PATH_STYLE_JSON, &made.out, &made.count, err));
}

static int read_build(struct tkb_error *err)
{
	return ended(tkb_ninja_build_read(
		tkb_text("d = s\nrule cc\n command = $d $in $x\nbuild $d/o: cc "
	                 "a $x\n  x = y\n"),
		&made.build, err));
}

static int stamp_ninja(struct tkb_error *err)
{
	static const char deps[] = "# ninjadeps\n\4\0\0\0"
				   "\10\0\0\0a.o\0\xff\xff\xff\xff"
				   "\20\0\0\x80\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0";
	const struct tkb_bytes bytes = { deps, sizeof(deps) };
	const struct tkb_bytes log =
		tkb_text("# ninja log v7\n1\t2\t1700000000000000001\ta.o\tf\n");
	struct tkb_ninja_deps read = { 0 };
	int rc;

	rc = tkb_ninja_deps_read(bytes, &read, err);
	if (rc == 0)
		rc = tkb_ninja_deps_write(&read, &made.back, err);
	tkb_ninja_deps_release(&read);
	if (rc == 0)
		rc = tkb_ninja_log_read(log, &made.log, err);
	return ended(rc);
}

static const char *check_paths(void)
{
	if (made.sentinels != 2 ||
	    !tkb_bytes_equal(tkb_buf_bytes(&made.back),
	                     tkb_text("['/home/a/b/c', '/home/a']")))
		return wrong("%u sentinels", (unsigned)made.sentinels);
	return NULL;
}

static const char *check_secrets(void)
{
	return made.count != 2 ? wrong("%zu values are hidden", made.count)
	                       : NULL;
}

static const char *check_build(void)
{
	return made.build.input_count != 2
	               ? wrong("%zu inputs", made.build.input_count)
	               : NULL;
}

static const char *check_stamp(void)
{
	return made.log.output_count != 1
	               ? wrong("%zu outputs", made.log.output_count)
	               : NULL;
}

static void check_each(int (*call)(struct tkb_error *err),
                       const char *(*check)(void))
{
	const struct fault_call each = {
		.prepare = begin, .call = call, .check = check, .release = end
	};

	fault_each_allocation(&each);
}

TEST(fault, each_allocation_of_a_scrub_and_a_restore_can_fail)
{
	check_each(move_paths, check_paths);
}

TEST(fault, each_allocation_while_secrets_are_hidden_can_fail)
{
	check_each(hide_secrets, check_secrets);
}

TEST(fault, each_allocation_while_build_ninja_is_read_can_fail)
{
	check_each(read_build, check_build);
}

TEST(fault, each_allocation_of_a_stamp_can_fail)
{
	check_each(stamp_ninja, check_stamp);
}

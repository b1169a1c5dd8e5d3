/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "limits.h"

/*
 * Landlock's constants and structs, from include/uapi/linux/landlock.h:
 * installed headers may be older than the kernel.
 */

enum {
	CREATE_RULESET = 444,
	ADD_RULE = 445,
	RESTRICT_SELF = 446,
	ASK_VERSION = 1,
	RULE_PATH_BENEATH = 1
};

#define RIGHT(bit) (UINT64_C(1) << (bit))
#define WRITE_FILE RIGHT(1)
#define READ_FILE RIGHT(2)
#define MAKE_DIR RIGHT(7)
#define MAKE_REG RIGHT(8)
#define TRUNCATE RIGHT(14) /* version 3 */

struct ruleset {
	uint64_t files;  /* rights that are denied unless a rule grants them */
	uint64_t net;    /* version 4 */
	uint64_t scopes; /* version 6 */
};

struct path_rule {
	uint64_t allowed;
	int32_t folder_fd;
} __attribute__((packed));

/* All rights that version `version` of Landlock knows. */
static struct ruleset all_rights(long version, size_t *size_out)
{
	/* How many rights for files each version has. */
	static const unsigned bits[] = { 0, 13, 14, 15, 15, 16 };
	const size_t last = sizeof(bits) / sizeof(bits[0]) - 1;
	const size_t known = (size_t)version < last ? (size_t)version : last;
	struct ruleset all = { .files = RIGHT(bits[known]) - 1 };

	*size_out = sizeof(all.files);
	if (version >= 4) {
		all.net = RIGHT(2) - 1;
		*size_out += sizeof(all.net);
	}
	if (version >= 6) {
		all.scopes = RIGHT(2) - 1;
		*size_out += sizeof(all.scopes);
	}
	return all;
}

static bool allow_folder(int ruleset_fd, int folder_fd, uint64_t known)
{
	const struct path_rule rule = {
		.allowed = (WRITE_FILE | READ_FILE | MAKE_DIR | MAKE_REG |
		            TRUNCATE) &
		           known,
		.folder_fd = folder_fd,
	};

	return folder_fd < 0 ||
	       syscall(ADD_RULE, ruleset_fd, RULE_PATH_BENEATH, &rule, 0) == 0;
}

static int enter_landlock(int folder_fd, bool *out, struct tkb_error *err)
{
	const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	struct ruleset rules;
	size_t size = 0;
	int fd;
	bool holds;

	*out = false;
	if (version < 1)
		return 0;
	rules = all_rights(version, &size);
	fd = (int)syscall(CREATE_RULESET, &rules, size, 0);
	holds = fd >= 0 && allow_folder(fd, folder_fd, rules.files) &&
	        syscall(RESTRICT_SELF, fd, 0) == 0;
	if (!holds)
		(void)tkb_fail_errno(err, "cannot use Landlock");
	if (fd >= 0)
		(void)close(fd);
	*out = holds;
	return holds ? 0 : TKB_ERR_IO;
}

/* Seccomp: a system call that is not in the list fails with EPERM. */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#ifdef MACHINE

#define LOAD(member)                                                           \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                     \
	         offsetof(struct seccomp_data, member))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, action)
#define ALLOW(name)                                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                 \
		ANSWER(SECCOMP_RET_ALLOW)

static int enter_seccomp(bool *out, struct tkb_error *err)
{
	static const struct sock_filter filter[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
		ANSWER(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW(read),
		ALLOW(write),
		ALLOW(readv),
		ALLOW(writev),
		ALLOW(pread64),
		ALLOW(pwrite64),
		ALLOW(lseek),
		ALLOW(close),
		ALLOW(fstat),
		ALLOW(newfstatat),
		ALLOW(fcntl),
		ALLOW(openat),
		ALLOW(mkdirat),
		ALLOW(ftruncate),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(mprotect),
		ALLOW(madvise),
		ALLOW(brk),
		ALLOW(futex),
		ALLOW(sched_yield),
		ALLOW(getrandom),
		ALLOW(clock_gettime),
		ALLOW(gettimeofday),
		ALLOW(getpid),
		ALLOW(gettid),
		ALLOW(tgkill), /* for abort() */
		ALLOW(rt_sigaction),
		ALLOW(rt_sigprocmask),
		ALLOW(rt_sigreturn),
		ALLOW(sigaltstack),
		ALLOW(exit),
		ALLOW(exit_group),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = (struct sock_filter *)(uintptr_t)filter,
	};

	*out = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
	if (*out || errno == ENOSYS || errno == EINVAL)
		return 0;
	return tkb_fail_errno(err, "cannot use seccomp");
}

#else

static int enter_seccomp(bool *out, struct tkb_error *err)
{
	(void)err;
	*out = false;
	return 0;
}

#endif

static int set_limits(bool makes_files, struct tkb_error *err)
{
	/*
	 * More memory than any list of entries and any compressor's window
	 * needs.
	 */
	const rlim_t memory = (rlim_t)2 << 30;
	const rlim_t file_size =
		makes_files ? ARCHIVE_FILE_LIMIT : RLIM_INFINITY;
	const struct {
		__rlimit_resource_t resource;
		rlim_t limit;
	} limits[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_FSIZE, file_size },
		{ RLIMIT_NOFILE, 16 },
#ifndef TKB_SANITIZED /* sanitizers reserve terabytes of addresses */
		{ RLIMIT_AS, memory },
#endif
	};

	(void)memory;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit limit;

		if (getrlimit(limits[i].resource, &limit) < 0)
			return tkb_fail_errno(err, "cannot read a limit");
		if (limit.rlim_max > limits[i].limit)
			limit.rlim_max = limits[i].limit;
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(limits[i].resource, &limit) < 0)
			return tkb_fail_errno(err, "cannot set a limit");
	}
	return 0;
}

int sandbox_enter(int folder_fd, struct sandbox *out, struct tkb_error *err)
{
	int rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return tkb_fail_errno(err, "cannot give up privileges");
	rc = set_limits(folder_fd >= 0, err);
	if (rc == 0)
		rc = enter_landlock(folder_fd, &out->has_landlock, err);
	return rc == 0 ? enter_seccomp(&out->has_seccomp, err) : rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Data that the parent and the child of a vfork() share. */
struct spawn {
	const char *path;
	const struct tkb_libc_actions *actions;
	char *const *argv;
	char *const *environment;
	short flags; /* flags of the attributes */
	pid_t group;
	sigset_t mask;
	sigset_t defaults;
	bool is_searched;   /* search the PATH */
	volatile int error; /* why no program was started */
};

int tkb_libc_actions_init(struct tkb_libc_actions *actions)
{
	actions->count = 0;
	return 0;
}

int tkb_libc_actions_destroy(struct tkb_libc_actions *actions)
{
	actions->count = 0;
	return 0;
}

static int add_action(struct tkb_libc_actions *actions,
                      struct tkb_libc_action action)
{
	if (actions->count == TKB_LIBC_ACTION_COUNT)
		return ENOMEM;
	if (action.fd < 0 || action.as < 0)
		return EBADF;
	actions->items[actions->count++] = action;
	return 0;
}

int tkb_libc_actions_open(struct tkb_libc_actions *actions, int fd,
                          const char *path, int flags, mode_t mode)
{
	return add_action(actions,
	                  (struct tkb_libc_action){ .kind = TKB_LIBC_OPEN,
	                                            .fd = fd,
	                                            .path = path,
	                                            .flags = flags,
	                                            .mode = mode });
}

int tkb_libc_actions_dup2(struct tkb_libc_actions *actions, int fd, int as)
{
	return add_action(actions,
	                  (struct tkb_libc_action){
				  .kind = TKB_LIBC_DUP2, .fd = fd, .as = as });
}

int tkb_libc_actions_fchdir(struct tkb_libc_actions *actions, int fd)
{
	return add_action(actions, (struct tkb_libc_action){
					   .kind = TKB_LIBC_FCHDIR, .fd = fd });
}

int tkb_libc_actions_closefrom(struct tkb_libc_actions *actions, int first)
{
	return add_action(actions,
	                  (struct tkb_libc_action){ .kind = TKB_LIBC_CLOSEFROM,
	                                            .fd = first });
}

/* Open a file, with exactly the descriptor that the action names. */
static bool open_as(const struct tkb_libc_action *action)
{
	const int fd = open(action->path, action->flags, action->mode);
	bool is_done;

	if (fd < 0 || fd == action->fd)
		return fd >= 0;
	is_done = dup2(fd, action->fd) >= 0;
	(void)close(fd);
	return is_done;
}

/* If both descriptors are the same, it must stay open in the program. */
static bool duplicate(const struct tkb_libc_action *action)
{
	if (action->fd == action->as)
		return fcntl(action->fd, F_SETFD, 0) == 0;
	return dup2(action->fd, action->as) >= 0;
}

static bool act(const struct tkb_libc_action *action)
{
	switch (action->kind) {
	case TKB_LIBC_OPEN:
		return open_as(action);
	case TKB_LIBC_DUP2:
		return duplicate(action);
	case TKB_LIBC_FCHDIR:
		return fchdir(action->fd) == 0;
	case TKB_LIBC_CLOSEFROM:
		tkb_libc_closefrom(action->fd);
		return true;
	}
	return false;
}

/*
 * Reset handlers: the parent's would run on memory that both processes share.
 * The new program has no handlers in any case.
 */
static void reset_signals(const struct spawn *spawn)
{
	const bool has_defaults = (spawn->flags & POSIX_SPAWN_SETSIGDEF) != 0;
	const struct sigaction by_default = { .sa_handler = SIG_DFL };

	for (int number = 1; number < NSIG; number++) {
		struct sigaction old;

		if (sigaction(number, NULL, &old) != 0)
			continue;
		if (old.sa_handler == SIG_DFL ||
		    (old.sa_handler == SIG_IGN &&
		     !(has_defaults &&
		       sigismember(&spawn->defaults, number) == 1)))
			continue;
		(void)sigaction(number, &by_default, NULL);
	}
}

/* Runs in the child: become the program. Returns only if that fails. */
static void become_program(struct spawn *spawn)
{
	const struct tkb_libc_actions *actions = spawn->actions;
	const size_t count = actions == NULL ? 0 : actions->count;

	reset_signals(spawn);
	if ((spawn->flags & POSIX_SPAWN_SETPGROUP) != 0 &&
	    setpgid(0, spawn->group) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!act(&actions->items[i]))
			return;
	}
	(void)sigprocmask(SIG_SETMASK, &spawn->mask, NULL);
	if (spawn->is_searched)
		(void)execvpe(spawn->path, spawn->argv, spawn->environment);
	else
		(void)execve(spawn->path, spawn->argv, spawn->environment);
}

/* Read the attributes that we support. `mask` is the caller's signal mask. */
static int read_attributes(struct spawn *spawn,
                           const posix_spawnattr_t *attributes,
                           const sigset_t *mask)
{
	const short known = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
	                    POSIX_SPAWN_SETSIGDEF;

	spawn->mask = *mask;
	if (attributes == NULL)
		return 0;
	(void)posix_spawnattr_getflags(attributes, &spawn->flags);
	(void)posix_spawnattr_getpgroup(attributes, &spawn->group);
	(void)posix_spawnattr_getsigdefault(attributes, &spawn->defaults);
	if ((spawn->flags & POSIX_SPAWN_SETSIGMASK) != 0)
		(void)posix_spawnattr_getsigmask(attributes, &spawn->mask);
	return (spawn->flags & ~known) == 0 ? 0 : EINVAL;
}

/* The child uses our stack, and we wait until it has become the program. */
static int start_child(struct spawn *spawn, pid_t *out)
{
	/*
	 * In between, no other code of ours runs, and the child only asks the
	 * kernel.
	 *
	 * NOLINTBEGIN(clang-analyzer-*)
	 */
	const pid_t pid = vfork();

	if (pid == 0) {
		errno = 0;
		become_program(spawn);
		spawn->error = errno;
		_exit(127);
	}
	/* NOLINTEND(clang-analyzer-*) */
	if (pid < 0)
		return errno;
	if (spawn->error == 0) {
		*out = pid;
		return 0;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return spawn->error;
}

static int spawn_by(struct spawn *spawn, pid_t *out,
                    const posix_spawnattr_t *attributes)
{
	sigset_t all;
	sigset_t mask;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	rc = read_attributes(spawn, attributes, &mask);
	if (rc == 0)
		rc = start_child(spawn, out);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return rc;
}

int tkb_libc_spawn(pid_t *out, const char *path,
                   const struct tkb_libc_actions *actions,
                   const posix_spawnattr_t *attributes, char *const argv[],
                   char *const environment[])
{
	struct spawn spawn = { .path = path,
		               .actions = actions,
		               .argv = argv,
		               .environment = environment };

	return spawn_by(&spawn, out, attributes);
}

int tkb_libc_spawnp(pid_t *out, const char *name,
                    const struct tkb_libc_actions *actions,
                    const posix_spawnattr_t *attributes, char *const argv[],
                    char *const environment[])
{
	struct spawn spawn = { .path = name,
		               .actions = actions,
		               .argv = argv,
		               .environment = environment,
		               .is_searched = true };

	return spawn_by(&spawn, out, attributes);
}

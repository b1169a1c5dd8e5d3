/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/fd.h"
#include "cli/signals.h"

enum {
	COMMAND_MS = 60 * 1000,
	OUTPUT_LIMIT = 64 * 1024 /* of a command: more may follow the first
	                            line */
};

struct passphrase passphrase_of(const struct arguments *args,
                                const char *subject)
{
	return (struct passphrase){
		.file = args->trust.passphrase_file,
		.command = args->trust.passphrase_command,
		.subject = subject,
	};
}

enum status passphrase_check(const struct cli *cli,
                             const struct arguments *args)
{
	return cli_exclude(
		cli, args->trust.passphrase_file != NULL, "--passphrase-file",
		args->trust.passphrase_command != NULL, "--passphrase-command");
}

/* The first line of `text`. */
static int take_first_line(const char *text, size_t size, const char *whose,
                           char *out, size_t *size_out, struct tkb_error *err)
{
	const char *const end = memchr(text, '\n', size);
	size_t length = end != NULL ? (size_t)(end - text) : size;

	if (length > 0 && text[length - 1] == '\r')
		length--;
	if (length == 0)
		return cli_error(err, TKB_ERR_INVALID,
		                 "%.300s: there is no passphrase", whose);
	if (length > TKB_PASSPHRASE_LIMIT)
		return cli_error(err, TKB_ERR_INVALID,
		                 "%.300s: a passphrase has at most %d bytes",
		                 whose, TKB_PASSPHRASE_LIMIT);
	(void)memcpy(out, text, length);
	*size_out = length;
	return 0;
}

static int from_file(const char *path, char *out, size_t *size_out,
                     struct tkb_error *err)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	TKB_AUTO(fd_close)
	const int fd = is_stdin ? dup(STDIN_FILENO)
	                        : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char text[TKB_PASSPHRASE_LIMIT + 3];
	const ssize_t size = fd < 0 ? -1 : fd_read(fd, text, sizeof(text));
	int rc;

	if (size < 0)
		return cli_error_errno(err, "read", path);
	rc = take_first_line(text, (size_t)size, path, out, size_out, err);
	explicit_bzero(text, sizeof(text));
	return rc;
}

static int from_command(const char *command, char *out, size_t *size_out,
                        struct tkb_error *err)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	char text[OUTPUT_LIMIT];
	struct ask ask = { .argv = argv, .out = text, .size = sizeof(text) };
	int rc;

	asks_begin(&ask, 1);
	asks_end(&ask, 1, COMMAND_MS);
	rc = ask.end == ASK_DONE
	             ? take_first_line(text, ask.length, "--passphrase-command",
	                               out, size_out, err)
	             : cli_error(err, TKB_ERR_IO,
	                         "the command for the passphrase failed, "
	                         "took more than a minute, or printed more "
	                         "than 64 KiB");
	explicit_bzero(text, sizeof(text));
	return rc;
}

/*
 * Read a line, unless one of the signals comes first; the signal stays pending.
 */
static ssize_t read_line(int terminal, const sigset_t *ending, char *text,
                         size_t size, bool *is_ended)
{
	TKB_AUTO(fd_close)
	const int signals = signalfd(-1, ending, SFD_CLOEXEC);
	struct pollfd waits[] = { { .fd = terminal, .events = POLLIN },
		                  { .fd = signals, .events = POLLIN } };
	int count;

	do
		count = poll(waits, 2, -1);
	while (count < 0 && errno == EINTR);
	*is_ended = waits[1].revents != 0;
	return count < 0 || *is_ended ? -1 : read(terminal, text, size);
}

/*
 * Print `words`, and read a line that the terminal does not show. A signal that
 * ends or stops the program takes effect only after the terminal shows typed
 * text again.
 */
static ssize_t type_line(int terminal, const char *words, const char *subject,
                         char *text, size_t size)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
		                       SIGTSTP };
	struct termios shown;
	struct termios hidden;
	bool is_ended = false;
	sigset_t ending;
	sigset_t old;
	ssize_t got;

	if (tcgetattr(terminal, &shown) < 0)
		return -1;
	hidden = shown;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	(void)sigemptyset(&ending);
	for (size_t i = 0; i < TKB_COUNT_OF(numbers); i++)
		(void)sigaddset(&ending, numbers[i]);
	do {
		(void)sigprocmask(SIG_BLOCK, &ending, &old);
		(void)dprintf(terminal, "%s '%s': ", words, subject);
		got = tcsetattr(terminal, TCSAFLUSH, &hidden) < 0
		              ? -1
		              : read_line(terminal, &ending, text, size,
		                          &is_ended);
		(void)tcsetattr(terminal, TCSAFLUSH, &shown);
		(void)dprintf(terminal, "\n");
		/*
		 * Here the program ends or stops; if it continues, it asks
		 * again.
		 */
		(void)sigprocmask(SIG_SETMASK, &old, NULL);
	} while (is_ended && !signals_is_caught());
	return got;
}

static int cannot_type(const char *subject, struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_INVALID,
	                 "'%.300s' needs a passphrase, and there is no "
	                 "terminal to ask at: '--passphrase-file' or "
	                 "'--passphrase-command' gives it",
	                 subject);
}

static int from_terminal(const struct passphrase *passphrase, char *out,
                         size_t *size_out, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	const int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	char text[TKB_PASSPHRASE_LIMIT + 3];
	char again[TKB_PASSPHRASE_LIMIT + 3];
	ssize_t size;
	int rc = 0;

	size = fd < 0 ? -1
	              : type_line(fd, "Passphrase for", passphrase->subject,
	                          text, sizeof(text));
	if (size < 0)
		return cannot_type(passphrase->subject, err);
	if (passphrase->is_new &&
	    (type_line(fd, "The same again for", passphrase->subject, again,
	               sizeof(again)) != size ||
	     memcmp(text, again, (size_t)size) != 0))
		rc = cli_error(err, TKB_ERR_INVALID,
		               "the two passphrases differ");
	if (rc == 0)
		rc = take_first_line(text, (size_t)size, passphrase->subject,
		                     out, size_out, err);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(again, sizeof(again));
	return rc;
}

static int from_kept(const struct passphrase *passphrase, char *out,
                     size_t *size_out, struct tkb_error *err)
{
	struct passphrase_kept *const kept = passphrase->kept;
	int rc = 0;

	if (kept->size == 0)
		rc = from_file(passphrase->file, kept->text, &kept->size, err);
	if (rc == 0)
		(void)memcpy(out, kept->text, kept->size);
	*size_out = kept->size;
	return rc;
}

int passphrase_ask(void *self, char *out, size_t *size_out,
                   struct tkb_error *err)
{
	const struct passphrase *const passphrase = self;

	if (passphrase->is_asked != NULL)
		*passphrase->is_asked = true;
	if (passphrase->file != NULL && passphrase->kept != NULL)
		return from_kept(passphrase, out, size_out, err);
	if (passphrase->file != NULL)
		return from_file(passphrase->file, out, size_out, err);
	if (passphrase->command != NULL)
		return from_command(passphrase->command, out, size_out, err);
	return from_terminal(passphrase, out, size_out, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/fatal.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compile/pool/message.h"
#include "worker/fail.h"

/* Send a message. Failures are ignored: the process ends anyway. */
static void send_message(enum tkb_message_type type, const void *data,
                         size_t size)
{
	const struct tkb_message_head head = tkb_message_head_of(type, size);

	(void)send(TKB_MESSAGE_FD, &head, sizeof(head), MSG_NOSIGNAL);
	(void)send(TKB_MESSAGE_FD, data, size, MSG_NOSIGNAL);
}

void fatal_end(const char *reason)
{
	struct tkb_message_done done = { .rc = TKB_ERR_INVALID };

	(void)fail(&done.error, TKB_ERR_INVALID, "LLVM: %s", reason);
	send_message(TKB_MESSAGE_LOG, "LLVM: ", strlen("LLVM: "));
	send_message(TKB_MESSAGE_LOG, reason,
	             strnlen(reason, TKB_MESSAGE_PIECE));
	send_message(TKB_MESSAGE_LOG, "\n", 1);
	send_message(TKB_MESSAGE_LAST, &done, sizeof(done));
	_exit(1);
}

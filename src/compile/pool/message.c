/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/message.h"

struct tkb_message_head tkb_message_head_of(enum tkb_message_type type,
                                            size_t size)
{
	return (struct tkb_message_head){ .magic = TKB_MESSAGE_MAGIC,
		                          .type = (uint32_t)type,
		                          .size = size };
}

bool tkb_message_is_sound(const struct tkb_message_head *head, uint64_t limit)
{
	return head->magic == TKB_MESSAGE_MAGIC &&
	       head->type >= TKB_MESSAGE_HELLO &&
	       head->type <= TKB_MESSAGE_LAST && head->size <= limit;
}

bool tkb_message_read_done(struct tkb_bytes bytes, struct tkb_message_done *out)
{
	struct tkb_message_done done;

	if (bytes.size != sizeof(done))
		return false;
	memcpy(&done, bytes.data, sizeof(done));
	if (done.rc > 0 || done.rc < TKB_STATUS_LOWEST)
		return false;
	done.error.message[sizeof(done.error.message) - 1] = '\0';
	out->rc = done.rc;
	(void)tkb_fail(&out->error, done.rc, "%s",
	               done.error.message[0] == '\0' ? "the job failed"
	                                             : done.error.message);
	out->error.reason = done.error.reason;
	return true;
}

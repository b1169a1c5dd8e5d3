/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/message.h"

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
	       head->type <= TKB_MESSAGE_DONE && head->size <= limit;
}

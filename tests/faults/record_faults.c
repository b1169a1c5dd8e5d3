/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"
#include "world.h"
#include "records/record.h"

/* A record: what cannot be read for want of memory is not damaged. */

static struct tkb_record record;
static struct tkb_buf record_text = TKB_BUF_INIT(TKB_MIB);

static int parse(struct tkb_error *err)
{
	record = (struct tkb_record){ 0 };
	return tkb_record_parse(tkb_buf_bytes(&record_text), &record, err);
}

static const char *check(void)
{
	return record.entry_count == 2 ? NULL : "it has other entries";
}

static void release(void)
{
	tkb_record_release(&record);
}

TEST(record, is_read_or_says_that_an_allocation_failed)
{
	const struct fault_call call = { .call = parse,
		                         .check = check,
		                         .release = release };
	const struct tkb_digest digest = { { 1 } };

	need_faults();
	world_cache();
	world_bundle("cache", "x.tkb");
	OK(tkb_record_write(test_bundle("x.tkb"), &digest, 1, NULL,
	                    &record_text, ERR));
	fault_each_allocation(&call);
	tkb_buf_release(&record_text);
}

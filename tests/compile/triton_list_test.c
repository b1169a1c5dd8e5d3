/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>

#include <tkbundle/triton_compile.h>

#include "harness.h"

/* Lists of Triton's kernels. */

static struct tkb_triton_list *must_read(const char *path)
{
	struct tkb_triton_list *list = NULL;

	OK(tkb_triton_list_read(path, &list, ERR));
	return list;
}

TEST(triton_list, says_all_that_a_kernel_has)
{
	const struct tkb_triton_item *item;

	SYS(mkdir("in", 0777));
	write_text("in/list.json",
	           "[{\"file\": \"k\\u00e9.py\", \"kernel\": \"a\", "
	           "\"signature\": [\"i32\", \"i64\"], \"num_warps\": 8, "
	           "\"num_stages\": 2, \"options\": {\"x\": [1, {}]}, "
	           "\"targets\": [\"cuda:90\", \"cuda:100\"], "
	           "\"python\": \"bin/python3\"},\n"
	           " {\"file\": \"/abs.py\", \"kernel\": \"b\", "
	           "\"signature\": \"*fp32\", \"targets\": \"cuda:80\", "
	           "\"python\": \"python3.12\"},\n"
	           " {\"file\": \"c.py\", \"kernel\": \"c\", "
	           "\"signature\": \"u1\"}]");
	struct tkb_triton_list *list = must_read("in/list.json");

	CHECK_INT(tkb_triton_list_count(list), 4);
	for (size_t i = 0; i < 2; i++) {
		item = tkb_triton_list_item(list, i);
		CHECK_STR(item->unit->file, "in/k\xc3\xa9.py");
		CHECK_STR(item->unit->kernel, "a");
		CHECK_STR(item->unit->signature, i == 0 ? "i32" : "i64");
		CHECK(item->unit->target == NULL);
		CHECK_INT(item->unit->num_warps, 8);
		CHECK_INT(item->unit->num_stages, 2);
		CHECK_STR(item->unit->options, "{\"x\": [1, {}]}");
		CHECK_INT(item->target_count, 2);
		CHECK_STR(item->targets[0], "cuda:90");
		CHECK_STR(item->targets[1], "cuda:100");
		CHECK_STR(item->python, "in/bin/python3");
	}
	item = tkb_triton_list_item(list, 2);
	CHECK_STR(item->unit->file, "/abs.py");
	CHECK_INT(item->target_count, 1);
	CHECK_STR(item->targets[0], "cuda:80");
	CHECK_STR(item->python, "python3.12");
	item = tkb_triton_list_item(list, 3);
	CHECK_STR(item->unit->signature, "u1");
	CHECK_INT(item->unit->num_warps, 0);
	CHECK_INT(item->target_count, 0);
	CHECK(item->unit->options == NULL);
	CHECK(item->python == NULL);
	tkb_triton_list_free(list);
}

TEST(triton_list, may_be_empty_and_lie_here)
{
	write_text("list.json", " [ ] ");
	struct tkb_triton_list *list = must_read("list.json");
	CHECK_INT(tkb_triton_list_count(list), 0);
	tkb_triton_list_free(list);
	write_text("list.json", "[{\"file\": \"k.py\", \"kernel\": \"a\", "
	                        "\"signature\": \"i32\"}]");
	list = must_read("list.json");
	CHECK_STR(tkb_triton_list_item(list, 0)->unit->file, "k.py");
	tkb_triton_list_free(list);
	tkb_triton_list_free(NULL);
}

#define KERNEL "\"file\": \"k.py\", \"kernel\": \"a\", \"signature\": \"i32\""

TEST(triton_list, what_makes_no_sense_is_named)
{
	static const struct {
		const char *contents;
		const char *part;
	} cases[] = {
		{ "", "'list.json' is not JSON at byte 0" },
		{ "[{" KERNEL "}] x", "'list.json' is not JSON at byte" },
		{ "[{" KERNEL "}", "'list.json' is not JSON at byte" },
		{ "{" KERNEL "}",
		  "'list.json' is not a list of kernels: it must "
		  "be a JSON array of objects" },
		{ "[{" KERNEL "}, 3]",
		  "'list.json': item 2 is not a JSON object" },
		{ "[{" KERNEL ", \"warps\": 4}]",
		  "'list.json': item 1 at byte 52: a member is not known: "
		  "\"warps\"" },
		{ "[{" KERNEL ", \"file\": \"x\"}]",
		  "'list.json': item 1 at byte 52: a member is there twice: "
		  "\"file\"" },
		{ "[{\"file\": \"k.py\", \"kernel\": \"a\"}]",
		  "item 1 at byte 30: a member is missing: \"signature\"" },
		{ "[{\"kernel\": \"a\", \"signature\": \"a\"}]",
		  "a member is missing: \"file\"" },
		{ "[{\"file\": \"k.py\", \"signature\": \"a\"}]",
		  "a member is missing: \"kernel\"" },
		{ "[{" KERNEL ", \"num_warps\": 0}]",
		  "item 1: \"num_warps\" must be a number from 1 to 1024" },
		{ "[{" KERNEL ", \"num_stages\": \"3\"}]",
		  "item 1: \"num_stages\" must be a number from 1 to 1024" },
		{ "[{" KERNEL ", \"num_warps\": 4.5}]",
		  "item 1: \"num_warps\" must be a number from 1 to 1024" },
		{ "[{" KERNEL ", \"options\": [1]}]",
		  "item 1: \"options\" must be an object" },
		{ "[{" KERNEL ", \"targets\": []}]",
		  "item 1 at byte 64: \"targets\" is empty" },
		{ "[{" KERNEL ", \"targets\": [\"cuda:90\", [\"x\"]]}]",
		  "item 1: \"targets\" must be a string, or several" },
		{ "[{" KERNEL ", \"targets\": 90}]",
		  "item 1: \"targets\" must be a string" },
		{ "[{" KERNEL ", \"python\": null}]",
		  "item 1: \"python\" must be a string" },
		{ "[{\"file\": \"\", \"kernel\": \"a\"}]",
		  "item 1: \"file\" must be a string that is not empty" },
		{ "[{\"file\": \"a\\u0000b\", \"kernel\": \"a\"}]",
		  "item 1: \"file\" must be a string that is not empty" },
	};
	struct tkb_triton_list *list = NULL;

	EACH(i, cases) {
		write_text("list.json", cases[i].contents);
		FAILS(tkb_triton_list_read("list.json", &list, ERR),
		      TKB_ERR_INVALID, cases[i].part);
		CHECK(list == NULL);
	}
}

TEST(triton_list, what_is_no_file_is_said)
{
	struct tkb_triton_list *list = NULL;

	CHECK_INT(tkb_triton_list_read("none.json", &list, ERR), TKB_MISS);
	SYS(mkdir("folder.json", 0777));
	FAILS(tkb_triton_list_read("folder.json", &list, ERR), TKB_ERR_INVALID,
	      "'folder.json' is not a file");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/fit_maker.h"

#include <stdio.h>
#include <string.h>

#include "why/maker.h"
#include "why/reason.h"

enum {
	VALUE_SIZE = 256
};

bool fit_maker_is_graph(const struct tkb_entry *entry)
{
	static const char *const folders[] = { "fxgraph/",
		                               "torch_compile_cache/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (entry->kind == TKB_KIND_UNIT &&
		    strstr(entry->name, folders[i]) != NULL)
			return true;
	}
	return false;
}

/* The version in "vllm 0.24.0", if it names that engine. */
static const char *version_of_engine(const char *value, const char *engine)
{
	const size_t length = engine != NULL ? strlen(engine) : 0;

	return length != 0 && strncmp(value, engine, length) == 0 &&
	                       value[length] == ' '
	               ? value + length + 1
	               : "";
}

const char *fit_maker_judge(const char *maker, const struct versions *versions,
                            const char *engine, char *message, size_t size)
{
	const struct {
		const char *member;
		const char *shown;
		const char *package; /* NULL: unknown */
		enum reason reason;
	} known[] = {
		{ "engine", engine, versions->engine, REASON_ENGINE },
		{ "torch", "PyTorch", "torch", REASON_TORCH },
		{ "triton", "Triton", "triton", REASON_TRITON },
	};
	char value[VALUE_SIZE];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *const here =
			known[i].package != NULL
				? versions_find(versions, known[i].package)
				: "";
		const char *there = value;

		if (!maker_find(maker, known[i].member, value, sizeof(value)))
			continue;
		if (known[i].reason == REASON_ENGINE)
			there = version_of_engine(value, engine);
		if (here[0] == '\0' || there[0] == '\0' ||
		    strcmp(here, there) == 0)
			continue;
		(void)snprintf(message, size,
		               "it was made by %s %s, and here is %s",
		               known[i].shown, there, here);
		return reason_word(known[i].reason);
	}
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARGS_VALUES_H
#define TKBUNDLE_ARGS_VALUES_H

/* The values of options: numbers, sizes, times, words, targets, texts. */

#include "cli/args.h"

/* The state of the parser. */
struct args_parser {
	const struct cli *cli;
	char **argv;
	int argc;
	int next;       /* index of the next word */
	char shown[64]; /* the current option, as the user wrote it */
	struct arguments *out;
};

/* Store the value of an option; a switch has none. */
enum status args_store(const struct args_parser *parser,
                       const struct option_spec *spec, char *text);

#endif

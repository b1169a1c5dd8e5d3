/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMMANDS_H
#define TKBUNDLE_COMMANDS_H

#include "cli/args.h"

/* The verbs: each is a constant in a file of its own, cmd_<name>.c. */
extern const struct command command_attest;
extern const struct command command_collect;
extern const struct command command_compile;
extern const struct command command_config;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_emit;
extern const struct command command_export;
extern const struct command command_fleet;
extern const struct command command_gc;
extern const struct command command_help;
extern const struct command command_import;
extern const struct command command_key;
extern const struct command command_launcher;
extern const struct command command_ls;
extern const struct command command_merge;
extern const struct command command_promote;
extern const struct command command_pull;
extern const struct command command_push;
extern const struct command command_refs;
extern const struct command command_relocate;
extern const struct command command_report;
extern const struct command command_revoke;
extern const struct command command_run;
extern const struct command command_show;
extern const struct command command_sign;
extern const struct command command_stats;
extern const struct command command_verify;
extern const struct command command_why;
extern const struct command command_version; /* "--version", in cmd_help.c */

/* Print a verb's help to cli->out. */
void help_print_command(const struct cli *cli, const struct command *command);

#endif

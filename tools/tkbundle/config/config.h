/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CONFIG_H
#define TKBUNDLE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/error.h>

#include "cli/args.h"

/*
 * The configuration of the verbs that use a remote, and the origin of each
 * value.
 *
 * A value comes from the command line, else from the environment, else from the
 * user's file ($XDG_CONFIG_HOME/tkbundle/config, or ~/.config/...), else from
 * /etc/tkbundle.conf, else it is the default. If $TKBUNDLE_CONFIG is set, the
 * file that it names is read instead of both. An empty variable counts as
 * unset.
 *
 * A file has lines `name = value`; a line may be empty, or begin with '#'.
 *
 * The user's file must belong to root or to us, and nobody else may write it:
 * whoever can write it chooses what our GPU runs. As in ssh(1), the file in
 * $TKBUNDLE_CONFIG and the one in /etc are not checked.
 *
 *     TKB_AUTO(config_release) struct config config = { .fault_count = 0 };
 *
 *     rc = config_load(args, &config, &err);
 *     urls = config.values[CONFIG_REMOTE].text;
 */
enum config_name {
	CONFIG_REMOTE,
	CONFIG_REF,
	CONFIG_TIMEOUT,
	CONFIG_CONNECT_TIMEOUT,
	CONFIG_STALL_TIMEOUT,
	CONFIG_DEADLINE,
	CONFIG_WAIT,
	CONFIG_PUSH,
	CONFIG_QUIET,
	CONFIG_READY_URL,
	CONFIG_READY_FILE,
	CONFIG_ENGINE_REF,
	CONFIG_TRUST
};

enum {
	CONFIG_COUNT = CONFIG_TRUST + 1
};

/* The words of CONFIG_PUSH; each one's number is its index. */
#define CONFIG_PUSH_WORDS "always|on-exit|never"

struct config_value {
	char *text;      /* owned; NULL: no value */
	uint64_t number; /* of a time: milliseconds; of a word: its index */
	char *origin;    /* owned; "--remote", "TKBUNDLE_REF", "/a/file:3", or
	                    "default" */
};

struct config {
	struct config_value values[CONFIG_COUNT];
	size_t fault_count; /* values and lines that are invalid */
};

/*
 * Load all values. This may hang if the file system does.
 *
 * @param args  not kept; NULL: no command line
 * @param out  released by the caller, also after a failure; then it has the
 *             valid values, for callers that go on
 * @return 0, TKB_ERR_INVALID (the message describes the first fault, with file
 *         and line), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int config_load(const struct arguments *args, struct config *out,
                              struct tkb_error *err);

void config_release(struct config *config);

/* The name of the value in a file, and in the environment. */
const char *config_name(enum config_name name);
const char *config_variable(enum config_name name);

/*
 * Is `variable`, "NAME" or "NAME=...", meant for us, but unknown? Variables
 * that Kubernetes sets for a Service called tkbundle, or tkbundle-..., are not
 * meant for us.
 */
bool config_is_unknown(const char *variable);

/*
 * The path of a configuration file.
 *
 * @param index  0: the weaker one
 * @param out    receives a path that the caller frees, or NULL: there is none
 * @return false if out of memory
 */
bool config_path(size_t index, char **out);

enum {
	CONFIG_PATH_COUNT = 2
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <string.h>

#include "trust/key_file.h"

static const struct option_spec options[] = {
	{ OPTION(WORD, "kind", "ed25519|p256", trust.kind,
	         "make a key of this kind; by default ed25519") },
	{ OPTION(SWITCH, "encrypt", NULL, trust.is_encrypted,
	         "encrypt it, and ask for a passphrase") },
	ARGS_PASSPHRASE_FILE,
	ARGS_PASSPHRASE_COMMAND,
	{ OPTION(SWITCH, "public", NULL, trust.is_public,
	         "print the public key, as PEM") },
	ARGS_JSON,
};

struct use {
	struct cli *cli;
	struct remote_library library;
	struct tkb_key *key; /* owned */
};

static void use_end(struct use *use)
{
	if (use->key != NULL)
		use->library.key_close(use->key);
}

static void print_key(struct use *use, const struct arguments *args,
                      const struct tkb_key_info *info, const char *before,
                      const char *after)
{
	struct json_out *const json = &use->cli->json;
	const char *const path = args_operand(args, 1);
	char id[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(&info->id, id);
	json_out_text(json, "file", path);
	json_out_text(json, "kind", use->library.key_kind_name(info->kind));
	json_out_text(json, "id", id);
	json_out_flag(json, "private", info->is_private);
	cli_print(use->cli, "%s%s %s%s %s", before,
	          use->library.key_kind_name(info->kind), id, after, path);
}

static int make_key(struct use *use, const struct arguments *args,
                    struct tkb_error *err)
{
	const char *const path = args_operand(args, 1);
	const struct passphrase passphrase = passphrase_of(args, path);
	const bool is_encrypted = args->trust.is_encrypted ||
	                          passphrase.file != NULL ||
	                          passphrase.command != NULL;
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	int rc;

	rc = use->library.key_make((enum tkb_key_kind)args->trust.kind.value,
	                           &use->key, err);
	if (rc == 0)
		rc = key_file_write(&use->library, use->key, path,
		                    is_encrypted ? &passphrase : NULL, err);
	if (rc == 0)
		rc = use->library.key_look(use->key, &info, err);
	if (rc == 0)
		print_key(use, args, &info, "made ", " in");
	return rc;
}

static int show_key(struct use *use, const struct arguments *args,
                    struct tkb_error *err)
{
	const char *const path = args_operand(args, 1);
	struct passphrase passphrase = passphrase_of(args, path);
	const struct tkb_sink out = cli_sink(use->cli);
	struct tkb_key_info info = { .struct_size = sizeof(info) };
	bool is_asked = passphrase.file == NULL && passphrase.command == NULL;
	int rc;

	passphrase.is_asked = &is_asked;
	rc = key_file_read(use->cli, &use->library, path, &passphrase,
	                   &use->key, err);
	if (rc == 0 && !is_asked)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.300s' is not encrypted: it has no "
		                 "passphrase that '%s' could give",
		                 path,
		                 passphrase.file != NULL
		                         ? "--passphrase-file"
		                         : "--passphrase-command");
	if (rc == 0 && args->trust.is_public)
		return use->library.key_write_public(use->key, &out, err);
	if (rc == 0)
		rc = use->library.key_look(use->key, &info, err);
	if (rc == 0)
		print_key(use, args, &info, "",
		          info.is_private ? " private" : " public");
	return rc;
}

static enum status check_key_word(const struct cli *cli,
                                  const struct arguments *args)
{
	const char *const word = args_operand(args, 0);
	const bool is_new = strcmp(word, "new") == 0;

	if (!is_new && strcmp(word, "show") != 0)
		return cli_misused(cli, "'new' or 'show' is wanted, not '%s'",
		                   word);
	if (!is_new && (args->trust.kind.is_set || args->trust.is_encrypted))
		return cli_misused(
			cli, "'--kind' and '--encrypt' are for a new key");
	if (is_new && args->trust.is_public)
		return cli_misused(cli, "'--public' is for 'show'");
	if (cli_exclude(cli, args->trust.is_public, "--public", args->is_json,
	                "--json") != STATUS_DONE)
		return STATUS_USAGE;
	return passphrase_check(cli, args);
}

static enum status cmd_key(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(use_end) struct use use = { .cli = cli };
	struct tkb_error err = { .status = 0 };
	const enum status status = check_key_word(cli, args);
	int rc;

	if (status != STATUS_DONE)
		return status;
	rc = remote_library_load(&use.library, &err);
	if (rc == 0)
		rc = strcmp(args_operand(args, 0), "new") == 0
		             ? make_key(&use, args, &err)
		             : show_key(&use, args, &err);
	return rc == 0 ? STATUS_DONE
	               : cli_failed(cli, rc, &err, args_operand(args, 1));
}

const struct command command_key = {
	.name = "key",
	.operands = { "new|show", "FILE" },
	.required_operands = 2,
	.summary = "make a key that signs, or look at one",
	.details = "'key new FILE' writes a private key to FILE, which only "
		   "its owner may read, and the public key to FILE.pub. 'key "
		   "show FILE' prints the kind and id of a private or public "
		   "key. Files are PEM: PKCS #8, and SubjectPublicKeyInfo; a "
		   "public key of minisign can be shown, too.",
	COMMAND_OPTIONS(options),
	.run = cmd_key,
};

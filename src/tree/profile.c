/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/profile.h"

#include <string.h>

#include "tree/path_style.h"
#include "tree/unit.h"

enum {
	LIST_LIMIT = 256
};

static bool is_profile_word(const char *text)
{
	return text[0] != '\0' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") ==
	               strlen(text);
}

/* Is `text` empty, or made of a version's digits and dots? */
static bool is_version_limit(const char *text)
{
	return strspn(text, "0123456789.") == strlen(text);
}

/*
 * A profile cannot name the style "build": ninja's records are recognised, not
 * described.
 */
const char *tkb_profile_style_word(unsigned number)
{
	return number == TKB_PATH_STYLE_BUILD ? NULL
	                                      : tkb_path_style_name(number);
}

const char *tkb_profile_action_word(unsigned number)
{
	static const char *const words[] = { "default", "unit",    "ninja",
		                             "folder",  "kernels", "leave" };

	return number < TKB_COUNT_OF(words) ? words[number] : NULL;
}

const char *tkb_profile_naming_word(unsigned number)
{
	static const char *const words[] = { "fixed", "deepgemm", "content" };

	return number < TKB_COUNT_OF(words) ? words[number] : NULL;
}

const char *tkb_profile_evidence_word(unsigned number)
{
	static const char *const words[] = { "default", "cache", "nothing" };

	return number < TKB_COUNT_OF(words) ? words[number] : NULL;
}

#define OPTIONAL_NUMBER(name_, type_, member_)                                 \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_NUMBER,                    \
		.offset = offsetof(type_, member_), .size = sizeof(uint32_t),  \
		.limit = 1, .is_optional = true                                \
	}

/* An optional word of a rule; `what_` names it in messages. */
#define RULE_WORD(name_, member_, word_, what_)                                \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CHOICE,                    \
		.offset = offsetof(struct tkb_tree_rule, member_),             \
		.is_optional = true, .word = (word_),                          \
		.missing = what_ " is not a word",                             \
		.wrong = what_ " is not known"                                 \
	}

static const struct tkb_schema_field rule_fields[] = {
	TKB_FIELD_TEXT("path", struct tkb_tree_rule, path, NULL, NULL),
	RULE_WORD("is", action, tkb_profile_action_word, "the 'is' of a rule"),
	RULE_WORD("style", style, tkb_profile_style_word, "a style of paths"),
	RULE_WORD("named", naming, tkb_profile_naming_word,
	          "the 'named' of a rule"),
	RULE_WORD("shows", evidence, tkb_profile_evidence_word,
	          "the 'shows' of a rule"),
	OPTIONAL_NUMBER("last", struct tkb_tree_rule, is_last),
	OPTIONAL_NUMBER("secrets", struct tkb_tree_rule, has_secrets),
	OPTIONAL_NUMBER("tuned", struct tkb_tree_rule, is_tuned),
};

static const struct tkb_schema_list rule_list = {
	TKB_ITEMS_OBJECT(struct tkb_tree_rule, TKB_CLOSED_OF(rule_fields),
	                 "a rule is not an object"),
	.limit = LIST_LIMIT,
	.too_many = "too many rules",
};

static const struct tkb_schema_field fallback_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_profile_fallback, variable, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_profile_fallback, suffix, NULL, NULL),
};

static const struct tkb_schema_list fallback_list = {
	TKB_ITEMS_TUPLE(
		struct tkb_profile_fallback,
		TKB_TUPLE_OF(fallback_fields, "a place has too many parts"),
		"a place is not a list"),
	.limit = LIST_LIMIT,
	.too_many = "too many places",
};

static const struct tkb_schema_field root_fields[] = {
	TKB_FIELD_TEXT("name", struct tkb_profile_root, root.name,
	               tkb_tree_name_is_valid, "a root's name is not allowed"),
	TKB_FIELD_TEXT("variable", struct tkb_profile_root, root.variable, NULL,
	               NULL),
	TKB_FIELD_LIST("places", struct tkb_profile_root, fallbacks,
	               fallback_count, &fallback_list, "places are not a list"),
	OPTIONAL_NUMBER("based", struct tkb_profile_root, is_based),
	OPTIONAL_NUMBER("tilde", struct tkb_profile_root, has_tilde),
	OPTIONAL_NUMBER("kernels", struct tkb_profile_root, is_kernels),
	TKB_FIELD_LIST("rules", struct tkb_profile_root, rule_items,
	               rules.count, &rule_list, "rules are not a list"),
};

static const char *root_fault(const void *earlier, size_t count,
                              const void *item)
{
	const struct tkb_profile_root *before = earlier;
	const struct tkb_profile_root *root = item;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(before[i].root.name, root->root.name) == 0)
			return "a root is repeated";
	}
	return NULL;
}

static const struct tkb_schema_list root_list = {
	TKB_ITEMS_OBJECT(struct tkb_profile_root, TKB_CLOSED_OF(root_fields),
	                 "a root is not an object"),
	.limit = LIST_LIMIT,
	.none = "an engine without a root",
	.too_many = "too many roots",
	.fault = root_fault,
};

static const struct tkb_schema_list text_list = {
	.item = { .kind = TKB_SCHEMA_TEXT, .missing = "a word is missing" },
	.item_size = sizeof(const char *),
	.limit = LIST_LIMIT,
	.too_many = "too many words",
};

static const struct tkb_schema_field external_fields[] = {
	TKB_FIELD_TEXT("name", struct tkb_profile_external, external.name,
	               tkb_tree_name_is_valid,
	               "a folder's name is not allowed"),
	TKB_FIELD_TEXT("package", struct tkb_profile_external, external.package,
	               NULL, NULL),
	TKB_FIELD_LIST("places", struct tkb_profile_external, fallbacks,
	               fallback_count, &fallback_list, "places are not a list"),
	TKB_OPTIONAL_LIST("folders", struct tkb_profile_external, folders,
	                  folder_count, &text_list, "folders are not a list"),
};

static const struct tkb_schema_list external_list = {
	TKB_ITEMS_OBJECT(struct tkb_profile_external,
	                 TKB_CLOSED_OF(external_fields),
	                 "a folder outside is not an object"),
	.limit = LIST_LIMIT,
	.too_many = "too many folders outside",
};

static const struct tkb_schema_field setting_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_engine_setting, variable, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_engine_setting, value, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_engine_setting, unless, NULL, NULL),
};

static const struct tkb_schema_list setting_list = {
	TKB_ITEMS_TUPLE(
		struct tkb_engine_setting,
		TKB_TUPLE_OF(setting_fields, "a setting has too many parts"),
		"a setting is not a list"),
	.limit = LIST_LIMIT,
	.too_many = "too many settings",
};

static const struct tkb_schema_field variable_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_engine_variable, name, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_engine_variable, before,
	               is_version_limit,
	               "a variable's version is not like \"0.33\""),
};

static const struct tkb_schema_list variable_list = {
	TKB_ITEMS_TUPLE(
		struct tkb_engine_variable,
		TKB_TUPLE_OF(variable_fields, "a variable has too many parts"),
		"a variable is not a list"),
	.limit = LIST_LIMIT,
	.too_many = "too many variables",
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_TEXT("engine", struct tkb_engine, name, is_profile_word,
	               "an engine's name is not allowed"),
	TKB_FIELD_TEXT("package", struct tkb_engine, package, NULL, NULL),
	TKB_FIELD_LIST("versions", struct tkb_engine, versions, version_count,
	               &text_list, "versions are not a list"),
	TKB_FIELD_LIST("commands", struct tkb_engine, commands, command_count,
	               &text_list, "commands are not a list"),
	TKB_FIELD_LIST("models", struct tkb_engine, models, model_count,
	               &text_list, "models are not a list"),
	TKB_FIELD_LIST("roots", struct tkb_engine, roots, root_count,
	               &root_list, "roots are not a list"),
	TKB_FIELD_LIST("set", struct tkb_engine, settings, setting_count,
	               &setting_list, "settings are not a list"),
	TKB_OPTIONAL_LIST("outside", struct tkb_engine, externals,
	                  external_count, &external_list,
	                  "folders outside are not a list"),
	TKB_OPTIONAL_LIST("keys", struct tkb_engine, keys, key_count,
	                  &text_list, "'keys' is not a list"),
	TKB_OPTIONAL_LIST("variables", struct tkb_engine, variables,
	                  variable_count, &variable_list,
	                  "variables are not a list"),
	OPTIONAL_NUMBER("ptxas", struct tkb_engine, needs_ptxas),
};

const struct tkb_schema tkb_profile_schema = {
	.fields = fields,
	.count = TKB_COUNT_OF(fields),
	.is_closed = true,
};

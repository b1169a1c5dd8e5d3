/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/engine.h>

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fd.h"
#include "text/schema.h"
#include "tree/glob.h"
#include "tree/path_style.h"
#include "tree/rules.h"
#include "tree/unit.h"

enum {
	PROFILE_LIMIT = 1024 * 1024,
	LIST_LIMIT = 256,
	PATH_LIMIT = 64 * 1024
};

/* "$variable" and a suffix; without a variable, an absolute path. */
struct fallback {
	const char *variable;
	const char *suffix;
};

struct root {
	struct tkb_engine_root root;
	uint32_t is_kernels;
	struct fallback *fallbacks; /* the first whose variable is set counts */
	size_t fallback_count;
	struct tkb_tree_rules rules;
	struct tkb_tree_rule *rule_items;
	struct tkb_engine_rule *shown; /* the same, in a profile's words */
};

/* A folder that is not part of the cache, but that the cache's texts name. */
struct outside {
	struct tkb_engine_outside outside;
	const char **folders;
	size_t folder_count;
	struct fallback *fallbacks;
	size_t fallback_count;
};

struct tkb_engine {
	struct tkb_arena arena; /* owns what the rest points to */
	const char *name;
	const char *package;
	const char **versions;
	size_t version_count;
	const char **commands; /* patterns of a command's words, with spaces */
	size_t command_count;
	const char **models; /* words that a model follows */
	size_t model_count;
	const char **keys; /* what they hold, for people */
	size_t key_count;
	struct root *roots;
	size_t root_count;
	struct tkb_engine_setting *settings;
	size_t setting_count;
	struct outside *outsides;
	size_t outside_count;
	uint32_t needs_ptxas;
};

/*
 * The schema of a profile
 */

static bool is_word(const char *text)
{
	return text[0] != '\0' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-") ==
	               strlen(text);
}

/* The style "build" is left out: ninja's records are found, not described. */
static const char *style_word(unsigned number)
{
	return number == TKB_PATH_STYLE_BUILD ? NULL
	                                      : tkb_path_style_name(number);
}

static const char *action_word(unsigned number)
{
	static const char *const words[] = { "default", "unit",    "ninja",
		                             "folder",  "kernels", "leave" };

	return number < TKB_COUNT_OF(words) ? words[number] : NULL;
}

static const char *naming_word(unsigned number)
{
	static const char *const words[] = { "fixed", "deepgemm" };

	return number < TKB_COUNT_OF(words) ? words[number] : NULL;
}

#define OPTIONAL_NUMBER(name_, type_, member_)                                 \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_NUMBER,                    \
		.offset = offsetof(type_, member_), .size = sizeof(uint32_t),  \
		.limit = 1, .is_optional = true                                \
	}

static const struct tkb_schema_field rule_fields[] = {
	TKB_FIELD_TEXT("path", struct tkb_tree_rule, path, NULL, NULL),
	{ .name = "is",
	  .kind = TKB_SCHEMA_CHOICE,
	  .offset = offsetof(struct tkb_tree_rule, action),
	  .is_optional = true,
	  .word = action_word,
	  .missing = "what a path is, is no word",
	  .wrong = "what a path is, is no word that is known" },
	{ .name = "style",
	  .kind = TKB_SCHEMA_CHOICE,
	  .offset = offsetof(struct tkb_tree_rule, style),
	  .is_optional = true,
	  .word = style_word,
	  .missing = "a style of paths is no word",
	  .wrong = "a style of paths is not known" },
	{ .name = "named",
	  .kind = TKB_SCHEMA_CHOICE,
	  .offset = offsetof(struct tkb_tree_rule, naming),
	  .is_optional = true,
	  .word = naming_word,
	  .missing = "what names a folder is no word",
	  .wrong = "what names a folder is no word that is known" },
	OPTIONAL_NUMBER("last", struct tkb_tree_rule, is_last),
	OPTIONAL_NUMBER("secrets", struct tkb_tree_rule, has_secrets),
	OPTIONAL_NUMBER("tuned", struct tkb_tree_rule, is_tuned),
};

static const struct tkb_schema rule_schema = {
	.fields = rule_fields,
	.count = TKB_COUNT_OF(rule_fields),
	.is_closed = true,
};

static const struct tkb_schema_list rule_list = {
	.item = { .kind = TKB_SCHEMA_OBJECT,
	          .schema = &rule_schema,
	          .missing = "a rule is no object" },
	.item_size = sizeof(struct tkb_tree_rule),
	.limit = LIST_LIMIT,
	.too_many = "too many rules",
};

static const struct tkb_schema_field fallback_fields[] = {
	TKB_FIELD_TEXT(NULL, struct fallback, variable, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct fallback, suffix, NULL, NULL),
};

static const struct tkb_schema fallback_schema = {
	.fields = fallback_fields,
	.count = TKB_COUNT_OF(fallback_fields),
	.too_many = "a place has too many parts",
};

static const struct tkb_schema_list fallback_list = {
	.item = { .kind = TKB_SCHEMA_TUPLE,
	          .schema = &fallback_schema,
	          .missing = "a place is no list" },
	.item_size = sizeof(struct fallback),
	.limit = LIST_LIMIT,
	.too_many = "too many places",
};

static const struct tkb_schema_field root_fields[] = {
	TKB_FIELD_TEXT("name", struct root, root.name, tkb_tree_name_is_valid,
	               "a root's name is not allowed"),
	TKB_FIELD_TEXT("variable", struct root, root.variable, NULL, NULL),
	TKB_FIELD_LIST("places", struct root, fallbacks, fallback_count,
	               &fallback_list, "places are no list"),
	OPTIONAL_NUMBER("kernels", struct root, is_kernels),
	TKB_FIELD_LIST("rules", struct root, rule_items, rules.count,
	               &rule_list, "rules are no list"),
};

static const struct tkb_schema root_schema = {
	.fields = root_fields,
	.count = TKB_COUNT_OF(root_fields),
	.is_closed = true,
};

static const char *root_fault(const void *earlier, size_t count,
                              const void *item)
{
	const struct root *before = earlier;
	const struct root *root = item;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(before[i].root.name, root->root.name) == 0)
			return "a root stands there twice";
	}
	return NULL;
}

static const struct tkb_schema_list root_list = {
	.item = { .kind = TKB_SCHEMA_OBJECT,
	          .schema = &root_schema,
	          .missing = "a root is no object" },
	.item_size = sizeof(struct root),
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

static const struct tkb_schema_field outside_fields[] = {
	TKB_FIELD_TEXT("name", struct outside, outside.name,
	               tkb_tree_name_is_valid,
	               "a folder's name is not allowed"),
	TKB_FIELD_TEXT("package", struct outside, outside.package, NULL, NULL),
	TKB_FIELD_LIST("places", struct outside, fallbacks, fallback_count,
	               &fallback_list, "places are no list"),
	{ .name = "folders",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct outside, folders),
	  .count_offset = offsetof(struct outside, folder_count),
	  .list = &text_list,
	  .is_optional = true,
	  .missing = "folders are no list" },
};

static const struct tkb_schema outside_schema = {
	.fields = outside_fields,
	.count = TKB_COUNT_OF(outside_fields),
	.is_closed = true,
};

static const struct tkb_schema_list outside_list = {
	.item = { .kind = TKB_SCHEMA_OBJECT,
	          .schema = &outside_schema,
	          .missing = "a folder outside is no object" },
	.item_size = sizeof(struct outside),
	.limit = LIST_LIMIT,
	.too_many = "too many folders outside",
};

static const struct tkb_schema_field setting_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_engine_setting, variable, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_engine_setting, value, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_engine_setting, unless, NULL, NULL),
};

static const struct tkb_schema setting_schema = {
	.fields = setting_fields,
	.count = TKB_COUNT_OF(setting_fields),
	.too_many = "a setting has too many parts",
};

static const struct tkb_schema_list setting_list = {
	.item = { .kind = TKB_SCHEMA_TUPLE,
	          .schema = &setting_schema,
	          .missing = "a setting is no list" },
	.item_size = sizeof(struct tkb_engine_setting),
	.limit = LIST_LIMIT,
	.too_many = "too many settings",
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_TEXT("engine", struct tkb_engine, name, is_word,
	               "an engine's name is not allowed"),
	TKB_FIELD_TEXT("package", struct tkb_engine, package, NULL, NULL),
	TKB_FIELD_LIST("versions", struct tkb_engine, versions, version_count,
	               &text_list, "versions are no list"),
	TKB_FIELD_LIST("commands", struct tkb_engine, commands, command_count,
	               &text_list, "commands are no list"),
	TKB_FIELD_LIST("models", struct tkb_engine, models, model_count,
	               &text_list, "models are no list"),
	TKB_FIELD_LIST("roots", struct tkb_engine, roots, root_count,
	               &root_list, "roots are no list"),
	TKB_FIELD_LIST("set", struct tkb_engine, settings, setting_count,
	               &setting_list, "settings are no list"),
	{ .name = "outside",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct tkb_engine, outsides),
	  .count_offset = offsetof(struct tkb_engine, outside_count),
	  .list = &outside_list,
	  .is_optional = true,
	  .missing = "folders outside are no list" },
	{ .name = "keys",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct tkb_engine, keys),
	  .count_offset = offsetof(struct tkb_engine, key_count),
	  .list = &text_list,
	  .is_optional = true,
	  .missing = "what keys hold is no list" },
	OPTIONAL_NUMBER("ptxas", struct tkb_engine, needs_ptxas),
};

static const struct tkb_schema schema = {
	.fields = fields,
	.count = TKB_COUNT_OF(fields),
	.is_closed = true,
};

/*
 * Open
 */

static const char *word_of(const char *word)
{
	return word != NULL ? word : "";
}

/* Say in words what the rules of `root` are. */
static bool show_rules(struct tkb_arena *arena, struct root *root)
{
	root->shown = tkb_arena_alloc(arena, root->rules.count + 1,
	                              sizeof(*root->shown));
	for (size_t i = 0; root->shown != NULL && i < root->rules.count; i++) {
		const struct tkb_tree_rule *rule = &root->rule_items[i];

		root->shown[i] = (struct tkb_engine_rule){
			.path = rule->path,
			.is = rule->action == TKB_TREE_ACTION_DEFAULT
			              ? ""
			              : word_of(action_word(rule->action)),
			.style = rule->style == TKB_PATH_STYLE_NONE
			                 ? ""
			                 : word_of(style_word(rule->style)),
			.named = rule->naming == TKB_TREE_NAMING_FIXED
			                 ? ""
			                 : word_of(naming_word(rule->naming)),
			.is_last = rule->is_last != 0,
			.has_secrets = rule->has_secrets != 0,
			.is_tuned = rule->is_tuned != 0,
		};
	}
	return root->shown != NULL;
}

static void close_at(struct tkb_engine **engine)
{
	tkb_engine_close(*engine);
}

int tkb_engine_open(const char *path, struct tkb_engine **out,
                    struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_engine *engine = tkb_alloc_array(1, sizeof(*engine));
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(PROFILE_LIMIT);
	struct tkb_arena arena = { 0 };
	int rc;

	if (engine == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_fd_read_path(path, &text, err);
	if (rc == 0) {
		const struct tkb_schema_document document = {
			.text = tkb_buf_bytes(&text),
			.name = "the profile",
			.arena = &arena,
		};

		rc = tkb_schema_read(&document, &schema, engine, err);
	}
	engine->arena = arena;
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s'", path);
	for (size_t i = 0; i < engine->root_count; i++) {
		struct root *root = &engine->roots[i];

		root->rules.items = root->rule_items;
		root->root.rules = &root->rules;
		root->root.is_kernels = root->is_kernels != 0;
		if (!show_rules(&engine->arena, root))
			return tkb_fail_nomem(err);
	}
	*out = tkb_take(engine);
	return 0;
}

void tkb_engine_close(struct tkb_engine *engine)
{
	if (engine == NULL)
		return;
	tkb_arena_release(&engine->arena);
	free(engine);
}

/*
 * What it says
 */

const char *tkb_engine_name(const struct tkb_engine *engine)
{
	return engine->name;
}

size_t tkb_engine_root_count(const struct tkb_engine *engine)
{
	return engine->root_count;
}

const struct tkb_engine_root *tkb_engine_root(const struct tkb_engine *engine,
                                              size_t index)
{
	return &engine->roots[index].root;
}

size_t tkb_engine_rule_count(const struct tkb_engine *engine, size_t index)
{
	return engine->roots[index].rules.count;
}

const struct tkb_engine_rule *tkb_engine_rule(const struct tkb_engine *engine,
                                              size_t index, size_t rule)
{
	return &engine->roots[index].shown[rule];
}

size_t tkb_engine_setting_count(const struct tkb_engine *engine)
{
	return engine->setting_count;
}

const struct tkb_engine_setting *tkb_engine_setting(
	const struct tkb_engine *engine, size_t index)
{
	return &engine->settings[index];
}

size_t tkb_engine_outside_count(const struct tkb_engine *engine)
{
	return engine->outside_count;
}

const struct tkb_engine_outside *tkb_engine_outside(
	const struct tkb_engine *engine, size_t index)
{
	return &engine->outsides[index].outside;
}

size_t tkb_engine_outside_folder_count(const struct tkb_engine *engine,
                                       size_t index)
{
	return engine->outsides[index].folder_count;
}

const char *tkb_engine_outside_folder(const struct tkb_engine *engine,
                                      size_t index, size_t folder)
{
	return engine->outsides[index].folders[folder];
}

bool tkb_engine_needs_ptxas(const struct tkb_engine *engine)
{
	return engine->needs_ptxas != 0;
}

const char *tkb_engine_package(const struct tkb_engine *engine)
{
	return engine->package;
}

size_t tkb_engine_version_count(const struct tkb_engine *engine)
{
	return engine->version_count;
}

const char *tkb_engine_version(const struct tkb_engine *engine, size_t index)
{
	return engine->versions[index];
}

size_t tkb_engine_key_count(const struct tkb_engine *engine)
{
	return engine->key_count;
}

const char *tkb_engine_key(const struct tkb_engine *engine, size_t index)
{
	return engine->keys[index];
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

/* Do the first arguments match the words of `pattern`, one by one? */
static bool matches(const char *pattern, const char *const *arguments)
{
	char word[256];
	size_t i = 0;

	while (*pattern != '\0') {
		const size_t length = strcspn(pattern, " ");

		if (arguments[i] == NULL || length >= sizeof(word))
			return false;
		memcpy(word, pattern, length);
		word[length] = '\0';
		if (!tkb_glob_matches(word, last_part(arguments[i])))
			return false;
		pattern += length;
		pattern += strspn(pattern, " ");
		i++;
	}
	return i != 0;
}

bool tkb_engine_is_command(const struct tkb_engine *engine,
                           const char *const *arguments)
{
	for (size_t i = 0; i < engine->command_count; i++) {
		if (matches(engine->commands[i], arguments))
			return true;
	}
	return false;
}

const char *tkb_engine_model(const struct tkb_engine *engine,
                             const char *const *arguments)
{
	for (size_t i = 0; arguments[i] != NULL; i++) {
		for (size_t j = 0; j < engine->model_count; j++) {
			const char *word = engine->models[j];
			const size_t length = strlen(word);

			if (strncmp(arguments[i], word, length) != 0)
				continue;
			if (arguments[i][length] == '=')
				return arguments[i] + length + 1;
			if (arguments[i][length] == '\0' &&
			    arguments[i + 1] != NULL &&
			    arguments[i + 1][0] != '-')
				return arguments[i + 1];
		}
	}
	return NULL;
}

/* Append `text`; "%u" in it is the name of the user. */
static void add_suffix(const char *text, const char *user, struct tkb_buf *out)
{
	for (; *text != '\0'; text++) {
		if (text[0] == '%' && text[1] == 'u') {
			tkb_buf_add_text(out, user);
			text++;
		} else {
			tkb_buf_add_byte(out, *text);
		}
	}
}

/* Looks up environment variables. */
struct environment {
	const char *(*get)(void *self, const char *name);
	void *self;
};

/* A variable's value, unless that is empty. */
static const char *value_of(const struct environment *environment,
                            const char *name)
{
	const char *value = environment->get(environment->self, name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* The first place whose variable is set, or that needs none. `count`: none. */
static size_t find_fallback(const struct environment *environment,
                            const struct fallback *fallbacks, size_t count)
{
	size_t i = 0;

	while (i < count &&
	       (fallbacks[i].variable[0] == '\0'
	                ? fallbacks[i].suffix[0] == '\0'
	                : value_of(environment, fallbacks[i].variable) == NULL))
		i++;
	return i;
}

/* The root is where `variable` says, else at the first place that is known. */
static int locate(const struct environment *environment, const char *variable,
                  const struct fallback *fallbacks, size_t count, char **out,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	const char *value = value_of(environment, variable);
	const char *user = environment->get(environment->self, "USER");
	const size_t i = find_fallback(environment, fallbacks, count);
	int rc;

	if (value == NULL && i == count)
		return TKB_MISS;
	if (value != NULL) {
		tkb_buf_add_text(&path, value);
	} else {
		value = value_of(environment, fallbacks[i].variable);
		tkb_buf_add_text(&path, word_of(value));
		add_suffix(fallbacks[i].suffix, user == NULL ? "root" : user,
		           &path);
	}
	tkb_buf_add_byte(&path, '\0');
	rc = tkb_buf_check(&path, err);
	if (rc < 0)
		return rc;
	*out = (char *)tkb_take(path.data);
	return 0;
}

const char *tkb_engine_located_by(const struct tkb_engine *engine, size_t index,
                                  const char *(*get)(void *self,
                                                     const char *name),
                                  void *self)
{
	const struct environment environment = { get, self };
	const struct root *root = &engine->roots[index];
	const size_t i = find_fallback(&environment, root->fallbacks,
	                               root->fallback_count);

	if (value_of(&environment, root->root.variable) != NULL)
		return root->root.variable;
	return i < root->fallback_count ? root->fallbacks[i].variable : NULL;
}

int tkb_engine_locate(const struct tkb_engine *engine, size_t index,
                      const char *(*get)(void *self, const char *name),
                      void *self, char **out, struct tkb_error *err)
{
	const struct environment environment = { get, self };
	const struct root *root = &engine->roots[index];

	return locate(&environment, root->root.variable, root->fallbacks,
	              root->fallback_count, out, err);
}

int tkb_engine_locate_outside(const struct tkb_engine *engine, size_t index,
                              const char *(*get)(void *self, const char *name),
                              void *self, char **out, struct tkb_error *err)
{
	const struct environment environment = { get, self };
	const struct outside *outside = &engine->outsides[index];

	return locate(&environment, "", outside->fallbacks,
	              outside->fallback_count, out, err);
}

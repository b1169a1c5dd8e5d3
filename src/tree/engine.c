/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "tree/glob.h"
#include "tree/path_style.h"
#include "tree/profile.h"

enum {
	PROFILE_LIMIT = 1024 * 1024,
	PATH_LIMIT = 64 * 1024
};

/*
 * Open
 */

static const char *text_or_empty(const char *word)
{
	return word != NULL ? word : "";
}

/* The variable of the first place, if run may set it. */
static void find_base(struct tkb_profile_root *root)
{
	const bool has_one = root->is_based != 0 && root->fallback_count != 0 &&
	                     root->root.variable[0] == '\0';

	root->root.base = has_one ? root->fallbacks[0].variable : "";
	root->root.below = has_one ? root->fallbacks[0].suffix : "";
}

/* The profile's word for `number`; "" for 0, which a rule need not say. */
static const char *said_word(unsigned number, const char *(*word)(unsigned))
{
	return number == 0 ? "" : text_or_empty(word(number));
}

/* Make the rules of `root` readable: as words, not as numbers. */
static bool show_rules(struct tkb_arena *arena, struct tkb_profile_root *root)
{
	root->shown = tkb_arena_alloc(arena, root->rules.count + 1,
	                              sizeof(*root->shown));
	for (size_t i = 0; root->shown != NULL && i < root->rules.count; i++) {
		const struct tkb_tree_rule *rule = &root->rule_items[i];

		root->shown[i] = (struct tkb_engine_rule){
			.path = rule->path,
			.is = said_word(rule->action, tkb_profile_action_word),
			.style = said_word(rule->style, tkb_profile_style_word),
			.named = said_word(rule->naming,
			                   tkb_profile_naming_word),
			.shows = said_word(rule->evidence,
			                   tkb_profile_evidence_word),
			.is_last = rule->is_last != 0,
			.has_secrets = rule->has_secrets != 0,
			.is_tuned = rule->is_tuned != 0,
		};
	}
	return root->shown != NULL;
}

TKB_AUTO_POINTER(close_at, struct tkb_engine, tkb_engine_close)

int tkb_engine_open_memory(struct tkb_bytes bytes, const char *name,
                           struct tkb_engine **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_engine *engine = tkb_alloc_array(1, sizeof(*engine));
	struct tkb_arena arena = { 0 };
	const struct tkb_schema_document document = {
		.text = bytes,
		.name = "the profile",
		.arena = &arena,
	};
	int rc;

	if (engine == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_schema_read(&document, &tkb_profile_schema, engine, err);
	engine->arena = arena;
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s'", name);
	for (size_t i = 0; i < engine->root_count; i++) {
		struct tkb_profile_root *root = &engine->roots[i];

		root->rules.items = root->rule_items;
		root->root.rules = &root->rules;
		root->root.is_kernels = root->is_kernels != 0;
		find_base(root);
		if (!show_rules(&engine->arena, root))
			return tkb_fail_nomem(err);
	}
	*out = tkb_take(engine);
	return 0;
}

int tkb_engine_open(const char *path, struct tkb_engine **out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(PROFILE_LIMIT);
	int rc;

	rc = tkb_fd_read_path(path, &text, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s'", path);
	return tkb_engine_open_memory(tkb_buf_bytes(&text), path, out, err);
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

size_t tkb_engine_external_count(const struct tkb_engine *engine)
{
	return engine->external_count;
}

const struct tkb_engine_external *tkb_engine_external(
	const struct tkb_engine *engine, size_t index)
{
	return &engine->externals[index].external;
}

size_t tkb_engine_external_folder_count(const struct tkb_engine *engine,
                                        size_t index)
{
	return engine->externals[index].folder_count;
}

const char *tkb_engine_external_folder(const struct tkb_engine *engine,
                                       size_t index, size_t folder)
{
	return engine->externals[index].folders[folder];
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

size_t tkb_engine_variable_count(const struct tkb_engine *engine)
{
	return engine->variable_count;
}

const struct tkb_engine_variable *tkb_engine_variable(
	const struct tkb_engine *engine, size_t index)
{
	return &engine->variables[index];
}

/* Do the first arguments match the words of `pattern`, each in its place? */
static bool matches_arguments(const char *pattern, const char *const *arguments)
{
	char word[256];
	size_t i = 0;

	while (*pattern != '\0') {
		const size_t length = strcspn(pattern, " ");

		if (arguments[i] == NULL || length >= sizeof(word))
			return false;
		memcpy(word, pattern, length);
		word[length] = '\0';
		if (!tkb_glob_matches(word, tkb_path_base_name(arguments[i])))
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
		if (matches_arguments(engine->commands[i], arguments))
			return true;
	}
	return false;
}

/* "owner/name". A path or a URL is more often the value of an option. */
static bool is_model_name(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash != NULL && slash != text && text[0] != '.' &&
	       text[0] != '~' && slash[1] != '\0' &&
	       strchr(slash + 1, '/') == NULL;
}

/*
 * The first argument behind options that seems to be no value of theirs: it follows
 * another value, or it is the last and the only one with a model's name. Which
 * options take a value is not known.
 */
static const char *find_operand(const char *const *options)
{
	const char *name = NULL;
	size_t count = 0;

	for (size_t i = 1; options[i] != NULL; i++) {
		const bool is_behind_option =
			options[i - 1][0] == '-' &&
			strchr(options[i - 1], '=') == NULL;

		if (options[i][0] == '-')
			continue;
		if (!is_behind_option)
			return options[i];
		if (!is_model_name(options[i]))
			continue;
		count++;
		if (options[i + 1] == NULL)
			name = options[i];
	}
	return count == 1 ? name : NULL;
}

const char *tkb_engine_model(const struct tkb_engine *engine,
                             const char *const *arguments)
{
	const char *const *options = NULL; /* behind a word such as "serve" */

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
			if (arguments[i][length] == '\0' && word[0] != '-' &&
			    arguments[i + 1] != NULL && options == NULL)
				options = &arguments[i + 1];
		}
	}
	return options == NULL ? NULL : find_operand(options);
}

/* Append the user's name as PyTorch changes it for the name of a folder. */
static void add_user(const char *user, struct tkb_buf *out)
{
	for (; *user != '\0'; user++)
		tkb_buf_add_byte(out, strchr("\\/:*?\"<>|", *user) != NULL
		                              ? '_'
		                              : *user);
}

/* Append `text`, with the user's name in place of "%u". */
static void add_suffix(const char *text, const char *user, struct tkb_buf *out)
{
	for (; *text != '\0'; text++) {
		if (text[0] == '%' && text[1] == 'u') {
			add_user(user, out);
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

/* A variable's value; NULL if it is unset or empty. */
static const char *environment_value(const struct environment *environment,
                                     const char *name)
{
	const char *value = environment->get(environment->self, name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* The first place whose variable is set or that needs none; `count` if none. */
static size_t find_fallback(const struct environment *environment,
                            const struct tkb_profile_fallback *fallbacks,
                            size_t count)
{
	size_t i = 0;

	while (i < count &&
	       (fallbacks[i].variable[0] == '\0'
	                ? fallbacks[i].suffix[0] == '\0'
	                : environment_value(environment,
	                                    fallbacks[i].variable) == NULL))
		i++;
	return i;
}

/* Find a root: at the path in `variable`, or else at the first known place. */
static int locate_folder(const struct environment *environment,
                         const char *variable,
                         const struct tkb_profile_fallback *fallbacks,
                         size_t count, char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	const char *value = environment_value(environment, variable);
	const char *user = environment->get(environment->self, "USER");
	const size_t i = find_fallback(environment, fallbacks, count);
	char number[32];
	int rc;

	if (value == NULL && i == count)
		return TKB_MISS;
	if (value != NULL) {
		tkb_buf_add_text(&path, value);
	} else {
		value = environment_value(environment, fallbacks[i].variable);
		tkb_buf_add_text(&path, text_or_empty(value));
		/* PyTorch calls a user without a name so. */
		(void)snprintf(number, sizeof(number), "uid_%u",
		               (unsigned)getuid());
		add_suffix(fallbacks[i].suffix, user == NULL ? number : user,
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
	const struct tkb_profile_root *root = &engine->roots[index];
	const size_t i = find_fallback(&environment, root->fallbacks,
	                               root->fallback_count);

	if (environment_value(&environment, root->root.variable) != NULL)
		return root->root.variable;
	return i < root->fallback_count ? root->fallbacks[i].variable : NULL;
}

/*
 * If `*path` begins with a tilde, put the home folder in its place. Returns
 * TKB_MISS if nothing says where that is.
 */
static int expand_home(const struct environment *environment, char **path,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf full = TKB_BUF_INIT(PATH_LIMIT);
	const char *home = environment_value(environment, "HOME");
	int rc;

	if ((*path)[0] != '~' || ((*path)[1] != '/' && (*path)[1] != '\0'))
		return 0;
	if (home == NULL)
		return TKB_MISS;
	tkb_print(&full, "%s%s", home, *path + 1);
	rc = tkb_buf_check(&full, err);
	if (rc < 0)
		return rc;
	free(*path);
	*path = (char *)tkb_take(full.data);
	return 0;
}

int tkb_engine_locate(const struct tkb_engine *engine, size_t index,
                      const char *(*get)(void *self, const char *name),
                      void *self, char **out, struct tkb_error *err)
{
	const struct environment environment = { get, self };
	const struct tkb_profile_root *root = &engine->roots[index];
	TKB_AUTO(tkb_free_at) char *path = NULL;
	int rc;

	rc = locate_folder(&environment, root->root.variable, root->fallbacks,
	                   root->fallback_count, &path, err);
	/* Triton takes TRITON_CACHE_DIR as it is. */
	if (rc == 0 && root->has_tilde != 0 &&
	    (root->is_kernels == 0 ||
	     environment_value(&environment, root->root.variable) == NULL))
		rc = expand_home(&environment, &path, err);
	if (rc == 0)
		*out = tkb_take(path);
	return rc;
}

int tkb_engine_locate_external(const struct tkb_engine *engine, size_t index,
                               const char *(*get)(void *self, const char *name),
                               void *self, char **out, struct tkb_error *err)
{
	const struct environment environment = { get, self };
	const struct tkb_profile_external *external = &engine->externals[index];

	return locate_folder(&environment, "", external->fallbacks,
	                     external->fallback_count, out, err);
}

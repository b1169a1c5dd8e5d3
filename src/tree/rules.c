/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/rules.h"

#include <tkbundle/engine.h>

#include <string.h>
#include <strings.h>

#include "text/ascii.h"
#include "tree/glob.h"
#include "tree/whole.h"

/* Never packed: locks, unfinished files, and what belongs to one machine. */
static const char *const left_everywhere[] = {
	"**/*.lock",     "**/*.log",
	"**/*.part",     "**/*.pid",
	"**/*.sock",     "**/*.swp",
	"**/*.tmp",      "**/*.tmp.*",
	"**/*~",         "**/.staging*",
	"**/.tkbundle*", "**/dummy_cache",
	"**/lock",       "**/locks",
	"**/tmp.*",      "**/gpu_p2p_access_cache_*",
};

struct tkb_tree_rule tkb_tree_judge(const struct tkb_tree_rules *rules,
                                    const char *path)
{
	struct tkb_tree_rule sum = { .path = path };

	for (size_t i = 0; i < TKB_COUNT_OF(left_everywhere); i++) {
		if (tkb_glob_matches(left_everywhere[i], path))
			sum.action = TKB_TREE_ACTION_LEAVE;
	}
	for (size_t i = 0; rules != NULL && i < rules->count; i++) {
		const struct tkb_tree_rule *rule = &rules->items[i];

		if (!tkb_glob_matches(rule->path, path))
			continue;
		if (rule->action > sum.action)
			sum.action = rule->action;
		if (sum.style == TKB_PATH_STYLE_NONE)
			sum.style = rule->style;
		if (sum.naming == TKB_TREE_NAMING_FIXED)
			sum.naming = rule->naming;
		if (sum.evidence == TKB_TREE_EVIDENCE_DEFAULT)
			sum.evidence = rule->evidence;
		sum.is_last |= rule->is_last;
		sum.has_secrets |= rule->has_secrets;
		sum.is_tuned |= rule->is_tuned;
	}
	return sum;
}

enum tkb_tree_part tkb_tree_part(const struct tkb_tree_rules *rules,
                                 const char *path)
{
	static const enum tkb_tree_part parts[] = {
		[TKB_TREE_ACTION_DEFAULT] = TKB_TREE_PART_PLAIN,
		[TKB_TREE_ACTION_UNIT] = TKB_TREE_PART_UNIT,
		[TKB_TREE_ACTION_NINJA] = TKB_TREE_PART_UNIT,
		[TKB_TREE_ACTION_FOLDER] = TKB_TREE_PART_PLAIN,
		[TKB_TREE_ACTION_KERNELS] = TKB_TREE_PART_KERNELS,
		[TKB_TREE_ACTION_LEAVE] = TKB_TREE_PART_LEFT,
	};

	return parts[tkb_tree_judge(rules, path).action];
}

bool tkb_tree_is_tuned(const struct tkb_tree_rules *rules, const char *path)
{
	return tkb_tree_judge(rules, path).is_tuned != 0;
}

bool tkb_tree_is_named_by_content(const struct tkb_tree_rules *rules,
                                  const char *path)
{
	return tkb_tree_judge(rules, path).naming == TKB_TREE_NAMING_CONTENT;
}

bool tkb_tree_shows_cache(const struct tkb_tree_rules *rules, const char *path)
{
	const struct tkb_tree_rule sum = tkb_tree_judge(rules, path);

	if (sum.evidence == TKB_TREE_EVIDENCE_DEFAULT)
		return sum.action != TKB_TREE_ACTION_LEAVE;
	return sum.evidence == TKB_TREE_EVIDENCE_CACHE;
}

const char *tkb_tree_index(const struct tkb_tree_rules *rules,
                           const char *folder)
{
	for (size_t i = 0; rules != NULL && i < rules->count; i++) {
		const struct tkb_tree_rule *rule = &rules->items[i];
		const char *name = strrchr(rule->path, '/');
		char path[TKB_TREE_PATTERN_LIMIT];

		if (!rule->is_last || name == NULL ||
		    (size_t)(name - rule->path) >= sizeof(path))
			continue;
		memcpy(path, rule->path, (size_t)(name - rule->path));
		path[name - rule->path] = '\0';
		if (tkb_glob_matches(path, folder))
			return name + 1;
	}
	return NULL;
}

/* Is `name` in the list? */
static bool is_listed(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(name, list[i]) == 0)
			return true;
	}
	return false;
}

#define IS_LISTED(name, list) is_listed(name, list, TKB_COUNT_OF(list))

/*
 * The style of what has no telling name. Texts have no control characters but
 * white space, and ESC, for colours.
 */
static enum tkb_path_style style_of_bytes(struct tkb_bytes bytes)
{
	const unsigned char *text = bytes.data;
	size_t at = 0;

	for (size_t i = 0; i < bytes.size; i++) {
		if (text[i] < ' ' && !tkb_is_one_of(text[i], "\t\n\v\f\r\x1b"))
			return TKB_PATH_STYLE_NONE;
	}
	while (at < bytes.size && text[at] <= ' ')
		at++;
	return at < bytes.size && tkb_is_one_of(text[at], "{[")
	               ? TKB_PATH_STYLE_JSON
	               : TKB_PATH_STYLE_TEXT;
}

/* What follows the last dot of the path; "" if there is none. */
static const char *suffix_of(const struct tkb_tree_rule *rule)
{
	const char *dot = strrchr(rule->path, '.');

	return dot == NULL ? "" : dot + 1;
}

enum tkb_path_style tkb_tree_named_style(const struct tkb_tree_rule *rule)
{
	/* These may be in an encoding that style_of_bytes() does not know. */
	static const char *const texts[] = { "cfg",  "conf",  "env",
		                             "ini",  "jsonl", "properties",
		                             "toml", "txt",   "yaml",
		                             "yml" };

	if (rule->style != TKB_PATH_STYLE_NONE)
		return rule->style;
	if (strcasecmp(suffix_of(rule), "json") == 0)
		return TKB_PATH_STYLE_JSON;
	return rule->has_secrets != 0 || IS_LISTED(suffix_of(rule), texts)
	               ? TKB_PATH_STYLE_TEXT
	               : TKB_PATH_STYLE_NONE;
}

enum tkb_path_style tkb_tree_secret_style(const struct tkb_tree_rule *rule,
                                          struct tkb_bytes bytes)
{
	/* Without a value, code would do something else. */
	static const char *const code[] = {
		"amdgcn", "asm",  "c",     "cc",  "cl",   "cmake",  "cpp",
		"cu",     "cuh",  "cxx",   "d",   "glir", "go",     "h",
		"hh",     "hip",  "hpp",   "hxx", "ii",   "inc",    "inl",
		"ipp",    "j2",   "jinja", "js",  "ll",   "llir",   "lua",
		"metal",  "mlir", "ninja", "ptx", "pxd",  "py",     "pyi",
		"pyx",    "rs",   "rsp",   "s",   "sass", "source", "td",
		"tpp",    "ts",   "ttgir", "ttir"
	};
	const enum tkb_path_style named = tkb_tree_named_style(rule);

	return named != TKB_PATH_STYLE_NONE || IS_LISTED(suffix_of(rule), code)
	               ? named
	               : style_of_bytes(bytes);
}

bool tkb_tree_text_is_whole(const struct tkb_tree_rules *rules,
                            const struct tkb_tree_rule *rule,
                            struct tkb_bytes text)
{
	const enum tkb_path_style style = tkb_tree_named_style(rule);
	const bool is_json = rules != NULL && style == TKB_PATH_STYLE_JSON;

	return (!is_json && rule->is_last == 0) ||
	       tkb_text_is_whole(text, style);
}

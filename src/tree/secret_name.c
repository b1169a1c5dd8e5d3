/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/secret_name.h"

#include "text/ascii.h"

enum {
	NAME_LIMIT = 255, /* of a longer name, only the end is looked at */
	SPREAD_LIMIT = 2 * NAME_LIMIT + 3
};

/* A name that contains one of these is secret, whatever else it contains. */
static const char *const plain[] = {
	"PASSWORD", "PASSWD",      "PASSPHRASE",    "SECRET",  "CREDENTIAL",
	"APIKEY",   "ACCESSKEY",   "PRIVATEKEY",    "AUTHKEY", "AUTHTOKEN",
	"APITOKEN", "ACCESSTOKEN", "AUTHORIZATION",
};

/* A KEY or TOKEN after one of these words is secret, in any spelling. */
static const char *const secret_before[] = {
	"API",     "ACCESS", "PRIVATE", "AUTH",     "SIGNING", "ENCRYPTION",
	"SSH",     "MASTER", "SESSION", "ACCOUNT",  "STORAGE", "BEARER",
	"REFRESH", "HF",     "HUB",     "SECURITY", "CLIENT",  "USER",
	"GITHUB",  "GITLAB", "BOT",     "WANDB",    "LICENSE", "SERVICE",
	"ADMIN",   "DEPLOY", "ID",
};

/* A KEY, TOKEN or AUTH after one of these words is harmless. */
static const char *const harmless_before[] = {
	"CACHE", "SORT",  "HASH",   "PUBLIC", "PRIMARY", "FOREIGN",
	"INDEX", "GRAPH", "TUNING", "CONFIG", "KERNEL",  "LOOKUP",
	"PER",   "MAX",   "MIN",    "NUM",    "EOS",     "BOS",
	"PAD",   "UNK",   "NEXT",   "STOP",
};

/*
 * A KEY, TOKEN or AUTH before one of these words is harmless: the value is
 * something about it.
 */
static const char *const harmless_behind[] = {
	"TAG",     "TYPE",     "NAME",    "THRESHOLD", "LIMIT",   "COUNT",
	"SIZE",    "LEN",      "LENGTH",  "BITS",      "DIM",     "DIMS",
	"HEAD",    "HEADS",    "VALUE",   "VALUES",    "CACHE",   "BLOCK",
	"BUDGET",  "RATE",     "PER",     "BATCH",     "TIMEOUT", "TTL",
	"MODE",    "METHOD",   "BACKEND", "LAYOUT",    "DTYPE",   "FORMAT",
	"SCALE",   "PATH",     "FILE",    "DIR",       "URL",     "ENDPOINT",
	"ENABLED", "REQUIRED", "PERMUTE", "STRIDE",    "PADDING",
};

struct word {
	const char *text;
	size_t size;
};

static bool is_in(struct word word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(words[i]) == word.size &&
		    memcmp(words[i], word.text, word.size) == 0)
			return true;
	}
	return false;
}

#define IS_IN(word, words) is_in(word, words, TKB_COUNT_OF(words))
#define IS(word, name) is_in(word, (const char *const[]){ name }, 1)

/*
 * Rewrite a name in capitals with underscores between its words: "accessToken",
 * "--access-token" and "ACCESS_TOKEN" all become "ACCESS_TOKEN". Returns true
 * if the name had no small letters.
 */
static bool spread(struct tkb_bytes name, char out[SPREAD_LIMIT])
{
	const char *bytes = name.data;
	bool is_capital = true;
	size_t size = 0;
	char before = '_';

	for (size_t i = name.size > NAME_LIMIT ? name.size - NAME_LIMIT : 0;
	     i < name.size; i++) {
		const char byte = bytes[i];
		const bool is_word = tkb_is_letter(byte) || tkb_is_digit(byte);

		is_capital = is_capital && !tkb_is_lower(byte);
		if (size != 0 && out[size - 1] != '_' &&
		    (!is_word || (tkb_is_upper(byte) && tkb_is_lower(before))))
			out[size++] = '_';
		if (is_word)
			out[size++] = tkb_is_lower(byte)
			                      ? (char)(byte - 'a' + 'A')
			                      : byte;
		before = byte;
	}
	out[size] = '\0';
	return is_capital;
}

static struct word word_at(const char *text)
{
	return (struct word){ text, strcspn(text, "_") };
}

/* Remove digits at the end: "KEY2" becomes "KEY". */
static struct word without_digits(struct word word)
{
	while (word.size > 1 && tkb_is_digit(word.text[word.size - 1]))
		word.size--;
	return word;
}

/*
 * Is `word` (KEY, TOKEN, AUTH or PWD) secret between these two words? A word of
 * size 0 is missing.
 */
static bool is_secret_word(struct word before, struct word word,
                           struct word behind, bool is_capital)
{
	const bool is_key = IS(word, "KEY") || IS(word, "KEYS");
	const bool is_token = IS(word, "TOKEN") || IS(word, "TOKENS");
	const bool is_plural = word.text[word.size - 1] == 'S';

	if (IS(word, "PWD"))
		return before.size != 0 && behind.size == 0;
	if (!is_key && !is_token && !IS(word, "AUTH"))
		return false;
	if (IS_IN(behind, harmless_behind) || IS_IN(before, harmless_before))
		return false;
	if (before.size == 0)
		return !is_key && !is_plural &&
		       (is_capital || behind.size == 0);
	if (is_capital && !is_plural)
		return true;
	if (behind.size != 0 && !IS(behind, "ID"))
		return false;
	return IS(word, "AUTH") || IS_IN(before, secret_before);
}

bool tkb_secret_name_bytes(struct tkb_bytes name)
{
	char text[SPREAD_LIMIT];
	const bool is_capital = spread(name, text);
	struct word before = { text, 0 };
	struct word word;

	for (size_t i = 0; i < TKB_COUNT_OF(plain); i++) {
		if (strstr(text, plain[i]) != NULL)
			return true;
	}
	for (word = word_at(text); word.size != 0;) {
		const char *end = word.text + word.size;
		const struct word behind =
			*end == '_' ? word_at(end + 1) : word_at(end);

		if (is_secret_word(before, without_digits(word), behind,
		                   is_capital))
			return true;
		before = word;
		word = behind;
	}
	return false;
}

bool tkb_name_is_secret(const char *name)
{
	return tkb_secret_name_bytes(tkb_text(name));
}

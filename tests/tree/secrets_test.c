/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/secrets.h"

#include "harness.h"
#include "text/json.h"
#include "tree/utf16.h"

/* What is left of `given`. */
static const char *hidden(struct tkb_bytes given, enum tkb_path_style style,
                          size_t *count)
{
	BUF(out, TKB_MIB);

	OK(tkb_secrets_hide(test_exact(given), style, &out, count, ERR));
	CHECK_STR(ERR->message, "");
	OK(tkb_buf_check(&out, ERR));
	return test_bytes(tkb_buf_bytes(&out));
}

static void must_become(enum tkb_path_style style, const char *from,
                        const char *wanted)
{
	size_t count = 1000;

	CHECK_STR(hidden(tkb_text(from), style, &count), wanted);
	CHECK_INT(count != 0, strcmp(from, wanted) != 0);
	CHECK_STR(hidden(tkb_text(wanted), style, &count), wanted);
	CHECK_INT(count, 0);
}

static void must_stay(enum tkb_path_style style, const char *from)
{
	must_become(style, from, from);
}

static void check_names(const char *all, bool are_secret)
{
	for (const char **name = words(all); *name != NULL; name++) {
		if (tkb_name_is_secret(*name) != are_secret)
			fail_msg("'%s' is %s", *name,
			         are_secret ? "not known"
			                    : "taken for a secret's");
	}
}

TEST(secrets, names_that_have_secrets_are_known)
{
	check_names("VLLM_API_KEY|HF_TOKEN|HUGGING_FACE_HUB_TOKEN|"
	            "AWS_SECRET_ACCESS_KEY|AWS_ACCESS_KEY_ID|"
	            "OPENAI_API_KEY_2|MY_KEY2|DB_PASSWORD|"
	            "PGPASSWORD|REDISCLI_AUTH|"
	            "GOOGLE_APPLICATION_CREDENTIALS|"
	            "NGROK_AUTHTOKEN|MYSQL_PWD|SSH_PASSPHRASE|"
	            "API_KEYS|TOKEN|password|api_key|apiKey|"
	            "accessToken|access_token|X-Api-Key|"
	            "Authorization|--api-key|--hf-token|"
	            "client_secret|auth|redis_auth|self.api_key",
	            true);
}

TEST(secrets, names_of_other_things_are_none)
{
	check_names("|_|key|KEY|keys|cache_key|CACHE_KEY|"
	            "TORCHINDUCTOR_CACHE_KEY|TRITON_KEY_TAG|"
	            "KEY_VALUE_HEADS|num_key_value_heads|sort_key|"
	            "PUBLIC_KEY|eos_token|pad_token_id|max_tokens|"
	            "VLLM_MAX_TOKENS_PER_EXPERT_FP4_MOE|"
	            "VLLM_MULTI_STREAM_GEMM_TOKEN_THRESHOLD|"
	            "VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD|"
	            "NUM_TOKEN|tokenizer|author|MONKEY|keyboard|"
	            "PWD|PATH|VLLM_CONFIG_ROOT|has_key_cache|"
	            "cutlass_tokens|S",
	            false);
}

TEST(secrets, of_a_very_long_name_the_end_counts)
{
	char name[5000];

	memset(name, 'A', sizeof(name));
	memcpy(name + sizeof(name) - 9, "_API_KEY", 9);
	CHECK(tkb_name_is_secret(name));
	memset(name, 'a', sizeof(name) - 1);
	CHECK(!tkb_name_is_secret(name));
	for (size_t i = 0; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "aB", 2);
	name[sizeof(name) - 1] = '\0';
	CHECK(!tkb_name_is_secret(name));
}

TEST(secrets, in_json_values_of_secret_names_are_hidden)
{
	must_become(TKB_PATH_STYLE_JSON,
	            "{\n  \"env\": {\n    \"VLLM_API_KEY\": \"sk-1\",\n"
	            "    \"K_SCALE\": 200, \"U\": null\n  }\n}\n",
	            "{\n  \"env\": {\n    \"VLLM_API_KEY\": \"hidden\",\n"
	            "    \"K_SCALE\": 200, \"U\": null\n  }\n}\n");
	must_become(TKB_PATH_STYLE_JSON,
	            "{\"A_TOKEN\" : [\"x\", {\"a\": \"y\", \"b\": [7]}, true],"
	            "\"a\": \"x\"}",
	            "{\"A_TOKEN\" : [\"hidden\", {\"a\": \"hidden\", \"b\": "
	            "[\"hidden\"]}, true],\"a\": \"x\"}");
	must_become(TKB_PATH_STYLE_JSON, "{\"DB_P\\u0041SSWORD\": -1.5e3}",
	            "{\"DB_P\\u0041SSWORD\": \"hidden\"}");
	must_become(TKB_PATH_STYLE_JSON,
	            "{\"password\": \"a\\\"b\\\\\", \"x\": \"a\\\"b\\\\\"}",
	            "{\"password\": \"hidden\", \"x\": \"a\\\"b\\\\\"}");
	must_stay(TKB_PATH_STYLE_JSON,
	          "{\"A_KEY\": null, \"B_KEY\": \"\", \"C_KEY\": true, "
	          "\"cache_key\": \"x\", \"key\": \"y\"}");
}

TEST(secrets, in_json_arguments_and_pairs_are_hidden)
{
	must_become(TKB_PATH_STYLE_JSON,
	            "[\"--api-key\", \"x\", \"--model\", \"m\"]",
	            "[\"--api-key\", \"hidden\", \"--model\", \"m\"]");
	must_become(TKB_PATH_STYLE_JSON,
	            "[\"--api-key\", \"my-secret\", \"--hf-token\", \"x\"]",
	            "[\"--api-key\", \"hidden\", \"--hf-token\", \"hidden\"]");
	must_become(TKB_PATH_STYLE_PYTHON, "['--api-key', 'my-secret', 'x']",
	            "['--api-key', 'hidden', 'x']");
	must_become(TKB_PATH_STYLE_JSON, "[[\"A_KEY\", \"x\"], [\"B\", \"y\"]]",
	            "[[\"A_KEY\", \"hidden\"], [\"B\", \"y\"]]");
	must_become(TKB_PATH_STYLE_JSON, "{\"a\": \"serve --api-key=x --b\"}",
	            "{\"a\": \"serve --api-key=hidden --b\"}");
	must_stay(TKB_PATH_STYLE_JSON,
	          "[\"A_KEY\", \"HF_TOKEN\", \"OTHER\", \"--api-key\"]");
}

TEST(secrets, in_strings_of_json_they_are_hidden_and_no_further)
{
	must_become(TKB_PATH_STYLE_JSON,
	            "[\"export A_KEY=x y\\nB_KEY=\\\"z z\\\" B\", \"c\"]",
	            "[\"export A_KEY=hidden y\\nB_KEY=\\\"hidden\\\" B\", "
	            "\"c\"]");
	must_become(TKB_PATH_STYLE_JSON,
	            "[\"{\\\"A_KEY\\\": \\\"x\\\\\\\"y\\\", \\\"b\\\": "
	            "\\\"z\\\"}\"]",
	            "[\"{\\\"A_KEY\\\": \\\"hidden\\\", \\\"b\\\": "
	            "\\\"z\\\"}\"]");
	must_become(TKB_PATH_STYLE_JSON,
	            "{\"a\": \"password: 'x\", \"b\": \"'\"}",
	            "{\"a\": \"password: 'hidden\", \"b\": \"'\"}");
	must_become(TKB_PATH_STYLE_JSON, "{\"A_KEY=x\": 1}",
	            "{\"A_KEY=hidden\": 1}");
}

TEST(secrets, in_damaged_json_they_are_hidden_still)
{
	must_become(TKB_PATH_STYLE_JSON, "{\"A_KEY\": \"x\", \"b\": \"y",
	            "{\"A_KEY\": \"hidden\", \"b\": \"y");
	must_become(TKB_PATH_STYLE_JSON, "{\"b\": 1}, {\"A_KEY\": \"x",
	            "{\"b\": 1}, {\"A_KEY\": \"hidden");
}

TEST(secrets, in_python_literals_are_hidden)
{
	must_become(
		TKB_PATH_STYLE_PYTHON,
		"{'A_KEY': 'x', \"MY_PASSWORD\": b'y\\'', 'cache_key': 'z',\n"
		" 'B_TOKEN': 12, 'C_TOKEN': None, ('HF_TOKEN', 'v'),\n"
		" 'api_keys': ['a', \"b\"], 'l': ['A_KEY', 'B_KEY']}",
		"{'A_KEY': 'hidden', \"MY_PASSWORD\": b'hidden', "
		"'cache_key': 'z',\n"
		" 'B_TOKEN': 'hidden', 'C_TOKEN': None, ('HF_TOKEN', "
		"'hidden'),\n"
		" 'api_keys': ['hidden', \"hidden\"], 'l': ['A_KEY', "
		"'B_KEY']}");
	must_become(TKB_PATH_STYLE_PYTHON,
	            "os.environ['A_KEY'] = r\"x\"\nPASSWORD = '''x\ny'z'''\n# "
	            "A_KEY=x y",
	            "os.environ['A_KEY'] = r\"hidden\"\nPASSWORD = "
	            "'''hidden'''\n# A_KEY=hidden y");
	must_become(TKB_PATH_STYLE_PYTHON,
	            "x = 'A_KEY=v'\nA_KEY = \"y\nz = 'a'",
	            "x = 'A_KEY=hidden'\nA_KEY = \"hidden\nz = 'a'");
	must_stay(
		TKB_PATH_STYLE_PYTHON,
		"f(api_key=api_key, x=1)\npassword = get()\nif token == 'x':\n"
		"def g(password: str = None):\n");
}

TEST(secrets, in_text_they_are_hidden_to_where_they_end)
{
	must_become(TKB_PATH_STYLE_TEXT,
	            "A_KEY=a,b&c x\nexport B_KEY=\"a b\" x\npassword: a b\nc\n",
	            "A_KEY=hidden x\nexport B_KEY=\"hidden\" x\npassword: "
	            "hidden\nc\n");
	must_become(TKB_PATH_STYLE_TEXT, "C_PASSWORD=it's x",
	            "C_PASSWORD=hidden x");
	must_become(TKB_PATH_STYLE_TEXT, "cmd 'A_KEY=x', y",
	            "cmd 'A_KEY=hidden', y");
	must_become(TKB_PATH_STYLE_TEXT, "serve --api-key x --enable-auth --y",
	            "serve --api-key hidden --enable-auth --y");
	must_become(TKB_PATH_STYLE_TEXT, "Authorization: Bearer x\r\ny",
	            "Authorization: hidden\r\ny");
	must_become(TKB_PATH_STYLE_NINJA, "api_key = a b\nx = y\n",
	            "api_key = hidden\nx = y\n");
	must_become(TKB_PATH_STYLE_TEXT,
	            "A_KEY+=x y\nexport B_KEY+=\"z z\"\nC_KEY ?= a b\nA_KEY? x",
	            "A_KEY+=hidden y\nexport B_KEY+=\"hidden\"\nC_KEY ?= "
	            "hidden\nA_KEY? x");
	must_become(TKB_PATH_STYLE_TEXT, "PASSWORD=\"open",
	            "PASSWORD=\"hidden");
	must_stay(TKB_PATH_STYLE_TEXT,
	          "token_count: 5\nauth://x\nPASSWORD==x\nPASSWORD=\nA_KEY");
}

TEST(secrets, in_brackets_they_are_hidden_also_without_quotes)
{
	static const char *const texts[][2] = {
		{ "PASSWORD=[abc d\nA_KEY=x\n",
		  "PASSWORD=hidden\nA_KEY=hidden\n" },
		{ "A_TOKEN=(x\nredis://u:p@h/",
		  "A_TOKEN=hidden\nredis://u:hidden@h/" },
		{ "PASSWORD=[a]b c\nd: [e]", "PASSWORD=hidden\nd: [e]" },
		{ "PASSWORD=[a] b", "PASSWORD=[hidden] b" },
		{ "password: [a] b\nc", "password: hidden\nc" },
		{ "password: [a] # b\nc", "password: [hidden] # b\nc" },
		{ "{password: [a], c: d}", "{password: [hidden], c: d}" },
		{ "api_keys: [a, b-c]\nd: e",
		  "api_keys: [hidden, hidden]\nd: e" },
		{ "password: {prod: x, dev: null}",
		  "password: {prod: hidden, dev: null}" },
		{ "PASSWORD: {{x}}", "PASSWORD: {{hidden}}" },
		{ "PASSWORD: {{x}} y", "PASSWORD: hidden" },
		{ "api_keys = [\n  \"a\",\n  'b',\n]\nc = [d]",
		  "api_keys = [\n  \"hidden\",\n  'hidden',\n]\nc = [d]" },
		{ "{\"API_KEYS\": [11, 22, true]}\n{}",
		  "{\"API_KEYS\": [\"hidden\", \"hidden\", true]}\n{}" },
		{ "{\"A_KEY\": [\"x\",\n \"y",
		  "{\"A_KEY\": [\"hidden\",\n \"hidden" },
	};

	EACH(i, texts)
		must_become(TKB_PATH_STYLE_TEXT, texts[i][0], texts[i][1]);
	must_become(TKB_PATH_STYLE_JSON, "{\"a\": \"PASSWORD=[x y\\nz\"}",
	            "{\"a\": \"PASSWORD=hidden\\nz\"}");
	must_become(TKB_PATH_STYLE_JSON, "{\"a\": \"password: [x, \\n y]\"}",
	            "{\"a\": \"password: [hidden, \\n hidden]\"}");
	must_become(TKB_PATH_STYLE_JSON,
	            "{\"a\": \"A_KEY:(\\u00e9x, y\\/z \\\\\\u00e9)\"}",
	            "{\"a\": \"A_KEY:(hidden, hidden hidden)\"}");
	must_become(TKB_PATH_STYLE_JSON, "{\"a\": \"\\\"A_KEY\\\":(\\\\K)\"}",
	            "{\"a\": \"\\\"A_KEY\\\":(\\\"hidden\\\")\"}");
	must_stay(TKB_PATH_STYLE_PYTHON, "api_keys = [key(x), y]\nz = 1");
}

TEST(secrets, in_blocks_of_yaml_they_are_hidden_to_where_the_block_ends)
{
	static const char *const blocks[][2] = {
		{ "password: |\n  a b\n\n  c\nother: x\n",
		  "password: |\n  hidden\n\n  hidden\nother: x\n" },
		{ "a:\n  token: >-\n    x\n  b: y",
		  "a:\n  token: >-\n    hidden\n  b: y" },
		{ "- password: |2\r\n     x\r\n  user: y\r\n",
		  "- password: |2\r\n     hidden\r\n  user: y\r\n" },
		{ "api_keys:\n- a\n- \"b c\"\nx:\n- y\n",
		  "api_keys:\n- hidden\n- \"hidden\"\nx:\n- y\n" },
		{ "\"A_KEY\":\n  - x\n  - y\nz: 1",
		  "\"A_KEY\":\n  hidden\n  hidden\nz: 1" },
		{ "\"A_KEY\": 9ab/x+y", "\"A_KEY\": hidden" },
		{ "password: # x\n  y\nz: 1",
		  "password: hidden\n  hidden\nz: 1" },
		{ "password: | \n  x\nz: 1", "password: | \n  hidden\nz: 1" },
		{ "password: |- # y\n  x\nz: 1",
		  "password: |- # y\n  hidden\nz: 1" },
		{ "password: !!str\n  x\nz: 1",
		  "password: hidden\n  hidden\nz: 1" },
		{ "password: &x\n  y\n\n  z",
		  "password: hidden\n  hidden\n\n  hidden" },
		{ "secret:\n  name: a b\n  of:\n    - c\nx: 1",
		  "secret:\n  name: hidden\n  of:\n    - hidden\nx: 1" },
	};

	EACH(i, blocks)
		must_become(TKB_PATH_STYLE_TEXT, blocks[i][0], blocks[i][1]);
	must_stay(TKB_PATH_STYLE_TEXT, "password:\nuser: x\n  y: z\n\nthe "
	                               "token:\n   x\nkey: |\n  x\n");
	must_stay(TKB_PATH_STYLE_TEXT, "password: |");
	must_stay(TKB_PATH_STYLE_TEXT, "password:\n\n");
}

TEST(secrets, a_file_that_is_never_rewritten_stays)
{
	must_stay(TKB_PATH_STYLE_NONE, "A_KEY=x");
}

/* vLLM's file, with ten secrets in it. */
static const char *plant(const char *const *names, size_t count)
{
	const char *all = "{\n  \"code_hash\": \"232f\",\n  \"env\": {\n";

	for (size_t i = 0; i < count; i++)
		all = text("%s    \"%s\": \"s3cr3t-%zu\",\n", all, names[i], i);
	return text("%s    \"VLLM_USE_V1\": true\n  }\n}", all);
}

TEST(secrets, of_ten_planted_ones_none_is_found)
{
	static const char *const names[] = {
		"VLLM_API_KEY",  "HF_TOKEN",       "AWS_SECRET_ACCESS_KEY",
		"DB_PASSWORD",   "LDAP_PASSWD",    "MY_CREDENTIAL",
		"REDISCLI_AUTH", "VLLM_S3_SECRET", "WANDB_API_KEY",
		"SLACK_TOKEN",
	};
	static const enum tkb_path_style styles[] = { TKB_PATH_STYLE_JSON,
		                                      TKB_PATH_STYLE_PYTHON,
		                                      TKB_PATH_STYLE_TEXT };
	const char *planted = plant(names, TKB_COUNT_OF(names));

	EACH(i, styles) {
		size_t count = 0;
		const char *out = hidden(tkb_text(planted), styles[i], &count);

		CHECK_INT(count, 10);
		CHECK(strstr(out, "s3cr3t") == NULL);
		CHECK_CONTAINS(out, "\"VLLM_API_KEY\": \"hidden\",\n");
		CHECK_CONTAINS(out, "    \"VLLM_USE_V1\": true\n  }\n}");
	}
}

/* `from` as UTF-16; behind a mark of the order, where `has_mark`. */
static struct tkb_bytes widened(const char *from, enum tkb_utf16 order,
                                bool has_mark, struct tkb_buf *out)
{
	tkb_buf_reset(out);
	if (has_mark)
		tkb_utf16_widen(tkb_text("\xef\xbb\xbf"), order, out);
	tkb_utf16_widen(tkb_text(from), order, out);
	CHECK_OK(tkb_buf_check(out, ERR), ERR);
	return tkb_buf_bytes(out);
}

TEST(secrets, in_utf_16_they_are_hidden_and_all_else_stays)
{
	static const char *const texts[][2] = {
		{ "{\"API_KEY\": \"s3cr3t\", \"\xc3\xa9\xe2\x82\xac\": 1}",
		  "{\"API_KEY\": \"hidden\", \"\xc3\xa9\xe2\x82\xac\": 1}" },
		{ "\xe2\x82\xac HF_TOKEN=s3cr3t\r\nx=y",
		  "\xe2\x82\xac HF_TOKEN=hidden\r\nx=y" },
		{ "plain text", "plain text" },
	};
	BUF(wide, TKB_MIB);
	BUF(want, TKB_MIB);
	BUF(out, TKB_MIB);

	for (int i = 0; i < 3 * 2 * 2; i++) {
		const char *const *const row = texts[i / 4];
		const enum tkb_utf16 order =
			i % 2 == 0 ? TKB_UTF16_LITTLE : TKB_UTF16_BIG;
		const bool has_mark = i / 2 % 2 == 0 || i / 4 == 1;
		size_t count = 77;

		(void)widened(row[1], order, has_mark, &want);
		tkb_buf_reset(&out);
		CHECK_OK(tkb_secrets_hide(
				 widened(row[0], order, has_mark, &wide),
				 TKB_PATH_STYLE_JSON, &out, &count, ERR),
		         ERR);
		CHECK_INT(count, strcmp(row[0], row[1]) != 0);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(&out),
		                      tkb_buf_bytes(&want)));
	}
}

TEST(secrets, any_units_come_back_and_an_odd_byte_stays)
{
	BUF(all, TKB_MIB);
	BUF(mid, TKB_MIB);
	BUF(out, TKB_MIB);
	size_t count = 0;

	for (unsigned unit = 0; unit <= 0xffff; unit++) {
		tkb_buf_add_byte(&all, (char)(unit & 0xff));
		tkb_buf_add_byte(&all, (char)(unit >> 8));
	}
	tkb_utf16_narrow(tkb_buf_bytes(&all), TKB_UTF16_LITTLE, &mid);
	tkb_utf16_widen(tkb_buf_bytes(&mid), TKB_UTF16_LITTLE, &out);
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&out), tkb_buf_bytes(&all)));
	tkb_buf_reset(&out);
	OK(tkb_secrets_hide((struct tkb_bytes){ "\0A\0_\0K\0E\0Y\0=\0x!", 15 },
	                    TKB_PATH_STYLE_TEXT, &out, &count, ERR));
	CHECK_INT(count, 1);
	CHECK_INT(out.size, 25);
	CHECK_INT(out.data[24], '!');
}

TEST(secrets, what_does_not_fit_is_too_large)
{
	BUF(out, 8);
	size_t count = 77;

	FAILS(tkb_secrets_hide(tkb_text("A_KEY=x"), TKB_PATH_STYLE_TEXT, &out,
	                       &count, ERR),
	      TKB_ERR_TOO_LARGE, "limit of 8 bytes");
	CHECK_INT(count, 77);
}

TEST(secrets, passwords_of_urls_are_hidden)
{
	static const char *const urls[][2] = {
		{ "redis://me:pass word", "redis://me:pass word" },
		{ "redis://me:a-pass@cache:6379/0",
		  "redis://me:hidden@cache:6379/0" },
		{ "redis://:a-pass@cache", "redis://:hidden@cache" },
		{ "https://u:p@ss:w@host/x?y", "https://u:hidden@host/x?y" },
		{ "git+ssh://u:pw@h", "git+ssh://u:hidden@h" },
		{ "https://me@host/a:b@c", "https://me@host/a:b@c" },
		{ "https://host:8080/a@b", "https://host:8080/a@b" },
		{ "http://u:@host", "http://u:@host" },
		{ "a http://u:pw@h, and ftp://v:qw@i/",
		  "a http://u:hidden@h, and ftp://v:hidden@i/" },
		{ "x: y@z", "x: y@z" },
	};

	EACH(i, urls) {
		must_become(TKB_PATH_STYLE_TEXT, urls[i][0], urls[i][1]);
		must_become(TKB_PATH_STYLE_PYTHON, text("u = '%s'", urls[i][0]),
		            text("u = '%s'", urls[i][1]));
		must_become(TKB_PATH_STYLE_JSON,
		            text("{\"u\": [\"%s\"]}", urls[i][0]),
		            text("{\"u\": [\"%s\"]}", urls[i][1]));
	}
	must_become(TKB_PATH_STYLE_JSON, "[\"http:\\/\\/u:pw@h\"]",
	            "[\"http:\\/\\/u:hidden@h\"]");
	must_become(TKB_PATH_STYLE_TEXT,
	            "{\"a\": \"{\\\"u\\\": "
	            "\\\"http://u:pw@h\\\"}\"",
	            "{\"a\": \"{\\\"u\\\": \\\"http://u:hidden@h\\\"}\"");
}

static bool is_json(struct tkb_bytes given)
{
	struct tkb_json json = tkb_json_of(given, 0);
	struct tkb_json_token token = { .type = TKB_JSON_ARRAY };

	while (token.type != TKB_JSON_END) {
		if (tkb_json_next(&json, &token, NULL) < 0)
			return false;
	}
	return true;
}

TEST(secrets, no_text_is_read_past_its_end_and_json_stays_json)
{
	static const char *const parts[] = {
		"\"A_KEY\"", ": ",     "\"x\"",
		"\\\"",      "'",      "\"",
		"{",         "}",      "[",
		"]",         ",",      "--api-key",
		"=",         " ",      "PASSWORD:",
		"\\",        "\n",     "(",
		"'''",       "b'",     "12",
		"null",      "\\n",    "\"a\": ",
		"\"t\"",     "A_KEY=", "\\\"A_KEY\\\": ",
		"\xff",
	};
	uint32_t seed = 7;
	size_t valid = 0;

	for (int round = 0; round < 20000; round++) {
		const char *given =
			test_mix(&seed, 8, parts, TKB_COUNT_OF(parts));
		size_t count = 0;
		size_t again = 0;
		const char *out;

		if (round % 2 == 1)
			given = text("[\"%s\"]", given);
		out = hidden(tkb_text(given), (enum tkb_path_style)(round % 5),
		             &count);
		if (is_json(tkb_text(given))) {
			valid++;
			out = hidden(tkb_text(given), TKB_PATH_STYLE_JSON,
			             &count);
			CHECK(is_json(tkb_text(out)));
			(void)hidden(tkb_text(out), TKB_PATH_STYLE_JSON,
			             &again);
			CHECK_INT(again, 0);
		}
	}
	CHECK(valid > 500);
	CHECK_STR(hidden((struct tkb_bytes){ NULL, 0 }, TKB_PATH_STYLE_JSON,
	                 &valid),
	          "");
}

TEST(secrets, no_text_of_blocks_is_read_past_its_end)
{
	static const char *const parts[] = {
		"password:", "- ",  " ",  "\n", "\r\n",      "  ", "|", ">2-",
		"x",         "a: ", "\"", "'",  "api_keys:", "\\", "[",
	};
	uint32_t seed = 11;

	for (int round = 0; round < 20000; round++) {
		const char *given =
			test_mix(&seed, 9, parts, TKB_COUNT_OF(parts));
		size_t count = 0;

		(void)hidden(tkb_text(text("token:%s", given)),
		             TKB_PATH_STYLE_TEXT, &count);
	}
}

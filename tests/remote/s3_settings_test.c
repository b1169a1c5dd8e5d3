/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/net/url.h"
#include "remote/s3/s3.h"
#include "s3_fixture.h"

/* What s3:// takes from its URL, the environment and AWS' files. */

static void set(const char *name, const char *value)
{
	SYS(setenv(name, value, 1));
}

static void parse(const char *text, struct tkb_remote_url **url)
{
	OK(tkb_remote_url_parse(text, url, ERR));
}

static void check_keys(const char *text, const char *id, const char *secret,
                       const char *token)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	TKB_AUTO(tkb_s3_keys_release) struct tkb_s3_keys keys = { 0 };

	parse(text, &url);
	OK(tkb_s3_keys_read(url, &keys, ERR));
	CHECK_STR(keys.id, id);
	CHECK_STR(keys.secret, secret);
	CHECK((keys.token == NULL) == (token == NULL));
	if (token != NULL)
		CHECK_STR(keys.token, token);
}

static void write_home(const char *name, const char *text_)
{
	if (!exists(".aws"))
		SYS(mkdir(".aws", 0777));
	write_text(text(".aws/%s", name), text_);
}

/* clang-format off */
static const char credentials[] =
	"# of the team\n"
	"[default]\n"
	"aws_access_key_id = AKIDONE\n"
	"aws_secret_access_key=s3cret/one=\n"
	"\n"
	"[ci]\r\n"
	"aws_access_key_id\t=\tAKIDOLD\r\n"
	"aws_access_key_id\t=\tAKIDTWO  \r\n"
	"; aws_access_key_id = AKIDNO\r\n"
	"#aws_access_key_id = AKIDNO\r\n"
	"aws_secret_access_key = s3cret/two\r\n"
	"aws_session_token = token/two==\r\n"
	"s3 =\r\n"
	"  aws_access_key_id = indented\r\n"
	"[ half ]\n"
	"aws_access_key_id = AKIDHALF\n"
	"aws_secret_access_key =\n"
	"[last]\n"
	"aws_access_key_id = AKIDLAST\n"
	"aws_secret_access_key = s3cret/last";
/* clang-format on */

TEST(s3_settings, keys_come_from_the_environment)
{
	forget_aws();
	set_keys("AKIDENV", "s3cret/env", NULL);
	check_keys("s3://bucket", "AKIDENV", "s3cret/env", NULL);
	set_keys("AKIDENV", "s3cret/env", "token/env");
	check_keys("s3://bucket", "AKIDENV", "s3cret/env", "token/env");
}

TEST(s3_settings, half_a_key_in_the_environment_is_named)
{
	forget_aws();
	write_home("credentials", credentials);
	set_keys("AKIDENV", NULL, NULL);
	check_unopened("s3://bucket", TKB_ERR_DENIED,
	               "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is "
	               "not");
	set_keys(NULL, "s3cret/env", NULL);
	check_unopened("s3://bucket", TKB_ERR_DENIED,
	               "AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is "
	               "not");
	set_keys("", "", "");
	check_keys("s3://bucket", "AKIDONE", "s3cret/one=", NULL);
}

TEST(s3_settings, keys_come_from_a_profile)
{
	forget_aws();
	write_home("credentials", credentials);
	check_keys("s3://bucket", "AKIDONE", "s3cret/one=", NULL);
	check_keys("s3://bucket?profile=ci", "AKIDTWO", "s3cret/two",
	           "token/two==");
	check_keys("s3://bucket?profile=last", "AKIDLAST", "s3cret/last", NULL);
	set("AWS_PROFILE", "ci");
	check_keys("s3://bucket", "AKIDTWO", "s3cret/two", "token/two==");
	check_keys("s3://bucket?profile=default", "AKIDONE",
	           "s3cret/one=", NULL);
}

TEST(s3_settings, a_profile_in_the_url_counts_more_than_the_environment)
{
	forget_aws();
	write_home("credentials", credentials);
	set_keys("AKIDENV", "s3cret/env", NULL);
	set("AWS_PROFILE", "ci");
	check_keys("s3://bucket", "AKIDENV", "s3cret/env", NULL);
	check_keys("s3://bucket?profile=last", "AKIDLAST", "s3cret/last", NULL);
}

TEST(s3_settings, keys_may_be_in_the_file_of_settings)
{
	forget_aws();
	write_home("config", "[ci]\naws_access_key_id = AKIDNO\n"
	                     "aws_secret_access_key = no\n"
	                     "[profile ci]\naws_access_key_id = AKIDCI\n"
	                     "aws_secret_access_key = s3cret/ci\n"
	                     "[profile one]\naws_access_key_id = AKIDNO\n"
	                     "aws_secret_access_key = no\n");
	check_keys("s3://bucket?profile=ci", "AKIDCI", "s3cret/ci", NULL);
	write_home("credentials", "[one]\naws_access_key_id = AKIDONE\n"
	                          "aws_secret_access_key = s3cret/one\n"
	                          "[ci]\naws_access_key_id = AKIDHALF\n");
	check_keys("s3://bucket?profile=one", "AKIDONE", "s3cret/one", NULL);
	check_keys("s3://bucket?profile=ci", "AKIDCI", "s3cret/ci", NULL);
}

TEST(s3_settings, the_file_of_keys_may_be_elsewhere)
{
	forget_aws();
	write_home("credentials", credentials);
	write_text("mounted", "[default]\naws_access_key_id = AKIDMNT\n"
	                      "aws_secret_access_key = s3cret/mnt\n");
	SYS(symlink("mounted", "link"));
	set("AWS_SHARED_CREDENTIALS_FILE", "link");
	check_keys("s3://bucket", "AKIDMNT", "s3cret/mnt", NULL);
	set("AWS_SHARED_CREDENTIALS_FILE", "");
	check_keys("s3://bucket", "AKIDONE", "s3cret/one=", NULL);
}

TEST(s3_settings, without_keys_it_says_where_they_were_looked_for)
{
	forget_aws();
	check_refusal("s3://bucket", TKB_ERR_DENIED,
	              text("no AWS_ACCESS_KEY_ID in the environment, no keys "
	                   "of the profile 'default' in "
	                   "'%s/.aws/credentials', and no role of this "
	                   "machine: AWS_EC2_METADATA_DISABLED is set "
	                   "(anonymous=true does without)",
	                   test_folder()));
	write_home("credentials", credentials);
	check_refusal("s3://bucket?profile=none", TKB_ERR_DENIED,
	              text("there are no credentials: no keys of the profile "
	                   "'none' in '%s/.aws/credentials'",
	                   test_folder()));
	check_refusal("s3://bucket?profile=half", TKB_ERR_DENIED,
	              "no keys of the profile 'half'");
	SYS(unsetenv("HOME"));
	check_refusal("s3://bucket", TKB_ERR_DENIED, "~/.aws/credentials");
}

TEST(s3_settings, what_is_no_file_of_keys_is_refused_and_not_waited_for)
{
	BUF(large, 8 * TKB_MIB);

	forget_aws();
	SYS(mkdir("folder", 0777));
	SYS(mkfifo("pipe", 0666));
	while (large.size <= TKB_MIB)
		tkb_buf_add_text(&large, "# nothing to be seen in here\n");
	tkb_buf_add_text(&large, credentials);
	write_file("large", tkb_buf_bytes(&large));
	set("AWS_SHARED_CREDENTIALS_FILE", "folder");
	check_unopened("s3://bucket", TKB_ERR_DENIED,
	               "'folder' is not a file of settings");
	set("AWS_SHARED_CREDENTIALS_FILE", "pipe");
	check_unopened("s3://bucket", TKB_ERR_DENIED,
	               "'pipe' is not a file of settings");
	set("AWS_SHARED_CREDENTIALS_FILE", "large");
	check_unopened("s3://bucket", TKB_ERR_DENIED,
	               "'large' is not a file of settings");
	set("AWS_SHARED_CREDENTIALS_FILE", "folder/none");
	check_refusal("s3://bucket", TKB_ERR_DENIED, "profile 'default'");
	set("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
	check_refusal("s3://bucket", TKB_ERR_DENIED, "profile 'default'");
}

TEST(s3_settings, a_file_of_keys_that_is_not_ours_is_named)
{
	if (geteuid() == 0)
		skip();
	forget_aws();
	write_home("credentials", credentials);
	SYS(chmod(".aws/credentials", 0));
	check_unopened("s3://bucket", TKB_ERR_DENIED,
	               "/.aws/credentials': Permission denied");
}

TEST(s3_settings, a_key_that_would_break_a_header_is_refused)
{
	static const char *const secrets[] = { "s3cret\nx-evil: 1", "s3cret x",
		                               "s3cret\r", "s3cret\x80" };

	forget_aws();
	for (size_t i = 0; i < TKB_COUNT_OF(secrets); i++) {
		set_keys("AKIDENV", secrets[i], NULL);
		check_unopened(
			"s3://bucket", TKB_ERR_DENIED,
			"AWS_SECRET_ACCESS_KEY has a character that is not");
		set_keys("AKIDENV", "s3cret/env", secrets[i]);
		check_unopened("s3://bucket", TKB_ERR_DENIED,
		               "AWS_SESSION_TOKEN has a character that is not");
	}
}

static void read_site(const char *text_, struct tkb_remote_url **url,
                      struct tkb_s3_site *site)
{
	parse(text_, url);
	OK(tkb_s3_site_read(*url, site, ERR));
}

static void check_region(const char *text_, const char *region)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	TKB_AUTO(tkb_s3_site_release) struct tkb_s3_site site = { 0 };

	read_site(text_, &url, &site);
	CHECK_STR(site.region, region);
}

TEST(s3_settings, the_region_comes_from_the_nearest_place)
{
	forget_aws();
	check_region("s3://bucket", "us-east-1");
	write_home("config", "[default]\nregion = sa-east-1\n"
	                     "[profile ci]\ns3 =\n  region = no\n"
	                     "region = ca-central-1\n"
	                     "[ci]\nregion = no\n");
	check_region("s3://bucket", "sa-east-1");
	check_region("s3://bucket?profile=ci", "ca-central-1");
	check_region("s3://bucket?profile=none", "us-east-1");
	set("AWS_PROFILE", "ci");
	check_region("s3://bucket", "ca-central-1");
	write_text("other", "[profile ci]\nregion = af-south-1\n");
	set("AWS_CONFIG_FILE", "other");
	check_region("s3://bucket", "af-south-1");
	set("AWS_DEFAULT_REGION", "eu-north-1");
	check_region("s3://bucket", "eu-north-1");
	set("AWS_REGION", "eu-west-3");
	check_region("s3://bucket", "eu-west-3");
	check_region("s3://bucket?region=ap-east-1", "ap-east-1");
	write_text("other", "[profile default]\nregion = me-south-1\n");
	SYS(unsetenv("AWS_REGION"));
	SYS(unsetenv("AWS_DEFAULT_REGION"));
	SYS(unsetenv("AWS_PROFILE"));
	check_region("s3://bucket", "me-south-1");
}

TEST(s3_settings, the_region_is_not_guessed_where_its_file_cannot_be_named)
{
	char path[5000];

	forget_aws();
	set_keys("AKIDENV", "s3cret/env", NULL);
	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	set("AWS_CONFIG_FILE", path);
	check_unopened("s3://bucket", TKB_ERR_TOO_LARGE, "more than the limit");
}

static void check_site(const char *text_, const char *base, const char *path,
                       const char *prefix)
{
	TKB_AUTO(tkb_url_free_at) struct tkb_remote_url *url = NULL;
	TKB_AUTO(tkb_s3_site_release) struct tkb_s3_site site = { 0 };

	read_site(text_, &url, &site);
	CHECK_STR(site.base, base);
	CHECK_STR(strstr(site.base, "//") + 2, site.host);
	CHECK_STR(site.path, path);
	CHECK_STR(site.prefix, prefix);
}

TEST(s3_settings, a_bucket_is_a_host_or_a_path)
{
	static const struct {
		const char *url;
		const char *base;
		const char *path;
		const char *prefix;
	} cases[] = {
		{ "s3://b-1", "https://b-1.s3.us-east-1.amazonaws.com", "",
		  "" },
		{ "s3://1234/x", "https://1234.s3.us-east-1.amazonaws.com", "",
		  "x/" },
		{ "s3://b/", "https://b.s3.us-east-1.amazonaws.com", "", "" },
		{ "s3://b//x/y/?region=eu-west-1",
		  "https://b.s3.eu-west-1.amazonaws.com", "", "x/y/" },
		{ "s3://b/x%20y+z", "https://b.s3.us-east-1.amazonaws.com", "",
		  "x y+z/" },
		{ "s3://b.c/x", "https://s3.us-east-1.amazonaws.com", "/b.c",
		  "x/" },
		{ "s3://b?path-style=true",
		  "https://s3.us-east-1.amazonaws.com", "/b", "" },
		{ "s3://b?region=cn-north-1",
		  "https://b.s3.cn-north-1.amazonaws.com.cn", "", "" },
		{ "s3://b?endpoint=http://127.0.0.1:9000",
		  "http://127.0.0.1:9000", "/b", "" },
		{ "s3://b/x?endpoint=https://MinIO.Example:443/",
		  "https://minio.example", "/b", "x/" },
		{ "s3://b?endpoint=http://minio:80", "http://minio", "/b", "" },
		{ "s3://b?endpoint=http://minio:443", "http://minio:443", "/b",
		  "" },
		{ "s3://b?endpoint=https://minio:80", "https://minio:80", "/b",
		  "" },
		{ "s3://b?endpoint=http://[::1]:9000", "http://[::1]:9000",
		  "/b", "" },
		{ "s3://b?endpoint=https://minio&path-style=false",
		  "https://b.minio", "", "" },
	};

	forget_aws();
	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_site(cases[i].url, cases[i].base, cases[i].path,
		           cases[i].prefix);
	set("AWS_ENDPOINT_URL", "http://all:1");
	check_site("s3://b", "http://all:1", "/b", "");
	set("AWS_ENDPOINT_URL_S3", "http://s3:2");
	check_site("s3://b", "http://s3:2", "/b", "");
	check_site("s3://b?endpoint=http://url:3", "http://url:3", "/b", "");
}

TEST(s3_settings, urls_that_make_no_sense_are_refused)
{
	static const struct {
		const char *url;
		const char *part;
	} cases[] = {
		{ "s3://", "'' cannot be a bucket's name" },
		{ "s3:///x", "'' cannot be a bucket's name" },
		{ "s3://b%2Fc", "host is not a valid name" },
		{ "s3://.b", "'.b' cannot be a bucket's name" },
		{ "s3://b@c:9000/x", "holds no credentials" },
		{ "s3://AKID:s3cret@b", "holds no credentials" },
		{ "s3://:s3cret@b", "holds no credentials" },
		{ "s3://b:9000", "the server goes into 'endpoint'" },
		{ "s3://b/x/../y", "a part that is '.' or '..'" },
		{ "s3://b/./x", "a part that is '.' or '..'" },
		{ "s3://b/..", "a part that is '.' or '..'" },
		{ "s3://b?path-style=yes", "'path-style' wants 'true'" },
		{ "s3://b?anonymous=1", "'anonymous' wants 'true'" },
		{ "s3://b?verify=no", "'verify' wants 'true'" },
		{ "s3://b?region=", "'' cannot be a region's name" },
		{ "s3://b?region=x.evil", "cannot be a region's name" },
		{ "s3://b?region=x/y", "cannot be a region's name" },
		{ "s3://b?endpoint=", "the endpoint wants" },
		{ "s3://b?endpoint=minio", "the endpoint wants" },
		{ "s3://b?endpoint=ftp://minio", "the endpoint wants" },
		{ "s3://b?endpoint=http://", "the endpoint wants" },
		{ "s3://b?endpoint=http://m/x", "the endpoint wants" },
		{ "s3://b?endpoint=http://m?x=y", "the endpoint wants" },
		{ "s3://b?endpoint=http://a:s3cret@m", "the endpoint wants" },
		{ "s3://b?endpoint=http://m%20x", "the endpoint wants" },
	};

	forget_aws();
	set_keys("AKIDENV", "s3cret/env", NULL);
	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_unopened(cases[i].url, TKB_ERR_INVALID, cases[i].part);
	check_unopened(text("s3://b/%0725d", 0), TKB_ERR_INVALID,
	               "longer than 724 bytes");
	check_unopened(text("s3://%0256d", 0), TKB_ERR_INVALID,
	               "cannot be a bucket's name");
}

TEST(s3_settings, the_public_functions_take_all_parameters)
{
	struct tkb_remote *remote = must_open_remote(
		"s3://b/x?endpoint=https://minio&region=r-1&"
		"path-style=true&profile=ci&anonymous=false&"
		"cafile=ca.pem&cert=c.pem&key=k.pem&verify=true&"
		"server-name=s3&timeout=5s&mode=ro",
		NULL);

	FAILS(tkb_remote_open("s3://b?ttl=1d", NULL, &remote, ERR),
	      TKB_ERR_INVALID, "knows no parameter 'ttl'");
}

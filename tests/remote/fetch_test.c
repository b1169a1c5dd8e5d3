/* SPDX-License-Identifier: Apache-2.0 */

#include "fake_http.h"
#include "spy.h"

/* Blobs whose bytes end before all are there, though nothing failed. */

enum {
	SIZE = 100
};

static struct tkb_remote *put_far(struct tkb_digest *digest_out)
{
	struct tkb_remote *remote =
		open_spy(text("spy://%s/far", test_folder()));
	const struct tkb_bytes bytes = make_bytes(SIZE, 1);
	const struct tkb_blob blob = { bytes.size, tkb_memory_source(&bytes) };

	OK(tkb_remote_put(remote, &blob, digest_out, ERR));
	spy_reset();
	return remote;
}

TEST(fetch, of_a_blob_that_is_cut_goes_on_where_it_was_cut)
{
	BUF(got, SIZE);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_digest digest;
	struct tkb_remote *remote = put_far(&digest);

	spy.get_size = SIZE / 2;
	OK(tkb_remote_get(remote, &digest, &sink, ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), make_bytes(SIZE, 1)));
	CHECK_INT(spy_count(SPY_GET), 2);
}

TEST(fetch, of_a_blob_that_is_cut_each_time_fails_as_a_transfer)
{
	BUF(got, SIZE);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_digest digest;
	struct tkb_remote *remote = put_far(&digest);

	spy.get_size = SIZE / 10;
	FAILS(tkb_remote_get(remote, &digest, &sink, ERR), TKB_ERR_UNAVAILABLE,
	      "its answer ended too early");
	CHECK_INT(spy_count(SPY_GET), 3);
	CHECK_INT(got.size, 0);
}

TEST(fetch, of_a_damaged_blob_is_not_tried_again)
{
	BUF(got, SIZE);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_digest digest;
	struct tkb_remote *remote = put_far(&digest);

	const char *hex = hex_of(&digest);
	write_text(text("far/cas/%.2s/%s", hex, hex), "short");
	FAILS(tkb_remote_get(remote, &digest, &sink, ERR), TKB_ERR_CORRUPT,
	      "has another digest");
	CHECK_INT(spy_count(SPY_GET), 1);
}

/* What a server says of a blob's size, and in a GET that ends early. */
static void check_cut(const char *head, unsigned gets, int status,
                      const char *part)
{
	const struct web_answer answers[] = {
		ANSWERED("HEAD /cas/", head),
		ANSWERED("GET /cas/",
		         "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcd"),
	};
	struct server server = start_script(answers, 2);
	BUF(got, SIZE);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_remote *remote =
		must_open_remote(http_url(&server, ""), NULL);
	const struct tkb_digest digest = made_up(1);
	const char *at;
	unsigned count = 0;

	FAILS(tkb_remote_get(remote, &digest, &sink, ERR), status, part);
	for (at = strstr(requests_so_far(), "GET "); at != NULL;
	     at = strstr(at + 1, "GET "))
		count++;
	CHECK_INT(count, gets);
}

TEST(fetch, of_a_body_without_a_length_is_held_against_the_size)
{
	check_cut("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", 3,
	          TKB_ERR_UNAVAILABLE, "its answer ended too early");
	check_cut("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", 1,
	          TKB_ERR_CORRUPT, "has another digest");
	/* The second one finds no more. */
	check_cut("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 2,
	          TKB_ERR_CORRUPT, "has another digest");
}

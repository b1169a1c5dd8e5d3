/* SPDX-License-Identifier: Apache-2.0 */
#include "member_name.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

/* Messages show at most so many bytes of a name. */
#define SHOWN_LENGTH 200

static bool is_text(const char *raw)
{
	struct tkb_bytes rest = tkb_text(raw);
	uint32_t code = 0;

	while (rest.size != 0) {
		const size_t length = tkb_utf8_decode(rest, &code);

		if (length == 0 || !tkb_utf8_is_harmless(code))
			return false;
		rest = tkb_bytes_slice(rest, length, rest.size);
	}
	return true;
}

static int refuse_name(struct tkb_error *err, int status, const char *raw,
                       const char *reason)
{
	return tkb_fail(err, status, "'%.*s' %s", SHOWN_LENGTH, raw, reason);
}

static int add_part(const char *raw, const char *part, size_t length,
                    struct member_name *out, struct tkb_error *err)
{
	static const char whiteout[] = ".wh.";
	const size_t used = strlen(out->text);

	if (length == 2 && strncmp(part, "..", length) == 0)
		return refuse_name(err, TKB_ERR_CORRUPT, raw,
		                   "leads out of the archive");
	if (strncmp(part, whiteout, strlen(whiteout)) == 0)
		return refuse_name(
			err, TKB_ERR_CORRUPT, raw,
			"removes a file of the layers below this one: "
			"unpack the whole image, and collect that");
	if (length > ARCHIVE_NAME_LIMIT ||
	    used + length + 2 > sizeof(out->text))
		return refuse_name(err, TKB_ERR_TOO_LARGE, raw,
		                   "is too long for a path");
	if (used != 0)
		out->text[used] = '/';
	memcpy(out->text + used + (used != 0), part, length);
	out->text[used + (used != 0) + length] = '\0';
	return 0;
}

int member_name_read(const char *raw, struct member_name *out,
                     struct tkb_error *err)
{
	const char *part = raw;
	unsigned depth = 0;
	int rc = 0;

	out->text[0] = '\0';
	if (raw[0] == '\0')
		return tkb_fail(err, TKB_ERR_CORRUPT, "an entry has no name");
	if (raw[0] == '/')
		return refuse_name(err, TKB_ERR_CORRUPT, raw, "is absolute");
	if (strlen(raw) > ARCHIVE_PATH_LIMIT)
		return refuse_name(err, TKB_ERR_TOO_LARGE, raw,
		                   "is too long for a path");
	if (!is_text(raw))
		return refuse_name(
			err, TKB_ERR_CORRUPT, raw,
			"is not a valid name: it has invisible characters");
	while (*part != '\0' && rc == 0) {
		const size_t length = strcspn(part, "/");

		if (length != 0 && !(length == 1 && *part == '.')) {
			depth++;
			rc = add_part(raw, part, length, out, err);
		}
		part += length;
		part += *part == '/';
	}
	if (rc == 0 && depth > ARCHIVE_DEPTH_LIMIT)
		return refuse_name(err, TKB_ERR_TOO_LARGE, raw,
		                   "lies in too many folders");
	return rc;
}

bool member_name_stays(const struct member_name *name, const char *target)
{
	const char *part = target;
	int depth = 0;

	if (*target == '/')
		return false;
	for (const char *c = name->text; *c != '\0'; c++)
		depth += *c == '/';
	while (*part != '\0' && depth >= 0) {
		const size_t length = strcspn(part, "/");

		if (length == 2 && strncmp(part, "..", length) == 0)
			depth--;
		else if (length != 0 && !(length == 1 && *part == '.'))
			depth++;
		part += length;
		part += *part == '/';
	}
	return depth >= 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_name.h"

#include <stdio.h>
#include <string.h>

#define BY_DIGEST "@sha256:"

static bool is_plain(char byte, bool is_first)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') ||
	       (!is_first && (byte == '.' || byte == '-'));
}

static int make_tag(const char *ref, char tag[IMAGE_TAG_SIZE],
                    struct tkb_error *err)
{
	size_t length = 0;

	for (const char *at = ref; *at != '\0'; at++) {
		char part[4] = { *at };

		if (*at == '/')
			(void)snprintf(part, sizeof(part), "__");
		else if (!is_plain(*at, at == ref))
			(void)snprintf(part, sizeof(part), "_%02x",
			               (unsigned char)*at);
		if (length + strlen(part) >= IMAGE_TAG_SIZE)
			return cli_error(err, TKB_ERR_INVALID,
			                 "the ref '%.100s' is too long for the "
			                 "tag of an image",
			                 ref);
		length += (size_t)snprintf(tag + length, sizeof(part), "%s",
		                           part);
	}
	return 0;
}

bool image_name_is_url(const char *text)
{
	return strncmp(text, "oci://", 6) == 0 ||
	       strncmp(text, "oci+http://", 11) == 0;
}

int image_name_of_ref(const struct remote_use *use, const char *ref,
                      char tag[IMAGE_TAG_SIZE], char *name_out, size_t size,
                      struct tkb_error *err)
{
	const struct remote_library *library = &use->library;
	const char *url = NULL;
	const char *place;
	int rc;

	for (size_t i = library->tier_count(use->remote); i-- > 0;) {
		const char *name = library->tier_name(use->remote, i);

		if (image_name_is_url(name))
			url = name;
	}
	if (url == NULL)
		return cli_error(err, TKB_ERR_UNSUPPORTED,
		                 "remote '%s' keeps no images: a registry "
		                 "does, as oci://host/name",
		                 library->tier_name(use->remote, 0));
	rc = make_tag(ref, tag, err);
	if (rc < 0)
		return rc;
	place = strstr(url, "://") + 3;
	(void)snprintf(name_out, size, "%.*s:%s", (int)strcspn(place, "?"),
	               place, tag);
	return 0;
}

int image_name_split(const char *text, char url[IMAGE_URL_SIZE],
                     char name[IMAGE_TAG_SIZE], struct tkb_error *err)
{
	const size_t end = strcspn(text, "?");
	const char *at = memchr(text + 6, '/', end > 6 ? end - 6 : 0);
	const char *last = NULL; /* start of the image's name */
	size_t whole = end;      /* length of the part before it */
	size_t length;

	for (; at != NULL && at < text + end; at++) {
		if (strncmp(at, BY_DIGEST, strlen(BY_DIGEST)) == 0) {
			whole = last == NULL ? (size_t)(at - text) : whole;
			last = at;
			break;
		}
		if (*at == ':') {
			whole = (size_t)(at - text);
			last = at;
		} else if (*at == '/') {
			whole = end;
			last = NULL;
		}
	}
	length = last == NULL ? 0 : (size_t)(text + end - last - 1);
	if (length >= IMAGE_TAG_SIZE ||
	    snprintf(url, IMAGE_URL_SIZE, "%.*s%s", (int)whole, text,
	             text + end) >= IMAGE_URL_SIZE)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.200s' can be no name of an image", text);
	(void)snprintf(name, IMAGE_TAG_SIZE, "%.*s",
	               (int)(last == NULL ? strlen("latest") : length),
	               last == NULL ? "latest" : last + 1);
	return 0;
}

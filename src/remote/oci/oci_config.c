/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/net/secret.h"
#include "remote/oci/oci_keys.h"
#include "text/json_walk.h"

/* Docker's and Podman's credential files. */

enum {
	FILE_LIMIT = 1024 * 1024,
	PATH_LIMIT = 4096,
	NAME_LIMIT = 256
};

/* What a file has for the registry; the longest matching name wins. */
struct found {
	const char *registry;
	const char *repository;
	struct tkb_oci_keys keys;
	size_t basic_size; /* lengths of the matching names; 0: none */
	size_t identity_size;
	size_t helper_size;
	char helper[NAME_LIMIT]; /* for this registry; "": none */
	char store[NAME_LIMIT];  /* for all registries */
};

static void found_release(struct found *found)
{
	tkb_oci_keys_release(&found->keys);
}

/*
 * The number of bytes of `name` (`size` bytes) that match the registry:
 * "host:port", and for Podman also part of the repository's name. Old entries
 * of Docker are "https://host/v1/". 0: no match.
 */
static size_t fit(const struct found *found, const char *name, size_t size)
{
	const size_t length = strlen(found->registry);

	if (size > 8 && memcmp(name, "https://", 8) == 0) {
		name += 8;
		size -= 8;
	} else if (size > 7 && memcmp(name, "http://", 7) == 0) {
		name += 7;
		size -= 7;
	}
	while (size > 0 && name[size - 1] == '/')
		size--;
	if (size > 3 && (memcmp(name + size - 3, "/v1", 3) == 0 ||
	                 memcmp(name + size - 3, "/v2", 3) == 0))
		size -= 3;
	if (size < length || memcmp(name, found->registry, length) != 0)
		return 0;
	if (size == length)
		return size;
	name += length + 1;
	size -= length + 1;
	if (name[-1] != '/' || strlen(found->repository) < size ||
	    memcmp(found->repository, name, size) != 0 ||
	    (found->repository[size] != '/' && found->repository[size] != '\0'))
		return 0;
	return length + 1 + size;
}

static int keep_secret(char **out, const char *value, struct tkb_error *err)
{
	tkb_secret_text_release(out);
	*out = strdup(value);
	return *out == NULL ? tkb_fail_nomem(err) : 0;
}

static bool ends_with(const char *path, const char *end, size_t *size_out)
{
	const size_t size = strlen(path);
	const size_t length = strlen(end);

	if (size < length || strcmp(path + size - length, end) != 0)
		return false;
	*size_out = size - length;
	return true;
}

static int take_config_value(void *self, const char *path,
                             enum tkb_json_type type, const char *value,
                             struct tkb_error *err)
{
	static const char auths[] = "auths/";
	static const char helpers[] = "credHelpers/";
	struct found *found = self;
	size_t size;

	if (type != TKB_JSON_STRING || value[0] == '\0')
		return 0;
	if (strcmp(path, "credsStore") == 0) {
		(void)snprintf(found->store, NAME_LIMIT, "%s", value);
	} else if (tkb_begins_with(path, helpers)) {
		path += strlen(helpers);
		size = fit(found, path, strlen(path));
		if (size > found->helper_size) {
			found->helper_size = size;
			(void)snprintf(found->helper, NAME_LIMIT, "%s", value);
		}
	} else if (tkb_begins_with(path, auths)) {
		path += strlen(auths);
		if (ends_with(path, "/auth", &size)) {
			size = fit(found, path, size);
			if (size > found->basic_size) {
				found->basic_size = size;
				return keep_secret(&found->keys.basic, value,
				                   err);
			}
		} else if (ends_with(path, "/identitytoken", &size)) {
			size = fit(found, path, size);
			if (size > found->identity_size) {
				found->identity_size = size;
				return keep_secret(&found->keys.identity, value,
				                   err);
			}
		}
	}
	return 0;
}

static bool is_base64(const char *text)
{
	return text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                         "abcdefghijklmnopqrstuvwxyz0123456789+/=")] ==
	       '\0';
}

/* Look into one file. TKB_MISS: it has no credentials for the registry. */
static int look_into(const char *path, const char *registry,
                     const char *repository, const struct tkb_op_limits *limits,
                     struct tkb_oci_keys *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf text = TKB_BUF_INIT(FILE_LIMIT + 1);
	TKB_AUTO(found_release)
	struct found found = { .registry = registry, .repository = repository };
	const struct tkb_json_walker walker = { take_config_value, &found };
	int rc;

	rc = tkb_secret_file_read(path, "credentials", FILE_LIMIT, &text, err);
	if (rc != 0)
		return rc;
	rc = tkb_json_walk(tkb_buf_bytes(&text), &walker, NULL);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 ||
	    (found.keys.basic != NULL && !is_base64(found.keys.basic)))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "'%.200s' is not a file of credentials", path);
	if (found.helper_size != 0)
		return tkb_oci_helper_ask(found.helper, registry, limits, out,
		                          err);
	if (found.basic_size != 0 || found.identity_size != 0) {
		*out = found.keys;
		found.keys = (struct tkb_oci_keys){ NULL, NULL };
		return 0;
	}
	if (found.store[0] != '\0')
		return tkb_oci_helper_ask(found.store, registry, limits, out,
		                          err);
	return TKB_MISS;
}

/* A variable, and the rest of the path after its value. */
struct place {
	const char *variable;
	const char *rest;
};

int tkb_oci_keys_find(const char *registry, const char *repository,
                      const struct tkb_op_limits *limits,
                      struct tkb_oci_keys *out, struct tkb_error *err)
{
	static const struct place places[] = {
		{ "REGISTRY_AUTH_FILE", "" },
		{ "XDG_RUNTIME_DIR", "/containers/auth.json" },
		{ "DOCKER_CONFIG", "/config.json" },
		{ "HOME", "/.docker/config.json" },
	};
	bool has_docker = false;

	for (size_t i = 0; i < TKB_COUNT_OF(places); i++) {
		const char *value = getenv(places[i].variable);
		char path[PATH_LIMIT];
		int rc;

		if (value == NULL || value[0] == '\0' ||
		    (has_docker && strcmp(places[i].variable, "HOME") == 0))
			continue;
		has_docker |= strcmp(places[i].variable, "DOCKER_CONFIG") == 0;
		if (snprintf(path, sizeof(path), "%s%s", value,
		             places[i].rest) >= (int)sizeof(path))
			continue;
		rc = look_into(path, registry, repository, limits, out, err);
		if (rc != TKB_MISS)
			return rc;
	}
	return 0;
}

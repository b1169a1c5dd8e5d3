/* SPDX-License-Identifier: Apache-2.0 */
#include "base/struct.h"

/* No struct is larger than this; an uninitialised size most likely is. */
#define SIZE_LIMIT ((size_t)4096)

static size_t given_size(const void *given)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	return size;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int tkb_struct_check(const struct tkb_struct_shape *shape, const void *given,
                     struct tkb_error *err)
{
	const size_t size = given == NULL ? shape->size : given_size(given);

	if (size == 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "struct_size of a struct %s is not set: set it "
		                "to the struct's sizeof",
		                shape->name);
	if (size < shape->first_size)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "struct_size of a struct %s is %zu, and no "
		                "version of it is smaller than %zu bytes",
		                shape->name, size, shape->first_size);
	if (size > SIZE_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "struct_size of a struct %s is %zu, more than "
		                "any version of it will have",
		                shape->name, size);
	return 0;
}

int tkb_struct_read(const struct tkb_struct_shape *shape, void *own,
                    const void *given, struct tkb_error *err)
{
	const unsigned char *bytes = given;
	const size_t size = given == NULL ? 0 : given_size(given);
	int rc;

	rc = tkb_struct_check(shape, given, err);
	if (rc < 0)
		return rc;
	for (size_t i = shape->size; i < size; i++) {
		if (bytes[i] != 0)
			return tkb_fail(err, TKB_ERR_UNSUPPORTED,
			                "a struct %s asks for something that "
			                "this libtkbundle does not know",
			                shape->name);
	}
	memset(own, 0, shape->size);
	if (given != NULL)
		memcpy(own, given, smaller(size, shape->size));
	memcpy(own, &shape->size, sizeof(shape->size));
	return 0;
}

void tkb_struct_write(const struct tkb_struct_shape *shape, void *given,
                      const void *own)
{
	unsigned char *bytes = given;
	size_t size;
	size_t known;

	if (given == NULL)
		return;
	size = given_size(given);
	known = smaller(size, shape->size);
	memcpy(bytes + sizeof(size), (const unsigned char *)own + sizeof(size),
	       known - sizeof(size));
	memset(bytes + known, 0, size - known);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/tkbundle.h>

#include <openssl/opensslv.h>
#include <zstd.h>

#define TEXT_OF(number) TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number) #number

const char *tkb_version(void)
{
	return TEXT_OF(TKB_VERSION_MAJOR) "." TEXT_OF(
		TKB_VERSION_MINOR) "." TEXT_OF(TKB_VERSION_PATCH);
}

const char *tkb_version_libraries(void)
{
	return "libzstd " ZSTD_VERSION_STRING ", " OPENSSL_VERSION_TEXT;
}

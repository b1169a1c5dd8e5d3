/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/tkbundle.h>

#include <curl/curlver.h>
#include <expat.h>
#include <hiredis.h>
#include <openssl/opensslv.h>
#include <zstd.h>

#define TEXT_OF(number) TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number) #number
#define VERSION_OF(major, minor, patch)                                        \
	TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

#define HIREDIS_VERSION VERSION_OF(HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH)
#define EXPAT_VERSION                                                          \
	VERSION_OF(XML_MAJOR_VERSION, XML_MINOR_VERSION, XML_MICRO_VERSION)

const char *tkb_version(void)
{
	return VERSION_OF(TKB_VERSION_MAJOR, TKB_VERSION_MINOR,
	                  TKB_VERSION_PATCH);
}

const char *tkb_version_libraries(void)
{
	return "libzstd " ZSTD_VERSION_STRING ", " OPENSSL_VERSION_TEXT
	       ", libcurl " LIBCURL_VERSION ", hiredis " HIREDIS_VERSION
	       ", expat " EXPAT_VERSION;
}

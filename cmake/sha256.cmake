# SPDX-License-Identifier: Apache-2.0
#
# To load libcrypto takes 0.6 ms, a third of the shortest emit, and all that
# libtkbundle wants of it is SHA-256. Where an archive lies beside the shared
# libcrypto, that part of it is linked in; elsewhere libtkbundle loads libcrypto.

option(TKB_SHA256_ARCHIVE "Link SHA-256 in from libcrypto.a, if it is there" ON)
list(GET CRYPTO_LINK_LIBRARIES 0 sha256_archive)
string(REGEX REPLACE "[.]so$" ".a" sha256_archive "${sha256_archive}")
if(TKB_SHA256_ARCHIVE AND EXISTS ${sha256_archive})
	try_compile(TKB_SHA256_ARCHIVE_FITS
		SOURCES ${PROJECT_SOURCE_DIR}/cmake/sha256.c
		CMAKE_FLAGS -DCMAKE_POSITION_INDEPENDENT_CODE=ON
			-DINCLUDE_DIRECTORIES=${CRYPTO_INCLUDE_DIRS}
		LINK_OPTIONS -shared LINKER:-z,text
		LINK_LIBRARIES ${sha256_archive})
endif()
if(NOT TKB_SHA256_ARCHIVE OR NOT TKB_SHA256_ARCHIVE_FITS)
	set(sha256_archive)
endif()

# SPDX-License-Identifier: Apache-2.0
#
# The two libraries, each shared and static: libtkbundle needs libzstd, and of
# libcrypto SHA-256 (sha256.cmake); libtkbundle-remote needs libtkbundle of the same version, and
# the libraries for HTTP, TLS, Redis and XML.

# Counts what breaks programs that were built before.
set(TKB_ABI 1)
option(TKB_STATIC "Build static libraries, too" ON)

# Give the shared library `name` the version, and the symbols in `list`; others get
# none but those that the objects of the further arguments use of it.
function(tkb_library name list)
	set(map ${PROJECT_BINARY_DIR}/${name}.map)
	set(users)
	foreach(user ${ARGN})
		list(APPEND users $<TARGET_OBJECTS:${user}>)
	endforeach()
	add_custom_command(OUTPUT ${map}
		COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/map.sh ${map} ${list}
			TKBUNDLE_${TKB_ABI}
			TKBUNDLE_PRIVATE_${PROJECT_VERSION}
			${CMAKE_NM} ${users}
		DEPENDS ${list} ${PROJECT_SOURCE_DIR}/cmake/map.sh ${users}
		COMMAND_EXPAND_LISTS VERBATIM)
	target_sources(${name} PRIVATE ${map})
	target_link_options(${name} PRIVATE
		-Wl,--version-script=${map})
	# A sanitizer's symbols come with the program.
	if(NOT TKB_SANITIZE)
		target_link_options(${name} PRIVATE -Wl,-z,defs)
	endif()
	set_target_properties(${name} PROPERTIES
		LINK_DEPENDS ${map}
		VERSION ${TKB_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH}
		SOVERSION ${TKB_ABI})
endfunction()

function(tkb_headers target)
	target_include_directories(${target} INTERFACE
		$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
		$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

add_library(tkbundle SHARED)
add_library(tkbundle::tkbundle ALIAS tkbundle)
include(cmake/sha256.cmake)
target_link_libraries(tkbundle PRIVATE ${sha256_archive} tkb_objects)
target_link_options(tkbundle PRIVATE LINKER:--as-needed)
tkb_headers(tkbundle)
tkb_library(tkbundle ${PROJECT_SOURCE_DIR}/src/tkbundle.symbols
	tkb_remote_objects)

add_library(tkbundle_remote SHARED)
add_library(tkbundle::remote ALIAS tkbundle_remote)
target_link_libraries(tkbundle_remote
	PUBLIC tkbundle PRIVATE tkb_remote_objects)
set_target_properties(tkbundle_remote PROPERTIES
	OUTPUT_NAME tkbundle-remote EXPORT_NAME remote)
tkb_library(tkbundle_remote ${PROJECT_SOURCE_DIR}/src/tkbundle-remote.symbols)

if(TKB_STATIC)
	add_library(tkbundle_static STATIC $<TARGET_OBJECTS:tkb_objects>)
	add_library(tkbundle::tkbundle_static ALIAS tkbundle_static)
	target_link_libraries(tkbundle_static
		PRIVATE Threads::Threads ${CMAKE_DL_LIBS}
			PkgConfig::ZSTD PkgConfig::CRYPTO)
	tkb_headers(tkbundle_static)
	set_target_properties(tkbundle_static PROPERTIES OUTPUT_NAME tkbundle)

	add_library(tkbundle_remote_static STATIC
		$<TARGET_OBJECTS:tkb_remote_objects>)
	add_library(tkbundle::remote_static ALIAS tkbundle_remote_static)
	target_link_libraries(tkbundle_remote_static
		PUBLIC tkbundle_static
		PRIVATE PkgConfig::HIREDIS
			PkgConfig::CURL PkgConfig::EXPAT)
	set_target_properties(tkbundle_remote_static PROPERTIES
		OUTPUT_NAME tkbundle-remote EXPORT_NAME remote_static)
endif()

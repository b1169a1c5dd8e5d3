# SPDX-License-Identifier: Apache-2.0
#
# src/libc has what a libc older than glibc 2.34 lacks. Where one lacks something, all
# of our code sees its header first; libtkbundle has it inside, and the program, too.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_symbol_exists(closefrom unistd.h TKB_LIBC_IS_COMPLETE)
unset(CMAKE_REQUIRED_DEFINITIONS)

add_library(tkb_libc STATIC EXCLUDE_FROM_ALL
	src/libc/calls.c
	src/libc/spawn.c)
set_target_properties(tkb_libc PROPERTIES
	C_VISIBILITY_PRESET hidden
	POSITION_INDEPENDENT_CODE ON)
target_include_directories(tkb_libc PUBLIC ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tkb_libc PRIVATE tkb_warnings)

set(libc_sources)
set(libc_library)
if(NOT TKB_LIBC_IS_COMPLETE)
	set(libc_sources src/libc/calls.c src/libc/spawn.c)
	set(libc_library tkb_libc)
	target_compile_definitions(tkb_warnings INTERFACE TKB_LIBC_LACKS)
	target_compile_options(tkb_warnings INTERFACE
		"SHELL:-include ${PROJECT_SOURCE_DIR}/src/libc/libc.h")
endif()

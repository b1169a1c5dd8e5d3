# SPDX-License-Identifier: Apache-2.0

# src/remote/redis/resp.c, compiled and linked against hiredis 1.x, in programs that
# have everything else from tkb_objects.
add_library(hiredis_1 STATIC
	${TKB_HIREDIS_1}/hiredis/alloc.c ${TKB_HIREDIS_1}/hiredis/async.c
	${TKB_HIREDIS_1}/hiredis/hiredis.c ${TKB_HIREDIS_1}/hiredis/net.c
	${TKB_HIREDIS_1}/hiredis/read.c ${TKB_HIREDIS_1}/hiredis/sds.c
	${TKB_HIREDIS_1}/hiredis/sockcompat.c)
target_compile_definitions(hiredis_1 PRIVATE _GNU_SOURCE)
target_compile_options(hiredis_1 PRIVATE -w)
target_include_directories(hiredis_1 SYSTEM BEFORE INTERFACE ${TKB_HIREDIS_1})

add_library(tkb_resp_hiredis_1 OBJECT ${PROJECT_SOURCE_DIR}/src/remote/redis/resp.c)
target_link_libraries(tkb_resp_hiredis_1 PRIVATE hiredis_1 tkb_warnings)
target_include_directories(tkb_resp_hiredis_1 PRIVATE
	${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

function(tkb_add_hiredis_1 name)
	add_executable(${name} ${ARGN}
		$<TARGET_OBJECTS:tkb_objects>
		$<FILTER:$<TARGET_OBJECTS:tkb_remote_objects>,EXCLUDE,/resp\\.c\\.o$>
		$<TARGET_OBJECTS:tkb_resp_hiredis_1>)
	target_include_directories(${name} PRIVATE
		${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
	target_link_libraries(${name} PRIVATE hiredis_1 Threads::Threads
		${CMAKE_DL_LIBS} PkgConfig::ZSTD PkgConfig::CRYPTO
		PkgConfig::CURL PkgConfig::EXPAT
		PkgConfig::ARCHIVE PkgConfig::CMOCKA tkb_warnings)
endfunction()

tkb_add_hiredis_1(redis_fault_hiredis_1_test redis_fault_test.c)
target_link_libraries(redis_fault_hiredis_1_test PRIVATE tkb_support)
add_test(NAME redis_fault_hiredis_1 COMMAND redis_fault_hiredis_1_test)
set_tests_properties(redis_fault_hiredis_1 PROPERTIES TIMEOUT 300)

set(fuzz ${PROJECT_SOURCE_DIR}/fuzz)
tkb_add_hiredis_1(resp_hiredis_1_replay ${fuzz}/resp_fuzz.c ${fuzz}/fuzz.c
	${fuzz}/peer.c ${fuzz}/replay.c)
target_include_directories(resp_hiredis_1_replay PRIVATE ${fuzz})
target_link_options(resp_hiredis_1_replay PRIVATE
	-Wl,--wrap=tkb_connection_open,--wrap=tkb_connection_close
	-Wl,--wrap=tkb_connection_read,--wrap=tkb_connection_write
	-Wl,--wrap=tkb_connection_is_hung_up)
add_test(NAME fuzz_resp_hiredis_1_replay
	COMMAND resp_hiredis_1_replay ${fuzz}/corpus/resp)
set_tests_properties(fuzz_resp_hiredis_1_replay PROPERTIES TIMEOUT 300)

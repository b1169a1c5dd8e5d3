# SPDX-License-Identifier: Apache-2.0
#
# cmake -DOUT=FILE.h -P worker_sources.cmake -- FILE...
#
# Defines WORKER_SOURCES, a digest of the files, in hex. Their order counts, their
# paths do not.
set(all)
set(is_file FALSE)
foreach(i RANGE 1 ${CMAKE_ARGC})
	if(is_file AND NOT "${CMAKE_ARGV${i}}" STREQUAL "")
		file(SHA256 "${CMAKE_ARGV${i}}" digest)
		string(APPEND all "${digest}")
	elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
		set(is_file TRUE)
	endif()
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING "${digest}" 0 16 digest)
file(WRITE "${OUT}" "#define WORKER_SOURCES \"${digest}\"\n")

# SPDX-License-Identifier: Apache-2.0
#
# cmake -DOUT=FILE.c -P rule_texts.cmake -- FILE.ll...
#
# Files of rules as C. Each line is a string of its own: the standard promises no
# more than 4095 characters for one.
set(files)
set(is_file FALSE)
foreach(i RANGE 1 ${CMAKE_ARGC})
	if(is_file AND NOT "${CMAKE_ARGV${i}}" STREQUAL "")
		list(APPEND files "${CMAKE_ARGV${i}}")
	elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
		set(is_file TRUE)
	endif()
endforeach()

set(arrays)
set(table)
set(number 0)
foreach(file IN LISTS files)
	file(READ "${file}" text)
	get_filename_component(name "${file}" NAME)
	string(REPLACE "\\" "\\\\" text "${text}")
	string(REPLACE "\"" "\\\"" text "${text}")
	string(REPLACE "\t" "\\t" text "${text}")
	string(REPLACE "\n" "\\n\",\n\t\"" text "${text}")
	string(APPEND arrays
		"static const char *const lines_${number}[] = {\n\t\"${text}\"\n};\n\n")
	string(APPEND table
		"\t{ \"${name}\", lines_${number}, "
		"sizeof(lines_${number}) / sizeof(lines_${number}[0]) },\n")
	math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUT}"
	"/* Made by rule_texts.cmake. */\n"
	"#include \"rewrite/rule_texts.h\"\n\n"
	"${arrays}"
	"const struct rule_text rule_texts[] = {\n${table}};\n\n"
	"const size_t rule_text_count = ${number};\n")

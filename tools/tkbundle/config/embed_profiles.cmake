# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE -DFILES=FILE;... -P embed_profiles.cmake: writes each file as a C
# array, and a table of these arrays.
set(code "/* Made by embed_profiles.cmake. */\n#include \"config/builtin_profiles.h\"\n")
set(table "")
foreach(file IN LISTS FILES)
	get_filename_component(name ${file} NAME_WE)
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(APPEND code "static const char ${name}_text[] = { ${bytes} };\n")
	string(APPEND table
		"\t{ \"${name}\", { ${name}_text, sizeof(${name}_text) } },\n")
endforeach()
string(APPEND code "const struct builtin_profile builtin_profiles[] = {\n"
	"${table}\t{ NULL, { NULL, 0 } }\n};\n")
file(WRITE ${OUT} "${code}")

# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE -DFILES=FILE;... -P embed.cmake: writes each file as a C array with
# a terminating zero, named like the file with _ for the dot.
set(code "/* Made by embed.cmake. */\n#include \"page/page_files.h\"\n")
foreach(file IN LISTS FILES)
	get_filename_component(name ${file} NAME)
	string(REPLACE "." "_" name ${name})
	file(READ ${file} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(APPEND code "const char ${name}[] = { ${bytes}0 };\n")
endforeach()
file(WRITE ${OUT} "${code}")

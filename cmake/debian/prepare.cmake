# SPDX-License-Identifier: Apache-2.0
#
# What Debian's policy wants of a package beyond what an install puts there.
# CPack runs this before it packs the components' folders.

# In its place, without its name and time.
function(compress file)
	execute_process(COMMAND gzip -9n "${file}"
		COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# SOURCE_DATE_EPOCH is what it says, where it is set.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(scratch "${CPACK_TOPLEVEL_DIRECTORY}/debian")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
	set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}")
	string(TOUPPER ${component} name)
	set(package ${CPACK_DEBIAN_${name}_PACKAGE_NAME})

	configure_file("${CMAKE_CURRENT_LIST_DIR}/changelog.in"
		"${scratch}/changelog.Debian" @ONLY)
	file(COPY "${CMAKE_CURRENT_LIST_DIR}/copyright"
		"${scratch}/changelog.Debian"
		DESTINATION "${root}/usr/share/doc/${package}"
		NO_SOURCE_PERMISSIONS)
	compress("${root}/usr/share/doc/${package}/changelog.Debian")

	file(GLOB_RECURSE pages "${root}/usr/share/man/*.[1-9]")
	foreach(page IN LISTS pages)
		compress("${page}")
	endforeach()
endforeach()

# Folders are as the umask left them.
execute_process(COMMAND find "${CPACK_TEMPORARY_DIRECTORY}" -type d
	-exec chmod 0755 {} + COMMAND_ERROR_IS_FATAL ANY)

# Debian's zsh does not look into site-functions.
set(zsh "${CPACK_TEMPORARY_DIRECTORY}/program/usr/share/zsh")
file(RENAME "${zsh}/site-functions" "${zsh}/vendor-completions")

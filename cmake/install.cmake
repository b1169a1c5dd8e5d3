# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where. There are six components: program, library
# (libtkbundle), remote (libtkbundle-remote), devel, what is needed to build with
# both libraries, compile, the workers, and archive, what reads archives of others.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

# The program finds its library wherever both have been put together, and where they
# are built. The build has no RPATH of its own: CMake ends that in a colon, which makes
# the loader look into the current folder, too.
set(path_to_library ${CMAKE_INSTALL_FULL_LIBDIR})
cmake_path(RELATIVE_PATH path_to_library
	BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR})
if(NOT TKB_ONE_FILE)
	set_target_properties(tkbundle_program PROPERTIES
		BUILD_WITH_INSTALL_RPATH ON
		INSTALL_RPATH "$ORIGIN/${path_to_library};$ORIGIN")
endif()

install(TARGETS tkbundle_program
	RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# In /usr the loader finds it by itself.
set(programs_in_usr ${CMAKE_INSTALL_BINDIR})
set(libraries_in_usr ${CMAKE_INSTALL_LIBDIR})
cmake_path(ABSOLUTE_PATH programs_in_usr BASE_DIRECTORY /usr)
cmake_path(ABSOLUTE_PATH libraries_in_usr BASE_DIRECTORY /usr)
install(CODE "
	if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
		file(RPATH_REMOVE
			FILE \"\$ENV{DESTDIR}${programs_in_usr}/tkbundle\")
	endif()")

file(GLOB tkb_triton_worker CONFIGURE_DEPENDS
	${PROJECT_SOURCE_DIR}/tools/tkbundle-compile/*.py)
install(TARGETS tkbundle_compile
	RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tkbundle
	COMPONENT compile)
install(FILES ${tkb_triton_worker}
	DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tkbundle
	COMPONENT compile OPTIONAL)
if(TARGET tkbundle_archive)
	install(TARGETS tkbundle_archive
		RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tkbundle
		COMPONENT archive)
endif()

# libtkbundle-remote finds the library beside it, wherever both have been put.
set_target_properties(tkbundle_remote PROPERTIES
	BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
install(TARGETS tkbundle
	EXPORT tkbundle-targets
	LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
	COMPONENT library NAMELINK_COMPONENT devel)
install(TARGETS tkbundle_remote
	EXPORT tkbundle-remote-targets
	LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
	COMPONENT remote NAMELINK_COMPONENT devel)
install(CODE "
	if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
		file(RPATH_REMOVE FILE
			\"\$ENV{DESTDIR}${libraries_in_usr}/$<TARGET_FILE_NAME:tkbundle_remote>\")
	endif()" COMPONENT remote)
# Static libraries have targets of their own: these want what they are linked with
# to be installed for building, too.
set(exports tkbundle-targets tkbundle-remote-targets)
if(TKB_STATIC)
	install(TARGETS tkbundle_static
		EXPORT tkbundle-static-targets
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
		COMPONENT devel)
	install(TARGETS tkbundle_remote_static
		EXPORT tkbundle-remote-static-targets
		ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
		COMPONENT devel)
	list(APPEND exports
		tkbundle-static-targets tkbundle-remote-static-targets)
endif()
install(DIRECTORY include/tkbundle
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
	COMPONENT devel FILES_MATCHING PATTERN "*.h")

# For find_package(tkbundle).
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tkbundle)
configure_package_config_file(cmake/tkbundle-config.cmake.in
	${PROJECT_BINARY_DIR}/cmake/tkbundle-config.cmake
	INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(
	${PROJECT_BINARY_DIR}/cmake/tkbundle-config-version.cmake
	COMPATIBILITY SameMinorVersion)
install(FILES
	${PROJECT_BINARY_DIR}/cmake/tkbundle-config.cmake
	${PROJECT_BINARY_DIR}/cmake/tkbundle-config-version.cmake
	DESTINATION ${package_folder} COMPONENT devel)
foreach(export ${exports})
	install(EXPORT ${export}
		NAMESPACE tkbundle::
		DESTINATION ${package_folder} COMPONENT devel)
endforeach()

# For pkg-config. Its folders are told from where the file lies.
set(prefix ${CMAKE_INSTALL_PREFIX})
set(include_folder ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(library_folder ${CMAKE_INSTALL_FULL_LIBDIR})
cmake_path(RELATIVE_PATH include_folder BASE_DIRECTORY ${prefix})
cmake_path(RELATIVE_PATH library_folder BASE_DIRECTORY ${prefix})
cmake_path(RELATIVE_PATH prefix
	BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
	OUTPUT_VARIABLE path_to_prefix)
foreach(file tkbundle.pc tkbundle-remote.pc)
	configure_file(cmake/${file}.in
		${PROJECT_BINARY_DIR}/cmake/${file} @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/cmake/${file}
		DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
endforeach()

add_subdirectory(man)

# The program finds the profiles of engines there, from its own place.
install(DIRECTORY share/engines
	DESTINATION ${CMAKE_INSTALL_DATADIR}/tkbundle
	FILES_MATCHING PATTERN "*.json")

# Each shell looks for a verb's options in a file that is named its way.
install(FILES completions/tkbundle.bash RENAME tkbundle
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_tkbundle
	DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/tkbundle.fish
	DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

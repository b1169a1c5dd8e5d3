# SPDX-License-Identifier: Apache-2.0
#
# Debian packages, one of each component: `cpack -G DEB` in a release build,
# best configured for the prefix /usr, which gives Debian's library folder.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tkbundle)
set(CPACK_PACKAGE_CONTACT "The tkbundle authors <tkbundle@localhost>")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/prepare.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library remote devel program compile)
if(TARGET tkbundle_archive)
	list(APPEND CPACK_COMPONENTS_ALL archive)
endif()
set(CPACK_COMPONENT_REMOTE_DEPENDS library)
set(CPACK_COMPONENT_DEVEL_DEPENDS library remote)
set(CPACK_COMPONENT_PROGRAM_DEPENDS library remote)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The library itself is found there; what it is in, the components tell.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(about "
Frameworks compile GPU kernels when they first need them, and keep them in
a cache that breaks when it is moved. tkbundle packs the caches of Triton
and of PyTorch's Inductor into one archive that knows no paths, and puts it
back anywhere, whole and verified. It needs no GPU.
")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtkbundle${TKB_ABI})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SOURCE tkbundle)
# A trigger calls ldconfig. To name scripts that do not exist keeps CPack from
# making some, which would leave one behind when the package is removed.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
	${PROJECT_SOURCE_DIR}/cmake/debian/triggers
	${PROJECT_SOURCE_DIR}/cmake/debian/none/postinst
	${PROJECT_SOURCE_DIR}/cmake/debian/none/postrm)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
	"bundles of compiled GPU kernels - shared library${about}
This package has the shared library for caches and bundles.")

set(CPACK_DEBIAN_REMOTE_PACKAGE_NAME libtkbundle-remote${TKB_ABI})
set(CPACK_DEBIAN_REMOTE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_REMOTE_PACKAGE_SOURCE tkbundle)
set(CPACK_DEBIAN_REMOTE_PACKAGE_CONTROL_EXTRA
	${CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA})
set(CPACK_DEBIAN_REMOTE_DESCRIPTION
	"bundles of compiled GPU kernels - shared library for remotes${about}
This package has the shared library that pushes bundles to folders, Redis, S3
and HTTP servers, and pulls them from there.")

set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME libtkbundle-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SOURCE tkbundle)
set(CPACK_DEBIAN_DEVEL_DESCRIPTION
	"bundles of compiled GPU kernels - development files${about}
This package has what is needed to build programs with the library: headers
for C and C++, static libraries, and files for CMake and pkg-config.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME tkbundle)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
	"bundles of compiled GPU kernels - program${about}
This package has the program, its manual pages, and completions for bash,
zsh and fish.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "tkbundle-archive, tkbundle-compile")

set(CPACK_DEBIAN_COMPILE_PACKAGE_NAME tkbundle-compile)
set(CPACK_DEBIAN_COMPILE_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMPILE_PACKAGE_SOURCE tkbundle)
set(CPACK_DEBIAN_COMPILE_PACKAGE_SUGGESTS nvidia-cuda-toolkit)
set(CPACK_DEBIAN_COMPILE_DESCRIPTION
	"bundles of compiled GPU kernels - compiler${about}
This package has the worker programs of `tkbundle compile`, with LLVM 22. PTX
becomes machine code where there is ptxas or nvJitLink.")

set(CPACK_DEBIAN_ARCHIVE_PACKAGE_NAME tkbundle-archive)
set(CPACK_DEBIAN_ARCHIVE_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_ARCHIVE_PACKAGE_SOURCE tkbundle)
set(CPACK_DEBIAN_ARCHIVE_DESCRIPTION
	"bundles of compiled GPU kernels - archives of others${about}
This package has the program that reads and writes tar and ZIP, by libarchive,
for `tkbundle import` and `tkbundle export`.")

include(CPack)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds wheels, and the program alone, for every Linux with glibc 2.17.

    build.py [x86_64 | aarch64]...      both, by default

They come into build/wheels/out, checked.
"""

import sys

import check
import libraries
import pack
import prove
import sbom
from place import ARCHITECTURES, TREE, WORK, fail, say, tree_stamp
from recipes import SMALL
from toolchain import Toolchain

TARGETS = ["tkbundle", "tkbundle_remote", "tkbundle_program"]
BINARIES = ["libtkbundle.so.1", "libtkbundle-remote.so.1", "tkbundle"]


def build_tkbundle(tools):
    """Both libraries and the program, which has them inside: {name: bytes}."""
    build = tools.folder / "tkbundle"
    say(f"{tools.architecture}: building tkbundle")
    log = tools.folder / "tkbundle.log"
    log.unlink(missing_ok=True)
    links = "-Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -s"
    tools.cmake(TREE, build, {
        "BUILD_TESTING": "OFF",
        "CMAKE_BUILD_TYPE": "Release",
        # Time goes by in zstd, SHA-256 and the kernel.
        "CMAKE_C_FLAGS_RELEASE": " ".join(["-Os -DNDEBUG", *SMALL]),
        "CMAKE_INSTALL_PREFIX": "/usr",
        "CMAKE_INSTALL_LIBDIR": "lib",
        "CMAKE_BUILD_WITH_INSTALL_RPATH": "ON",
        "CMAKE_SHARED_LINKER_FLAGS": links,
        "CMAKE_EXE_LINKER_FLAGS": f"{links} -pie",
        "TKB_ONE_FILE": "ON",
        "TKB_WITH_LLVM": "OFF",
        "TKB_WITH_LIBARCHIVE": "OFF",
    }, TARGETS, log)
    paths = [build / name for name in BINARIES]
    for path in paths:
        check.check_elf(path, tools.architecture)
    return {path.name: path.read_bytes() for path in paths}


def main():
    asked = sys.argv[1:] or ARCHITECTURES
    for architecture in asked:
        if architecture not in ARCHITECTURES:
            fail(f"'{architecture}' is none of {', '.join(ARCHITECTURES)}")
    out = WORK / "out"
    out.mkdir(parents=True, exist_ok=True)
    for architecture in asked:
        tools = Toolchain(architecture)
        sources = libraries.build_all(tools)
        binaries = build_tkbundle(tools)
        licenses = sbom.licenses(sources)
        inside = sbom.write(architecture, sources)
        wheel = pack.write_wheel(out, architecture, binaries, licenses, inside)
        tar = pack.write_tar(out, architecture, binaries["tkbundle"], licenses,
                             inside)
        for path in (wheel, tar):
            say(f"{path.relative_to(TREE)}: {path.stat().st_size} bytes")
        check.check_size(wheel)
        prove.judge(wheel, architecture)
        prove.prove(tools.folder / "tkbundle" / "tkbundle", architecture)
        (tools.folder / "made").write_text(tree_stamp())


main()

# SPDX-License-Identifier: Apache-2.0
"""Zig as a cross compiler, for make and for CMake."""

import os
import re

from place import GLIBC, HERE, JOBS, WORK, environment, run

# Flags for all compiles. By default, Zig would trap undefined behaviour.
FLAGS = ["-fno-sanitize=undefined", "-g0", "-fPIC", "-ffunction-sections",
         "-fdata-sections", "-fstack-protector-strong"]
TOOLS = {"cc": "cc", "ar": "ar", "ranlib": "ranlib", "objcopy": "objcopy"}


def zig():
    """The program, in an environment of its own."""
    place = environment("zig", "zig", HERE / "zig.txt", "--no-deps",
                        "--require-hashes")
    return next(place.glob("lib/python3*/site-packages/ziglang/zig"))


def zig_version():
    return re.search(r"ziglang==(\S+)", (HERE / "zig.txt").read_text()).group(1)


class Toolchain:
    """Make programs `tkb-cc`, `tkb-ar` and so on, in a folder for PATH. Since they have
    no path in their names, the results do not depend on the folder of the build."""

    def __init__(self, architecture):
        self.architecture = architecture
        self.folder = WORK / architecture
        self.prefix = self.folder / "prefix"
        self.programs = self.folder / "bin"
        self.programs.mkdir(parents=True, exist_ok=True)
        self.target = f"{architecture}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        program = zig()
        for name, verb in TOOLS.items():
            words = f'"{program}" {verb}'
            if verb == "cc":
                words += f" -target {self.target}"
            file = self.programs / f"tkb-{name}"
            file.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
            file.chmod(0o755)
        self._write_cmake()

    def environment(self):
        out = {name: value for name, value in os.environ.items()
               if not name.endswith("FLAGS") and name not in ("CC", "AR")}
        out.update(PATH=f"{self.programs}:{os.environ['PATH']}",
                   ZIG_GLOBAL_CACHE_DIR=str(WORK / "zig-cache"),
                   ZIG_LOCAL_CACHE_DIR=str(WORK / "zig-cache"),
                   PKG_CONFIG_LIBDIR=str(self.prefix / "packages"),
                   LC_ALL="C", CC="tkb-cc", AR="tkb-ar", RANLIB="tkb-ranlib")
        for name in ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_GENERATOR",
                     "PKG_CONFIG_PATH"):
            out.pop(name, None)
        return out

    def _write_cmake(self):
        flags = " ".join([*FLAGS, f"-ffile-prefix-map={WORK}/="])
        tools = {"C_COMPILER": "cc", "AR": "ar", "RANLIB": "ranlib"}
        lines = ["set(CMAKE_SYSTEM_NAME Linux)",
                 f"set(CMAKE_SYSTEM_PROCESSOR {self.architecture})",
                 *(f"set(CMAKE_{name} {self.programs}/tkb-{tool})"
                   for name, tool in tools.items()),
                 f'set(CMAKE_C_FLAGS_INIT "{flags}")',
                 f"set(CMAKE_FIND_ROOT_PATH {self.prefix})",
                 f"set(CMAKE_PREFIX_PATH {self.prefix})",
                 "set(PKG_CONFIG_USE_CMAKE_PREFIX_PATH OFF)"]
        lines += [f"set(CMAKE_FIND_ROOT_PATH_MODE_{kind} {mode})"
                  for kind, mode in (("PROGRAM", "NEVER"), ("LIBRARY", "ONLY"),
                                     ("INCLUDE", "ONLY"), ("PACKAGE", "ONLY"))]
        self.cmake_file = self.folder / "toolchain.cmake"
        self.cmake_file.write_text("\n".join(lines) + "\n")

    def cmake(self, source, build, options, targets, log):
        """Configure and build; options are -D's."""
        environment = self.environment()
        # Libraries may have moved; what was compiled is kept.
        (build / "CMakeCache.txt").unlink(missing_ok=True)
        run(["cmake", "-G", "Ninja", "-S", source, "-B", build,
             f"-DCMAKE_TOOLCHAIN_FILE={self.cmake_file}",
             *(f"-D{name}={value}" for name, value in options.items())],
            log=log, env=environment)
        run(["cmake", "--build", build, "-j", JOBS, "--target", *targets],
            log=log, env=environment)

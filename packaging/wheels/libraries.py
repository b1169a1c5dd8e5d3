# SPDX-License-Identifier: Apache-2.0
"""The libraries that we link, each built once."""

import hashlib
import shutil

from place import HERE, say
from recipes import RECIPES
from sources import sources, unpack
from toolchain import FLAGS

# What pkg-config tells CMake: all libraries, since a static library lists no
# dependencies.
PACKAGES = {
    "libzstd": "-lzstd",
    "libcrypto": "-lcrypto",
    "libcurl": "-lcurl -lssl -lcrypto",
    "hiredis": "-lhiredis",
    "expat": "-lexpat",
    "jansson": "-ljansson",
}


def write_package(tools, name, version, libraries):
    folder = tools.prefix / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    headers = tools.prefix / "include"
    own = headers / name if name == "hiredis" else headers
    (folder / f"{name}.pc").write_text(
        f"Name: {name}\nDescription: {name}\nVersion: {version}\n"
        f"Cflags: -I{own}\n"
        f"Libs: -L{tools.prefix}/lib {libraries}\n")


def build_all(tools):
    """Build all of them into the toolchain's prefix."""
    found = sources()
    recipe = hashlib.sha256()
    for name in ("recipes.py", "zig.txt"):
        recipe.update((HERE / name).read_bytes())
    recipe.update(f"{tools.target} {FLAGS}".encode())
    for name, build in RECIPES.items():
        source = found[name]
        mark = tools.folder / f"{name}.built"
        stamp = f"{recipe.hexdigest()} {source.stamp()}\n"
        if mark.exists() and mark.read_text() == stamp:
            continue
        folder = unpack(source)
        say(f"{tools.architecture}: building {name} {source.version}")
        place = tools.folder / name
        log = tools.folder / f"{name}.log"
        shutil.rmtree(place, ignore_errors=True)
        log.unlink(missing_ok=True)
        build(tools, folder, place, log)
        mark.write_text(stamp)
    for name, libraries in PACKAGES.items():
        origin = {"libcrypto": "openssl", "libcurl": "curl"}.get(name, name)
        write_package(tools, name, found[origin].upstream, libraries)
    return found

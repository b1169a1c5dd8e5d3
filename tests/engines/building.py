# SPDX-License-Identifier: Apache-2.0
"""What ninja has built on another machine is not built again, or it is left out.

The project is C++ with headers of a Python package and of the compiler. Both
ninjas are asked: Debian's, and PyPI's where build/venv has it.
"""
import json
import os
import re
import shutil
import subprocess
import time

from machines import contents
from scene import equal, need, read, require, test, write

HERE = os.path.dirname(os.path.realpath(__file__))
VENV = os.path.join(HERE, "..", "..", "build", "venv", "bin", "ninja")
HOUR = 3600
PROFILE = {
    "engine": "own", "package": "own", "versions": [], "commands": [],
    "models": [], "set": [],
    "outside": [{"name": "headers", "package": "own_headers", "places": []},
                {"name": "toolkit", "package": "",
                 "places": [["OWN_TOOLKIT", ""]]}],
    "roots": [{"name": "own", "variable": "OWN_CACHE", "places": [],
               "rules": [{"path": "ops/*", "is": "ninja"},
                         {"path": "generated/link", "is": "leave"}]}]}
BUILD = """ninja_required_version = 1.3
toolkit = {toolkit}
cflags = -O0 -I{package}/include $
    -I{root}/generated -DTOOLKIT='"$toolkit"'

rule compile
  command = c++ -MMD -MF $out.d $cflags -c $in -o $out $post
  depfile = $out.d
  deps = gcc

rule link
  command = c++ -shared $in -o $out

build {folder}/a.o: compile {root}/generated/a.cpp
build {folder}/b.o: compile {package}/csrc/b.cpp
  cflags = -O1 -fPIC -I{package}/include
build {folder}/op.so: link {folder}/a.o {folder}/b.o
default {folder}/op.so
"""


class Builder:
    """A machine with a package of headers, and a cache that ninja fills."""

    def __init__(self, scene, name, ninja="/usr/bin/ninja"):
        self.scene, self.ninja = scene, ninja
        self.home = scene.path(name)
        self.root = os.path.join(self.home, "cache dir")
        self.folder = os.path.join(self.root, "ops", "op")
        self.site = os.path.join(self.home, "site")
        self.package = os.path.join(self.site, "own_headers")
        self.toolkit = os.path.join(self.home, "toolkit")
        write(os.path.join(self.package, "__init__.py"), "")
        write(os.path.join(self.package, "include", "own.h"),
              "#include <vector>\ninline int own() { return 1; }\n")
        write(os.path.join(self.package, "csrc", "b.cpp"),
              "#include \"own.h\"\nint b() { return own(); }\n")
        write(os.path.join(self.home, "engines", "own.json"),
              json.dumps(PROFILE))

        self.environment = {
            "TKBUNDLE_ENGINES": os.path.join(self.home, "engines"),
            "PYTHONPATH": self.site, "OWN_CACHE": self.root,
            "OWN_TOOLKIT": self.toolkit, "HOME": self.home}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write_sources(self):
        """What the engine does before it calls ninja, where it is missing."""
        def spell(path):
            return path.replace(" ", "$ ")
        source = os.path.join(self.root, "generated", "a.cpp")
        text = "#include <own.h>\nint a() { return own() + 1; }\n"
        if not os.path.exists(source):
            write(source, text)
        text = BUILD.format(root=spell(self.root), folder=spell(self.folder),
                            package=self.package, toolkit=self.toolkit)
        text = text.replace(f"-I{spell(self.root)}", f"'-I{self.root}'")
        path = self.path("build.ninja")
        if not os.path.exists(path) or read(path).decode() != text:
            write(path, text)

    def build(self, *options):
        self.write_sources()
        ended = subprocess.run(
            [self.ninja, "-C", self.folder, "-f", self.path("build.ninja"),
             "-d", "explain", *options], capture_output=True, check=False,
            text=True)
        equal(ended.returncode, 0, ended.stdout, ended.stderr)
        return ended.stdout + ended.stderr

    def steps(self):
        """How many steps a build would take; 0: nothing to do."""
        said = self.build("-n")
        if "no work to do" in said:
            return 0
        return int(re.search(r"\[1/(\d+)\]", said).group(1))

    def verb(self, verb, *words, status=0):
        return json.loads(self.scene.tkbundle(
            verb, "--engine", "own", "--json", *words, env=self.environment,
            status=status).out)

    def collect(self, status=0):
        return self.verb("collect", "-o", self.scene.path("own.tkb"),
                         status=status)

    def emit(self, status=0):
        return self.verb("emit", self.scene.path("own.tkb"), status=status)

    def renew(self, seconds=HOUR):
        """All headers are newer than what was built of them."""
        stamp = time.time() + seconds
        for folder, _, names in os.walk(self.site):
            for name in names:
                os.utime(os.path.join(folder, name), (stamp, stamp))


def ninjas():
    yield "/usr/bin/ninja" if os.path.exists("/usr/bin/ninja") else \
        shutil.which("ninja")
    if os.path.exists(VENV):
        yield os.path.realpath(VENV)


def built(scene, name="first", ninja="/usr/bin/ninja"):
    need("c++")
    first = Builder(scene, name, ninja)
    first.renew(-HOUR)
    first.build()
    equal(first.steps(), 0)
    return first


def left_out(document, name="entries"):
    found = [item for item in document[name]
             if item.get("outcome") not in ("emitted", "present")]
    equal(len(found), 1, document)
    return found[0]["reason"], found[0]["message"]


@test("ninja has nothing to do elsewhere, beside newer headers")
def _(scene):
    for number, ninja in enumerate(ninjas()):
        first = built(scene, f"first{number}", ninja)
        equal(first.collect()["collected"], 2)
        shutil.rmtree(first.home)
        second = Builder(scene, f"second{number}/other", ninja)
        second.renew()
        equal(second.emit()["emitted"], 2)
        equal(second.steps(), 0, second.build("-n"))
        second.build()
        equal(second.steps(), 0)
        equal(second.emit()["present"], 2)


@test("a header behind a link in the tree is compared where it really is")
def _(scene):
    need("c++")
    first, second = Builder(scene, "first"), Builder(scene, "second/other")
    write(os.path.join(first.root, "cubins", "d", "far.h"), "inline int far() { return 2; }\n")
    write(os.path.join(first.root, "generated", "a.cpp"),
          "#include \"link/far.h\"\nint a() { return far(); }\n")
    links = [os.path.join(one.root, "generated", "link") for one in (first, second)]
    os.symlink(os.path.join(first.root, "cubins", "d"), links[0])
    first.renew(-HOUR)
    first.build()
    equal(first.collect()["collected"], 3)
    shutil.rmtree(first.home)

    equal(second.emit()["emitted"], 3)
    os.symlink(os.path.join(second.root, "cubins", "d"), links[1])  # as the engine does
    equal(second.steps(), 0, second.build("-n"))
    equal(second.emit()["present"], 3)


@test("a package's sources in the current folder are not the package")
def _(scene):
    first = built(scene)
    write(scene.path("own_headers", "__init__.py"), "")
    first.collect()
    shutil.rmtree(first.home)
    second = Builder(scene, "second/other")
    equal(second.emit()["emitted"], 2)
    equal(second.steps(), 0, second.build("-n"))


@test("a header that changes later is built anew where it was emitted")
def _(scene):
    built(scene).collect()
    second = Builder(scene, "second")
    second.emit()
    equal(second.steps(), 0)
    time.sleep(0.01)
    write(os.path.join(second.package, "include", "own.h"),
          "inline int own() { return 2; }\n")
    equal(second.steps(), 3)


@test("newer headers with the same bytes are no work where it was built")
def _(scene):
    first = built(scene)
    first.collect()
    first.renew()
    equal(first.steps(), 3)
    before = read(first.path("op.so"))
    equal(first.emit()["repaired"], 1)
    equal(first.steps(), 0)
    equal(read(first.path("op.so")), before)


@test("doctor names newer headers, and a pull mends what it names")
def _(scene):
    first = built(scene)
    remote = ("a/b", "--remote", scene.path("remote"))
    first.verb("push", *remote)
    first.renew()
    found, = (finding for finding in first.verb("doctor", status=4)["findings"]
              if finding["level"] == "fault")
    equal(found["cause"], "damaged")
    require("own.h' is newer than" in found["what"], found)
    require("tkbundle pull REF --engine own" in found["advice"], found)
    first.verb("pull", *remote)
    equal(first.verb("doctor")["verdict"], "warm")
    equal(first.steps(), 0)


@test("what was built of another header is left out, and named")
def _(scene):
    built(scene).collect()
    second = Builder(scene, "second")
    header = os.path.join(second.package, "include", "own.h")
    write(header, "inline int own() { return 2; }\n")
    ended = second.emit()
    reason, message = left_out(ended)
    equal(reason, "inputs")
    equal(message, f"'{header}', which it was built from, is different here")
    require(not os.path.exists(second.folder))
    os.remove(header)
    equal(left_out(second.emit()),
          ("inputs", f"'{header}', which it was built from, is not there"))
    require(not os.path.exists(second.folder))


@test("what a package was built into is left out where there is none")
def _(scene):
    built(scene).collect()
    second = Builder(scene, "second")
    shutil.rmtree(second.package)
    reason, message = left_out(second.emit())
    equal(reason, "inputs")
    require("'headers'" in message, message)
    require(not os.path.exists(second.folder))


@test("what ninja has built is packed the same wherever and whenever it was "
      "built, but for objects that hold their path")
def _(scene):
    packed = []
    for name in ("one", "other/place"):
        built(scene, name).collect()
        entries = json.loads(scene.tkbundle(
            "ls", "--json", "--files", scene.path("own.tkb")).out)["entries"]
        packed.append({
            (entry["name"], file["name"]): file["sha256"]
            for entry in entries for file in entry["files"]
            if not file["name"].endswith((".o", ".so"))})
    equal({unit for unit, _ in packed[0]}, {"generated/a.cpp", "ops/op"})
    require(("ops/op", ".ninja_log") in packed[0], packed[0])
    equal(packed[0], packed[1])


def spoil_log(first):
    text = read(first.path(".ninja_log"))
    write(first.path(".ninja_log"), text[:-9])


def spoil_input(first):
    os.remove(os.path.join(first.package, "include", "own.h"))


def spoil_command(first):
    text = read(first.path("build.ninja")).decode()
    write(first.path("build.ninja"), text.replace("-O1", "-O2"))


def spoil_time(first):
    first.renew()


def spoil_output(first):
    os.remove(first.path("a.o"))


def spoil_deps(first):
    deps = read(first.path(".ninja_deps"))
    write(first.path(".ninja_deps"), deps[:-3])


def spoil_build(first):
    text = read(first.path("build.ninja")).decode()
    write(first.path("build.ninja"), text + "subninja x\n")


def spoil_size(first):
    os.truncate(os.path.join(first.package, "include", "own.h"), 1 << 40)


def forget_log(first):
    os.remove(first.path(".ninja_log"))


@test("what ninja would build again is left out of a bundle")
def _(scene):
    faults = (
        (spoil_log, "has no end"),
        (spoil_input, "own.h' is not there"),
        (spoil_command, "was not built by the command that build.ninja has"),
        (spoil_time, "is newer than"),
        (spoil_output, "a.o' is not there"),
        (spoil_deps, "they end in a record"),
        (spoil_build, "it reads another file"),
        (spoil_size, "own.h', its inputs have more than 8 GiB"),
        (forget_log, "'.ninja_log' is not there: ninja has not built it"),
    )
    first = built(scene)
    whole = scene.path("whole")
    shutil.copytree(first.home, whole)
    for spoil, sentence in faults:
        shutil.rmtree(first.home)
        shutil.copytree(whole, first.home)
        spoil(first)
        ended = first.collect(status=None)
        _, message = left_out(ended, "left_out")
        require(sentence in message, message)


@test("a file that nobody could read to its end is compared with no input")
def _(scene):
    built(scene).collect()
    second = Builder(scene, "second")
    spoil_size(second)
    reason, message = left_out(second.emit())
    equal(reason, "inputs")
    require("is different here" in message, message)


@test("a torn unit of ninja's is mended, and has nothing to do again")
def _(scene):
    built(scene).collect()
    second = Builder(scene, "second")
    second.emit()
    whole = contents(second.folder)
    for name in ("a.o", ".ninja_deps", ".ninja_log", "build.ninja"):
        os.remove(second.path(name))
        equal(second.emit()["repaired"], 1, name)
        equal(second.steps(), 0, name)
        equal(contents(second.folder).keys(), whole.keys(), name)


@test("what ninja has built of files whose names say nothing moves with their bytes")
def _(scene):
    first, second = Builder(scene, "first"), Builder(scene, "second")
    for machine in (first, second):
        write(os.path.join(machine.root, "generated", "a.cpp"),
              "#include <own.h>\n#include \"../ops/op/values\"\n"
              "int a() { return own() + user_key; }\n")
    write(first.path("values"), "static const int user_key = own();\n")
    first.renew(-HOUR)
    first.build()
    first.collect()
    second.renew()

    equal(second.emit()["emitted"], 1)

    equal(read(second.path("values")), b"static const int user_key = own();\n")
    equal(second.steps(), 0)

# SPDX-License-Identifier: Apache-2.0
"""A bundle becomes an archive that other tools unpack, and comes back."""
import glob
import json
import os
import select
import shutil
import signal
import stat
import subprocess

from importing import TORCH, TRITON, VLLM, collect, read, take, unpack
from scene import (TIMEOUT_S, UNSHARE, Skip, equal, files_below, need, require,
                   test, wait_until)

# What unpacks each format.
FORMATS = {
    "tar.gz": (("tar", "-xzf"), ("bsdtar", "-xf")),
    "tar.zst": (("tar", "--zstd", "-xf"), ("bsdtar", "-xf")),
    "zip": (("unzip", "-q"), ("bsdtar", "-xf")),
}


@test("launchers, which no cache has a file for, are left out and counted")
def _(scene):
    save = os.environ.get("TKB_SAVE")
    if not save:
        raise Skip("there is no program that saves launchers")
    cache = os.path.join(unpack(scene, TRITON), ".triton", "cache")
    key = sorted(os.listdir(cache))[0]
    scene.go([save, cache, scene.path("a.tkb"), "put", key, "0",
              "launcher", "fx-1", "kernel", "any", "a payload", key], status=0)
    ended = export(scene, "-o", "x.zip")
    require(", launchers left out 1, to be unpacked" in ended.out, ended.out)
    ended = export(scene, "-o", "x.zip", "--json")
    equal(json.loads(ended.out)["left_launchers"], 1)


def contents(folder):
    """Each file below a folder: its bytes, and whether it can be executed."""
    return {inside: (read(path), os.stat(path).st_mode & stat.S_IXUSR)
            for inside, path in files_below(folder)}


def export(scene, *words, status=0, **more):
    ended = scene.tkbundle("export", "a.tkb", *words, **more, status=status)
    equal(scene.leftovers(), [])
    return ended


def emit(scene, place, roots):
    """What an emit to `place` writes there."""
    words = []
    for name, folder in roots.items():
        words += ([os.path.join(place, folder)] if name == "triton" else
                  ["--tree", f"{name}={os.path.join(place, folder)}"])
    scene.tkbundle("emit", "a.tkb", *words)
    found = contents(place)
    shutil.rmtree(place)
    return found


def bundles(name, fixture, roots, **places):
    @test(f"the bundle of {name} becomes archives that real tools unpack to what "
          "emit writes, and those become the bundle again")
    def _(scene):
        home = unpack(scene, fixture)
        engine = () if name == "triton" else ("--engine", name)
        bundle = collect(scene, *engine, HOME=home, **{
            key: os.path.join(home, place) for key, place in places.items()})
        os.rename(scene.path("collected.tkb"), scene.path("a.tkb"))
        place = scene.path("to", "be there")
        wanted = emit(scene, place, roots)
        require(len(wanted) > 30)
        for form, tools in FORMATS.items():
            archive = scene.path(f"x.{form}")
            ended = export(scene, "-o", archive, "--root", place)
            require(ended.out.endswith(f"to be unpacked in {place}\n"))
            equal(take(scene, archive), bundle, form)
            for tool in tools:
                need(tool[0])
                os.makedirs(place)
                subprocess.run([*tool, archive], cwd=place, check=True)
                equal(sorted(contents(place)), sorted(wanted), tool)
                equal(contents(place), wanted, tool)
                shutil.rmtree(scene.path("to"))


bundles("triton", TRITON, {"triton": ""})
bundles("torch", TORCH, {"triton": "triton", "inductor": "inductor"},
        TORCHINDUCTOR_CACHE_DIR=".cache/torchinductor")
bundles("vllm", VLLM, {"triton": "triton", "vllm": "vllm"})


def make(scene):
    collect(scene, HOME=unpack(scene, TRITON))
    os.rename(scene.path("collected.tkb"), scene.path("a.tkb"))


@test("the same bundle gives the same archive: at each time, place and mask, "
      "with each number of threads, and in standard output")
def _(scene):
    make(scene)
    for form in FORMATS:
        made = set()
        for number, (mask, zone) in enumerate(
                ((0o077, "UTC"), (0o002, "Asia/Tokyo"), (0o022, "UTC"))):
            export(scene, "-o", f"x.{form}", "--root", "/r", "-j",
                   str(number + 1), preexec_fn=lambda m=mask: os.umask(m),
                   env={"TZ": zone})
            made.add(read(scene.path(f"x.{form}")))
        ended = subprocess.run(
            [scene.program, "export", "a.tkb", "--format", form, "-o", "-",
             "--root", "/r"], cwd=scene.folder, env=scene.environment,
            check=True, timeout=TIMEOUT_S, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        made.add(ended.stdout)
        equal(len(made), 1, form)


@test("an archive tells neither who made it nor when, but as SOURCE_DATE_EPOCH "
      "says")
def _(scene):
    make(scene)
    for env, time in (({}, "1970-01-01 00:00:00"),
                      ({"SOURCE_DATE_EPOCH": "1000000000"},
                       "2001-09-09 01:46:40")):
        export(scene, "-o", "x.tar.gz", "--root", "/r", env=env)
        listed = scene.go(["tar", "--full-time", "--numeric-owner", "-tvzf",
                           "x.tar.gz"], env={"TZ": "UTC"}).out.splitlines()
        require(len(listed) > 30)
        for line in listed:
            require(line.split()[1] == "0/0" and f" {time} " in line, line)
        names = [line.split()[-1] for line in listed]
        equal(names, sorted(names))
    ended = export(scene, "-o", "x.tar.gz", status=2,
                   env={"SOURCE_DATE_EPOCH": "now"})
    require("SOURCE_DATE_EPOCH is not a number" in ended.err, ended.err)


@test("without --root, an archive is for the place where emit puts a bundle")
def _(scene):
    make(scene)
    export(scene, "-o", "x.tar.gz", env={"TRITON_CACHE_DIR": "/my/cache"})
    default = read(scene.path("x.tar.gz"))
    export(scene, "-o", "x.tar.gz", "--root", "/my/cache")
    equal(read(scene.path("x.tar.gz")), default)
    ended = export(scene, "-o", "x.tar.gz", "--json")
    equal(json.loads(ended.out)["root"], scene.path(".triton", "cache"))
    ended = export(scene, "-o", "x.tar.gz", status=2,
                   env={"TRITON_CACHE_DIR": "relative"})
    require("say by --root" in ended.err, ended.err)


@test("what makes no sense is refused, and nothing is written")
def _(scene):
    make(scene)
    for words, part in (
            (("-o", "x.rar"), "does not tell it"),
            (("-o", "x", "--format", "rar"), "--format"),
            (("-o", "-", "--format", "zip", "--json"), "standard output"),
            (("-o", "x.zip", "--root", "a/b"), "is not an absolute path"),
            (("-o", "x.zip", "--root", "/a/../b"), "is no plain absolute"),
            (("-o", "x.zip", "--root", "/a//b"), "is no plain absolute"),
            ((), "'-o FILE' is missing")):
        require(part in export(scene, *words, status=2).err, words)
    equal([name for name in os.listdir(scene.folder) if name[0] == "x"], [])


@test("what is too deep to be exported is told of, and nothing is left")
def _(scene):
    scene.tkbundle("collect", scene.fixture(), "-o", "a.tkb")
    for length in range(3700, 4090, 20):
        root = ("/" + 20 * (199 * "d" + "/"))[:length]
        ended = scene.tkbundle("export", "a.tkb", "-o", "x.zip", "--root", root,
                               status=None)
        require(ended.status in (0, 1), ended.err)
        equal(scene.leftovers(), [])


@test("of a damaged bundle there is no archive, and what was there stays")
def _(scene):
    make(scene)
    scene.write("x.zip", "old")
    with open(scene.path("a.tkb"), "r+b") as file:
        file.seek(-3000, 2)
        byte = file.read(1)[0]
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1]))
    export(scene, "-o", "x.zip", status=5)
    equal(scene.read("x.zip"), "old")
    scene.tkbundle("export", "none.tkb", "-o", "x.zip", status=3)
    equal(scene.read("x.zip"), "old")


@test("a full disk is told of in one sentence, and an archive appears whole or "
      "not at all")
def _(scene):
    make(scene)
    ended = export(scene, "-o", "/dev/full", "--format", "zip", status=1)
    equal(ended.err, "tkbundle: cannot export 'a.tkb' to '/dev/full': cannot write it: "
                     "No space left on device\n")


@test("with little memory for its stack, an export is made as ever")
def _(scene):
    make(scene)
    for name in "x.zip", "x.tar.zst":
        scene.go(["sh", "-c", 'ulimit -s 128 && exec "$@"', "sh", scene.program,
                  "export", "a.tkb", "-o", name], status=0)


@test("where TMPDIR is full, an export says that TMPDIR places what it makes")
def _(scene):
    need("unshare")
    unshare = scene.able([*UNSHARE, "--mount"])
    make(scene)
    scene.write("x.zip", "old")
    os.mkdir(scene.path("small"))
    script = ("mount -t tmpfs -o size=64k none small || exit 99\n"
              "TMPDIR=small \"$0\" export a.tkb -o x.zip\n"
              "status=$?\nls -A small\nexit $status")
    ended = scene.go([*unshare, "sh", "-c", script, scene.program])
    if ended.status == 99:
        raise Skip("nothing can be mounted here")
    equal((ended.status, ended.out), (1, ""), ended.err)
    require("No space left on device" in ended.err, ended.err)
    require("cannot export 'a.tkb': see above; it is put together in "
            f"'{scene.path('small')}/" in ended.err, ended.err)
    require(ended.err.endswith("', and TMPDIR places that\n"), ended.err)
    equal(scene.read("x.zip"), "old")


@test("where TMPDIR is full, a bundle from a pipe is told to need room there")
def _(scene):
    need("unshare")
    make(scene)
    os.mkdir(scene.path("small"))
    script = ("mount -t tmpfs -o size=4k none small || exit 99\n"
              "cat a.tkb | TMPDIR=small \"$0\" verify -")
    ended = scene.go([*UNSHARE, "--mount", "sh", "-c", script, scene.program])
    if ended.status == 99 or "unshare: " in ended.err:
        raise Skip("nothing can be mounted here")
    equal(ended.status, 1, ended.err)
    require("cannot write a temporary file in "
            f"'{scene.path('small')}': No space left on device" in ended.err, ended.err)


@test("a signal, or a packer's death, ends an export, which leaves nothing")
def _(scene):
    make(scene)
    for kills_child in (False, True):
        os.mkfifo(scene.path("pipe.zip"))
        reader = os.open(scene.path("pipe.zip"), os.O_RDONLY | os.O_NONBLOCK)
        subprocess.run(["tar", "-xzf", TORCH, "-C", scene.folder], check=True)
        collect(scene, ".cache/torchinductor")
        started = subprocess.Popen(
            [scene.program, "export", "collected.tkb", "-o", "pipe.zip"],
            env=scene.environment, cwd=scene.folder, stderr=subprocess.PIPE)
        scene.started.append(started)
        children = f"/proc/{started.pid}/task/{started.pid}/children"

        def child(path=children):
            with open(path, encoding="ascii") as file:
                return file.read().strip()
        # The pipe is full: both wait.
        wait_until(child, "a packer")
        wait_until(lambda: select.select([reader], [], [], 0.1)[0],
                   "an archive")
        os.kill(int(child()) if kills_child else started.pid, signal.SIGTERM)
        equal(started.wait(TIMEOUT_S), 1 if kills_child else -signal.SIGTERM)
        os.close(reader)
        os.unlink(scene.path("pipe.zip"))
        equal(scene.leftovers(), [])
        if kills_child:
            require("was ended by signal 15" in started.stderr.read().decode())


@test("an export takes as much memory for a large bundle as for a small one")
def _(scene):
    make(scene)
    script = ("import os, subprocess, sys\n"
              "child = subprocess.Popen(sys.argv[1:], "
              "stdout=subprocess.DEVNULL)\n"
              "_, _, usage = os.wait4(child.pid, 0)\n"
              "print(usage.ru_maxrss)")

    def peak():
        ended = scene.go(["python3", "-c", script, scene.program, "export",
                          "a.tkb", "-o", "x.tar.gz", "--root", "/r", "-j",
                          "1"])
        return int(ended.out)
    small = peak()
    os.mkdir(scene.path("many"))
    for number in range(10):
        with open(scene.path("many", str(number)), "wb") as file:
            file.write(os.urandom(8 << 20))
    scene.tkbundle("collect", "--tree", "many=many", "-o", "a.tkb")
    large = peak()
    require(large < small + 40 * 1024, small, large)
    require(glob.glob(scene.path("x.tar.gz")))

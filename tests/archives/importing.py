# SPDX-License-Identifier: Apache-2.0
"""An archive of a cache becomes the bundle that a collect of it would be."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time

from scene import (
    FIXTURES, Skip, TIMEOUT_S, equal, need, need_root, read, require, test,
    wait_until)

TRITON = os.path.join(FIXTURES, "triton-3.6.0-cpu.tar.gz")
H100 = os.path.join(FIXTURES, "triton-3.6.0-h100.tar.gz")
TORCH = os.path.join(FIXTURES, "inductor-2.11-llama4-h100.tar.gz")
VLLM = os.path.join(FIXTURES, "vllm-0.24-small-h200.tar.gz")
TILELANG = os.path.join(FIXTURES, "tilelang-0.1.15-cpu.tar.gz")
SGLANG = os.path.join(FIXTURES, "sglang-0.5.23-cpu.tar.gz")


# Times of the fixtures are older than ZIP.
ZIP = """import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", strict_timestamps=False) as file:
    for top in sys.argv[2:]:
        for place, _, names in os.walk(top):
            for name in names:
                file.write(os.path.join(place, name))"""


def unpack(scene, fixture, folder="first"):
    os.mkdir(scene.path(folder))
    subprocess.run(["tar", "-xzf", fixture, "-C", scene.path(folder)],
                   check=True)
    return scene.path(folder)


def collect(scene, *words, **env):
    """The bytes of a bundle that collect makes."""
    path = scene.path("collected.tkb")
    scene.tkbundle("collect", *words, "-o", path, env=env)
    return read(path)


def take(scene, archive, *words, status=0, **more):
    """The bytes of the bundle that import makes."""
    path = scene.path("imported.tkb")
    scene.tkbundle("import", archive, "-o", path, *words, **more, status=status)
    equal(scene.leftovers(), [])
    return read(path)


def pack(scene, command, name, folder):
    """Let a real tool pack what is in a folder."""
    need(command[0])
    subprocess.run([*command, scene.path(name), *os.listdir(folder)],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return scene.path(name)


def folders(bundle, fixture, **env):
    """A test of one fixture: import of it is collect of it."""
    @test(f"the archive of {bundle} becomes the bundle of its folder, byte for "
          "byte")
    def _(scene):
        home = unpack(scene, fixture)
        places = {name: os.path.join(home, place)
                  for name, place in env.items()}
        engine = () if bundle == "triton" else ("--engine", bundle)
        equal(take(scene, fixture),
              collect(scene, *engine, HOME=home, **places))


folders("triton", TRITON)
folders("torch", TORCH, TORCHINDUCTOR_CACHE_DIR=".cache/torchinductor")
folders("vllm", VLLM)
folders("tilelang", TILELANG)
folders("sglang", SGLANG)


@test("an engine's tree is found by its place, and trees and kernels in it")
def _(scene):
    home = unpack(scene, SGLANG)
    sglang = os.path.join(home, ".cache", "sglang")
    os.rename(os.path.join(unpack(scene, TRITON, "kernels"), ".triton", "cache"),
              os.path.join(sglang, "triton"))
    tilelang = os.path.join(unpack(scene, TILELANG, "others"), ".tilelang")
    os.rename(os.path.join(tilelang, "cache"), os.path.join(sglang, "tilelang"))
    # A look that counts elsewhere.
    os.makedirs(os.path.join(sglang, "torch_compile_cache"))
    archive = pack(scene, ("tar", "-cf"), "a.tar", home)

    ended = scene.tkbundle("import", archive, "-o", "a.tkb", "--json")

    equal(json.loads(ended.out)["caches"],
          [{"name": "triton", "path": ".cache/sglang/triton"},
           {"name": "sglang", "path": ".cache/sglang"},
           {"name": "sglang_jit", "path": ".cache/sglang/jit"}])
    equal(read(scene.path("a.tkb")),
          collect(scene, "--engine", "sglang", HOME=home))


@test("each format that others write gives the same bundle")
def _(scene):
    home = unpack(scene, TRITON)
    wanted = collect(scene, HOME=home)
    for name, *command in (
            ("a.tar", "tar", "-cf"), ("a.tar.gz", "tar", "-czf"),
            ("a.tar.zst", "tar", "--zstd", "-cf"), ("a.tar.xz", "tar", "-cJf"),
            ("a.tar.bz2", "tar", "-cjf"), ("v7.tar", "tar", "-Hv7", "-cf"),
            ("pax.tar", "tar", "-Hpax", "-cf"),
            ("ustar.tar", "tar", "-Hustar", "-cf"),
            ("bsd.tar", "bsdtar", "-cf"),
            ("bsd.zip", "bsdtar", "--format=zip", "-cf"),
            ("py.zip", "python3", "-c", ZIP)):
        archive = pack(scene, command, name, home)
        equal(take(scene, archive), wanted, name)


@test("an archive comes from standard input, and a bundle goes to standard "
      "output")
def _(scene):
    wanted = collect(scene, HOME=unpack(scene, TRITON))
    with open(TRITON, "rb") as file:
        ended = subprocess.run(
            [scene.program, "import", "-", "-o", "-"], stdin=file,
            env=scene.environment, cwd=scene.folder, timeout=TIMEOUT_S,
            check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    equal(ended.stdout, wanted)
    with open(TRITON, "rb") as file:
        equal(take(scene, "-", data=file.read()), wanted)


@test("a cache is found wherever it lies in an archive")
def _(scene):
    home = unpack(scene, TRITON)
    wanted = collect(scene, HOME=home)
    cache = os.path.join(home, ".triton", "cache")
    for place in (".", "cache", "triton", "io.triton.cache",
                  "root/.triton/cache", "tmp/a b/entries/0123456789/triton"):
        folder = scene.path("layer")
        os.makedirs(os.path.join(folder, os.path.dirname(place)))
        shutil.copytree(cache, os.path.join(folder, place), dirs_exist_ok=True)
        archive = pack(scene, ("tar", "-cf"), "layer.tar", folder)
        equal(take(scene, archive), wanted, place)
        shutil.rmtree(folder)


@test("a layer of an image has kernels and vLLM's cache in folders of its own")
def _(scene):
    home = unpack(scene, VLLM)
    wanted = collect(scene, "--engine", "vllm", HOME=home)
    layer = scene.path("layer")
    shutil.copytree(os.path.join(home, ".triton", "cache"),
                    os.path.join(layer, "io.triton.cache"))
    shutil.copytree(os.path.join(home, ".cache", "vllm"),
                    os.path.join(layer, "io.vllm.cache"))
    os.mkdir(os.path.join(layer, "io.vllm.manifest"))
    archive = pack(scene, ("tar", "-czf"), "layer.tar.gz", layer)
    equal(take(scene, archive), wanted)

    inside = os.path.join(layer, "io.vllm.cache", "torch_compile_cache")
    shutil.move(inside, os.path.join(layer, "aside"))
    shutil.rmtree(os.path.join(layer, "io.vllm.cache"))
    shutil.move(os.path.join(layer, "aside"),
                os.path.join(layer, "io.vllm.cache"))
    shutil.rmtree(os.path.join(home, ".cache", "vllm", "modelinfos"))
    archive = pack(scene, ("tar", "-czf"), "layer.tar.gz", layer)
    equal(take(scene, archive),
          collect(scene, "--engine", "vllm", HOME=home))


@test("kernels in several folders come into one bundle")
def _(scene):
    both = scene.path("both")
    shutil.copytree(unpack(scene, TRITON), both)
    subprocess.run(["tar", "-xzf", TORCH, "-C", both], check=True)
    archive = pack(scene, ("tar", "-czf"), "both.tar.gz", both)

    ended = scene.tkbundle("import", archive, "-o", "a.tkb", "--json")

    document = json.loads(ended.out)
    equal(document["caches"],
          [{"name": "triton", "path": ".cache/torchinductor"},
           {"name": "triton", "path": ".triton/cache"},
           {"name": "inductor", "path": ".cache/torchinductor"}])
    equal(document["collected"], 47 + 5)
    shown = json.loads(scene.tkbundle("ls", "a.tkb", "--json").out)
    equal(len(shown["entries"]), 47 + 5)
    scene.tkbundle("verify", "a.tkb")
    equal(scene.leftovers(), [])


@test("--engine takes the caches of one engine, --tree a folder by its name")
def _(scene):
    home = unpack(scene, VLLM)
    equal(take(scene, VLLM, "--engine", "triton"), collect(scene, HOME=home))
    tree = os.path.join(home, ".cache", "vllm")
    equal(take(scene, VLLM, "--tree", "mine=.cache/vllm"),
          collect(scene, "--tree", f"mine={tree}"))
    equal(take(scene, VLLM, "--engine", "vllm", "--tree", "vllm=.cache/vllm"),
          collect(scene, "--engine", "vllm", HOME=home))
    ended = scene.tkbundle("import", VLLM, "--tree", "a=no", "-o", "a.tkb", status=3)
    equal(ended.err, "tkbundle: the archive holds no folder 'no'\n")
    for bad in ("a=/tmp", "a=..", "a=x/../../y", "a=", "=b", "a"):
        ended = scene.tkbundle("import", VLLM, "--tree", bad, "-o", "a.tkb", status=2)
        require("is not NAME=PATH" in ended.err, ended.err)
    equal(scene.leftovers(), [])


def is_unknown(scene, archive):
    ended = scene.tkbundle("import", archive, "-o", "a.tkb", status=3)
    equal(ended.err, f"tkbundle: there is no cache in '{archive}' that is known: "
          "name its folder by --tree\n")


@test("folders with digests as names are no kernels unless they have what Triton "
      "puts there")
def _(scene):
    home = unpack(scene, TILELANG)
    archive = pack(scene, ("tar", "-cf"), "a.tar",
                   os.path.join(home, ".tilelang"))
    is_unknown(scene, archive)
    equal(take(scene, archive, "--tree", "tilelang:tilelang=cache"),
          collect(scene, "--engine", "tilelang", HOME=home))
    modules = unpack(scene, H100, "modules")
    for each in glob.glob(os.path.join(modules, ".triton", "cache", "*")):
        if glob.glob(os.path.join(each, "__grp__*")):
            shutil.rmtree(each)
    archive = pack(scene, ("tar", "-cf"), "b.tar", modules)
    equal(take(scene, archive), collect(scene, HOME=modules))


@test("what nobody knows is said to be so, and nothing is written")
def _(scene):
    scene.write("x/a.txt", "text")
    is_unknown(scene, pack(scene, ("tar", "-cf"), "a.tar", scene.path("x")))
    for path in "none.tar", "x/a.txt/a.tar":
        ended = scene.tkbundle("import", path, "-o", "a.tkb", status=3)
        equal(ended.err, f"tkbundle: there is no archive '{path}'\n")
    scene.tkbundle("import", "x", "-o", "a.tkb", status=2)
    require(not os.path.exists(scene.path("a.tkb")))
    equal(scene.leftovers(), [])


@test("a bundle is no archive of a cache, and it is said what takes it")
def _(scene):
    scene.tkbundle("collect", scene.fixture(), "-o", "a.tkb")
    for words, data in (("a.tkb", None), ("-", read(scene.path("a.tkb")))):
        ended = scene.tkbundle("import", words, "-o", "b.tkb", data=data, status=2)
        equal(ended.out, "")
        require(f"'{words}' is a bundle: `tkbundle emit`" in ended.err, ended.err)
    require(not os.path.exists(scene.path("b.tkb")))
    equal(scene.leftovers(), [])


@test("--tree NAME:KIND=PATH packs a folder by the rules that a profile has")
def _(scene):
    home = unpack(scene, VLLM)
    tree = os.path.join(home, ".cache", "vllm")
    for kind in ("mine:vllm", "mine:plain"):
        equal(take(scene, VLLM, "--tree", f"{kind}=.cache/vllm"),
              collect(scene, "--tree", f"{kind}={tree}"), kind)
    # It counts more than the rules of the engine's own tree of that name.
    equal(take(scene, VLLM, "--engine", "vllm", "--tree",
               "vllm:plain=.cache/vllm/modelinfos", "--tree",
               "more:vllm=.cache/vllm/torch_compile_cache"),
          collect(scene, os.path.join(home, ".triton", "cache"),
                  "--tree", f"vllm:plain={tree}/modelinfos", "--tree",
                  f"more:vllm={tree}/torch_compile_cache"))
    for words, told in (
            (("--tree", "a:b=.cache"),
             "no profile of an engine has trees of kind 'b'"),
            (("--tree", "a=.cache", "--tree", "a:vllm=.triton"),
             "there are two trees 'a'")):
        ended = scene.tkbundle("import", VLLM, *words, "-o", "a.tkb", status=2)
        equal(ended.err, f"tkbundle: {told}\n")


@test("two caches of one engine are named, and one can be chosen")
def _(scene):
    home = unpack(scene, VLLM)
    shutil.copytree(os.path.join(home, ".cache"), os.path.join(home, "b"))
    archive = pack(scene, ("tar", "-cf"), "a.tar", home)
    ended = scene.tkbundle("import", archive, "-o", "a.tkb", status=2)
    equal(ended.err, "tkbundle: the archive holds 'vllm' in '.cache/vllm' and in "
          "'b/vllm': name one by --engine and --tree\n")
    equal(take(scene, archive, "--engine", "vllm", "--tree", "vllm=b/vllm"),
          collect(scene, "--engine", "vllm", HOME=home))


@test("an entry that is not whole is left out, as collect leaves it out")
def _(scene):
    home = unpack(scene, TRITON)
    cache = os.path.join(home, ".triton", "cache")
    for name in os.listdir(cache):
        for file in os.listdir(os.path.join(cache, name)):
            if file == "add_kernel.cubin":
                key = name
    os.unlink(os.path.join(cache, key, "add_kernel.cubin"))
    archive = pack(scene, ("tar", "-cf"), "a.tar", home)
    scene.tkbundle("collect", cache, "-o", "b.tkb", status=4)
    equal(take(scene, archive, status=4), read(scene.path("b.tkb")))
    ended = scene.tkbundle("import", archive, "-o", "c.tkb", "--strict", "--json",
                           status=1)
    document = json.loads(ended.out)
    equal(document["left_out_count"], 1)
    equal([(each["key"], each["root"], each["reason"])
           for each in document["left_out"]],
          [(key, ".triton/cache", "missing")])
    require(not os.path.exists(scene.path("c.tkb")))


@test("a dry run finds and checks all, and writes nothing")
def _(scene):
    ended = scene.tkbundle("import", VLLM, "-n", "-v")
    require(ended.out.startswith("would import 35 entries"), ended.out)
    require("found 'vllm' in '.cache/vllm'" in ended.err, ended.err)
    equal([name for name in os.listdir(scene.folder) if "tkb" in name], [])


@test("links and hard links within an archive do no harm")
def _(scene):
    home = unpack(scene, TRITON)
    wanted = collect(scene, HOME=home)
    cache = os.path.join(home, ".triton", "cache")
    key = os.path.join(cache, sorted(os.listdir(cache))[0])
    file = os.path.join(key, sorted(os.listdir(key))[0])
    os.link(file, os.path.join(home, "twin"))
    os.symlink("cache", os.path.join(home, ".triton", "link"))
    archive = pack(scene, ("tar", "-cf"), "a.tar", home)
    equal(take(scene, archive, "-v"), wanted)
    ended = scene.tkbundle("import", archive, "-nv")
    require(", links 1\n" in ended.out, ended.out)
    require("left out '.triton/link': a link\n" in ended.err, ended.err)


def held(scene, *words):
    """An import that waits for the rest of its archive, and its reader's pid."""
    started = subprocess.Popen(
        [scene.program, "import", "-", "-o", "a.tkb", *words],
        env=scene.environment, cwd=scene.folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    scene.started.append(started)
    started.stdin.write(read(TRITON)[:20000])
    started.stdin.flush()
    children = f"/proc/{started.pid}/task/{started.pid}/children"
    wait_until(lambda: read(children) and any(
        glob.glob(scene.path(name, "files", "*", "*"), include_hidden=True)
        for name in scene.leftovers()), "what is unpacked")
    return started, int(read(children))


@test("a signal ends an import, which leaves nothing")
def _(scene):
    for number in (signal.SIGINT, signal.SIGTERM):
        started, child = held(scene)
        started.send_signal(number)
        equal(started.wait(TIMEOUT_S), -number)
        require(not os.path.exists(f"/proc/{child}"))
        equal(scene.leftovers(), [])
        require(not os.path.exists(scene.path("a.tkb")))


@test("a reader that is killed is told of, and nothing is left")
def _(scene):
    started, child = held(scene)
    os.kill(child, signal.SIGKILL)
    equal(started.wait(TIMEOUT_S), 1)
    equal(started.stderr.read().decode(),
          "tkbundle: cannot import '-': tkbundle-archive was ended by signal "
          "9\n")
    equal(scene.leftovers(), [])
    require(not os.path.exists(scene.path("a.tkb")))


@test("what a killed import leaves, the next one removes, and nothing that is "
      "in use")
def _(scene):
    killed, child = held(scene)
    left = scene.leftovers()
    killed.kill()
    killed.wait(TIMEOUT_S)
    wait_until(lambda: not os.path.exists(f"/proc/{child}"), "its end")
    equal(scene.leftovers(), left)
    os.mkdir(scene.path(".tkbundle-archive.d"), 0)
    living, _ = held(scene)
    require(not set(left) & set(scene.leftovers()), scene.leftovers())
    equal(len(scene.leftovers()), 1 if os.geteuid() == 0 else 2)
    scene.tkbundle("import", TRITON, "-o", "b.tkb")
    living.stdin.write(read(TRITON)[20000:])
    living.stdin.close()
    equal(living.wait(TIMEOUT_S), 0)
    equal(read(scene.path("a.tkb")), read(scene.path("b.tkb")))


@test("a deadline ends an import, which leaves nothing")
def _(scene):
    begin = time.monotonic()
    started, _ = held(scene, "--deadline", "2s")
    equal(started.wait(TIMEOUT_S), 1)
    require(time.monotonic() - begin < 20)
    require("deadline" in started.stderr.read().decode())
    equal(scene.leftovers(), [])


@test("a full disk is told of in one sentence that names the file, and nothing "
      "is left")
def _(scene):
    need_root()
    os.mkdir(scene.path("disk"))
    script = ("mount -t tmpfs -o size=100k none disk || exit 99; "
              "env -u TMPDIR \"$0\" import \"$1\" -o disk/a.tkb; "
              "echo $? $(ls -A disk)")
    ended = scene.go(["unshare", "-m", "sh", "-c", script, scene.program,
                      TRITON])
    if ended.status != 0:
        raise Skip("a file system cannot be mounted here")
    equal(ended.out, "1\n")
    require(re.fullmatch(r"tkbundle: cannot import '[^']*': '.triton/cache/"
                         r"[^']*': cannot write [^\n]*: No space left on device: "
                         r"make room there, or use another folder\n",
                         ended.err), ended.err)


@test("what a limit of the shell keeps from starting is one sentence that names the file")
def _(scene):
    for limit, reason in (("-n 8", "cannot start tkbundle-archive: Too many open files"),
                          ("-v 20000", "tkbundle-archive cannot start within 20000 kB")):
        limited = ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", scene.program]
        if scene.go([*limited, "--version"]).status != 0:
            continue  # as with a sanitizer
        ended = scene.go([*limited, "import", TRITON, "-o", "a.tkb"], status=1)
        require(re.fullmatch(f"tkbundle: cannot import '[^'\\n]*': {reason}[^\\n]*\\n",
                             ended.err), ended.err)
    equal(scene.leftovers(), [])


@test("a reader of the bundle that leaves does not keep the folder alive")
def _(scene):
    line = f"'{scene.program}' import '{TORCH}' -o - | head -c 1 >/dev/null"
    scene.go(["bash", "-c", line], status=0)
    wait_until(lambda: scene.leftovers() == [], "the end")


@test("an import writes into a pipe what it writes to a file")
def _(scene):
    line = (f"unset TMPDIR; '{scene.program}' import '{TRITON}' -o a.tkb; "
            f"'{scene.program}' import '{TRITON}' -o /dev/fd/3 3>&1 >/dev/null | "
            "cat >b.tkb")
    equal(scene.go(["sh", "-c", line]).err, "")
    equal(read(scene.path("b.tkb")), read(scene.path("a.tkb")))


@test("the reader of archives gets no secrets, and cannot be used by hand")
def _(scene):
    started, child = held(scene)
    try:
        require(b"HOME" not in read(f"/proc/{child}/environ"))
    except PermissionError:
        pass  # it is not even to be looked at
    started.kill()
    started.wait()
    wait_until(lambda: not os.path.exists(f"/proc/{child}"), "its end")
    shutil.rmtree(scene.path(scene.leftovers()[0]))
    scene.go([os.path.join(os.path.dirname(scene.program),
                           "tkbundle-archive")], status=2)

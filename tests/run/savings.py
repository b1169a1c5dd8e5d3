# SPDX-License-Identifier: Apache-2.0
"""How long compiling took, and how much of that a warm start saves."""
import json
import os
import re
import shutil

from pushes import reader
from scene import equal, require, test

SAVED = re.compile(r", saved about (\d+) s of compiling")

# Compiles $2 entries of $1 at once, each in as many seconds as its number.
COMPILER = """
n=0
for key in $(ls "$1" | head -n $2); do
	n=$((n + 1))
	(mkdir -p "$TRITON_CACHE_DIR/$key"
	 for file in "$1/$key"/*; do case $file in */__grp__*) ;; *)
	 cp "$file" "$TRITON_CACHE_DIR/$key/"; esac; done
	 sleep $n; cp "$1/$key"/__grp__* "$TRITON_CACHE_DIR/$key/") &
done
wait
"""


def kernels(scene, folder="source"):
    """A cache of kernels alone; returns its root."""
    root = scene.fixture(folder)
    for key in os.listdir(root):
        if not any(name.startswith("__grp__")
                   for name in os.listdir(os.path.join(root, key))):
            shutil.rmtree(os.path.join(root, key))
    return root


def compile_slowly(scene, count, *options, **more):
    root = kernels(scene)
    scene.write("compiler", COMPILER)
    return scene.run("sh", scene.path("compiler"), root, str(count),
                     options=list(options), **more)


def spoil(path):
    with open(path, "ab") as file:
        file.write(b"\0\xff x 99\n" + b"A" * 52 + b" 12345678901\nB")


def last(ended):
    return json.loads(ended.err.splitlines()[-1])


def between(seconds, low, high):
    require(low <= seconds <= high, f"{seconds} is not {low} to {high}")


@test("a warm start tells what it saved: what was compiled at once counts once")
def _(scene):
    cold = compile_slowly(scene, 3, "--json", "--metrics", "figures")
    equal((last(cold)["compiled"], last(cold)["saved_seconds"]), (3, 0))
    warm = scene.shell(reader(), options=["--cache", "two", "--json",
                                          "--metrics", "figures"])
    document = last(warm)
    equal((document["used"], document["compiled"]), (3, 0))
    between(document["saved_seconds"], 2.5, 5)
    equal(document["kinds"][0]["saved_seconds"], document["saved_seconds"])
    found = re.findall(r'^tkbundle_run_(?:kind_)?saved_seconds\{.*\} ([\d.]+)$',
                       scene.read("figures"), re.M)
    equal([round(float(each), 2) for each in found],
          [round(document["saved_seconds"], 2)] * 2)

    # Where it is, it was noted.
    again = scene.shell(reader(), options=["--cache", "two"])
    found = SAVED.search(again.err.splitlines()[-1])
    require(found and 2 < int(found.group(1)) < 6, again.err)


@test("what is used in part saves its part, and what is not used nothing")
def _(scene):
    compile_slowly(scene, 3)
    ended = scene.shell("true", options=["--cache", "two"])
    equal(SAVED.search(ended.err), None, ended.err)
    key = sorted(os.listdir(scene.path("source", ".triton", "cache")))[1]
    ended = scene.shell(f"cat $TRITON_CACHE_DIR/{key}/* >read",
                        options=["--cache", "two", "--json"])
    between(last(ended)["saved_seconds"], 0.5, 2)


@test("the times stay where a ref is compacted")
def _(scene):
    compile_slowly(scene, 2)
    for number in range(33):
        root = scene.path(f"other-{number}")
        folder = os.path.join(root, "A" * 50 + chr(ord("A") + number // 8) +
                              chr(ord("A") + number % 8))
        scene.write(os.path.join(folder, "k.autotune.json"),
                    json.dumps({"number": number}))
        scene.tkbundle("push", "a/b", root, "--remote", scene.remote)
    folder = scene.path("remote", "ref")
    count = sum(len(files) for _, _, files in os.walk(folder))
    require(count < 10, count)
    ended = scene.shell(reader(), options=["--cache", "two", "--json"])
    between(last(ended)["saved_seconds"], 1.5, 4)


@test("times change no byte of a bundle, and a file of them that is damaged "
      "harms nothing")
def _(scene):
    compile_slowly(scene, 2)
    own = os.path.join(scene.root, ".tkbundle")
    require(os.path.getsize(os.path.join(own, "times")) > 50)
    found = []
    for damage in (lambda: None, lambda: spoil(os.path.join(own, "times")),
                   lambda: shutil.rmtree(own)):
        damage()
        scene.tkbundle("collect", scene.root, "-o", "a.tkb")
        with open(scene.path("a.tkb"), "rb") as file:
            found.append(file.read())
    require(found[0] == found[1] == found[2], "the bytes differ")


@test("a pull notes times, and finds a damaged file of them no obstacle")
def _(scene):
    compile_slowly(scene, 2)
    os.makedirs(scene.path("two", ".tkbundle", "times"))
    ended = scene.shell(reader(), options=["--cache", "two", "--json"])
    equal((last(ended)["success"], last(ended)["used"],
           last(ended)["saved_seconds"]), (True, 2, 0), ended.err)
    os.makedirs(scene.path("three", ".tkbundle"))
    spoil(scene.path("three", ".tkbundle", "times"))
    ended = scene.shell(reader(), options=["--cache", "three", "--json"])
    between(last(ended)["saved_seconds"], 1.5, 4)

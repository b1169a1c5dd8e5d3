# SPDX-License-Identifier: Apache-2.0
"""Kernels that an engine put where it does not look for them are gathered."""
import json
import os
import shutil
import tempfile

from machines import AOT, VLLM, Machine, stages
from scene import Skip, equal, read, require, test, write

RUN = ("--engine", "vllm")


class Filled(Machine):
    """A home in whose default places vLLM was started without tkbundle. One kernel
    is where the second start looks, the others where the first has put them."""

    def __init__(self, scene, name="first"):
        super().__init__(scene, name, VLLM)
        self.nested = self.path(AOT, "inductor_cache", "triton", "0")
        self.verb("relocate")
        both = sorted(set(keys(self.nested)) & set(keys(self.kernels)))
        self.both = both.pop()
        for key in both:
            shutil.rmtree(os.path.join(self.kernels, key))

    def start(self, *command, **env):
        return self.scene.run(*(command or ("true",)), options=RUN,
                              env={**self.environment, **env}, status=0)

    def lacking(self, root=None):
        return sorted(set(keys(self.nested)) - set(keys(root or self.kernels)))


def keys(root):
    return [name for name in os.listdir(root) if name != ".tkbundle"]


def is_group(name):
    return name.startswith("__grp__")


def linked(ended):
    """The number of kernels in the first line."""
    _, is_said, rest = ended.err.splitlines()[0].partition(", linked ")
    return int(rest.split(",")[0]) if is_said else 0


def check_root(machine, root):
    """Check that each entry is whole and in its place, and that no temporary files are
    left."""
    machine.scene.tkbundle("verify", root)
    moved = machine.scene.tkbundle("relocate", "--json", "--dry-run", root)
    equal(json.loads(moved.out)["relocated"], 0)
    equal(stages(root), [])


@test("kernels that an engine left in its tree are linked to where it looks", Filled)
def _(scene, machine):
    lacking = machine.lacking()
    require(len(lacking) >= 2, lacking)
    there = {key: os.stat(os.path.join(machine.kernels, key)).st_ino
             for key in keys(machine.kernels)}

    first = machine.start()

    equal(linked(first), len(lacking), first.err)
    equal(machine.lacking(), [])
    groups = 0
    for key in lacking:
        for name in os.listdir(os.path.join(machine.nested, key)):
            old = os.path.join(machine.nested, key, name)
            new = os.path.join(machine.kernels, key, name)
            if is_group(name):
                groups += 1
                for child in json.loads(read(new))["child_paths"].values():
                    equal(os.path.dirname(child), os.path.dirname(new))
                    require(os.path.isfile(child), child)
            else:
                require(os.path.samefile(old, new), name)
    require(groups != 0)
    for key, inode in there.items():
        equal(os.stat(os.path.join(machine.kernels, key)).st_ino, inode)
    check_root(machine, machine.kernels)
    check_root(machine, machine.nested)

    second = machine.start()
    require("linked" not in second.err, second.err)


@test("what was gathered is pushed with what the command makes", Filled)
def _(scene, machine):
    machine.start("sh", "-c", 'mkdir -p "$VLLM_CACHE_ROOT/modelinfos" && '
                  'echo {} > "$VLLM_CACHE_ROOT/modelinfos/new.json"')

    other = Machine(scene, "other")
    scene.run("true", options=RUN, env={
        **other.environment, "TRITON_CACHE_DIR": other.kernels}, status=0)

    equal(sorted(keys(other.kernels)), sorted(keys(machine.kernels)))


@test("what is torn is not gathered, and torn entries are made whole", Filled)
def _(scene, machine):
    torn = [key for key in machine.lacking() if any(
        map(is_group, os.listdir(os.path.join(machine.nested, key))))][0]
    for name in os.listdir(os.path.join(machine.nested, torn)):
        if name.endswith(".cubin"):
            os.truncate(os.path.join(machine.nested, torn, name), 100)
    there = os.path.join(machine.kernels, machine.both)
    removed = [name for name in os.listdir(there) if not is_group(name)]
    for name in removed:
        os.unlink(os.path.join(there, name))
    unfinished = os.path.join(machine.nested, "A" * 52, "half.ttir")
    write(unfinished, "half\n")

    ended = machine.start()

    equal(machine.lacking(), sorted([torn, "A" * 52]))
    require("links:" not in ended.err, ended.err)
    require(set(removed) <= set(os.listdir(there)), removed)
    check_root(machine, machine.kernels)


@test("something in the way of one kernel hinders no other, and no start", Filled)
def _(scene, machine):
    lacking = machine.lacking()
    write(os.path.join(machine.kernels, lacking[0]), "a file")

    ended = machine.start()

    equal(linked(ended), len(lacking) - 1, ended.err)
    equal(read(os.path.join(machine.kernels, lacking[0])), b"a file")


@test("of several engines, the kernels of one are taken, and the others' root is named")
def _(scene):
    write(scene.path("inductor", "fxgraph", "ab", "abcd", "g"), "x")
    write(scene.path(".triton", "cache", "x"), "x")
    environment = {"HOME": scene.folder, "TORCHINDUCTOR_CACHE_DIR": scene.path("inductor")}

    def said(*names):
        engines = [word for name in names for word in ("--engine", name)]
        ended = scene.tkbundle("collect", *engines, "-o", "a.tkb", env=environment)
        return "are not taken" in ended.err

    equal((said("torch"), said("torch", "triton"), said("triton", "torch")),
          (False, True, True))


@test("kernels are copied to a root of another file system", Filled)
def _(scene, machine):
    if not os.access("/dev/shm", os.W_OK) or \
            os.stat("/dev/shm").st_dev == os.stat(scene.folder).st_dev:
        raise Skip("there is no other file system")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as root:
        ended = machine.start(TRITON_CACHE_DIR=root)

        equal(linked(ended), len(keys(machine.nested)), ended.err)
        equal(machine.lacking(root), [])
        check_root(machine, root)


@test("two runs at once gather into one root", Filled)
def _(scene, machine):
    started = [scene.start("true", options=RUN, env=machine.environment)
               for _ in range(4)]

    for each in started:
        equal(scene.finish(each).status, 0)

    equal(machine.lacking(), [])
    check_root(machine, machine.kernels)

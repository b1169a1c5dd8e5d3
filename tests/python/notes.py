# SPDX-License-Identifier: Apache-2.0
"""What a kernel was compiled of is noted, travels, and makes the same kernel."""
import json
import os

from machine import SUPPORT, TRITONS, VENV, kernels, python, use
from scene import equal, files_below, require, test, wait_until
from starts import each_version

TREE = "specialisations"


def fetch(here, folder="specs", remote=None):
    """The specialisations of the ref: what each file holds, by its key."""
    here.tkbundle("pull", "a/b", here.path("elsewhere"), "--remote",
                  remote or here.remote, "--tree", f"{TREE}={here.path(folder)}")
    found = {}
    if not os.path.isdir(here.path(folder)):
        return found
    for name, path in files_below(here.path(folder)):
        with open(path, encoding="utf-8") as file:
            found[name.removesuffix(".json")] = json.load(file)
    return found


def check_again(here, version):
    """Compile from the files alone, elsewhere: Triton makes the same keys."""
    noted = fetch(here)
    for name in noted:
        equal(noted[name]["key"], name)
    ended = here.tkbundle(
        "compile", here.path("specs"), "--target", "cuda:90", "--python",
        os.path.join(VENV, "bin", "python3"), "--cache", here.path("again"),
        env={"PYTHONPATH": f"{TRITONS[version]}:{SUPPORT}",
             "PYTHONDONTWRITEBYTECODE": "1", "TRITON_DEFAULT_FP_FUSION": "1"})
    equal(ended.err, "")
    equal(sorted(key for key in os.listdir(here.path("again"))
                 if key in noted), sorted(noted))
    return noted


@each_version("from what was noted, the same kernels are compiled")
def _(here, version):
    use(here, version)
    noted = check_again(here, version)
    equal([one["options"].get("num_warps") for one in noted.values()].count(8),
          1, noted)
    one = next(iter(noted.values()))
    equal((one["function"], one["target"]),
          ("triton_kernel:add_kernel", ["cuda", "90", 32]))
    require(here.folder not in json.dumps(noted), noted)


@test("a key of Triton 3.2, which may have hyphens, names a specialisation, too")
def _(here):
    use(here, "3.6")
    noted = fetch(here)
    for number, name in enumerate(noted):
        os.rename(here.path("specs", name + ".json"),
                  here.path("specs", f"-{number}_{name[:40]}.json"))
    ended = here.tkbundle(
        "compile", here.path("specs"), "--target", "cuda:90", "--python",
        os.path.join(VENV, "bin", "python3"), "--cache", here.path("again"),
        env={"PYTHONPATH": SUPPORT, "PYTHONDONTWRITEBYTECODE": "1",
             "TRITON_DEFAULT_FP_FUSION": "1"})
    equal(ended.err, "")
    require(f"compiled {len(noted)}, hits 0, failed 0" in ended.out, ended.out)


@test("what was noted has the same bytes wherever it was compiled")
def _(here):
    use(here, "3.6", root="one")
    use(here, "3.6", root="two", remote=here.path("other"))
    bundles = [sorted(os.listdir(here.path(remote, "cas")))
               for remote in ("remote", "other")]
    equal(bundles[0], bundles[1])
    equal((len(fetch(here)), kernels(here)), (2, 2))


@test("what was found is noted as what was compiled is")
def _(here):
    use(here, "3.6", remote=here.path("other"))
    use(here, "3.6")
    wait_until(lambda: os.path.exists(here.path("remote")), "a push")
    equal(len(fetch(here)), 2)


@test("a block notes what any cache manager compiles, and who listens hears it")
def _(here):
    for version, count in (("3.3", 0), ("3.6", 2), ("3.9", 2)):
        remote = here.path("remote-" + version)
        ended = use(here, version, "block", root=version, remote=remote,
                    env={"TRITON_CACHE_MANAGER":
                         "triton.runtime.cache:FileCacheManager"})
        require(f"heard {count}\n" in ended.out, ended.out)
        equal(len(fetch(here, version + "-specs", remote)), count, version)


@test("a constant that cannot be written costs its note, and nothing else")
def _(here):
    ended = use(here, "3.6", "odd")
    require(ended.err.count("\n") == 1 and "has no record" in ended.err, ended.err)
    equal((kernels(here), len(fetch(here))), (1, 0))


@test("a listener that took the place of ours is called by it, from the next block on")
def _(here):
    ended = python(here, """
import sys, types, tkbundle
from tkbundle import _specialisations
_specialisations.listen()
_specialisations.listen()
knobs = types.ModuleType("knobs")
knobs.compilation = types.SimpleNamespace(listener=None)
sys.modules["triton.knobs"] = knobs
_specialisations.listen()
first = knobs.compilation.listener
_specialisations.listen()
assert first is knobs.compilation.listener is not None
heard = []
knobs.compilation.listener = theirs = lambda **told: heard.append(told)
_specialisations.listen()
assert knobs.compilation.listener is not theirs
knobs.compilation.listener(metadata={})
print(len(heard))
""")
    equal((ended.status, ended.out, ended.err), (0, "1\n", ""))

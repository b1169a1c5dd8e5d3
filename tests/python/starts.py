# SPDX-License-Identifier: Apache-2.0
"""Real Triton, of several versions, starts warm: with our variables alone."""
import os
import shutil

from machine import STOCK, TRITONS, compiled, kernels, launch, use, user
from scene import equal, files_below, is_there, require, test, wait_until


def each_version(sentence):
    """Add a test for each Triton."""
    def add(function):
        for version in TRITONS:
            test(f"Triton {version}: {sentence}")(
                lambda here, version=version: function(here, version))
        return function
    return add


@each_version("what one process compiled, another one elsewhere finds")
def _(here, version):
    first = use(here, version, "compile", script=STOCK, root="one")
    equal(first.out.count("compiled"), 2, first.out)
    equal(kernels(here), 2)
    second = use(here, version, "compile", script=STOCK, root="two")
    equal(second.out.count("found"), 2, second.out)
    require(first.err.count("\n") == 1 and "has no record" in first.err, first.err)
    equal(second.err, "")


@test("with an empty TRITON_CACHE_DIR, the root is the default one")
def _(here):
    use(here, "3.6", "compile", script=STOCK,
        env={"TRITON_CACHE_DIR": "", "HOME": here.path("home")})
    keys = [name for name in os.listdir(here.path("home", ".triton", "cache"))
            if not name.startswith(".")]
    equal(len(keys), 2, keys)


@each_version("a file that is missing is a miss and no crash")
def _(here, version):
    use(here, version)
    for name, path in files_below(here.path("cache")):
        if name.endswith(".cubin"):
            os.remove(path)
    shutil.rmtree(here.path("remote"))
    equal(compiled(use(here, version)), 2)


@test("metadata that were cut short are a miss and no crash")
def _(here):
    use(here, "3.3")
    for name, path in files_below(here.path("cache")):
        if name.endswith("/add_kernel.json"):
            os.truncate(path, 0)
    shutil.rmtree(here.path("remote"))
    equal(compiled(use(here, "3.3")), 2)


@test("a cache that was moved is used as it is")
def _(here):
    use(here, "3.6", root="one")
    shutil.rmtree(here.path("remote"))
    os.rename(here.path("one"), here.path("two"))
    equal(compiled(use(here, "3.6", root="two")), 0)


@each_version("a look-up makes no folder")
def _(here, version):
    use(here, version)
    before = sorted(os.listdir(here.path("cache")))
    equal(compiled(use(here, version)), 0)
    equal(sorted(os.listdir(here.path("cache"))), before)


def read_only(here, *words):
    """Use Triton where the folder `cache` is mounted read-only."""
    cache = here.path("cache")
    mount = (f"mount --bind {cache} {cache} && "
             f"mount -o remount,bind,ro {cache} && exec \"$@\"")
    line, environment = user(here, "3.6", *words)
    before = here.able(["unshare", "-m", "sh", "-c", mount, "sh"])
    return here.go([*before, *line], env=environment, status=0)


@test("a read-only root is used, and what it lacks is pulled beside it")
def _(here):
    use(here, "3.6", "threads", root="other")
    use(here, "3.6", remote=here.path("elsewhere"))
    ended = read_only(here, "threads")
    equal(compiled(ended), 0, ended.err)
    require(len(os.listdir(here.path(
        f"cache.tkbundle-{os.geteuid()}"))) >= 4)


@test("a read-only root without a remote costs what it lacks")
def _(here):
    use(here, "3.6")
    shutil.rmtree(here.path("remote"))
    ended = read_only(here, "threads")
    equal(compiled(ended), 2, ended.err)


@test("eight processes at once lose nothing, and none sees an error")
def _(here):
    for _ in range(2):
        started = [launch(here, *user(here, "3.6", "plain",
                                      root=f"cache{number % 2}"))
                   for number in range(8)]
        ended = [here.finish(one) for one in started]
        equal({one.status for one in ended}, {0}, ended[0].err)
        # What another one writes at this moment is pushed by that one.
        equal([line for one in ended for line in one.err.splitlines()
               if not (": push: left out " in line and ": busy: " in line)
               and ": pull: ref 'a/b' has no record " not in line], [])
    equal(sum(compiled(one) for one in ended), 0)
    equal(kernels(here), 2)


@test("threads that look up at once pull once")
def _(here):
    use(here, "3.6", "threads", root="one")
    equal(compiled(use(here, "3.6", "threads", root="two")), 0)
    equal(kernels(here), 4)


@test("after a fork, each process pushes what it compiled")
def _(here):
    use(here, "3.6", "fork")
    equal(kernels(here), 3)


@test("workers of multiprocessing push what they compiled at their end")
def _(here):
    use(here, "3.6", "workers")
    equal(kernels(here), 4)


@test("what is compiled is pushed when nothing more comes, before the exit")
def _(here):
    use(here, "3.6", "quiet", "12")
    equal(kernels(here), 2)


@test("a process that leaves by os._exit is made good by the next one")
def _(here):
    use(here, "3.6", "leave")
    equal(kernels(here), 0)
    equal(compiled(use(here, "3.6")), 0)
    equal(kernels(here), 2)


@test("TKBUNDLE_PUSH=never pushes nothing, TKBUNDLE_DISABLE does nothing")
def _(here):
    use(here, "3.6", env={"TKBUNDLE_PUSH": "never"})
    equal(kernels(here), 0)
    use(here, "3.6", root="one")
    use(here, "3.6", root="two", env={"TKBUNDLE_DISABLE": "1"})
    equal(compiled(use(here, "3.6", root="two",
                       env={"TKBUNDLE_DISABLE": "1"})), 0)
    equal(kernels(here), 2)


@test("hooks of the user stay, and are called")
def _(here):
    equal(compiled(use(here, "3.6", "hooks")), 2)
    equal(compiled(use(here, "3.9", "hooks")), 2)


@test("only what was compiled or used is pushed, not what lies beside it")
def _(here):
    shutil.copytree(here.fixture(), here.path("cache"))
    use(here, "3.6")
    wait_until(is_there(here.path("remote")), "a push")
    equal(kernels(here), 2)

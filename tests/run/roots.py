# SPDX-License-Identifier: Apache-2.0
"""A cache root that cannot be written."""
import glob
import json
import os
import shutil

from pushes import compiling, reader
from scene import (ENTRIES, KERNELS, Skip, equal, need_root, require, test)

BOUND = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && '


def read_only(scene, root, *more):
    """The arguments to run a command that sees `root` mounted like this."""
    need_root()
    script = BOUND + "".join(f"{line} && " for line in more) + 'exec "$@"'
    return scene.able(["unshare", "-m", "sh", "-c", script, "sh", root])


def warm_root(scene):
    """A root whose group files name it, as after an emit."""
    scene.tkbundle("collect", scene.fixture(), "-o", "all.tkb")
    root = scene.path("image", "cache")
    scene.tkbundle("emit", "all.tkb", root)
    shutil.rmtree(os.path.join(root, ".tkbundle"), ignore_errors=True)
    return root


def beside(root):
    return f"{root}.tkbundle-{os.geteuid()}"


@test("a root that cannot be written gives way to one beside it, all linked")
def _(scene):
    root = warm_root(scene)
    before = read_only(scene, root)
    ended = scene.shell("echo $TRITON_CACHE_DIR; " + reader() +
                        "; touch $TRITON_CACHE_DIR/new", before=before,
                        options=["--cache", root])
    equal(ended.out, f"{beside(root)}\n{KERNELS}\n", ended.err)
    equal((ended.status, ended.counts()[:3]), (0, ("0", str(KERNELS), "0")))
    require(f"cache: '{root}' cannot be written" in ended.reason() and
            beside(root) in ended.reason(), ended.err)
    for group in glob.glob(os.path.join(beside(root), "*", "__grp__*")):
        with open(group, encoding="utf-8") as file:
            paths = json.load(file)["child_paths"]
        folder = os.path.dirname(group)
        equal(paths, {name: os.path.join(folder, name) for name in paths})


@test("a root that was moved, and cannot be written, is of use all the same")
def _(scene):
    root = scene.fixture()  # its group files name the path where it was made
    ended = scene.shell(reader(), before=read_only(scene, root),
                        options=["--cache", root])
    equal(ended.out, f"{KERNELS}\n", ended.err)


@test("the environment names the other root, also where the user had set it")
def _(scene):
    root = warm_root(scene)
    ended = scene.shell("echo $TRITON_CACHE_DIR",
                        before=read_only(scene, root),
                        env={"TRITON_CACHE_DIR": root})
    equal(ended.out, beside(root) + "\n")


@test("where nothing can be written beside it, the other root is in $TMPDIR")
def _(scene):
    root = warm_root(scene)
    os.makedirs(scene.path("tmp"))
    before = read_only(scene, scene.path("image"))
    ended = scene.shell("echo $TRITON_CACHE_DIR; " + reader(), before=before,
                        options=["--cache", root],
                        env={"TMPDIR": scene.path("tmp")})
    place, count = ended.out.split()
    require(place.startswith(scene.path("tmp", "tkbundle-")), place)
    equal((count, os.stat(place).st_mode & 0o777), (str(KERNELS), 0o700))


@test("a root of somebody else's gives way, too")
def _(scene):
    need_root()
    root = warm_root(scene)
    os.chmod(scene.folder, 0o755)
    os.makedirs(scene.path("tmp"))
    os.chmod(scene.path("tmp"), 0o777)
    before = ["setpriv", "--reuid", "64321", "--regid", "64321",
              "--clear-groups"]
    if scene.go([*before, scene.program, "--version"]).status != 0:
        raise Skip("others cannot run the program here")
    ended = scene.shell("echo $TRITON_CACHE_DIR; grep -l child_paths "
                        "$TRITON_CACHE_DIR/*/__grp__* | wc -l",
                        before=before, options=["--cache", root],
                        env={"TMPDIR": scene.path("tmp")})
    place, count = ended.out.split()
    require(place.startswith(scene.path("tmp", "tkbundle-64321-")), place)
    equal(count, str(KERNELS))


@test("a folder of somebody else's is not taken as the other root", warm_root)
def _(scene, root):
    os.makedirs(beside(root))
    os.chmod(beside(root), 0o777)
    ended = scene.shell("echo $TRITON_CACHE_DIR", options=["--cache", root],
                        before=read_only(scene, root))
    require(ended.out.startswith(scene.path("tkbundle-")), ended.out)


@test("a pull emits into the other root, and that is whole", warm_root)
def _(scene, root):
    scene.fill()
    victim = sorted(glob.glob(os.path.join(root, "*", "__grp__*")))[0]
    shutil.rmtree(os.path.dirname(victim))
    ended = scene.shell(reader(), options=["--cache", root],
                        before=read_only(scene, root))
    equal((ended.status, ended.out), (0, f"{KERNELS}\n"), ended.err)
    scene.tkbundle("verify", beside(root))
    scene.tkbundle("collect", beside(root), "-o", "b.tkb")
    require(json.loads(scene.tkbundle("ls", "--json", "b.tkb").out), "empty")


@test("what is compiled in the other root is pushed, and there the next time")
def _(scene):
    root = warm_root(scene)
    for path in glob.glob(os.path.join(root, "*")):
        shutil.rmtree(path)
    before = read_only(scene, root)
    cold = scene.shell(compiling(scene), before=before,
                       options=["--cache", root])
    equal(cold.counts(), ("0", "0", str(ENTRIES), str(ENTRIES)), cold.err)
    again = scene.shell("ls $TRITON_CACHE_DIR | wc -l", before=before,
                        options=["--cache", root])
    equal(again.out, f"{ENTRIES}\n")


@test("a compiler can write into a linked entry", warm_root)
def _(scene, root):
    script = ("cd $TRITON_CACHE_DIR && for f in */*.json; do "
              "mkdir $(dirname $f)/tmp.pid_1 && "
              "echo {} >$(dirname $f)/tmp.pid_1/x && "
              "mv $(dirname $f)/tmp.pid_1/x $f && "
              "rmdir $(dirname $f)/tmp.pid_1 || exit 1; done")
    scene.shell(script, options=["--cache", root],
                before=read_only(scene, root), status=0)


@test("what is not whole in a root that cannot be written is not linked")
def _(scene):
    root = warm_root(scene)
    os.makedirs(os.path.join(root, "A" * 52))
    ended = scene.shell("ls $TRITON_CACHE_DIR", options=["--cache", root],
                        before=read_only(scene, root))
    equal(len(ended.out.split()), ENTRIES, ended.out)


@test("a link that leads nowhere the next time is no entry any more")
def _(scene):
    root = warm_root(scene)
    before = read_only(scene, root)
    options = ["--cache", root]
    equal(scene.shell(reader(), options=options, before=before).out,
          f"{KERNELS}\n")
    victim = sorted(glob.glob(os.path.join(root, "*", "__grp__*")))[0]
    shutil.rmtree(os.path.dirname(victim))
    groups = scene.shell("ls $TRITON_CACHE_DIR/*/__grp__* | wc -l; " +
                         reader(), options=options, before=before)
    equal(groups.out, f"{KERNELS - 1}\n{KERNELS - 1}\n")


@test("an Inductor folder that cannot be written gives way, too")
def _(scene):
    scene.tkbundle("collect", scene.fixture(), "-o", "all.tkb")
    root = scene.path("torchinductor_x")
    scene.tkbundle("emit", "all.tkb", root, "--device", "1")
    ended = scene.shell("echo $TORCHINDUCTOR_CACHE_DIR; " +
                        reader("$TORCHINDUCTOR_CACHE_DIR/triton/1"),
                        options=["--cache", root],
                        before=read_only(scene, root))
    equal(ended.out, f"{beside(root)}\n{KERNELS}\n", ended.err)


@test("where the command's own variable names another root, both are told")
def _(scene):
    meant, other = scene.path("meant"), scene.path("other")
    ended = scene.shell("echo $TRITON_CACHE_DIR", options=["--cache", meant],
                        env={"TRITON_CACHE_DIR": other})
    equal(ended.out, other + "\n")
    require(f"TRITON_CACHE_DIR names '{other}', not '{meant}'"
            in ended.reason(), ended.err)
    inductor = scene.path("torchinductor_op")
    ended = scene.shell("true", options=["--cache", inductor],
                        env={"TRITON_CACHE_DIR": other})
    require(f"TRITON_CACHE_DIR names '{other}', not '{inductor}'"
            in ended.reason(), ended.err)
    ended = scene.shell("true", options=["--cache", inductor],
                        env={"TRITON_CACHE_DIR": inductor})
    require(f"TRITON_CACHE_DIR names '{inductor}', but its kernels are in "
            f"'{inductor}/triton'" in ended.reason(), ended.err)

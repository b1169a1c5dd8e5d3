# SPDX-License-Identifier: Apache-2.0
"""What is pulled, used, compiled and pushed, and the last line."""
import json
import os
import re
import shutil
import subprocess
import sys
import time

from scene import (ENTRIES, FIXTURES, KERNELS, Skip, children, equal, hanging,
                   is_there, need_root, require, test, wait_until)

# Reads each group file and what it lists, as Triton does.
READER = """
import glob, json, os, sys
count = 0
for path in glob.glob(os.path.join(sys.argv[1], "*", "__grp__*.json")):
    with open(path) as group:
        files = json.load(group)["child_paths"]
    if all(os.path.exists(file) for file in files.values()):
        for file in files.values():
            open(file, "rb").read()
        count += 1
print(count)
"""


def reader(root="$TRITON_CACHE_DIR"):
    return f"{sys.executable} -c '{READER}' \"{root}\""


def compiling(scene, number=None):
    """A shell command that makes entries in the root."""
    source = scene.fixture(f"compiled-{number}")
    keys = sorted(os.listdir(source))
    for key in keys[number:] if number is not None else []:
        shutil.rmtree(os.path.join(source, key))
    return f"cp -r {source}/. $TRITON_CACHE_DIR/"


def records(scene):
    folder = scene.path("remote", "ref")
    # Reports of starts lie beside them.
    return sum(len(files) for place, _, files in os.walk(folder)
               if "@starts," not in place)


def gauges_of(scene, *names):
    """What files of metrics have, without kinds."""
    lines = [line.split() for name in names for line in scene.read(name).splitlines()
             if not line.startswith(("#", "tkbundle_run_kind_"))]
    return {name.partition("{")[0]: float(value) for name, value in lines}


def figures(scene):
    """What a run has written so far."""
    if not os.path.exists(scene.path("figures")):
        return {}
    return {name.removeprefix("tkbundle_run_"): value
            for name, value in gauges_of(scene, "figures").items()}


@test("a cold start and a warm one, and what the lines say")
def _(scene):
    cold = scene.shell(compiling(scene))
    equal(cold.counts(), ("0", "0", str(ENTRIES), str(ENTRIES)), cold.err)
    require("has no record" in cold.reason(), cold.err)
    shutil.rmtree(scene.path(".triton"))
    warm = scene.shell(reader())
    equal(warm.out, f"{KERNELS}\n")
    equal(warm.err, f"tkbundle: emitted {ENTRIES}, starting\n"
          f"tkbundle: emitted {ENTRIES}, used {KERNELS}, "
          "compiled anew 0, pushed 0\n")


NO_RECORD = r"pull: ref 'a/b' has no record in '[^']*'"


def check_no_record(ended, advice, hint=""):
    """Two lines: the first has the advice, the last the hint."""
    first, last = ended.err.splitlines()
    require(re.fullmatch(f"tkbundle: emitted 0, starting; {NO_RECORD}: "
                         + re.escape(advice), first), first)
    require(re.search(NO_RECORD + hint + "$", last), last)


@test("a ref without a record: the first line says what to do, the last what to push")
def _(scene):
    names = "check the names of ref and remote"
    pushes = ("what is compiled is pushed to it; if it should have one, "
              + names)
    check_no_record(scene.shell("true"), pushes)  # the cache is empty
    shutil.copytree(scene.fixture(), scene.root, dirs_exist_ok=True)
    check_no_record(scene.shell("true", options=["--push", "never"]),
                    f"push one elsewhere, or {names}")
    command = f"push a/b {scene.root} --remote {scene.remote}"
    check_no_record(scene.shell("true"), pushes,
                    f"; push: nothing was compiled; 'tkbundle {command}' "
                    "pushes what was here before")
    scene.tkbundle(*command.split())
    warm = scene.shell("true")
    equal((warm.counts()[3], warm.reason()), ("0", ""), warm.err)


@test("without its policy or a key of it, a start does not promise to push")
def _(scene):
    scene.write("policy", "ci.key = gone.pub\n", 0o600)
    for policy, why in (("none", "there is no policy 'none'"),
                        ("policy", "policy:1: there is no key 'gone.pub'")):
        ended = scene.shell("true", options=["--trust", policy])
        equal(ended.err.splitlines(),
              [f"tkbundle: emitted 0, starting; pull: {why}",
               "tkbundle: emitted 0, used 0, compiled anew 0, pushed 0; "
               f"pull: {why}"])


@test("what is there already is neither emitted nor compiled")
def _(scene):
    scene.fill()
    scene.shell(reader())
    again = scene.shell("true")
    equal(again.counts(), ("0", str(KERNELS), "0", "0"), again.err)
    equal((again.reason(), records(scene)), ("", 1))


@test("it counts as stats --used does")
def _(scene):
    scene.fill()
    ended = scene.shell("cat $TRITON_CACHE_DIR/[A-O]*/__grp__* | wc -c")
    used = json.loads(scene.tkbundle("stats", "--used", "--json",
                                     scene.root).out)["uses"]["used"]
    require(0 < used < ENTRIES, used)
    equal(ended.counts()[1], str(used))


@test("what the command compiles is pushed while it runs")
def _(scene):
    started = scene.start("sh", "-c", compiling(scene, 1) +
                          "; until test -e end; do sleep 0.05; done",
                          options=["--quiet", "500ms"])
    wait_until(lambda: records(scene) == 1, "a push")
    # Another kernel, whose folder is there long before its group file.
    source = scene.fixture()
    key = sorted(os.listdir(source))[3]
    shutil.copytree(os.path.join(source, key), os.path.join(scene.root, key),
                    ignore=shutil.ignore_patterns("__grp__*"))
    time.sleep(2)
    equal(records(scene), 1)
    for name in os.listdir(os.path.join(source, key)):
        if name.startswith("__grp__"):
            shutil.copy(os.path.join(source, key, name),
                        os.path.join(scene.root, key, name))
    wait_until(lambda: records(scene) == 2, "a second push")
    require(started.poll() is None, "the command has ended")
    scene.write("end", "")
    equal(scene.finish(started).counts(), ("0", "0", "2", "2"))
    equal(records(scene), 2)


@test("with --push on-exit nothing is pushed before")
def _(scene):
    started = scene.start("sh", "-c", compiling(scene) +
                          "; touch on; until test -e end; do sleep 0.05; done",
                          options=["--push", "on-exit", "--quiet", "300ms"])
    wait_until(is_there(scene.path("on")), "the command")
    time.sleep(2)
    equal(records(scene), 0)
    scene.write("end", "")
    equal(scene.finish(started).counts()[3], str(ENTRIES))
    equal(records(scene), 1)


@test("with --push never nothing is pushed")
def _(scene):
    ended = scene.shell(compiling(scene), options=["--push", "never"])
    equal((ended.status, records(scene)), (0, 0))


@test("where nothing is new, nothing is pushed")
def _(scene):
    shutil.copytree(scene.fixture(), scene.root, dirs_exist_ok=True)
    ended = scene.shell("sleep 2.5")
    equal((ended.counts()[3], records(scene)), ("0", 0))


@test("what is pushed in the end delays the exit no longer than the deadline")
def _(scene):
    with hanging() as remote:
        ended = scene.shell(compiling(scene), remote=remote, options=[
            "--wait", "100ms", "--deadline", "1s"])
    equal((ended.status, ended.counts()[2:]), (0, (str(ENTRIES), "0")))
    require("; push: " in "; " + ended.reason(), ended.err)
    require(1 < ended.seconds < 8, ended.seconds)


@test("a signal while it pushes in the end ends it, with the command's status")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c", compiling(scene) + "; exit 8",
                              remote=remote, options=["--wait", "100ms"])
        push = scene.child(started, "push")
        started.terminate()
        ended = scene.finish(started)
    equal(ended.status, 8)
    require(ended.seconds < 10, ended.seconds)
    require(not os.path.exists(f"/proc/{push}"), "the push goes on")


@test("several runs share a root and a ref, and lose nothing")
def _(scene):
    keys = sorted(os.listdir(scene.fixture()))
    copy = ("for k in {}; do cp -r source/.triton/cache/$k "
            "$TRITON_CACHE_DIR/; sleep 0.1; done")
    runs = [scene.start("sh", "-c", copy.format(" ".join(chosen)),
                        options=["--cache", root])
            for chosen, root in ((keys[:3], "one"), (keys[2:], "one"),
                                 (keys[:2], "two"), (keys[1:4], "three"))]
    for started in runs:
        ended = scene.finish(started)
        equal(ended.status, 0, ended.err)
        require("push:" not in ended.reason(), ended.err)
    warm = scene.shell(reader(), options=["--cache", "four"])
    equal((warm.out, warm.counts()[0]), (f"{KERNELS}\n", str(ENTRIES)))


@test("Inductor's layout is pulled, counted and pushed")
def _(scene):
    source = scene.fixture("llama", os.path.join(
        FIXTURES, "inductor-2.11-llama4-h100.tar.gz"))
    source = scene.path("llama")
    folders = [folder for folder, names, _ in os.walk(source)
               if os.path.basename(folder) == "triton" and "0" in names]
    if not folders:
        raise Skip("the fixture has another shape")
    count = sum(1 for key in os.listdir(os.path.join(folders[0], "0"))
                if not key.startswith("."))
    options = ["--cache", "torchinductor_me"]
    cold = scene.shell("mkdir -p $TORCHINDUCTOR_CACHE_DIR; cp -r "
                       f"{folders[0]} $TORCHINDUCTOR_CACHE_DIR/",
                       options=options)
    equal(cold.counts(), ("0", "0", str(count), str(count)), cold.err)
    shutil.rmtree(scene.path("torchinductor_me"))
    warm = scene.shell(reader("$TORCHINDUCTOR_CACHE_DIR/triton/0"),
                       options=options)
    equal(warm.counts()[0], str(count), warm.err)
    equal(warm.counts()[1], warm.out.strip(), warm.err)
    equal(warm.counts()[2:], ("0", "0"), warm.err)


@test("where the file system keeps no times, what was used is unknown")
def _(scene):
    need_root()
    os.makedirs(scene.path("quiet"))
    script = 'mount -t tmpfs -o noatime none "$1" && shift && exec "$@"'
    before = scene.able(["unshare", "-m", "sh", "-c", script, "sh", scene.path("quiet")])
    scene.fill()
    ended = scene.shell(reader() + "; " + compiling(scene, 1),
                        options=["--cache", "quiet/root"], before=before)
    equal(ended.counts()[:2], (str(ENTRIES), "unknown"), ended.err)


@test("an entry that is compiled and read by another process is compiled")
def _(scene):
    ended = scene.shell(compiling(scene) + "; sleep 0.1; " + reader())
    equal(ended.counts(), ("0", "0", str(ENTRIES), str(ENTRIES)), ended.err)


@test("a pull that is late still counts")
def _(scene):
    """The program is slowed down by a stop."""
    scene.fill()
    started = scene.start("sh", "-c", "until test -e end; do sleep 0.05; done",
                          options=["--wait", "0s"])
    wait_until(lambda: os.path.isdir(scene.root) and
               len([key for key in os.listdir(scene.root)
                    if not key.startswith(".")]) == ENTRIES, "the pull")
    time.sleep(0.5)
    scene.write("end", "")
    ended = scene.finish(started)
    equal(ended.counts(), (str(ENTRIES), "0", "0", "0"), ended.err)
    require("pull: not done after 0 s" in ended.reason(), ended.err)


@test("what a late pull brings is not pushed back")
def _(scene):
    scene.fill()
    for push, seconds in (("always", 6), ("on-exit", 1)):
        script = "sleep %s" % seconds
        started = scene.start("sh", "-c", script, options=[
            "--wait", "0s", "--push", push, "--cache", push])
        pushes = []
        while started.poll() is None:
            pushes += [line for line in children(started.pid).values()
                       if line[1:2] == ["push"]]
            time.sleep(0.002)
        ended = scene.finish(started)
        equal((pushes, ended.counts()), ([], (str(ENTRIES), "0", "0", "0")),
              push)


@test("what was seen and not pushed yet when the command ends is pushed")
def _(scene):
    # The watch looks every two seconds; its next look would have found it.
    ended = scene.shell(compiling(scene) + "; sleep 3")
    equal(ended.counts(), ("0", "0", str(ENTRIES), str(ENTRIES)), ended.err)


@test("what was there with times in the future is not compiled")
def _(scene):
    scene.fill()
    scene.shell("true")
    subprocess.run(["find", scene.root, "-exec", "touch", "-d", "tomorrow",
                    "{}", "+"], check=True)
    equal(scene.shell("true").counts()[2:], ("0", "0"))
    written = next(one for one in os.listdir(scene.root) if "." not in one)
    anew = scene.shell(f"cd $TRITON_CACHE_DIR/{written} && touch -d 'next week' *")
    equal(anew.counts()[2], "1")


@test("what appears with old times was compiled, too")
def _(scene):
    script = compiling(scene).replace("cp -r", "cp -a")
    subprocess.run(["find", scene.path("compiled-None"), "-exec", "touch",
                    "-d", "2001-01-01", "{}", "+"], check=True)
    equal(scene.shell(script).counts(), ("0", "0", str(ENTRIES), str(ENTRIES)))


@test("the figures of --metrics are those of the line")
def _(scene):
    scene.fill()
    ended = scene.shell("sleep 0.1", options=["--metrics", "figures"])
    got = figures(scene)
    equal(tuple(str(int(got[name])) for name in
                ("emitted", "used", "compiled", "pushed")), ended.counts())
    equal((got["success"], got["left_out"]), (1, 0))
    require(0 < got["delay_seconds"] < 2 and got["duration_seconds"] > 0.1,
            got)
    scene.shell("true", options=["--metrics", "figures", "--push", "never", "--cache",
                                 "other"])
    got = figures(scene)
    equal((got["emitted"], got["used"], got["compiled"]), (ENTRIES, 0, 0))
    ended = scene.shell("exit 3", options=["--metrics", "no/such/folder"], status=3)
    require("metrics: cannot write 'no/such/folder'" in ended.reason(),
            ended.err)

# SPDX-License-Identifier: Apache-2.0
"""tkbundle run, with a script that caches as an engine does."""
import json
import os
import pwd
import re
import shutil
import stat
import threading

from machines import contents
from scene import FIXTURE, KERNELS, Skip, equal, need, need_root, require, test, write

PROFILES = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                        "..", "..", "share", "engines")

# Warm: all of it is there, and the index names what is. Else it "compiles".
SERVER = r"""#!/bin/sh
set -eu
graph="$VLLM_CACHE_ROOT/torch_compile_cache/1/rank_0_0/backbone"
env > "$SAID.env"
if [ -f "$graph/vllm_compile_cache.py" ]; then
	path=$(sed -n "s/.*'\(\/[^']*\)'.*/\1/p" "$graph/vllm_compile_cache.py")
	[ -f "$path" ] || { echo broken > "$SAID"; exit 9; }
	echo "warm, $(ls "$TRITON_CACHE_DIR" | wc -l) kernels" > "$SAID"
else
	mkdir -p "$graph" "$TRITON_CACHE_DIR"
	echo graph > "$graph/artifact"
	echo "{1: '$graph/artifact'}" > "$graph/vllm_compile_cache.py"
	if [ -n "${KERNELS-}" ]; then
		cp -r "$KERNELS"/* "$TRITON_CACHE_DIR"
	fi
	echo cold > "$SAID"
	eval "${SPOIL-}"
fi
if [ -n "${MORE-}" ]; then
	mkdir -p "$VLLM_CACHE_ROOT/modelinfos"
	echo '{}' > "$VLLM_CACHE_ROOT/modelinfos/$MORE.json"
fi
"""


def serve(scene, home, *, options=("--engine", "vllm"), command=("serve",),
          before=(), **env):
    """Run the script at `home`; returns how it ended, what it said and was
    told."""
    program = scene.path("bin", "vllm")
    if not os.path.exists(program):
        write(program, SERVER, 0o755)
    said = scene.path("said")
    environment = {"HOME": scene.path(home), "SAID": said, "TMPDIR":
                   scene.path("tmp"), **env}
    for folder in ("tmp", home):
        os.makedirs(scene.path(folder), exist_ok=True)
    ended = scene.run(program, *command, options=options, before=before,
                      env=environment)
    told = dict(line.split("=", 1) for line in
                scene.read("said.env").splitlines() if "=" in line)
    return ended, scene.read("said").strip(), told


@test("a second machine starts warm, at another home")
def _(scene):
    kernels = scene.fixture("kernels", FIXTURE)

    first, said, told = serve(scene, "one", KERNELS=kernels)
    equal((first.status, said), (0, "cold"), first.err)
    require(told["VLLM_CACHE_ROOT"].startswith(scene.path("one") + "/"), told)
    second, said, told = serve(scene, "two")

    equal(second.status, 0, second.err)
    require(said.startswith("warm"), said, second.err)
    require(told["VLLM_CACHE_ROOT"].startswith(scene.path("two") + "/"), told)
    equal(int(said.split()[1]), KERNELS + 1)
    emitted, _, compiled, pushed = second.counts()
    equal((emitted, compiled, pushed), (str(KERNELS + 2), "0", "0"),
          second.err)


@test("a cache stays where run has placed it, although PyTorch leaves headers in its "
      "own place")
def _(scene):
    script = ('mkdir -p "$TMPDIR/torchinductor_op/precompiled_headers"; '
              'echo h > "$TMPDIR/torchinductor_op/precompiled_headers/h"; '
              'echo "$TORCHINDUCTOR_CACHE_DIR" >> said; '
              'mkdir -p "$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fab"; '
              'cat "$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fab/x" || '
              'echo graph > "$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fab/x"')
    env = {"HOME": scene.path("one"), "USER": "op", "TMPDIR": scene.path("tmp")}
    for folder in ("one", "tmp"):
        os.makedirs(scene.path(folder))
    for _ in range(2):
        ended = scene.go([scene.program, "run", "--engine", "torch", "--ref",
                          "a/b", "--", "sh", "-c", script], env=env, status=0)

    equal(ended.out, "graph\n")
    equal(len(set(scene.read("said").split())), 1)
    ended = scene.tkbundle("collect", "--engine", "torch", "-o", "a.tkb",
                           env=env)
    require("collected 1 entry" in ended.out, ended.out, ended.err)
    # One that somebody has made for it is his.
    shutil.rmtree(scene.path("tmp", "torchinductor_op"))
    os.makedirs(scene.path("tmp", "torchinductor_op"))
    scene.go([scene.program, "run", "--engine", "torch", "--ref", "a/b", "--",
              "sh", "-c", script], env=env)
    equal(scene.read("said").split()[-1],
          scene.path("tmp", "torchinductor_op"))


# Inductor looks for kernels in TRITON_CACHE_DIR, or else in its own folder.
TORCH = r"""
kernels=${TRITON_CACHE_DIR-$TORCHINDUCTOR_CACHE_DIR/triton/0}
if [ -e "$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fab/x" ] &&
	[ "$(ls "$kernels" | wc -l)" -ge "$(ls "$KERNELS" | wc -l)" ]; then
	echo "warm $kernels"
else
	mkdir -p "$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fab" "$kernels"
	echo graph > "$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fab/x"
	cp -r "$KERNELS"/* "$kernels"
	echo "cold $kernels"
fi
"""


@test("what run has placed in TMPDIR is found by other verbs, too")
def _(scene):
    env = {"HOME": "/proc/none", "TMPDIR": scene.path("tmp"),
           "KERNELS": scene.fixture("kernels", FIXTURE)}
    os.makedirs(scene.path("tmp"))
    scene.go([scene.program, "run", "--engine", "triton", "--ref", "a/b", "--remote",
              scene.path("remote"), "--", "sh", "-c",
              'cp -r "$KERNELS"/* "$TRITON_CACHE_DIR"'], env=env, status=0)
    ended = scene.tkbundle("collect", "--engine", "triton", "-n", env=env)
    require(re.match("would collect [1-9]", ended.out), ended.out)
    # Not what others could have put there.
    os.chmod(scene.path("tmp", f"tkbundle-{os.geteuid()}"), 0o777)
    scene.tkbundle("collect", "--engine", "triton", "-n", env=env, status=3)


@test("kernels are where PyTorch looks for them, whichever of its folders exist")
def _(scene):
    def start(machine, **env):
        os.makedirs(scene.path(machine), exist_ok=True)
        ended = scene.go([scene.program, "run", "--engine", "torch", "--ref", "a/b",
                          "--remote", scene.path("remote"), "--", "sh", "-c", TORCH],
                         env={"HOME": scene.path(machine), "TMPDIR": scene.path(machine),
                              "USER": "op", "KERNELS": kernels, **env}, status=0)
        return [*ended.out.split(), ended]

    kernels = scene.fixture("kernels", FIXTURE)
    own = os.path.join("torchinductor_op", "triton", "0")
    placed = os.path.join(".cache", "tkbundle", "engines", "triton")
    # A folder that the user names, and that the first start makes.
    named = {"TORCHINDUCTOR_CACHE_DIR": scene.path("named")}
    equal(start("one", **named)[:2], ["cold", scene.path("one", placed)])
    said, where, ended = start("one", **named)
    equal((said, where), ("warm", scene.path("one", placed)), ended.err)
    equal(ended.counts()[2:], ("0", "0"), ended.err)
    # Inductor's own folder, with kernels, or with graphs alone.
    os.makedirs(scene.path("two", own, "KEY"))
    equal(start("two")[:2], ["warm", scene.path("two", own)])
    os.makedirs(scene.path("three", "torchinductor_op", "fxgraph", "cd", "fcd"))
    equal(start("three")[:2], ["warm", scene.path("three", placed)])
    # What run leaves in a folder is no cache, if it has placed one elsewhere.
    shutil.copytree(scene.path("three", "torchinductor_op", ".tkbundle"),
                    scene.path("four", "torchinductor_op", ".tkbundle"))
    equal(start("four")[:2], ["warm", scene.path("four", placed)])
    equal(start("four")[:2], ["warm", scene.path("four", placed)])


@test("what PyTorch keeps in its default folder, whatever its variables say, is no cache")
def _(scene):
    env = {"HOME": scene.path("home"), "TMPDIR": scene.path("tmp"), "USER": "op"}
    placed = scene.path("home", ".cache", "tkbundle", "engines", "inductor")
    write(os.path.join(placed, "ab", "cab.py"), "code")
    for name in ("precompiled_headers/1f.h", "cache/should_pad/1f"):
        write(scene.path("tmp", "torchinductor_op", name), "x")
    said = scene.tkbundle("config", "--engine", "torch", env=env).out
    require(f"inductor  {placed}  placed by run" in said, said)


@test("FlashInfer's cache is below a place of run's, unless it has one, or the user")
def _(scene):
    def start(machine, **env):
        os.makedirs(scene.path(machine), exist_ok=True)
        ended = scene.go(
            [scene.program, "run", "--engine", "flashinfer", "--ref", "a/b", "--remote",
             scene.path("remote"), "--wait", "60s", "--", "sh", "-c",
             'cache=${FLASHINFER_WORKSPACE_BASE-$HOME}/.cache/flashinfer; '
             'mkdir -p "$cache/0.7/90/generated/x"; '
             'cat "$cache/0.7/90/generated/x/y" || echo y > "$cache/0.7/90/generated/x/y"; '
             'echo "$cache"'],
            env={"HOME": scene.path(machine), "TMPDIR": scene.path(machine), **env}, status=0)
        return ended.out.split()

    below = os.path.join(".cache", "flashinfer")
    placed = os.path.join(".cache", "tkbundle", "engines", "flashinfer", below)
    equal(start("one"), [scene.path("one", placed)])
    equal(start("one"), ["y", scene.path("one", placed)])
    equal(start("two"), ["y", scene.path("two", placed)])
    os.makedirs(scene.path("three", below))
    equal(start("three"), ["y", scene.path("three", below)])
    named = {"FLASHINFER_WORKSPACE_BASE": scene.path("named")}
    equal(start("four", **named), ["y", scene.path("named", below)])
    # collect finds what run has placed.
    scene.tkbundle("collect", "--engine", "flashinfer", "-o", "a.tkb",
                   env={"HOME": scene.path("one"), "TMPDIR": scene.path("one")})
    require(" 0.7/90/generated/x " in scene.tkbundle("ls", "a.tkb").out)


def inductor(scene, **env):
    """Where Inductor's cache is, by its default."""
    cleared = ("LOGNAME", "USER", "LNAME", "USERNAME", "XDG_CACHE_HOME")
    ended = scene.go(["env", *(f"--unset={name}" for name in cleared),
                      *(f"{name}={value}" for name, value in env.items()),
                      scene.program, "config", "--engine", "torch", "--json"])
    roots = json.loads(ended.out)["engines"][0]["roots"]
    return next(root["path"] for root in roots if root["name"] == "inductor")


@test("a tilde is the home folder where the engine makes it that, and only there")
def _(scene):
    def roots(engine, **env):
        ended = scene.go([scene.program, "config", "--engine", engine, "--json"],
                         env={"HOME": scene.path("home"), **env})
        return {root["name"]: root["path"] for root in
                json.loads(ended.out)["engines"][0]["roots"]}
    equal(roots("vllm", VLLM_CACHE_ROOT="~/a/b")["vllm"], scene.path("home", "a", "b"))
    equal(roots("vllm", VLLM_CACHE_ROOT="~")["vllm"], scene.path("home"))
    equal(roots("vllm", VLLM_CACHE_ROOT="~op/a")["vllm"], "~op/a")
    equal(roots("vllm", VLLM_CACHE_ROOT="/a/~/b")["vllm"], "/a/~/b")
    equal(roots("vllm", TRITON_CACHE_DIR="~/a")["triton"], "~/a")
    equal(roots("sglang", SGLANG_CACHE_DIR="~/a", SGLANG_JIT_CACHE_DIR="~/jit"),
          {"triton": scene.path("home", "a", "triton"), "sglang": scene.path("home", "a"),
           "sglang_jit": scene.path("home", "jit")})
    equal(roots("sglang", SGLANG_CACHE_DIR="/a", TRITON_CACHE_DIR="~/a")["triton"], "~/a")
    env = {"VLLM_CACHE_ROOT": "~/a", "TRITON_CACHE_DIR": scene.path("t"), "HOME": ""}
    equal(roots("vllm", **env)["vllm"], None)
    ended = scene.go([scene.program, "emit", "--engine", "vllm", "none.tkb"], env=env)
    require("nothing says where 'vllm' of engine 'vllm' is: set HOME" in ended.err, ended.err)


@test("the user whose name is in a default place is the one whom Python finds")
def _(scene):
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError as error:
        raise Skip("this user has no name") from error
    for user, env in ((name, {}), ("a", {"USER": "a"}),
                      ("b", {"USER": "a", "LOGNAME": "b"}),
                      ("c", {"USERNAME": "c"}), ("x_op", {"USER": "x\\op"})):
        place = scene.path("torchinductor_" + user)
        os.makedirs(os.path.join(place, "fxgraph"), exist_ok=True)
        equal(inductor(scene, **env), place)


@test("a user without a name has the folder that PyTorch gives it")
def _(scene):
    need_root()
    need("setpriv")
    ended = scene.go(["env", "-i", "PATH=" + os.environ["PATH"], "TKBUNDLE_CONFIG=/dev/null",
                      "setpriv", "--reuid=123456", "--clear-groups", scene.program, "config",
                      "--engine", "torch"])
    if "Permission denied" in ended.err:
        raise Skip("another user may not run the program")
    require("root inductor  /tmp/torchinductor_uid_123456  default" in ended.out,
            ended.out, ended.err)


@test("Inductor's folder is where Python finds a temporary folder by variables")
def _(scene):
    folders = {name: scene.path(name) for name in ("TMP", "TEMP", "TMPDIR")}
    for folder in folders.values():
        os.makedirs(os.path.join(folder, "torchinductor_a", "fxgraph"))
    for clear in ((), ("TMPDIR",), ("TMPDIR", "TEMP")):
        env = {name: "" if name in clear else folder for name, folder in folders.items()}
        first = next(name for name in ("TMPDIR", "TEMP", "TMP") if name not in clear)
        equal(inductor(scene, USER="a", **env),
              os.path.join(folders[first], "torchinductor_a"))


@test("an engine is known by its command")
def _(scene):
    equal(serve(scene, "one", options=())[1], "cold")
    require(serve(scene, "two", options=())[1].startswith("warm"))
    require(serve(scene, "three", options=(), command=("run-batch", "--model", "m"))[1]
            .startswith("warm"))

    _, _, told = serve(scene, "one", options=(), command=("other",),
                       VLLM_CACHE_ROOT=scene.path("x"),
                       TRITON_CACHE_DIR=scene.path("y"))
    require("VLLM_CONFIG_ROOT" not in told, told)


JIT = """
leaf="${SGLANG_JIT_CACHE_DIR:-$HOME/.cache/sglang/jit}/sm90a/norm/build-1/deps-2"
if [ -e "$leaf/norm.so" ]; then
	echo warm
else
	mkdir -p "$leaf"
	echo so >"$leaf/norm.so"
	echo '[]' >"$leaf/sgl_deps.json"
fi
"""


@test("SGLang's own kernels come along, although they do not lie in its cache, and once")
def _(scene):
    for home, said in (("one", ""), ("two", "warm\n")):
        os.makedirs(scene.path(home))
        ended = scene.go([scene.program, "run", "--engine", "sglang", "--ref", "a/b",
                          "--remote", scene.remote, "--wait", "30s", "--", "sh", "-c",
                          JIT],
                         env={"HOME": scene.path(home)})
        equal((ended.status, ended.out), (0, said), ended.err)

    os.makedirs(scene.path("three"))
    env = {"HOME": scene.path("three")}
    for said in ("", "warm\n"):  # by its default, within the folder of the others
        ended = scene.go(["sh", "-c", JIT], env=env)
        equal(ended.out, said)
        ended = scene.tkbundle("collect", "--engine", "sglang", "-o", "a.tkb", env=env)
        require("collected 1 entry (2 files" in ended.out, ended.out, ended.err)
        shutil.rmtree(scene.path("three", ".cache"))
        scene.tkbundle("emit", "--engine", "sglang", "a.tkb", env=env)


@test("what the user has set stays")
def _(scene):
    mine = {"VLLM_CACHE_ROOT": scene.path("a"),
            "TRITON_CACHE_DIR": scene.path("b"),
            "VLLM_CONFIG_ROOT": scene.path("c")}

    ended, _, told = serve(scene, "one", **mine)

    equal(ended.status, 0, ended.err)
    equal({name: told[name] for name in mine}, mine)
    equal(told["VLLM_XLA_CACHE_PATH"], "/var/cache/vllm/xla")
    require(os.path.isdir(scene.path("a", "torch_compile_cache")))


@test("a setting is left alone where the user's own folder exists")
def _(scene):
    os.makedirs(scene.path("one", ".config", "vllm"))
    _, _, told = serve(scene, "one")
    require("VLLM_CONFIG_ROOT" not in told, told)
    equal(told["VLLM_XLA_CACHE_PATH"], "/var/cache/vllm/xla")


@test("a setting is left alone where XDG's variable says that the user's own folder is")
def _(scene):
    os.makedirs(scene.path("xdg", "vllm"))
    _, _, told = serve(scene, "one", XDG_CONFIG_HOME=scene.path("xdg"))
    require("VLLM_CONFIG_ROOT" not in told, told)
    os.makedirs(scene.path("two", ".config", "vllm"))
    _, _, told = serve(scene, "two", XDG_CONFIG_HOME=scene.path("none"))
    equal(told["VLLM_CONFIG_ROOT"], "/etc/vllm")


@test("a cache whose folder is a link is counted and pushed")
def _(scene):
    os.mkdir(scene.path("disk"))
    os.symlink(scene.path("disk"), scene.path("cache"))

    ended = scene.shell("mkdir -p cache/fxgraph/ab/abcd && echo x >cache/fxgraph/ab/abcd/g",
                        options=("--engine", "torch", "--require-warm"),
                        env={"TORCHINDUCTOR_CACHE_DIR": scene.path("cache")})

    equal((ended.status, ended.counts()[2:]), (4, ("1", "1")), ended.err)


@test("all trees are pulled and pushed, as many as there may be")
def _(scene):
    def start(place, script):
        trees = [f"--tree=n{each}={scene.path(place, str(each))}" for each in range(64)]
        return scene.shell(script, options=(*trees, "--push", "on-exit"))
    for place in ("one", "two"):
        for each in range(64):
            os.makedirs(scene.path(place, str(each)))

    first = start("one", "for i in one/*; do echo $i >$i/file; done")
    second = start("two", "ls two/*/file | wc -l")

    equal(first.counts()[3], "64", first.err)
    equal(second.out, "64\n", second.err)


@test("it is pushed when only a file of a tree is new")
def _(scene):
    serve(scene, "one")
    again, said, _ = serve(scene, "two", MORE="traits")
    require(said.startswith("warm"), said)
    equal(again.counts()[3], "1", again.err)

    serve(scene, "three")

    require(any(path.endswith("modelinfos/traits.json")
                for path in contents(scene.path("three"))))


@test("without a home, or with one that cannot be written, it starts and is "
      "warm all the same")
def _(scene):
    serve(scene, "one")
    # As in a container with a read-only file system.
    ended, said, told = serve(scene, "one", HOME="/proc/none")
    equal(ended.status, 0, ended.err)
    require(said.startswith("warm"), said, ended.err)
    require(told["VLLM_CACHE_ROOT"].startswith(scene.path("tmp")), told)

    ended, said, told = serve(scene, "one", HOME="")
    equal(ended.status, 0, ended.err)
    require(said.startswith("warm"), said, ended.err)
    mode = os.stat(os.path.dirname(told["VLLM_CACHE_ROOT"])).st_mode
    require(not mode & stat.S_IWOTH, oct(mode))


@test("an engine without a profile is told, and its command runs")
def _(scene):
    ended, said, _ = serve(scene, "one", options=("--engine", "gpt"),
                           VLLM_CACHE_ROOT=scene.path("a"),
                           TRITON_CACHE_DIR=scene.path("b"))
    equal((ended.status, said), (0, "cold"), ended.err)
    require("no profile of an engine 'gpt'" in ended.err, ended.err)


@test("what was pushed while the command ran is pushed again if it was tuned again")
def _(scene):
    program = scene.path("bin", "vllm")
    write(program, r"""#!/bin/sh
set -eu
plan="$VLLM_CACHE_ROOT/startup_plan/startup_plan_1f.json"
mkdir -p "${plan%/*}"
echo '{"plan": 1}' >"$plan"
while [ ! -e "$REMOTE/cas" ]; do sleep 0.05; done
while [ -z "$(ls "$REMOTE/ref" | head -n 1)" ]; do sleep 0.05; done
echo '{"plan": 2}' >"$plan"
""", 0o755)
    told = {"TKBUNDLE_GPU": "NVIDIA H200,580", "REMOTE": scene.path("remote")}
    options = ("--engine", "vllm", "--quiet", "200ms")
    for name in ("one", "two"):
        os.makedirs(scene.path(name))
    scene.run(program, "serve", options=options, env={"HOME": scene.path("one"), **told},
              status=0)
    scene.tkbundle("pull", "--engine", "vllm", "--remote", scene.remote, "a/b",
                   env={"HOME": scene.path("two"), **told})
    equal([data for path, data in contents(scene.path("two")).items()
           if path.endswith("startup_plan_1f.json")], [b'{"plan": 2}\n'])


@test("a profile, a tree or a place that makes no sense is told in one "
      "sentence, and the server starts cold")
def _(scene):
    text = scene.read(os.path.join(PROFILES, "vllm.json"))
    write(scene.path("profiles", "vllm.json"),
          text.replace('"is": "unit"', '"is": "whole"', 1))
    vllm = ("--engine", "vllm")
    for number, (options, env, part) in enumerate((
            (vllm, {"TKBUNDLE_ENGINES": scene.path("profiles")},
             "the 'is' of a rule is not known"),
            ((*vllm, "--tree", "vllm=x"), {}, "there are two trees 'vllm'"),
            ((*vllm, "--tree", "a:no=x"), {},
             "no profile of an engine has trees of kind 'no'"),
            ((*vllm, "--tree", f"a={scene.program}"), {},
             "tkbundle' is not a folder"))):
        ended, said, _ = serve(
            scene, "one", options=options, **env,
            VLLM_CACHE_ROOT=scene.path(f"cache-{number}"),
            TRITON_CACHE_DIR=scene.path(f"kernels-{number}"))
        equal((ended.status, said), (0, "cold"), ended.err)
        require(part in ended.err, part, ended.err)


@test("a unit that cannot be carried is left out, collect says why, and the next "
      "machine starts cold")
def _(scene):
    graph = "torch_compile_cache/1/rank_0_0/backbone"
    index = '"$graph/vllm_compile_cache.py"'
    for number, (spoil, why) in enumerate((
            ('ln -s /etc/passwd "$graph/link"',
             "'link': it is a symbolic link"),
            ('rm "$graph/artifact"',
             f"'vllm_compile_cache.py' names '{graph}/artifact', which is not "
             "there"),
            (f"echo \"'[REPLACE:vllm]/x'\" >>{index}",
             "'vllm_compile_cache.py': it holds '[REPLACE:' already"))):
        one, two = f"one-{number}", f"two-{number}"
        first, said, told = serve(
            scene, one, SPOIL=spoil, MORE="traits",
            options=("--engine", "vllm", "--json", "--metrics", "figures"))
        equal((first.status, said), (0, "cold"), first.err)
        end = json.loads(first.err.splitlines()[-1])
        equal((end["pushed"], end["left_out"]), (1, 1), end)
        (reason,) = [item["message"] for item in end["reasons"]
                     if item.get("of") == "push"]
        require(reason.startswith(f"left out {graph}: ") and why in reason,
                reason)
        require('left_out{ref="a/b"} 1\n' in scene.read("figures"))
        told = scene.tkbundle(
            "collect", "--tree", "vllm:vllm=" + told["VLLM_CACHE_ROOT"], "-o",
            "a.tkb", status=4)
        require(f"{graph}: " in told.err and why in told.err, why, told.err)

        second, said, _ = serve(scene, two)

        equal((second.status, said), (0, "cold"), second.err)
        require(any(path.endswith("modelinfos/traits.json")
                    for path in contents(scene.path(two))))
        require(f"; push: left out {graph}: " not in second.err, second.err)
        shutil.rmtree(scene.path("remote"))


@test("a unit that changes while run reads it is left out, which its line says, and "
      "the next machine starts cold")
def _(scene):
    has_ended = threading.Event()

    graph = "torch_compile_cache/1/rank_0_0/backbone"
    artifact = scene.path("cache", graph, "artifact")

    def meddle():
        while not has_ended.is_set():
            if os.path.exists(artifact):
                os.utime(artifact)

    meddler = threading.Thread(target=meddle)
    meddler.start()
    first, said, _ = serve(scene, "one", MORE="traits",
                           SPOIL='truncate -s 48M "$graph/artifact"',
                           VLLM_CACHE_ROOT=scene.path("cache"))
    has_ended.set()
    meddler.join()
    equal((first.status, said), (0, "cold"), first.err)
    equal(first.counts()[3], "1")
    require(f"; push: left out {graph}: busy: 'artifact' changed while it was "
            "read" in first.err, first.err)

    second, said, _ = serve(scene, "two")

    equal((second.status, said), (0, "cold"), second.err)
    require(any(path.endswith("modelinfos/traits.json")
                for path in contents(scene.path("two"))))


@test("folders that lie deep in each other do not end the count of what was used")
def _(scene):
    _, _, told = serve(scene, "one")
    deep = os.path.join(told["VLLM_CACHE_ROOT"], *["d"] * 700)
    write(os.path.join(deep, "file"), "x")

    ended, said, _ = serve(
        scene, "one", options=("--engine", "vllm", "--push", "never"),
        before=("prlimit", f"--stack={1 << 20}:{1 << 20}"))

    require(said.startswith("warm"), said, ended.err)
    equal(ended.counts()[2], "0", ended.err)

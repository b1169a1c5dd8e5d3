# SPDX-License-Identifier: Apache-2.0
"""A correct profile is accepted; the message about another one says what is wrong."""
import json
import os

from machines import VLLM, Machine, contents
from scene import equal, require, test, write

ROOT = {"name": "mine", "variable": "MINE", "places": [["HOME", "/mine"]],
        "rules": [{"path": "u/*", "is": "unit"}]}
GOOD = {"engine": "own", "package": "own", "versions": [], "commands": [],
        "models": [], "roots": [ROOT], "set": []}


def try_profile(scene, profile, name="own"):
    folder = scene.path("profiles")
    write(os.path.join(folder, name + ".json"),
          profile if isinstance(profile, str) else json.dumps(profile))
    return scene.tkbundle("collect", "--engine", name, "-o", "a.tkb", status=None,
                          env={"TKBUNDLE_ENGINES": folder})


def without(members, name):
    return {key: value for key, value in members.items() if key != name}


def with_root(**members):
    return {**GOOD, "roots": [{**ROOT, **members}]}


def with_rule(**members):
    return with_root(rules=[members])


FAULTS = (
    ({**GOOD, "later": 1}, "later"),
    (with_root(later=1), "later"),
    (with_rule(path="x", later=1), "later"),
    (with_rule(path="x", **{"is": "units"}),
     "the 'is' of a rule is not known"),
    (with_rule(path="x", **{"is": 1}), "the 'is' of a rule is not a word"),
    (with_rule(path="x", shows="all"), "the 'shows' of a rule is not known"),
    (with_rule(path="x", shows=1), "the 'shows' of a rule is not a word"),
    (with_rule(path="x", style="perl"), "a style of paths is not known"),
    (with_rule(path="x", style="build"), "a style of paths is not known"),
    ({**GOOD, "outside": {}}, "folders outside are not a list"),
    ({**GOOD, "outside": [1]}, "a folder outside is not an object"),
    ({**GOOD, "outside": [{"name": "../x", "package": "", "places": []}]},
     "a folder's name is not allowed"),
    ({**GOOD, "outside": [{"name": "x", "places": []}]}, "package"),
    (with_rule(path="x", last=2), "too large"),
    (with_rule(path="x", secrets="yes"), "number"),
    (with_rule(style="json"), "path"),
    *((without(GOOD, name), name) for name in
      ("engine", "package", "versions", "commands", "models",
       "roots", "set")),
    *((with_root(**{name: None}), "") for name in
      ("name", "variable", "places", "rules")),
    ({**GOOD, "roots": []}, "an engine without a root"),
    ({**GOOD, "roots": [ROOT, ROOT]}, "a root is repeated"),
    ({**GOOD, "roots": {}}, "roots are not a list"),
    ({**GOOD, "roots": [1]}, "a root is not an object"),
    ({**GOOD, "engine": "No Word"}, "an engine's name is not allowed"),
    (with_root(name="../x"), "a root's name is not allowed"),
    (with_root(name="x" * 33), "a root's name is not allowed"),
    (with_root(name="1x"), "a root's name is not allowed"),
    (with_root(places=["x"]), "a place is not a list"),
    (with_root(places=[["HOME"]]), ""),
    (with_root(places=[["HOME", "/x", "y"]]), "a place has too many parts"),
    ({**GOOD, "set": [["A", "b"]]}, ""),
    ({**GOOD, "set": [["A", "b", "", ""]]}, "a setting has too many parts"),
    ({**GOOD, "versions": [1]}, "a word is missing"),
    (with_root(rules=[{"path": "x"}] * 257), "too many rules"),
    (json.dumps(GOOD)[:-1], ""),
    (json.dumps(GOOD) + "x", ""),
    ('{"engine":"own",' + json.dumps(GOOD)[1:], ""),
    ("", ""),
    ("[]", ""),
)


@test("what is wrong with a profile is one sentence, that names the file and "
      "the place")
def _(scene):
    equal(try_profile(scene, GOOD).status, 0)
    for profile, part in FAULTS:
        ended = try_profile(scene, profile)

        require(ended.status != 0, profile)
        equal(len(ended.err.splitlines()), 1, profile, ended.err)
        require("own.json" in ended.err and part in ended.err,
                profile, part, ended.err)
        require(not os.path.exists(scene.path("b.tkb")))


@test("the first folder that has a profile counts: $TKBUNDLE_ENGINES, the "
      "user's, the program's")
def _(scene):
    def profile(folder, place):
        write(scene.path(folder, "vllm.json"), json.dumps(
            {**with_root(name="vllm", variable="", places=[["HOME", place]]),
             "engine": "vllm"}))
    machine = Machine(scene, "first", VLLM)
    profile("given", "/given")
    profile(os.path.relpath(os.path.join(machine.home, ".config/tkbundle/"
                                         "engines"), scene.folder), "/users")
    for name in ("given", "users"):
        write(os.path.join(machine.home, name, "u", name), name)

    def carried(env):
        machine.verb("collect", "-o", "a.tkb", env=env)
        return scene.tkbundle("ls", "--files", "a.tkb").out
    require(" u/given " in carried({"TKBUNDLE_ENGINES": scene.path("given")}))
    require(" u/users " in carried({}))
    require(" u/users " in carried({"TKBUNDLE_ENGINES": scene.path("empty")}))
    require("modelinfos/" in carried({"XDG_CONFIG_HOME": scene.path("x")}))


@test("an engine that nobody knows, and a tree that makes no sense, are named "
      "in one sentence")
def _(scene):
    os.mkdir(scene.path("x"))
    for words, part in (
            (("--engine", "gpt"), "no profile of an engine 'gpt'"),
            (("--engine", "../vllm"), "is not the name of an engine"),
            (("--engine", ""), "'--engine' wants NAME"),
            (("--tree", "x"), "'x' is not NAME=PATH"),
            (("--tree", "=x"), "'=x' is not NAME=PATH"),
            (("--tree", "x="), "'x=' is not NAME=PATH"),
            (("--tree", "a b=x"), "'a b' cannot be the name of a tree"),
            (("--tree", "../x=x"), "'../x' cannot be the name of a tree"),
            (("--tree", "a=x", "--tree", "a=y"), "two trees 'a'"),
            (("--engine", "vllm", "--tree", "vllm=y"), "two trees 'vllm'")):
        for verb in ("collect", "emit"):
            scene.tkbundle("collect", "--tree", "t=x", "-o", "a.tkb")
            ended = scene.tkbundle(verb, *words, *(
                ("-o", "b.tkb") if verb == "collect" else ("a.tkb",)), status=2)

            equal(len(ended.err.splitlines()), 1, ended.err)
            require(part in ended.err, verb, part, ended.err)
            require(not os.path.exists(scene.path("b.tkb")))


@test("without a variable that says where an engine's caches are, none is "
      "guessed")
def _(scene):
    environment = {**scene.environment}
    for name in ("HOME", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    scene.environment = environment

    ended = scene.tkbundle("collect", "--engine", "vllm", "-o", "a.tkb", status=2)

    require("nothing says where" in ended.err, ended.err)


@test("a root lies where its variable says, or the first of its places that "
      "is set")
def _(scene):
    write(scene.path("home", ".cache", "vllm", "by-home"), "")
    write(scene.path("xdg", "vllm", "by-xdg"), "")
    write(scene.path("given", "by-variable"), "")
    home = {"HOME": scene.path("home")}
    xdg = {**home, "XDG_CACHE_HOME": scene.path("xdg")}
    given = {**xdg, "VLLM_CACHE_ROOT": scene.path("given")}
    for env, name in ((home, "by-home"), (xdg, "by-xdg"),
                      (given, "by-variable"),
                      ({**xdg, "VLLM_CACHE_ROOT": ""}, "by-xdg")):
        scene.tkbundle("collect", "--engine", "vllm", "-o", "a.tkb", env=env)
        listed = scene.tkbundle("ls", "a.tkb").out
        require(f" {name} " in listed, name, listed)


@test("what a profile leaves is left, and locks and logs of every tree")
def _(scene):
    machine = Machine(scene, "first")
    for name in ("assets/x", "gpu_p2p_access_cache_for_0.json", "a.lock",
                 "a.log", "a.pid", "x.tmp", "x.tmp.12", "tmp.1/x", "x.part", ".x.swp",
                 "x~", "locks/x", "build/lock", "dummy_cache/x", ".staging-1/x",
                 "modelinfos/tmpab12_d34", "kept"):
        write(machine.path(*name.split("/")), "x")
    machine.collect("a.tkb")
    second = Machine(scene, "second")
    second.emit("a.tkb")
    equal(list(contents(second.tree)), ["kept"])

# SPDX-License-Identifier: Apache-2.0
"""No secret of a tree's texts leaves the machine."""
import json
import os
import shutil
import time

from machines import (AOT, GRAPH, VLLM, Machine, empty, full,
                      names_what_is_there)
from scene import equal, read, require, test, write

KEYS = GRAPH + "/cache_key_factors.json"


def plant(machine):
    """Twenty secrets, in every kind of text that a profile carries."""
    factors = json.loads(read(machine.path(KEYS)))
    factors["env"]["VLLM_API_KEY"] = "plain-secret-01"
    factors["env"]["NESTED"] = {"HF_TOKEN": ["plain-secret-02"]}
    factors["command"] = ["--api-key", "plain-secret-03"]
    factors["text"] = "AWS_SECRET_ACCESS_KEY=plain-secret-04 x"
    write(machine.path(KEYS), json.dumps(factors, indent=2))
    write(machine.path("modelinfos", "m.json"),
          '{"openai_api_key": "plain-secret-05"}')
    # Of a name that does not say that it is JSON: such a one would be left out.
    write(machine.path("modelinfos", "broken"),
          '{"DB_PASSWORD": "plain-secret-06", ')
    write(machine.path("modelinfos", "wide.json"),
          '{"HF_TOKEN": "plain-secret-12"}'.encode("utf-16"))
    write(machine.path("settings.env"), "export HF_TOKEN=plain-secret-07\n")
    write(machine.path("settings.yaml"), "auth_token: plain-secret-08\n"
          "private_key: |\n  -----BEGIN-----\n  plain-secret-13\n"
          "api_keys:\n- plain-secret-14\n")
    write(machine.path("calls.jsonl"), '{"n": 1}\n{"api_key": "plain-secret-15"}\n')
    write(machine.path("settings.toml"), 'password = "plain-secret-09"\n'
          'cache = "redis://me:plain-secret-11@cache:6379/0"\n')
    write(machine.path(AOT, "rank_0_0", "notes.txt"),
          "client --token plain-secret-10\n")
    write(machine.path("noext"), "API_KEY: plain-secret-16\n")
    write(machine.path(AOT, "rank_0_0", "settings"), "PASSWORD=plain-secret-17\n")
    write(machine.path(".netrc"), "password = plain-secret-18\n")
    write(machine.path("start.sh"), "export HF_TOKEN=plain-secret-19\n")
    write(machine.path("accents.notes"),
          "né\napi_key: plain-secret-20\n".encode("latin-1"))


def files_below(folder):
    for below, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(below, name)


@test("of twenty secrets in a tree's texts, none is in the bundle, in the remote, "
      "in a log or in a report", full, empty)
def _(scene, first, second):
    plant(first)
    said = []

    def tell(ended):
        said.extend((ended.out, ended.err))
    tell(first.verb("collect", "-o", scene.path("a.tkb")))
    tell(first.verb("collect", "--json", "-o", scene.path("a.tkb")))
    tell(first.verb("push", "--json", "--remote", scene.remote, "a/b"))
    tell(second.verb("pull", "--json", "--remote", scene.remote, "a/b"))
    for words in (("ls", "--json", "--files"), ("stats", "--json"),
                  ("verify", "--json"), ("diff", "--json", "a.tkb")):
        tell(scene.tkbundle(*words, "a.tkb"))
    tell(scene.tkbundle("pull", "--remote", scene.remote, "a/b", "-o",
                        "whole.tkb"))

    require(not any("plain-secret" in text for text in said), said)
    for path in [*files_below(second.home), *files_below(scene.path("remote")),
                 scene.path("a.tkb"), scene.path("whole.tkb")]:
        require(b"plain-secret" not in read(path).replace(b"\0", b""), path)
    # Bundles are compressed: `second` has shown what they hold.
    equal(read(second.path(KEYS)).count(b"hidden"), 4)
    for name in ("settings.env", "settings.yaml", "settings.toml", "calls.jsonl",
                 "noext", ".netrc", "start.sh", "accents.notes"):
        require(b"hidden" in read(second.path(name)), name)
    require(b"plain-secret-01" in read(first.path(KEYS)))


@test("a binary file and code move byte for byte, whatever they hold", full, empty)
def _(scene, first, second):
    held = {"graph": b"\x80\x04\x95\0API_KEY=plain\n.",
            "text-then-binary": b"API_KEY: plain\n" * 100 + b"\0",
            "host.cpp": b'auto API_KEY = "plain";\n',
            "code.py": b'API_KEY = "plain"\n'}
    for name, content in held.items():
        write(first.path(name), content)
    first.collect("a.tkb")
    second.emit("a.tkb")
    for name, content in held.items():
        equal(read(second.path(name)), content)


@test("a text that would be too large without its secrets is left out, and the rest is packed")
def _(scene):
    machine = Machine(scene, "first")
    write(machine.path("run.out"), b"API_KEY=x\n" + b"n=1 line\n" * (((64 << 20) - 10) // 9))
    write(machine.path("other"), "fine")

    ended = machine.verb("collect", "-o", scene.path("a.tkb"), status=4)

    require("left out run.out: limit: 'run.out' would have more than" in ended.err, ended.err)
    equal(machine.emit("a.tkb"), (0, 1, 0))


@test("many secrets in one long line are hidden in little time, and JSON stays JSON "
      "whatever its name")
def _(scene):
    first, second = Machine(scene, "first"), Machine(scene, "second")
    write(first.path("line"), "API_KEY=plain " * 100000)
    write(first.path("made.best_config"), json.dumps(
        {"log": "HF_TOKEN=plain " * 30000, "cmd": "log: api_key: plain", "warps": 4}))
    before = time.monotonic()
    first.collect("a.tkb")
    require(time.monotonic() - before < 20)
    second.emit("a.tkb")
    equal(read(second.path("line")), b"API_KEY=hidden " * 100000)
    equal(json.loads(read(second.path("made.best_config"))),
          {"log": "HF_TOKEN=hidden " * 30000, "cmd": "log: api_key: hidden", "warps": 4})


@test("settings with a secret of one's own stay, even if they are as long as the bundle's")
def _(scene):
    first, second = Machine(scene, "first"), Machine(scene, "second")
    write(first.path("s.env"), "API_KEY=AAAAAAAAAAA\nx=1\n")
    write(second.path("s.env"), "API_KEY=mine\nx=123\n")
    first.collect("a.tkb")
    equal(second.emit("a.tkb"), (0, 1, 0))
    equal(read(second.path("s.env")), b"API_KEY=mine\nx=123\n")


@test("machines with other secrets have equal bundles, and find each other's "
      "units present", full)
def _(scene, first):
    second = Machine(scene, "second", VLLM)
    plant(first)
    plant(second)
    write(second.path(KEYS), read(second.path(KEYS)).replace(
        b"plain-secret-01", b"something else"))
    text = read(second.path(KEYS))

    bundle, _ = first.collect("a.tkb")
    equal(second.collect("b.tkb")[0], bundle)
    first.push()
    equal(second.push()["pushed"], 0)
    first.emit("a.tkb")  # puts what was moved right, and names this place
    require(b"plain-secret-01" not in read(first.path(KEYS)))
    shutil.rmtree(second.path(GRAPH))
    shutil.copytree(first.path(GRAPH), second.path(GRAPH))
    write(second.path(KEYS), text)
    os.unlink(second.path(GRAPH, "vllm_compile_cache.py"))
    second.emit("a.tkb")
    names_what_is_there(second)
    write(second.path(KEYS), text)
    shutil.rmtree(second.path(".tkbundle"))
    equal(second.emit("a.tkb"), (0, 46, 0))
    equal(read(second.path(KEYS)), text)

# SPDX-License-Identifier: Apache-2.0
"""When a push begins: the server is ready, or nothing is written any more."""
import contextlib
import json
import os
import shutil
import socket
import time

from answers import Answering, serving
from figures import UNTIL_END, closed_port, finish
from pushes import compiling, records
from scene import (ENTRIES, descendants, equal, is_there, kill_all, require,
                   silent_server, test, wait_until)

QUIET = ("--quiet", "300ms")


class Health(Answering):
    def do_GET(self):  # pylint: disable=invalid-name
        self.server.paths.append(self.path)
        status = self.server.status
        self.answer(status, headers={"Location": "/ready"} if status == 302 else {})


@contextlib.contextmanager
def health(status, **place):
    """A server whose answer can be changed."""
    with serving(Health, **place) as server:
        server.status, server.paths = status, []
        yield server


def start(scene, *options, script="", **more):
    """Compile two entries, and live on until there is a file `end`."""
    started = scene.start("sh", "-c", f"{compiling(scene, 2)}; touch on; "
                          f"{script} {UNTIL_END}", options=options, **more)
    wait_until(is_there(scene.path("on")), "the command")
    return started


def compile_more(scene, count):
    """As the command would; returns how many entries there are."""
    source = scene.path("more", ".triton", "cache")
    if not os.path.isdir(source):
        scene.fixture("more")
    for key in sorted(os.listdir(source))[:count]:
        shutil.copytree(os.path.join(source, key),
                        os.path.join(scene.root, key), dirs_exist_ok=True)


def held(scene):
    """How many entries the ref has."""
    ended = scene.tkbundle("refs", "--remote", scene.remote, "--json")
    refs = json.loads(ended.out)["refs"]
    return refs[0]["entries"] if refs else 0


@test("it pushes when the URL answers with 2xx and not before, and again what "
      "is compiled since")
def _(scene):
    with health(503) as server:
        url = f"http://127.0.0.1:{server.server_port}/health?full=1"
        started = start(scene, "--ready-url", url, *QUIET, "--json")
        wait_until(lambda: len(server.paths) > 4, "questions")
        equal((records(scene), set(server.paths)), (0, {"/health?full=1"}))
        server.status = 302
        asked = len(server.paths)
        wait_until(lambda: len(server.paths) > asked + 4, "questions")
        equal(records(scene), 0)

        server.status = 204
        wait_until(lambda: held(scene) == 2, "a push")
        time.sleep(1)
        asked = len(server.paths)
        compile_more(scene, 4)
        wait_until(lambda: held(scene) == 4, "a second push")
        equal((records(scene), len(server.paths)), (2, asked))
    ended = finish(scene, started)
    last = json.loads(ended.err.splitlines()[-1])
    equal((last["compiled"], last["pushed"], last["reasons"]),
          (4, 4, [{"of": "pull",
                   "message": last["reasons"][0]["message"]}]))
    require(0.5 < last["ready_seconds"] < last["duration_seconds"], last)
    first = json.loads(ended.err.splitlines()[0])
    equal([each["of"] for each in first["reasons"]], ["pull"])


@test("localhost may be IPv6, and an address in brackets")
def _(scene):
    try:
        with health(200, host="::1", family=socket.AF_INET6) as server:
            for host in ("localhost", "[::1]"):
                started = start(
                    scene, "--cache", host.strip("[]"), "--ready-url",
                    f"http://{host}:{server.server_port}", "--json")
                wait_until(lambda: server.paths, "a question")
                time.sleep(0.5)
                last = json.loads(
                    finish(scene, started).err.splitlines()[-1])
                require(last["ready_seconds"] is not None, last)
                equal(set(server.paths), {"/"})
                server.paths.clear()
                os.unlink(scene.path("end"))
                os.unlink(scene.path("on"))
                shutil.rmtree(scene.path("compiled-2"))
    except OSError as reason:
        from scene import Skip
        raise Skip(f"no IPv6: {reason}") from reason


@test("it pushes when the file appears, or is written anew")
def _(scene):
    old = scene.write("old", "of the start before")
    for path, write in ((scene.path("new"), lambda: scene.write("new", "")),
                        (old, lambda: os.utime(old, (5, 5)))):
        started = start(scene, "--ready-file", path, *QUIET, env={
            "TKBUNDLE_READY_URL": "http://127.0.0.1:1"})
        time.sleep(1)
        equal(records(scene), 0, path)
        write()
        wait_until(lambda: records(scene) == 1, "a push")
        equal(finish(scene, started).counts()[3], "2", path)
        for name in ("remote", "compiled-2", ".triton"):
            shutil.rmtree(scene.path(name))
        for name in ("end", "on"):
            os.unlink(scene.path(name))


@test("a server that never was ready is told, with why, and pushed in the end")
def _(scene):
    closed = f"http://127.0.0.1:{closed_port()}/health"
    with silent_server() as port, health(404) as server:
        for url, why in (
                (closed, "Connection refused"),
                (f"http://127.0.0.1:{port}/", "Connection timed out"),
                (f"http://127.0.0.1:{server.server_port}/",
                 "HTTP/1.0 404 Not Found")):
            ended = scene.shell(
                compiling(scene, 2) + "; sleep 2.6", options=[
                    "--ready-url", url, *QUIET])
            equal((ended.status, ended.counts()[3]), (0, "2"), ended.err)
            require(f"ready: '{url}': {why}" in ended.reason(), ended.err)
            require(ended.seconds < 12, ended.seconds)
            for name in ("remote", "compiled-2", ".triton"):
                shutil.rmtree(scene.path(name))
    ended = scene.shell("sleep 1", env={"TKBUNDLE_READY_FILE": "none"})
    require("ready: 'none' has not come" in ended.reason(), ended.err)


@test("options that make no sense together are refused, and nothing is run")
def _(scene):
    url = ("--ready-url", "http://127.0.0.1:1/")
    file = ("--ready-file", "x")
    wanted = ("'--ready-url' wants http://ADDRESS[:PORT][/PATH], the address "
              "in numbers or localhost")
    for options, message in (
            ((*url, *file), "'--ready-url' and '--ready-file' exclude each "
             "other"),
            ((*url, "--push", "never"), "'--ready-url' needs '--push always'"),
            ((*file, "--push", "on-exit"),
             "'--ready-file' needs '--push always'"),
            (("--quiet", "1s", "--push", "never"),
             "'--quiet' and '--push never' exclude each other"),
            (("--quiet", "0s"), "'--quiet' wants"),
            (("--ready-file", ""), "'--ready-file' wants"),
            *((("--ready-url", bad), wanted) for bad in (
                "https://127.0.0.1/", "127.0.0.1:80", "http://",
                "http://example.com/", "http://127.0.0.1:0/",
                "http://127.0.0.1:65536/", "http://127.0.0.1:/",
                "http://127.0.0.1:8x/", "http://[::1/", "http://::1/",
                "http://u:p@127.0.0.1/", "http://127.0.0.1/a b",
                "http://127.0.0.1/\r\nX: y", "http://127.0.0.1/#x",
                "http://127.0.0.1/" + "x" * 2000))):
        ended = scene.shell("touch on", options=list(options), status=2)
        equal(len(ended.err.splitlines()), 1, options, ended.err)
        require(message in ended.err, options, ended.err)
        require(not os.path.exists(scene.path("on")), "the command ran")


@test("what the configuration says of it counts, and what is wrong is told")
def _(scene):
    scene.write("config", "quiet = 200ms\nready-file = come\n")
    started = start(scene, env={"TKBUNDLE_CONFIG": scene.path("config")})
    time.sleep(1)
    equal(records(scene), 0)
    scene.write("come", "")
    wait_until(lambda: records(scene) == 1, "a push")
    finish(scene, started)
    ended = scene.shell("true", env={"TKBUNDLE_READY_FILE": "x",
                                     "TKBUNDLE_READY_URL": "http://[::1]:1"})
    require("ready: 'ready-url' and 'ready-file' exclude each other: the URL "
            "is asked" in ended.reason(), ended.err)
    ended = scene.shell("true", env={"TKBUNDLE_READY_URL": "ftp://x:secret@y"})
    require("TKBUNDLE_READY_URL: 'ready-url' wants http://" in ended.reason(),
            ended.err)
    require("secret" not in ended.err, ended.err)


@test("nothing is pushed before the quiet time is over, and soon after it is")
def _(scene):
    started = start(scene, "--quiet", "4s")
    time.sleep(1.5)
    equal(records(scene), 0)
    wait_until(lambda: records(scene) == 1, "a push")
    finish(scene, started)


@test("a command that goes on compiling is pushed all the same, in few records")
def _(scene):
    keys = "A B C D E F G H I J K L M N O P Q R S T"
    started = start(scene, "--quiet", "1s", script=(
        f"for k in {keys}; do mkdir $TRITON_CACHE_DIR/K$k; touch "
        "$TRITON_CACHE_DIR/K$k/k.json; cp -r $TRITON_CACHE_DIR/[A-O]*/"
        "__grp__* $TRITON_CACHE_DIR/K$k/ 2>/dev/null; sleep 0.25; done; "
        "touch over;"))
    wait_until(lambda: records(scene) > 0, "a push")
    require(not os.path.exists(scene.path("over")), "it came too late")
    wait_until(is_there(scene.path("over")), "the end")
    time.sleep(1.5)
    require(records(scene) < 9, records(scene))
    finish(scene, started)


@test("killed with its server, run loses only the last quiet time")
def _(scene):
    started = start(scene, *QUIET)
    wait_until(lambda: held(scene) == 2, "a push")
    compile_more(scene, 3)
    wait_until(lambda: held(scene) == 3, "a second push")
    compile_more(scene, ENTRIES)
    kill_all(started)
    scene.tkbundle("pull", "a/b", "pulled", "--remote", scene.remote)
    require(held(scene) >= 3, held(scene))


@test("a server that is killed loses nothing, as long as run lives")
def _(scene):
    ended = scene.shell(compiling(scene) + "; kill -9 $$")
    equal((ended.status, ended.counts()[3]), (137, str(ENTRIES)), ended.err)
    equal(held(scene), ENTRIES)


@test("several runs on one cache push each entry once")
def _(scene):
    runs = [scene.start("sh", "-c", UNTIL_END, options=QUIET)
            for _ in range(4)]
    wait_until(lambda: all(any(line[:1] == ["sh"] for line in
                               descendants(each.pid).values())
                           for each in runs), "the commands")
    time.sleep(0.5)
    compile_more(scene, ENTRIES)
    wait_until(lambda: held(scene) == ENTRIES, "a push")
    time.sleep(1)
    scene.write("end", "")
    pushed = 0
    for each in runs:
        ended = scene.finish(each)
        equal(ended.status, 0, ended.err)
        pushed += int(ended.counts()[3])
    equal((pushed, records(scene)), (ENTRIES, 1))

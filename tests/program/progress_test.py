#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a terminal, what takes a while shows how far it is; elsewhere nothing does.

    progress_test.py PROGRAM

Prints TAP.
"""

import base64
import hashlib
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
SIZE = 4_000_000  # of a file
BAR = re.compile(rb"^\[#*\.*\] (looked at )?[0-9.]+( k?M?G?B)? of [0-9.]+( k?M?G?B)?"
                 rb"(, [0-9.]+( k?M?G?B)?/s, [0-9]+[smhd] left)?$")
WAIT = re.compile(rb"^asking the remote, [0-9]+s$")
count = 0


def report(is_right, sentence, why=""):
    global count, failed
    count += 1
    failed |= not is_right
    print(f"{'ok' if is_right else 'not ok'} {count} - {sentence}")
    if not is_right:
        print("\n".join("# " + line for line in why.splitlines()))


failed = False


def on_terminal(words, **variables):
    """All that a terminal gets of it."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, ["tkbundle", *words], {**environment, **variables})
    got = b""
    while select.select([fd], [], [], 60)[0]:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        got += piece
    os.close(fd)
    os.waitpid(pid, 0)
    return got


def drawn(got):
    """What was drawn and erased again."""
    return [piece.split(b"\x1b[K")[0] for piece in re.split(rb"[\r\n]", got)
            if b"\x1b[K" in piece and not piece.startswith(b"\x1b[K")]


def slow_cache(path, entries):
    """A cache that takes a while to read: its files are one."""
    os.mkdir(path)
    timings = work / "timings"
    if not timings.exists():
        timings.write_bytes(b'{"timings":"' + b"1" * SIZE + b'"}')
    for number in range(entries):
        digest = hashlib.sha256(b"%d" % number).digest()
        key = base64.b32encode(digest).decode().rstrip("=")
        os.mkdir(f"{path}/{key}")
        os.link(timings, f"{path}/{key}/kernel.autotune.json")


def tell(name, words, wanted=b" of "):
    """Work that is over at once needs no bar: find how much is enough here."""
    for entries in (16, 64, 256, 512):
        cache = work / f"cache{entries}"
        if not cache.exists():
            slow_cache(cache, entries)
        shutil.rmtree(work / "remote", ignore_errors=True)
        got = on_terminal([word.replace("CACHE", str(cache)) for word in words])
        bars = drawn(got)
        if any(wanted in bar for bar in bars):
            break
    report(any(wanted in bar for bar in bars) and all(BAR.match(bar) for bar in bars),
           f"{name} shows how far it is", repr(got[:2000]))
    last = got.rindex(b"\x1b[K") if bars else 0
    report(bool(bars) and not drawn(got[last:]) and got[:last].endswith(b"\r"),
           f"{name} leaves no trace of that", repr(got[-500:]))
    return cache


def stalled():
    """The port of a server that never answers."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(16)
    return server, server.getsockname()[1]


work = pathlib.Path(tempfile.mkdtemp(prefix="tkbundle-progress."))
environment = {"PATH": os.environ["PATH"], "HOME": str(work), "TERM": "xterm",
               "TKBUNDLE_CONFIG": "/dev/null", "TKBUNDLE_GPU": "", "LC_ALL": "C",
               "XDG_STATE_HOME": str(work / "state"), "TMPDIR": str(work)}
os.chdir(work)
try:
    remote = f"file://{work}/remote"
    for name, words in {
            "stats": ["stats", "CACHE"],
            "diff": ["diff", "CACHE", "CACHE"],
            "why": ["why", "kernel", "CACHE", "CACHE"],
            "report": ["report", "CACHE", "-o", "page.html"],
            "doctor --deep": ["doctor", "CACHE", "--deep"],
            "verify": ["verify", "CACHE", "-j1"],
            "relocate": ["relocate", "CACHE"],
            "push": ["push", "a", "CACHE", "-j1", "--remote", remote],
    }.items():
        cache = tell(name, words, b"MB of" if name == "push" else b" of ")
    for name, words in {
            "JSON": ["stats", str(cache), "--json"],
            "a dumb terminal": ["stats", str(cache)],
    }.items():
        variables = {"TERM": "dumb"} if "dumb" in name else {}
        got = on_terminal(words, **variables)
        report(b"\x1b" not in got, f"{name} has no bar", repr(got[:500]))
    got = on_terminal(["stats", str(cache)], NO_COLOR="1")
    report(b"m" not in b"".join(re.findall(rb"\x1b\[[0-9;]*([a-zA-Z])", got)),
           "there are no colours", repr(got[:500]))
    got = subprocess.run([PROGRAM, "stats", str(cache)], env=environment,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    report(b"\x1b" not in got and b"\r" not in got, "a file gets no bar",
           repr(got[:500]))
    server, port = stalled()
    at = ["--remote", f"http://127.0.0.1:{port}/"]
    subprocess.run([PROGRAM, "key", "new", "key"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)
    (work / "policy").write_text("all.key = key.pub\nall.publish = *\nall.promote = *\n")
    (work / "policy").chmod(0o600)
    for name, words in {
            "doctor": ["doctor", str(cache), "--ref", "a", *at],
            "fleet": ["fleet", "a", "--deadline", "1s", *at],
            "refs": ["refs", "--deadline", "1s", *at],
            "ls": ["ls", "a", "--deadline", "1s", *at],
            "pull": ["pull", "a", "warm", "--deadline", "1s", *at],
            "verify of a remote": ["verify", "--deadline", "1s", *at],
            "sign": ["sign", "a", "--key", "key", "--deadline", "1s", *at],
            "promote": ["promote", "a", "--to", "b", "--sign", "key", "--trust", "policy",
                        "--deadline", "1s", *at],
            "attest": ["attest", "a", "-n", "--deadline", "1s", *at],
    }.items():
        got = on_terminal(words)
        shown = drawn(got)
        report(any(WAIT.match(piece) for piece in shown) and
               all(WAIT.match(piece) or BAR.match(piece) for piece in shown),
               f"{name} shows that it waits for the remote", repr(got[-2000:]))
    server.close()
finally:
    shutil.rmtree(work)
print(f"1..{count}")
sys.exit(failed)

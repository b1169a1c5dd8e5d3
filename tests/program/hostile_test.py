#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever names hold, a terminal only shows them, and a page has no code of theirs.

    hostile_test.py PROGRAM FIXTURES

Prints TAP.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
FIXTURE = os.path.join(os.path.abspath(sys.argv[2]), "triton-3.6.0-h100.tar.gz")
# A title and colours for a terminal, a line of its own, C1, right to left, and code.
EVIL = "ev\x1b]0;t\x07\x1b[31m\nil\x9b2J\u202e<img src=x onerror=alert(1)>\"}"
TEXT = "</script>" + EVIL
RAW = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\nil")
count = 0
failed = False


def report(is_right, sentence, why=""):
    global count, failed
    count += 1
    failed |= not is_right
    print(f"{'ok' if is_right else 'not ok'} {count} - {sentence}")
    if not is_right:
        print("\n".join("# " + line for line in why.splitlines()))


def find_raw(got):
    found = RAW.search(got)
    return repr(got[max(0, found.start() - 80):found.end() + 40]) if found else ""


def tkbundle(*words):
    return subprocess.run([PROGRAM, *words], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def tell(*words, has_json=True):
    """Run it, for people and for programs."""
    ended = tkbundle(*words)
    why = find_raw(ended.stdout) or find_raw(ended.stderr)
    if not 0 <= ended.returncode <= 6:
        why = why or f"status {ended.returncode}"
    if has_json and not why:
        ended = tkbundle(*words, "--json")
        why = find_raw(ended.stdout) or find_raw(ended.stderr)
        try:
            json.loads(ended.stdout)
        except ValueError as error:
            why = why or f"{error}: {ended.stdout[:200]}"
    shown = words[0] if words[0].isalpha() else "an unknown verb"
    report(not why, f"{shown} shows names as they are harmless", why)


def check_page(name, plain):
    with open(name, "rb") as file:
        page = file.read()
    report(not find_raw(page) and b"<img" not in page and
           page.count(b"</script>") == plain, "a page has no code of names",
           find_raw(page))


def leave(**more):
    """A report of a start, as anybody may leave it who can write to the remote."""
    text = json.dumps({"format": "tkbundle-start-report", "version": 1, "status": 0,
                       "compiled": 2, "reasons": {"source": 2}, **more}).encode()
    folder = "remote/ref/@starts,a"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{hashlib.sha256(text).hexdigest()}", "wb") as file:
        file.write(text)


def rename(root, key, name):
    """Let the kernel add_kernel of an entry have another name."""
    for file in os.listdir(f"{root}/{key}"):
        with open(f"{root}/{key}/{file}", "rb") as opened:
            text = opened.read()
        os.unlink(f"{root}/{key}/{file}")
        if file.endswith(".json"):
            parsed = json.loads(text)
            if "name" in parsed:
                parsed["name"] = name
            text = json.dumps(parsed).replace(
                "add_kernel", json.dumps(name)[1:-1]).encode()
        with open(f"{root}/{key}/{file.replace('add_kernel', name)}", "wb") as opened:
            opened.write(text)


work = tempfile.mkdtemp(prefix="tkbundle-hostile.")
environment = {"PATH": os.environ["PATH"], "HOME": work, "TKBUNDLE_GPU": "",
               "TKBUNDLE_CONFIG": "/dev/null", "TMPDIR": work, "LC_ALL": "C.UTF-8"}
os.chdir(work)
try:
    with tarfile.open(FIXTURE) as archive:
        archive.extractall(".")
    cache = ".triton/cache"
    tkbundle("relocate", cache)
    os.mkdir("remote")
    remote = ("--remote", "remote")
    tkbundle("report", cache, "-o", "plain.html")
    with open("plain.html", "rb") as opened:
        scripts = opened.read().count(b"</script>")

    root, bundle = EVIL, EVIL + ".tkb"
    shutil.copytree(cache, root)
    tkbundle("relocate", root)
    key = sorted(os.listdir(cache))[0]
    for words in (
            ("ls", root), ("stats", root), ("verify", root), ("doctor", root),
            ("collect", root, "-o", bundle), ("ls", bundle), ("doctor", bundle),
            ("verify", bundle), ("stats", bundle), ("show", root, key),
            ("diff", root, bundle), ("why", "add_kernel", root, bundle),
            ("why", EVIL, root, bundle), ("push", "a", root, *remote),
            ("pull", "a", EVIL + "warm", *remote), ("emit", bundle, EVIL + "emitted"),
            ("relocate", root), ("gc", root, "--max-age", "90d"),
            ("push", EVIL, root, *remote), ("pull", EVIL, root, *remote),
            ("ls", EVIL, *remote), ("fleet", EVIL, *remote),
            ("doctor", root, "--ref", EVIL, *remote), ("refs", "--remote", EVIL),
            ("doctor", root, "--remote", EVIL), ("verify", EVIL + "none.tkb"),
            ("ls", EVIL + "none"), ("show", root, EVIL)):
        tell(*words)
    for words in (("push", "a", root, *remote, "--label", "x=" + EVIL), (EVIL,),
                  ("ls", "--" + EVIL), ("ls", root, "--engine", EVIL), ("help", EVIL),
                  ("run", "--cache", root, "--ref", EVIL, *remote, "--", "true"),
                  ("run", "--cache", root, "--ref", "a", *remote, "--", "true"),
                  ("why", "--last"), ("report", root, "-o", EVIL + ".html"),
                  ("compile", EVIL + ".ptx", "--target", "cuda:90", "--cache", root)):
        tell(*words, has_json=False)
    check_page(EVIL + ".html", scripts)

    shutil.copytree(cache, "named")
    keys = [key for key in sorted(os.listdir(cache))
            if os.path.exists(f"{cache}/{key}/add_kernel.json")]
    for key, name in zip(keys, ("x<img src=x onerror=alert(1)>\"&'",
                                "ev\x1b[31m\nil\x9b", "u\u202ea\u200b\ufeff<script>")):
        rename("named", key, name)
    os.makedirs("named/.tkbundle", exist_ok=True)
    with open("named/.tkbundle/makers", "w", encoding="utf-8") as opened:
        opened.write(f"\n{keys[0]} = triton={EVIL}\n{keys[2]} = options=\x9b\x1b\n")
    tkbundle("relocate", "named")
    for words in (("ls", "named"), ("stats", "named"), ("verify", "named"),
                  ("doctor", "named"), ("diff", "named", cache),
                  ("why", "matmul_kernel", "named", cache), ("show", "named", keys[0]),
                  ("push", "c", "named", *remote), ("ls", "c", *remote)):
        tell(*words)
    tkbundle("report", "named", "-o", "named.html")
    check_page("named.html", scripts)

    leave(id="1", node=TEXT[:60], gpu=TEXT, triton=TEXT, failed=[TEXT], pull=TEXT,
          made=[[TEXT, TEXT, "source"]], idle=[TEXT])
    leave(id=TEXT, reasons={TEXT: 5, "source": -3, "ptxas": 1e300})
    leave(id=2, made=[[1, 2, 3], [], [[]], None], reasons=[], node={})
    for words in (("fleet", *remote), ("refs", *remote)):
        tell(*words)
    tkbundle("report", "a", *remote, "-o", "starts.html")
    check_page("starts.html", scripts)
    tkbundle("fleet", *remote, "--metrics", "metrics")
    with open("metrics", "rb") as opened:
        report(not find_raw(opened.read()), "metrics have no lines of names")

    # What one start says does not undo what the others say.
    for number in ("3", "4"):
        leave(id=number, compiled=2**63 - 1, emitted=2**63 - 1,
              reasons={"source": 2**63 - 1})
    leave(id="5", compiled=7, emitted=9)
    ref, = json.loads(tkbundle("fleet", "a", *remote, "--json").stdout)["refs"]
    report(ref["emitted"] == 9 and 7 <= ref["compiled"] < 100,
           "a number that nobody can mean counts as none",
           f"{ref['emitted']} {ref['compiled']}")
finally:
    os.chdir("/")
    shutil.rmtree(work)
print(f"1..{count}")
sys.exit(failed)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is wrong outside of a remote: the clock, a policy, its keys, a file that changes.

    bad_input.py PROGRAM

Everything is one sentence, and nothing is used. Prints TAP.
"""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "compile"))
from tap import Tap  # noqa: E402

FIXTURE = os.path.join(HERE, "..", "..", "fixtures", "triton-3.6.0-cpu.tar.gz")
DAY = 24 * 60 * 60

# time() of a machine whose clock is wrong; nothing else is changed.
CLOCK = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += atol(getenv("WRONG_S"));
	if (out != NULL)
		*out = now.tv_sec;
	return now.tv_sec;
}
"""


class Scene(Tap):
    def __init__(self, program, folder):
        super().__init__()
        self.program, self.folder = os.path.abspath(program), folder
        with tarfile.open(FIXTURE) as archive:
            archive.extractall(folder)
        for key in "ci", "other", "security":
            self.do("key", "new", f"{key}.pem")
        self.write("policy", "ci.key = ci.pem.pub\nci.publish = m/*\n")
        self.push("m/a", "ci")
        self.push("m/evil", "other")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        mode = "wb" if isinstance(text, bytes) else "w"
        with open(self.path(name), mode) as file:
            file.write(text)
        os.chmod(file.name, 0o600)

    def do(self, *words, wrong_s=None):
        environment = {**os.environ, "TKBUNDLE_CONFIG": "/dev/null", "HOME": self.folder,
                       "TKBUNDLE_REMOTE": "remote", "XDG_STATE_HOME": self.path("state")}
        if wrong_s is not None:
            environment.update(LD_PRELOAD=self.path("clock.so"), WRONG_S=str(wrong_s))
        return subprocess.run([self.program, *words], cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)

    def push(self, ref, key, *more, **clock):
        return self.do("push", ref, ".triton/cache", "--sign", key + ".pem", *more, **clock)

    def pull(self, ref, policy="policy", **clock):
        shutil.rmtree(self.path("out"), ignore_errors=True)
        done = self.do("pull", ref, "out", "--trust", policy, **clock)
        if done.returncode != 0 and os.path.isdir(self.path("out")):
            done.stderr += "something is there"
            done.returncode = -1
        return done


def ends(done, status, words=""):
    lines = [line for line in done.stderr.splitlines() if "signed" not in line or words in line]
    if done.returncode == status and words in done.stderr and len(lines) <= 1:
        return None
    return f"{done.args[1:3]}: status {done.returncode}, not {status}: {done.stderr}{done.stdout}"


def clock_behind(scene):
    """What others sign now is from the future: no end of it has come."""
    yield ends(scene.pull("m/a", wrong_s=-DAY), 0)
    scene.push("m/slow", "ci", wrong_s=-DAY)
    yield ends(scene.pull("m/slow"), 0)
    # Its next push is not older than what it signed when the clock was right.
    scene.do("sign", "m/slow", "--key", "ci.pem", "--all")
    scene.do("sign", "m/slow", "--key", "ci.pem", "--all", wrong_s=-DAY)
    scene.write("replay", "ci.key = ci.pem.pub\nci.publish = m/*\nreplay = refuse\n")
    yield ends(scene.pull("m/slow", "replay"), 0)


def clock_ahead(scene):
    """What ends within that day has ended there, and is refused, by its date."""
    yield ends(scene.pull("m/a", wrong_s=DAY), 0)
    scene.push("m/short", "ci", "--expires", "12h")
    yield ends(scene.pull("m/short"), 0)
    yield ends(scene.pull("m/short", wrong_s=DAY), 5, "its signature by 'ci' ended at 20")
    # One that signs ahead of time gives its signatures a later end, and numbers that
    # nobody else's push falls behind.
    scene.push("m/fast", "ci", wrong_s=DAY)
    yield ends(scene.pull("m/fast"), 0)
    scene.do("sign", "m/fast", "--key", "ci.pem", "--all")
    scene.write("replay", "ci.key = ci.pem.pub\nci.publish = m/*\nreplay = refuse\n")
    yield ends(scene.pull("m/fast", "replay"), 0)


def clock_of_run(scene):
    """The command starts, cold where nothing counts any more, and is told so once."""
    for ref, wrong_s, words in (("m/a", -DAY, "emitted 5"), ("m/a", DAY, "emitted 5"),
                                ("m/half", DAY, "its signature by 'ci' ended at 20")):
        scene.push("m/half", "ci", "--expires", "12h")
        shutil.rmtree(scene.path("started"), ignore_errors=True)
        done = scene.do("run", "--ref", ref, "--cache", "started", "--trust", "policy",
                        "--push", "never", "--wait", "30s", "--", "sh", "-c", "exit 3",
                        wrong_s=wrong_s)
        lines = done.stderr.splitlines()
        if done.returncode != 3 or len(lines) != 2 or not all(words in line for line in lines):
            yield f"{ref} {wrong_s}: status {done.returncode}: {done.stderr}"


def clock_and_lists(scene):
    scene.write("lists", "ci.key = ci.pem.pub\nci.publish = m/*\n"
                "security.key = security.pem.pub\nsecurity.revoke = yes\n")
    scene.do("revoke", "--sign", "security.pem", "--expires", "12h")
    yield ends(scene.pull("m/a", "lists"), 0)
    yield ends(scene.pull("m/a", "lists", wrong_s=-DAY), 0)
    yield ends(scene.pull("m/a", "lists", wrong_s=DAY), 5, "ended")
    yield ends(scene.pull("m/a", "lists"), 0)
    shutil.rmtree(scene.path("remote/ref/@revoked"))


def each_bit(data):
    for bit in range(len(data) * 8):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield bytes(changed)


def policies(scene):
    """None lets in what a stranger has signed, whatever the bit.

    Where the bit is in the name of the key's file, there is no such file: that exits with 3.
    """
    with open(scene.path("policy"), "rb") as file:
        whole = file.read()
    with open(scene.path("ci.pem.pub"), "rb") as file:
        key = file.read()
    for number, changed in enumerate(each_bit(whole)):
        scene.write("changed", changed)
        done = scene.do("pull", "m/evil", "evil", "--trust", "changed")
        expected = (3,) if "there is no key" in done.stderr else (1, 2, 5)
        if done.returncode not in expected or done.stdout:
            yield f"bit {number}: status {done.returncode}: {done.stderr}"
    scene.write("other-policy", "ci.key = changed.pub\nci.publish = m/*\n")
    for number, changed in enumerate(each_bit(key)):
        scene.write("changed.pub", changed)
        done = scene.do("pull", "m/evil", "evil", "--trust", "other-policy")
        if done.returncode not in (1, 2, 5):
            yield f"bit {number} of the key: status {done.returncode}: {done.stderr}"
    yield "something is there" if os.path.exists(scene.path("evil")) else None


def wrong_keys(scene):
    """A certificate, an encrypted or private key, one of another kind."""
    if shutil.which("openssl") is None:
        return
    certificate = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", "/dev/null",
         "-subj", "/CN=ci"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    scene.write("certificate", certificate.stdout)
    for name, algorithm in ("rsa", ["RSA"]), ("x25519", ["X25519"]), (
            "p384", ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"]):
        subprocess.run(["openssl", "genpkey", "-algorithm", *algorithm, "-out",
                        scene.path(name)], stderr=subprocess.DEVNULL, check=True)
        public = subprocess.run(["openssl", "pkey", "-in", scene.path(name), "-pubout"],
                                stdout=subprocess.PIPE, check=True)
        scene.write(name + ".pub", public.stdout)
    scene.write("word", "word\n")
    scene.do("key", "new", "hidden.pem", "--passphrase-file", "word")
    for name, words in ("certificate", "is a certificate"), ("rsa.pub", "RSA"), (
            "x25519.pub", "X25519"), ("p384.pub", "P-"), ("hidden.pem", "is encrypted"), (
            "other.pem", "private key"):
        scene.write("wrong", f"ci.key = {name}\nci.publish = *\n")
        done = scene.pull("m/a", "wrong")
        yield ends(done, 2, name)
        yield None if words in done.stderr else f"{name}: {done.stderr}"
        if name != "other.pem":
            done = scene.do("push", "m/none", ".triton/cache", "--sign", name)
            yield ends(done, 2, name)


def shrinking(scene):
    """A file that is cut short while it is read ends no process by a signal."""
    if shutil.which("minisign") is None:
        return
    subprocess.run(["minisign", "-G", "-W", "-p", "m.pub", "-s", "m.key"], cwd=scene.folder,
                   stdout=subprocess.DEVNULL, check=True)
    scene.write("files", "m.key = m.pub\nm.publish = *\n")
    scene.do("collect", ".triton/cache", "-o", "a.tkb")
    with open(scene.path("a.tkb"), "ab") as file:
        file.truncate(64 << 20)
    subprocess.run(["minisign", "-S", "-W", "-s", "m.key", "-m", "a.tkb"], cwd=scene.folder,
                   stdout=subprocess.DEVNULL, check=True)
    stop = threading.Event()

    def shrink():
        while not stop.is_set():
            os.truncate(scene.path("a.tkb"), 4096)
            os.truncate(scene.path("a.tkb"), 64 << 20)

    thread = threading.Thread(target=shrink)
    thread.start()
    for _ in range(10):
        done = scene.do("verify", "a.tkb", "--trust", "files")
        if done.returncode not in (1, 5) or done.stderr.count("\n") != 1:
            yield f"status {done.returncode}: {done.stderr}"
    stop.set()
    thread.join()


def has_clock(scene):
    """A program with sanitizers lets nothing be loaded before them."""
    with open(scene.path("clock.c"), "w", encoding="utf-8") as file:
        file.write(CLOCK)
    made = subprocess.run(["cc", "-shared", "-fPIC", "-o", scene.path("clock.so"), file.name],
                          check=False)
    return made.returncode == 0 and scene.do("--version", wrong_s=0).returncode == 0


def main():
    with tempfile.TemporaryDirectory(prefix="tkbundle-trust.") as folder:
        scene = Scene(sys.argv[1], folder)
        if has_clock(scene):
            scene.tap("a clock that is a day behind refuses nothing, and signs nothing older",
                      clock_behind)
            scene.tap("a clock that is a day ahead refuses what ends within that day",
                      clock_ahead)
            scene.tap("under a clock that is wrong by a day, a command starts, and is told why it "
                      "is cold", clock_of_run)
            scene.tap("so it does with lists of what is revoked", clock_and_lists)
        scene.tap("no bit of a policy, or of its key, lets a stranger in", policies)
        scene.tap("a key that is something else is one sentence, with its file", wrong_keys)
        scene.tap("a file that is cut short while it is read is one sentence", shrinking)
        return scene.end()


if __name__ == "__main__":
    sys.exit(main())

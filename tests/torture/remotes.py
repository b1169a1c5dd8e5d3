# SPDX-License-Identifier: Apache-2.0
"""Pushes and pulls that are killed, and what they leave on both sides."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from cachelib import check_entry, read_file, write_entry
from faults import FAILING_CALLS, try_faults
from harness import DONE, require
from machine import Skip

REF = "team/model"
CALLS = (*FAILING_CALLS, "close", "connect", "fcntl", "poll", "recvfrom",
         "recvmsg", "sendmsg", "sendto")
FAULTS_PER_ROUND = 1


def killed_at_any_system_call_a_push_to_a_folder_tears_nothing(t):
    with Folders() as remotes:
        try_pushes(t, remotes)


def killed_at_any_system_call_a_pull_from_a_folder_tears_nothing(t):
    with Folders() as remotes:
        try_pulls(t, remotes)


def killed_at_any_system_call_a_push_to_redis_tears_nothing(t):
    with Redis(t) as remotes:
        try_pushes(t, remotes)


def killed_at_any_system_call_a_pull_from_redis_tears_nothing(t):
    with Redis(t) as remotes:
        try_pulls(t, remotes)


def try_pushes(t, remotes):
    def prepare(t, folder):
        return prepare_push(t, remotes, folder)

    def check(t, folder, ended, error):
        check_killed_push(t, remotes, folder, ended)

    try_faults(t, prepare, ("SIGKILL",), check, CALLS, FAULTS_PER_ROUND)


def try_pulls(t, remotes):
    def prepare(t, folder):
        t.run(*prepare_push(t, remotes, folder))
        return ["pull", REF, os.path.join(folder, "pulled"),
                "--remote", remotes.url(folder)]

    def check(t, folder, ended, error):
        check_killed_pull(t, remotes, folder, ended)

    try_faults(t, prepare, ("SIGKILL",), check, CALLS, FAULTS_PER_ROUND)


def prepare_push(t, remotes, folder):
    root = os.path.join(folder, "cache")
    for key in t.small:
        write_entry(root, t.versions[0][key])
    return ["push", REF, root, "--remote", remotes.url(folder)]


def check_killed_push(t, remotes, folder, ended):
    require(ended.returncode in (DONE, -signal.SIGKILL), "it was not killed")
    check_sound(remotes, folder)

    t.run(*prepare_push(t, remotes, folder))
    blobs, records = check_sound(remotes, folder)
    require(len(blobs) == 1 and len(records) == 1,
            f"{len(blobs)} blobs and {len(records)} records after the next")
    remotes.check_clean(folder)
    pull(t, remotes, folder)
    t.settled(os.path.join(folder, "pulled"), t.small)


def check_killed_pull(t, remotes, folder, ended):
    require(ended.returncode in (DONE, -signal.SIGKILL), "it was not killed")
    root = os.path.join(folder, "pulled")
    states = [check_entry(root, key, t.known).state for key in t.small]
    require(ended.returncode != DONE or set(states) == {"whole"},
            "it said all was done")
    check_sound(remotes, folder)
    remotes.check_clean(folder)

    pull(t, remotes, folder)
    t.settled(root, t.small)


def pull(t, remotes, folder):
    t.run("pull", REF, os.path.join(folder, "pulled"),
          "--remote", remotes.url(folder))


def check_sound(remotes, folder):
    """Each blob and record has its digest; a record's blob is there."""
    blobs, records = remotes.look(folder)
    for name, data in [*blobs.items(), *records.items()]:
        require(hashlib.sha256(data).hexdigest() == name,
                f"'{name}' is torn: {len(data)} bytes")
    for data in records.values():
        require(json.loads(data)["blob"][0] in blobs, "a record has no blob")
    return blobs, records


class Folders:
    """A folder for each try."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def place(self, folder):
        return os.path.join(folder, "remote")

    def url(self, folder):
        return "file://" + self.place(folder)

    def look(self, folder):
        """{digest: bytes} of what can be seen: blobs, and records."""
        blobs, records = {}, {}
        for path, _, names in os.walk(self.place(folder)):
            parts = os.path.relpath(path, self.place(folder)).split("/")
            found = blobs if parts[0] == "cas" else records
            found.update({name: read_file(os.path.join(path, name))
                          for name in names if len(name) == 64})
        return blobs, records

    def check_clean(self, folder):
        strays = [name for _, _, names in os.walk(self.place(folder))
                  for name in names if len(name) != 64 and name != "claims"]
        require(not strays, f"left behind: {strays}")


class Redis:
    """One server on a socket, and a prefix for each try."""

    def __init__(self, t):
        if not shutil.which("redis-server"):
            raise Skip("redis-server is not installed")
        self.folder = os.path.join(t.work, "redis")
        self.path = os.path.join(self.folder, "sock")

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path,
             "--save", "", "--dir", self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while self.server.poll() is None:
            with contextlib.suppress(OSError), self.connect():
                return self
            time.sleep(0.01)
        raise Skip("redis-server does not start")

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.path)
        return client

    def prefix(self, folder):
        return os.path.basename(folder)

    def url(self, folder):
        return f"redis+unix://{self.path}?prefix={self.prefix(folder)}"

    def ask(self, *words):
        """What Redis answers, as bytes, numbers and lists."""
        with self.connect() as client, client.makefile("rb") as answers:
            client.sendall(b"".join(
                [b"*%d\r\n" % len(words)]
                + [b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode())
                   for word in words]))
            return read_reply(answers)

    def look(self, folder):
        before = self.prefix(folder) + ":"
        blobs = {key.decode().rsplit(":", 1)[1]: self.ask("GET", key.decode())
                 for key in self.ask("KEYS", before + "cas:*")}
        pairs = self.ask("HGETALL", before + "ref:" + REF)
        names = [name.decode() for name in pairs[::2]]
        return blobs, dict(zip(names, pairs[1::2]))

    def check_clean(self, folder):
        before = self.prefix(folder) + ":"
        kinds = {key.decode().split(":")[1]
                 for key in self.ask("KEYS", before + "*")}
        require(kinds <= {"cas", "ref", "times", "used"},
                f"left behind: {kinds}")


def read_reply(answers):
    line = answers.readline()
    kind, rest = line[:1], line[1:-2]
    if kind == b"*":
        return [read_reply(answers) for _ in range(int(rest))]
    if kind == b"$":
        return None if rest == b"-1" else answers.read(int(rest) + 2)[:-2]
    require(kind != b"-", rest.decode())
    return rest

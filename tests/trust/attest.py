#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle attest` to real kernels of Triton's, and to what somebody changed.

    attest.py PROGRAM SOURCES

A server, which has no key, pushes to inbox/...; whoever has one compiles that again, signs
what comes out the same, and promotes it. Other servers pull that. Prints TAP.
"""
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compile"))
# pylint: disable=wrong-import-position
from triton_again import record_modules, write
from triton_tuned import A, B, LAUNCH, Scene, keys, run_in_scene, says

LAUNCHES = [("plain", [A, A, 100]), ("inner", [B, B, 100])]
NOTED = "specialisations"
POLICY = """unsigned = refuse
ci.key = ci.pem.pub
ci.publish = inbox/*
release.key = release.pem.pub
release.promote = prod/*
"""


class Fleet(Scene):
    """A remote, two keys and the policy of all."""

    def __init__(self, program, sources, folder):
        super().__init__(program, sources, folder)
        self.folders = [os.path.join(self.tests, "compile")]
        for key in "ci", "release":
            self.do("key", "new", f"{key}.pem")
        for name, more in ("policy", ""), ("servers", "inbox = inbox\n"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(POLICY + more)
            os.chmod(self.path(name), 0o600)

    def path(self, name):
        return os.path.join(self.folder, name)

    def do(self, *words, **more):
        return self.run([self.program, *words], "3.6.0", self.path("none"), **more)

    def compiled(self, launches, notes=""):
        """The cache of a machine that has launched all of these."""
        cache = self.cache()
        self.launch("3.6.0", [(*each, cache) for each in launches], notes=notes)
        return cache

    def record(self, name, launches):
        notes = self.path(name + "-notes")
        os.mkdir(notes)
        return self.compiled(launches, notes), notes

    def push(self, ref, cache, notes, *more):
        return self.do("push", ref, cache, "--tree", f"{NOTED}={notes}", "--remote", "remote",
                       *more)

    def attest(self, ref, *more):
        return self.do("attest", ref, "--remote", "remote", "--python", self.python, "-j2",
                       *more)

    def pull(self, ref, root, policy="policy"):
        return self.do("pull", ref, root, "--remote", "remote", "--trust", policy)

    def serve(self, name, launches, *more):
        """A server that compiles what it lacks; its cache and notes are its own."""
        notes = self.path(name + "-notes")
        os.makedirs(notes, exist_ok=True)
        cache = self.path(name)
        return self.run([self.program, "run", "--ref", "prod/life", "--remote", "remote",
                         "--trust", "servers", "--cache", cache, "--wait", "60s", "--tree",
                         f"{NOTED}={notes}", *more, "--", self.python, "-c", LAUNCH,
                         os.path.join(self.tests, "support"),
                         os.path.join(self.tests, "compile"),
                         json.dumps([(*each, cache) for each in launches]), "90", notes],
                        "3.6.0", cache)

    def promote(self, ref, to):
        return self.do("promote", ref, "--to", to, "--remote", "remote", "--sign",
                       "release.pem", "--trust", "policy")


def files_of(cache, ending):
    return sorted(os.path.join(cache, key, name) for key in keys(cache)
                  for name in os.listdir(os.path.join(cache, key)) if name.endswith(ending))


def whole_way(fleet):
    cache, notes = fleet.record("server", LAUNCHES)
    count = len(keys(cache))
    faults = says(fleet.push("inbox/model", cache, notes, "--no-modules"), 0)
    faults += says(fleet.pull("inbox/model", "cold"), 5, "no key of the policy has signed it")
    faults += says(fleet.promote("inbox/model", "prod/model"), 5, "is not trusted")
    same = f"same {count}, different 0, not compiled again 0"
    faults += says(fleet.attest("inbox/model", "-n"), 0, same, "would have attested 1, present 0")
    faults += says(fleet.pull("inbox/model", "cold"), 5)
    faults += says(fleet.attest("inbox/model", "--sign", "ci.pem"), 0, same,
                   "attested 1, present 0: inbox/model")
    faults += says(fleet.attest("inbox/model", "--sign", "ci.pem"), 0, "present 1")
    faults += says(fleet.promote("inbox/model", "prod/model"), 0, "promoted 1, present 0")
    faults += says(fleet.pull("prod/model", "warm"), 0)
    warm = fleet.path("warm")
    if keys(warm) != keys(cache) or count < 2:
        faults.append(f"{len(keys(warm))} of {count} kernels")
    for path in files_of(cache, ".cubin"):
        with open(path, "rb") as one, open(path.replace(cache, warm), "rb") as other:
            faults += [] if one.read() == other.read() else [path]
    return faults


def life(fleet):
    """All of it, of servers that know the policy and have no key."""
    inbox, product = "inbox/prod/life", "prod/life"
    first = fleet.serve("first", LAUNCHES)
    count = len(keys(fleet.path("first")))
    # Of each kernel there is a note, too.
    faults = says(first, 0, "no record", f"compiled anew {2 * count}, pushed {2 * count};")
    faults += says(fleet.pull(product, "none", "servers"), 3)
    faults += says(fleet.pull(inbox, "none", "servers"), 5, "it is in the inbox")
    faults += says(fleet.attest(inbox, "--sign", "ci.pem"), 0, f"same {count}, different 0")
    faults += says(fleet.pull(inbox, "none", "servers"), 5, "it is in the inbox")
    faults += says(fleet.promote(inbox, product), 0, "promoted 1")
    faults += says(fleet.serve("second", LAUNCHES, "--require-warm"), 0, "compiled anew 0")
    if keys(fleet.path("second")) != keys(fleet.path("first")) or not count:
        faults.append(f"{count} kernels, and {len(keys(fleet.path('second')))}")
    # What the product has goes to no inbox again; of another kernel, three configurations do.
    third = fleet.serve("third", [*LAUNCHES, ("plain", [A, A, 32])])
    faults += says(third, 0, "compiled anew 6, pushed 6")
    return faults + says(fleet.do("ls", inbox, "--remote", "remote"), 0,
                         f"{2 * count + 6} entries")


def change(path, old, new):
    with open(path, "rb") as file:
        data = file.read()
    at = data.rindex(old)
    with open(path, "wb") as file:
        file.write(data[:at] + new + data[at + len(old):])


def by_ir(fleet):
    """Of a server that notes nothing, in a lean and a full bundle."""
    cache = fleet.compiled([("inner", [A, A, 192])])
    faults = says(fleet.do("push", "inbox/ir", cache, "--no-modules", "--remote", "remote"), 0)
    faults += says(fleet.attest("inbox/ir", "--sign", "ci.pem"), 0, "attested 1")
    faults += says(fleet.do("push", "inbox/lean", cache, "--no-modules", "--profile", "lean",
                            "--remote", "remote"), 0)
    done = fleet.attest("inbox/lean", "--sign", "ci.pem")
    faults += says(done, 4, "was not compiled again: nothing tells what 'inner' was compiled of",
                   "1 of 1 record is not vouched for")
    # Each kernel is named once, and no file of ours.
    told = [line for line in done.stderr.splitlines() if "inner" in line]
    if len(told) != len(keys(cache)) or ".tkb" in done.stderr or not all(
            line.startswith("tkbundle: record ") for line in told):
        faults.append(done.stderr)
    return faults


def changed_code(fleet):
    """One kernel of many: its record stays, and others of the ref are signed."""
    cache, notes = fleet.record("evil", LAUNCHES)
    cubin = files_of(cache, ".cubin")[0]
    key = os.path.basename(os.path.dirname(cubin))
    with open(cubin, "rb") as file:
        code = file.read()
    at = code.index(b".nv.info")
    change(cubin, code[at + 200:at + 201], bytes([code[at + 200] ^ 1]))
    for one in keys(cache):
        done = fleet.push("inbox/evil", cache, notes, "--key", one, "--no-compaction")
        if done.returncode != 0:
            return [done.stderr]
    ended = fleet.attest("inbox/evil", "--sign", "ci.pem", "--json")
    told = json.loads(ended.stdout)
    faults = [] if ended.returncode == 5 else [f"status {ended.returncode}: {ended.stderr}"]
    named = [(fault["key"], fault["file"], fault["message"]) for record in told["records"]
             for fault in record["faults"]]
    if named != [(key, os.path.basename(cubin), "differs")]:
        faults.append(f"{named}")
    if [told["signed"], told["refused"]] != [len(keys(cache)) - 1, 1]:
        faults.append(f"{told}")
    faults += says(fleet.pull("inbox/evil", "part"), 5)
    return faults + ([] if keys(fleet.path("part")) == keys(cache) - {key} else ["pulled"])


def changed_facts(fleet):
    """What a launch reads beside the code."""
    cache, notes = fleet.record("facts", LAUNCHES[:1])
    path = next(name for name in files_of(cache, ".json") if "__grp__" not in name)
    with open(path, encoding="utf-8") as file:
        told = json.load(file)
    told["shared"] += 16
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)
    says(fleet.push("inbox/facts", cache, notes, "--no-modules"), 0)
    return says(fleet.attest("inbox/facts", "--sign", "ci.pem"), 5,
                f"{os.path.basename(path)} differs", "1 of 1 record is not vouched for")


def other_source(fleet):
    """CI has other sources than the server: nobody can tell."""
    cache = record_modules(fleet, "changed")
    faults = says(fleet.do("push", "inbox/other", cache, "--remote", "remote"), 0)
    faults += says(fleet.attest("inbox/other", "-n"), 0, "same 1, different 0")
    write(fleet, "changed", 2)
    return faults + says(fleet.attest("inbox/other", "--sign", "ci.pem"), 4,
                         "has changed since it was recorded", "was not compiled again",
                         "1 of 1 record is not vouched for")


def modules(fleet):
    cache, notes = fleet.record("host", LAUNCHES[:1])
    folder = os.path.join(cache, "B" * 52)
    os.mkdir(folder)
    shutil.copy("/bin/true", os.path.join(folder, "launcher.cpython-311-x86_64-linux-gnu.so"))
    says(fleet.push("inbox/host", cache, notes), 0)
    return says(fleet.attest("inbox/host", "--sign", "ci.pem"), 4,
                "is no kernel that can be compiled again", "1 of 1 record is not vouched for")


def nothing(fleet):
    faults = says(fleet.attest("inbox/none", "-n"), 3)
    faults += says(fleet.attest("inbox/none"), 2, "'--sign' names the key that signs")
    left = [name for name in os.listdir(fleet.folder) if name.startswith("tkbundle-")]
    return faults + [f"left behind: {name}" for name in left]


def tell(fleet):
    fleet.tap("what a server pushed without a key is compiled again, signed and promoted",
              whole_way)
    fleet.tap("what a server compiles under the policy others pull once it is promoted", life)
    fleet.tap("IR tells what to compile, and what nothing tells of is not signed", by_ir)
    fleet.tap("a kernel of which a bit was changed is named, and its record stays unsigned",
              changed_code)
    fleet.tap("so is one whose launch was changed", changed_facts)
    fleet.tap("what another source made is not signed", other_source)
    fleet.tap("a module is vouched for by nobody", modules)
    fleet.tap("nothing is attested of nothing, and nothing stays behind", nothing)


if __name__ == "__main__":
    sys.exit(run_in_scene(tell, Fleet))

# SPDX-License-Identifier: Apache-2.0
"""What is done while a call fails, and what must hold afterwards."""

import json
import os
import shutil
from dataclasses import dataclass, field

from cachelib import (
    check_entry, group_text, leftovers, read_file, write_entry)
from faults import look_past_seeds
from harness import DONE, FAILED, PARTIAL, require, write_states


@dataclass(frozen=True)
class Scene:
    sentence: str
    prepare: object  # (t, folder) -> the command's arguments
    check: object    # (t, folder, ended): raises Failure or Torn
    statuses: tuple = (DONE,)  # of an undisturbed run
    allowed: tuple = (DONE, FAILED, PARTIAL)
    environment: dict = field(default_factory=dict)


def root_of(folder):
    return os.path.join(folder, "cache")


def prepare_states(t, folder):
    """One small entry in each state, and a module that is absent."""
    write_states(t, root_of(folder), t.small, root_of(folder))
    return ["emit", t.small_full, root_of(folder), "-j1"]


def check_states(t, folder, ended):
    root = root_of(folder)
    looks = {key: look_past_seeds(t, root, key) for key in t.small}
    if ended.returncode == DONE:
        missing = [key for key, look in looks.items() if look != "whole"]
        require(not missing, f"it said all was done, but not {missing}")
    t.emit(root, t.small_full)
    t.settled(root, t.small)


def few_of(t):
    """Two kernels and a module, in a bundle of their own."""
    keys = t.small[:2] + t.small[-1:]
    path = os.path.join(t.work, "few.tkb")
    if not os.path.exists(path):
        t.collect("few", t.source, keys, "lean")
    return keys, path


def prepare_emit(t, folder):
    return ["emit", few_of(t)[1], root_of(folder), "-j2"]


def prepare_serial(t, folder):
    return ["emit", few_of(t)[1], root_of(folder), "-j1"]


def check_emit(t, folder, ended):
    """What is there verifies, and is what the command said."""
    root = root_of(folder)
    keys, bundle = few_of(t)
    there = [key for key in keys
             if check_entry(root, key, t.known).state == "whole"]
    if there:
        t.run("verify", root)
        listed = json.loads(t.run("ls", root, "--json").stdout)
        require({entry["key"] for entry in listed["entries"]} == set(there),
                "ls lists others")
    require(ended.returncode != DONE or len(there) == len(keys),
            "it said all was done")
    t.emit(root, bundle)
    t.settled(root, keys)


def prepare_devices(t, folder):
    return ["emit", few_of(t)[1], root_of(folder), "-j1", "--layout",
            "inductor", "--device", "0", "--device", "1"]


def check_devices(t, folder, ended):
    roots = [os.path.join(root_of(folder), "triton", device)
             for device in "01"]
    keys = few_of(t)[0]
    whole = sum(check_entry(root, key, t.known).state == "whole"
                for root in roots for key in keys)
    require(ended.returncode != DONE or whole == 2 * len(keys),
            "it said all was done")
    t.run(*prepare_devices(t, folder))
    for root in roots:
        t.settled(root, keys)


def prepare_collect(t, folder):
    for key in few_of(t)[0]:
        write_entry(root_of(folder), t.versions[0][key])
    return ["collect", root_of(folder), "-j1", "--profile", "lean", "-o",
            os.path.join(folder, "out.tkb")]


def prepare_replacing(t, folder):
    shutil.copyfile(t.full, os.path.join(folder, "out.tkb"))
    return prepare_collect(t, folder)


def check_collect(t, folder, ended):
    """The file is the whole bundle, or what was there before."""
    out = os.path.join(folder, "out.tkb")
    wanted = read_file(few_of(t)[1])
    found = read_file(out) if os.path.exists(out) else None
    if ended.returncode == DONE:
        require(found == wanted, "it said all was done")
    elif ended.returncode == FAILED:
        require(found in (None, read_file(t.full)), "the file was replaced")
    else:
        t.run("verify", out)
    t.run(*prepare_collect(t, folder))
    require(read_file(out) == wanted, "the next one differs")
    require(sorted(os.listdir(folder)) == ["cache", "out.tkb"],
            f"left behind: {sorted(os.listdir(folder))}")
    require(not leftovers(root_of(folder), t.known), "the cache was touched")


def prepare_merge(t, folder):
    return ["merge", few_of(t)[1], t.small_full, "-o",
            os.path.join(folder, "out.tkb")]


def prepare_merging(t, folder):
    """Over one of the inputs."""
    out = os.path.join(folder, "out.tkb")
    shutil.copyfile(few_of(t)[1], out)
    return ["merge", out, t.small_full, "-o", out]


def check_merge(t, folder, ended):
    out = os.path.join(folder, "out.tkb")
    before = read_file(few_of(t)[1])
    found = read_file(out) if os.path.exists(out) else None
    t.run(*prepare_merge(t, folder))
    wanted = read_file(out)
    require(found in (None, before, wanted), "the file is torn")
    require((ended.returncode == DONE) == (found == wanted),
            "what it says of the file is not so")
    require(os.listdir(folder) == ["out.tkb"],
            f"left behind: {sorted(os.listdir(folder))}")


ELSEWHERE = "/home/serve/.triton/cache"


def prepare_relocate(t, folder):
    for key in few_of(t)[0]:
        write_entry(root_of(folder), t.versions[0][key], elsewhere=ELSEWHERE)
    return ["relocate", root_of(folder)]


def check_relocate(t, folder, ended):
    """Each group file names one place or the other."""
    root = root_of(folder)
    for key in few_of(t)[0]:
        entry = t.versions[0][key]
        if entry.group:
            text = read_file(os.path.join(root, key, entry.group))
            require(text == group_text(os.path.join(ELSEWHERE, key),
                                       entry.files)
                    or check_entry(root, key, t.known).state == "whole",
                    f"{key} is torn")
    t.run("relocate", root)
    t.settled(root, few_of(t)[0])


def prepare_gc(t, folder):
    """Entries of different age: else each run would choose another one."""
    t.emit(root_of(folder), few_of(t)[1])
    for number, key in enumerate(few_of(t)[0]):
        for item in os.scandir(os.path.join(root_of(folder), key)):
            os.utime(item.path, (0, 1_700_000_000 + number))
    return ["gc", root_of(folder), "--max-entries", "1"]


def check_gc(t, folder, ended):
    root = root_of(folder)
    keys, bundle = few_of(t)
    whole = [key for key in keys
             if check_entry(root, key, t.known).state == "whole"]
    require(ended.returncode != DONE or len(whole) == 1,
            f"it said all was done, but {len(whole)} are there")
    t.run("gc", root, "--max-entries", "1")
    # What was hidden and not removed, an emit takes for a torn entry.
    t.emit(root, bundle)
    t.settled(root, keys)


def tree_files(root):
    """A unit with an index, and a file that is one."""
    return {"u/a": "a graph", "u/b/c": "another", "f.bin": "a file",
            "u/index.py": f"['{root}/u/a', '{root}/u/b/c']"}


def write_tree(root, files):
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        with open(os.path.join(root, name), "w", encoding="ascii") as file:
            file.write(text)


def tree_bundle_of(t):
    bundle = os.path.join(t.work, "tree.tkb")
    if os.path.exists(bundle):
        return bundle
    source = os.path.join(t.work, "tree")
    write_tree(source, tree_files(source))
    write_tree(t.work, {"engines/own.json": json.dumps({
        "engine": "own", "package": "", "versions": [], "commands": [],
        "models": [], "set": [], "roots": [{
            "name": "tree", "variable": "TREE_ROOT", "places": [], "rules": [
                {"path": "u", "is": "unit"},
                {"path": "u/index.py", "style": "python", "last": 1}]}]})})
    t.run("collect", "--engine", "own", "-o", bundle,
          os.path.join(t.work, "none"), env={
              **t.environment, "TREE_ROOT": source,
              "TKBUNDLE_ENGINES": os.path.join(t.work, "engines")})
    return bundle


def prepare_tree(t, folder):
    return ["emit", "--tree", "tree=" + root_of(folder), tree_bundle_of(t),
            "-j1"]


def prepare_torn_tree(t, folder):
    """A file of the unit is damaged."""
    files = tree_files(root_of(folder))
    write_tree(root_of(folder), {**files, "u/b/c": "ANOTHER"})
    return prepare_tree(t, folder)


def look_at_tree(folder):
    """The files that are there and whole, and those that are not."""
    root, whole = root_of(folder), {}
    for name, text in tree_files(root).items():
        path = os.path.join(root, name)
        if os.path.exists(path):
            whole[name] = read_file(path) == text.encode()
    return whole


def check_new_tree(t, folder, ended):
    looks = look_at_tree(folder)
    require(all(looks.values()), f"torn: {looks}")
    require(len([name for name in looks if name.startswith("u/")]) in (0, 3),
            f"half a unit: {looks}")
    settle_tree(t, folder, ended, looks)


def check_torn_tree(t, folder, ended):
    looks = look_at_tree(folder)
    torn = [name for name, is_whole in looks.items() if not is_whole]
    require(torn in ([], ["u/b/c"]), f"torn: {torn}")
    settle_tree(t, folder, ended, looks)


def settle_tree(t, folder, ended, looks):
    require(ended.returncode != DONE or
            list(looks.values()) == [True] * 4, "it said all was done")
    t.run(*prepare_tree(t, folder))
    require(list(look_at_tree(folder).values()) == [True] * 4,
            "the next emit does not make all whole")


SCENES = (
    Scene("whatever call fails emit of a tree shows no half of a unit",
          prepare_tree, check_new_tree),
    Scene("whatever call fails emit repairs a unit or leaves its index out",
          prepare_torn_tree, check_torn_tree),
    Scene("whatever call fails emit among entries of all states tears none",
          prepare_states, check_states),
    Scene("whatever call fails emit into a new root tears no entry",
          prepare_emit, check_emit),
    Scene("whatever call fails emit without NOREPLACE tears no entry",
          prepare_serial, check_emit,
          environment={"FAULT_NEVER": "noreplace"}),
    Scene("whatever call fails emit for two devices tears no entry",
          prepare_devices, check_devices),
    Scene("whatever call fails collect leaves no torn bundle",
          prepare_collect, check_collect),
    Scene("whatever call fails collect replaces a bundle whole or not",
          prepare_replacing, check_collect),
    Scene("whatever call fails collect without O_TMPFILE tears no bundle",
          prepare_replacing, check_collect,
          environment={"FAULT_NEVER": "tmpfile"}),
    Scene("whatever call fails merge leaves no torn bundle",
          prepare_merge, check_merge),
    Scene("whatever call fails merge replaces an input whole or not",
          prepare_merging, check_merge),
    Scene("whatever call fails relocate tears no entry",
          prepare_relocate, check_relocate),
    Scene("whatever call fails gc tears no entry",
          prepare_gc, check_gc),
)

# SPDX-License-Identifier: Apache-2.0
"""Triton caches for the torture tests: made, written as Triton does, judged.

An entry is held in memory as an Entry.  A *version* of an entry is a set of
bytes for its files: the fixture's, or one changed by other_version().  Two
versions of a key are what two machines give that compiled one kernel at
different paths: the same names and sizes or other ones, all files different.
"""

import base64
import hashlib
import json
import os
import struct
import tarfile
import uuid
from dataclasses import dataclass

LEAN_DROPS = (".source", ".ttir", ".ttgir", ".llir", ".ptx", ".amdgcn")


@dataclass(frozen=True)
class Entry:
    key: str
    group: str   # the group file's name; "" for a module
    files: dict  # name -> bytes, in the group file's order, without itself

    @property
    def size(self):
        return sum(len(data) for data in self.files.values())

    @property
    def names(self):
        """Every name that a whole entry may hold."""
        return set(self.files) | ({self.group} if self.group else set())


# Making caches

def unpack(archive, folder):
    """Unpack a Triton fixture; return its cache root."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return os.path.join(folder, ".triton", "cache")


def read_cache(root):
    """Read a cache root of whole entries, moved or not: {key: Entry}."""
    entries = {}
    for key in sorted(os.listdir(root)):
        names = sorted(os.listdir(os.path.join(root, key)))
        group = next((n for n in names if n.startswith("__grp__")), "")
        if group:
            text = read_file(os.path.join(root, key, group))
            names = list(json.loads(text)["child_paths"])
        entries[key] = Entry(key, group, {
            name: read_file(os.path.join(root, key, name)) for name in names})
    return entries


def other_version(entry, mark, same_size=False):
    """The same kernel with other bytes in each file, as valid as before.

    Modules stay as they are.
    """
    def change(name, data):
        if name.endswith(".cubin"):
            return changed_cubin(data, mark)
        if name.endswith(".json"):
            values = json.loads(data)
            if same_size:
                values["max_num_imprecise_acc_default"] ^= 1
            else:
                values["made_by"] = mark
            return json.dumps(values).encode()
        if same_size:
            return data[:-1] + (b"\t" if data[-1:] != b"\t" else b" ")
        return data + b"\n// " + mark.encode() + b"\n"

    if not entry.group:
        return entry
    return Entry(entry.key, entry.group, {
        name: change(name, data) for name, data in entry.files.items()})


def changed_cubin(data, mark):
    """Change one byte of code: an ELF reader sees no difference."""
    code = next(at for at, size, _ in elf_sections(data, with_flags=0x4)
                if size > 0)
    changed = bytearray(data)
    changed[code] ^= 1 + sum(mark.encode()) % 255
    return bytes(changed)


def group_text(folder, names):
    paths = {name: os.path.join(folder, name) for name in names}
    return json.dumps({"child_paths": paths}).encode()


def lean_names(entry):
    return [n for n in entry.files if not n.endswith(LEAN_DROPS)]


def write_entry(root, entry, elsewhere=None):
    """Write a whole entry with no care for readers: only before a race.

    With `elsewhere`, its group file names another cache root.
    """
    folder = os.path.join(root, entry.key)
    os.makedirs(folder, exist_ok=True)
    for name, data in entry.files.items():
        write_file(os.path.join(folder, name), data)
    if entry.group:
        named = os.path.join(elsewhere or root, entry.key)
        write_file(os.path.join(folder, entry.group),
                   group_text(named, entry.files))


def triton_put(root, entry, pause=lambda: None):
    """Write an entry by the steps of Triton 3.6's FileCacheManager.

    Its calls and their order are copied, not their intent: what tkbundle does
    at the same time must not make any of them raise.
    """
    folder = os.path.join(root, entry.key)
    os.makedirs(folder, exist_ok=True)
    for name, data in entry.files.items():
        triton_put_file(folder, name, data)
        pause()
    if entry.group:
        triton_put_file(folder, entry.group, group_text(folder, entry.files))


def triton_put_file(folder, name, data):
    temp_dir = os.path.join(folder, f"tmp.pid_{os.getpid()}_{uuid.uuid4()}")
    os.makedirs(temp_dir, exist_ok=True)
    temp_path = os.path.join(temp_dir, name)
    with open(temp_path, "wb") as file:
        file.write(data)
    os.replace(temp_path, os.path.join(folder, name))
    os.removedirs(temp_dir)


def triton_leftover(folder, age_s):
    """What a killed Triton leaves in an entry, with a file of that age."""
    temp_dir = os.path.join(folder, f"tmp.pid_1_{uuid.uuid4()}")
    os.makedirs(temp_dir)
    write_file(os.path.join(temp_dir, "kernel.ttir"), b"module {")
    make_old(temp_dir, age_s)
    return temp_dir


def make_old(folder, age_s):
    """Set the times of a folder and the files in it `age_s` back."""
    for name in os.listdir(folder):
        set_age(os.path.join(folder, name), age_s)
    set_age(folder, age_s)


def set_age(path, age_s):
    when = os.stat(path).st_mtime - age_s
    os.utime(path, (when, when))


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


# Judging caches

class Torn(Exception):
    """A visible entry is not whole."""


@dataclass(frozen=True)
class Look:
    """What one look at an entry found."""
    state: str       # "hidden", "changed" while it was looked at, or "whole"
    version: int = -1  # of the known ones; -1: a mix that is allowed
    is_lean: bool = False


class Known:
    """The digests of every version of every entry that a test uses."""

    def __init__(self, *versions):
        """Each version is {key: Entry}."""
        self.entries = versions[0]
        self.digests = {
            key: [digests_of(version[key].files) for version in versions]
            for key in versions[0]}


def digests_of(files):
    return {name: hashlib.sha256(data).digest()
            for name, data in files.items()}


def check_entry(root, key, known, may_mix=False):
    """Look at an entry as a reader may at any moment; raise Torn.

    With `may_mix`, its files may be of different versions: Triton itself
    mixes them where two of its processes write one entry.
    """
    if not known.entries[key].group:
        return check_module(root, key, known)

    folder = os.path.join(root, key)
    path = os.path.join(folder, known.entries[key].group)
    try:
        group = open(path, "rb")
    except (FileNotFoundError, NotADirectoryError):
        return Look("hidden")

    # While the group file is open its inode is not used again, so that the
    # same number at the end means that it was never removed meanwhile.
    with group:
        text = group.read()
        torn = look = None
        try:
            look = check_files(folder, text, key, known, may_mix)
        except Torn as found:
            torn = found
        if not is_still(path, group, text):
            return Look("changed")
    if torn:
        raise Torn(f"{key}: {torn}")
    return look


def is_still(path, group, text):
    try:
        now = os.stat(path)
    except FileNotFoundError:
        return False
    then = os.fstat(group.fileno())
    group.seek(0)
    return (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino) \
        and group.read() == text


def check_files(folder, text, key, known, may_mix):
    entry = known.entries[key]
    try:
        paths = json.loads(text)["child_paths"]
    except (ValueError, KeyError, TypeError):
        raise Torn(f"its group file is damaged: {text[:60]!r}") from None
    if set(paths) not in (set(entry.files), set(lean_names(entry))):
        raise Torn(f"its group file lists {sorted(paths)}")

    files = {}
    for name, path in paths.items():
        if path != os.path.join(folder, name):
            raise Torn(f"its group file names '{path}'")
        try:
            files[name] = read_file(path)
        except OSError as error:
            raise Torn(f"'{name}' is listed: {error.strerror}") from None
        check_content(name, files[name], key)

    found = digests_of(files)
    is_lean = len(files) < len(entry.files)
    return Look("whole", which_version(found, known.digests[key], may_mix),
                is_lean)


def check_content(name, data, key):
    if name.endswith(".json"):
        try:
            digest = bytes.fromhex(json.loads(data)["hash"])
        except (ValueError, KeyError, TypeError):
            raise Torn(f"'{name}' is damaged, {len(data)} bytes") from None
        if base64.b32encode(digest).decode().rstrip("=") != key:
            raise Torn(f"the hash in '{name}' is not the key")
    elif name.endswith(".cubin"):
        problem = elf_problem(data)
        if problem:
            raise Torn(f"'{name}': {problem}, {len(data)} bytes")


def which_version(found, versions, may_mix):
    for number, version in enumerate(versions):
        if all(version[name] == digest for name, digest in found.items()):
            return number
    sources = {
        name: [number for number, version in enumerate(versions)
               if version[name] == digest]
        for name, digest in found.items()}
    unknown = [name for name, numbers in sources.items() if not numbers]
    if unknown:
        raise Torn(f"{unknown} have bytes that nobody wrote")
    if not may_mix:
        raise Torn(f"its files are of different versions: {sources}")
    return -1


def check_module(root, key, known):
    """A module has no group file: to be there is to be visible."""
    (name, digest), = known.digests[key][0].items()
    try:
        data = read_file(os.path.join(root, key, name))
    except (FileNotFoundError, NotADirectoryError):
        return Look("hidden")
    if hashlib.sha256(data).digest() != digest:
        raise Torn(f"{key}: '{name}' is damaged, {len(data)} bytes")
    return Look("whole", 0)


def elf_sections(data, with_flags=0):
    """Offset, size and type of each section of an ELF64 file."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3a)
    for at in range(table, table + size * count, size):
        kind, flags = struct.unpack_from("<IQ", data, at + 4)
        offset, length = struct.unpack_from("<QQ", data, at + 24)
        if flags & with_flags == with_flags:
            yield offset, length, kind


def elf_problem(data):
    """Why `data` is not a whole ELF64 file; "" if it is."""
    no_bits = 8
    if data[:5] != b"\x7fELF\x02":
        return "not ELF64"
    try:
        for offset, length, kind in elf_sections(data):
            if kind != no_bits and offset + length > len(data):
                return "a section lies outside the file"
    except struct.error:
        return "the section headers lie outside the file"
    return ""


def check_settled(root, known, keys, may_mix=(), skip=()):
    """After all is done: each entry is there and whole, and no more.

    Returns {key: Look}.
    """
    looks = {}
    for key in keys:
        if key in skip:
            continue
        looks[key] = check_entry(root, key, known, key in may_mix)
        if looks[key].state != "whole":
            raise Torn(f"{key} is not there")
    strays = leftovers(root, known)
    if strays:
        raise Torn(f"left behind: {strays}")
    return looks


def leftovers(root, known):
    """What lies in a cache root that neither Triton nor the bundles put there.

    The lock and the marker of this boot may stay.
    """
    found = []
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        if name == ".tkbundle":
            found += [f"{name}/{inner}" for inner in os.listdir(folder)
                      if inner != "lock" and not inner.startswith("trusted-")]
        elif name not in known.entries:
            found.append(name)
        else:
            found += [f"{name}/{inner}" for inner in os.listdir(folder)
                      if inner not in known.entries[name].names
                      and not inner.startswith("tmp.pid_")]
    return found


def stages(root):
    try:
        names = os.listdir(os.path.join(root, ".tkbundle"))
    except FileNotFoundError:
        return []
    return [os.path.join(root, ".tkbundle", name) for name in names
            if name.startswith("stage-")]

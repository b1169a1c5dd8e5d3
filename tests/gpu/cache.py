# SPDX-License-Identifier: Apache-2.0
"""Looks at Triton cache roots, without tkbundle, for run.sh.

    cache.py list ROOT                   a listing of what is there, as JSON
    cache.py kernels LISTING             how many kernels it holds
    cache.py written ROOT BEFORE AFTER   two numbers: kernels, and other
                                         entries, made or changed between two
                                         listings; to stderr: what changed
    cache.py same OLD RECORDED NEW       is NEW what OLD holds, the root's
                                         path RECORDED replaced by its own?
    cache.py stamps ROOT                 two numbers: group files whose access
                                         time is 0, and others
    cache.py atime DIR                   does the first read move the access
                                         time there?
    cache.py damage ROOT                 damage three kernels
    cache.py used COUNT FILE             does a document of stats --used say
                                         that so many kernels were used?
    cache.py field NAME FILE             a member of each JSON line
    cache.py median NAME FILE            the median of those
"""
import hashlib
import json
import os
import statistics
import sys
import tempfile

OURS = ".tkbundle"  # tkbundle's own folder in a cache root
SHOWN = 10          # lines that say what changed


def walk(root):
    """Relative paths of all folders, ending in a slash, and files."""
    for folder, folders, files in os.walk(root):
        if folder == root and OURS in folders:
            folders.remove(OURS)
        inside = os.path.relpath(folder, root)
        for name in folders:
            yield os.path.normpath(os.path.join(inside, name)) + "/"
        for name in files:
            yield os.path.normpath(os.path.join(inside, name))


def read(path):
    """The bytes of a file, whose access time stays what it is."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOATIME)
    except PermissionError:
        fd = os.open(path, os.O_RDONLY)
    with open(fd, "rb") as file:
        return file.read()


def describe(path):
    if path.endswith("/"):
        return {}
    status = os.lstat(path)
    return {"size": status.st_size, "mtime": status.st_mtime_ns,
            "inode": status.st_ino,
            "sha256": hashlib.sha256(read(path)).hexdigest()}


def load(listing):
    with open(listing, encoding="utf-8") as file:
        return json.load(file)


def is_group_file(path):
    return os.path.basename(path).startswith("__grp__")


def key_of(path):
    return path.split("/", 1)[0]


def names_by_key(listing):
    """{key: kernel's name} of a listing."""
    return {key_of(path): os.path.basename(path)[len("__grp__"):-len(".json")]
            for path in listing if is_group_file(path)}


def differences(one, other):
    """{what: (in one, in other)} of two kernels, paths without extension."""
    ours = json.loads(read(one + ".json"))
    theirs = json.loads(read(other + ".json"))
    found = {member: (ours.get(member), theirs.get(member))
             for member in sorted(ours.keys() | theirs.keys())
             if member != "hash" and ours.get(member) != theirs.get(member)}
    if os.path.exists(one + ".source") and os.path.exists(other + ".source"):
        for lines in zip(read(one + ".source").decode().splitlines(),
                         read(other + ".source").decode().splitlines()):
            if lines[0] != lines[1]:
                found["source, first other line"] = lines
                break
    return found


def show_twin(root, key, before, after):
    """Say how a new kernel differs from the most similar of its name."""
    name = names_by_key(after)[key]
    twins = [k for k, n in names_by_key(before).items() if n == name]
    print(f"  new: {key} {name}; known under {len(twins)} other keys",
          file=sys.stderr)
    if twins:
        found = min((differences(os.path.join(root, twin, name),
                                 os.path.join(root, key, name))
                     for twin in twins), key=len)
        print(f"    the most similar differs in {found or 'its key alone'}",
              file=sys.stderr)


def command_list(root):
    json.dump({path: describe(os.path.join(root, path))
               for path in sorted(walk(root))}, sys.stdout)


def command_kernels(listing):
    print(len(names_by_key(load(listing))))


def command_written(root, before_listing, after_listing):
    before = load(before_listing)
    after = load(after_listing)
    changes = []
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            changes.append((path, "new"))
        elif path not in after:
            changes.append((path, "gone"))
        elif before[path] != after[path]:
            what = [k for k, v in after[path].items() if before[path][k] != v]
            changes.append((path, "other " + ", ".join(what)))

    for path, change in changes[:SHOWN]:
        print(f"  {path}: {change}", file=sys.stderr)
    if len(changes) > SHOWN:
        print(f"  ... {len(changes)} changes in all", file=sys.stderr)

    kernels = names_by_key(after)
    keys = {key_of(path) for path, _ in changes}
    known = {key_of(path) for path in before}
    if known:
        for key in sorted(kernels.keys() & keys - known)[:SHOWN]:
            show_twin(root, key, before, after)
    print(len(keys & kernels.keys()), len(keys - kernels.keys()))


def command_same(old, recorded, new):
    # An entry is a folder with something in it; a root's own path stands in
    # JSON alone, there as json.dumps() writes it.
    before = {path for path in walk(old) if not path.endswith("/")}
    after = {path for path in walk(new) if not path.endswith("/")}
    was = json.dumps(recorded)[1:-1].encode()
    now = json.dumps(new)[1:-1].encode()
    differing = sorted(before ^ after)
    for path in before & after:
        expected = read(os.path.join(old, path))
        if path.endswith(".json"):
            expected = expected.replace(was, now)
        if read(os.path.join(new, path)) != expected:
            differing.append(path)

    for path in differing[:SHOWN]:
        print(f"  {path} differs", file=sys.stderr)
    return 1 if differing or not before else 0


def command_stamps(root):
    times = [os.stat(os.path.join(root, path)).st_atime_ns
             for path in walk(root) if is_group_file(path)]
    print(times.count(0), len(times) - times.count(0))


def command_atime(folder):
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"x")
        file.flush()
        os.utime(file.name, ns=(0, os.stat(file.name).st_mtime_ns))
        with open(file.name, "rb") as again:
            again.read()
        return 0 if os.stat(file.name).st_atime_ns > 0 else 1


def command_damage(root):
    groups = sorted(path for path in walk(root) if is_group_file(path))
    stems = [os.path.join(root, key_of(path),
                          os.path.basename(path)[len("__grp__"):-len(".json")])
             for path in groups]
    cubin, missing, metadata = (stems[0] + ".cubin", stems[1] + ".cubin",
                                stems[2] + ".json")

    os.truncate(cubin, os.path.getsize(cubin) // 2)
    os.remove(missing)
    os.truncate(metadata, os.path.getsize(metadata) // 2)


def fields(name, path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)[name] for line in file if line.strip()]


def command_used(count, path):
    with open(path, encoding="utf-8") as file:
        uses = json.load(file)["uses"]["list"]
    used = sum(use["kind"] == "kernel" and use["state"] == "used"
               for use in uses)
    if used != int(count):
        sys.exit(f"{used} kernels were used, not {count}")


def command_field(name, path):
    for value in fields(name, path):
        print(value)


def command_median(name, path):
    print(f"{statistics.median(fields(name, path)):.2f}")


def main(arguments):
    commands = {name[len("command_"):]: function
                for name, function in globals().items()
                if name.startswith("command_")}
    if not arguments or arguments[0] not in commands:
        sys.exit(__doc__)
    return commands[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

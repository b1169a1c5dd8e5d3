# SPDX-License-Identifier: Apache-2.0
"""Stands in for a compiler: copies an entry or a folder under another key.

    compiler.py kernel ROOT KEY [FILE OLD NEW]...
    compiler.py folder FROM TO [FILE OLD NEW]...

In the copy, OLD becomes NEW in FILE; of a kernel, FILE is an ending.
"""
import base64
import os
import shutil
import sys


def replace(path, old, new):
    with open(path, "rb") as file:
        text = file.read()
    assert old.encode() in text, (path, old)
    with open(path, "wb") as file:
        file.write(text.replace(old.encode(), new.encode()))


def key_of(digest):
    return base64.b32encode(digest).decode().rstrip("=")


def copy_kernel(root, prefix, edits):
    old, = (name for name in os.listdir(root) if name.startswith(prefix))
    digest = base64.b32decode(old + "====")
    changed = bytes([digest[0] ^ len(edits) + 1]) + digest[1:]
    new = key_of(changed)
    shutil.copytree(os.path.join(root, old), os.path.join(root, new))
    group, = (name for name in os.listdir(os.path.join(root, new))
              if name.startswith("__grp__"))
    name = group.removeprefix("__grp__").removesuffix(".json")
    for ending, before, after in (
            (".json", digest.hex(), changed.hex()), *edits):
        replace(os.path.join(root, new, name + ending), before, after)
    replace(os.path.join(root, new, group), old, new)


def copy_folder(before, after, edits):
    shutil.copytree(before, after)
    for name, old, new in edits:
        replace(os.path.join(after, name), old, new)


def main():
    kind, one, other, *rest = sys.argv[1:]
    edits = list(zip(rest[::3], rest[1::3], rest[2::3]))
    (copy_kernel if kind == "kernel" else copy_folder)(one, other, edits)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TritonBundler of PyTorch's Inductor does, without the rest of PyTorch.

`collect ROOT FILE` reads each file of each kernel, replaces the folder's path
in JSON files by [REPLACE] and pickles all of it.  `emit FILE ROOT` reads and
unpickles that, and writes each kernel that is not there yet into a temporary
folder that then takes the final name.  There, too, payloads are bytes in frozen
data classes, in one list, in one pickle.

Each prints how many milliseconds its own work took: Inductor runs this in a
process that has been started already.
"""

import dataclasses
import os
import pathlib
import pickle
import sys
import time
import uuid

SENTINEL = b"[REPLACE]"


@dataclasses.dataclass(frozen=True)
class Artifact:
    filename: str
    payload: bytes


@dataclasses.dataclass(frozen=True)
class Kernel:
    kernel_hash: str
    device: int
    artifacts: list[Artifact]


def collect_kernel(root, kernel_hash):
    folder = os.path.join(root, kernel_hash)
    artifacts = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            payload = file.read()
        if path.endswith(".json"):
            if SENTINEL in payload:
                continue
            payload = payload.replace(folder.encode(), SENTINEL)
        artifacts.append(Artifact(name, payload))
    return Kernel(kernel_hash, 0, artifacts)


def pack(root, keys):
    return pickle.dumps([collect_kernel(root, key) for key in keys])


def emit_kernel(root, kernel):
    folder = os.path.join(root, kernel.kernel_hash)
    if os.path.exists(folder) and os.listdir(folder):
        return
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    stage = os.path.join(root, f"tmp.{uuid.uuid4()}")
    os.makedirs(stage)
    for artifact in kernel.artifacts:
        payload = artifact.payload
        if artifact.filename.endswith(".json"):
            payload = payload.replace(SENTINEL, folder.encode())
        with open(os.path.join(stage, artifact.filename), "wb") as file:
            file.write(payload)
    os.replace(stage, folder)


def unpack(packed, root):
    kernels = pickle.loads(packed)
    for kernel in kernels:
        emit_kernel(root, kernel)
    return kernels


def collect(root, bundle):
    with open(bundle, "wb") as file:
        file.write(pack(root, os.listdir(root)))


def emit(bundle, root):
    with open(bundle, "rb") as file:
        return unpack(file.read(), root)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("collect", "emit"):
        print("usage: bundler.py collect ROOT FILE | emit FILE ROOT",
              file=sys.stderr)
        return 2
    work = {"collect": collect, "emit": emit}[sys.argv[1]]
    source, target = map(os.path.abspath, sys.argv[2:])
    start = time.monotonic()
    # Kept, so that freeing it is not timed: Inductor goes on to use it.
    kept = work(source, target)
    spent = time.monotonic() - start
    print(f"{spent * 1000:.3f}")
    del kept
    return 0


if __name__ == "__main__":
    sys.exit(main())

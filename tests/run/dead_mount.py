#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command beside a dead mount: whatever touches it hangs until it is killed, as
on NFS whose server is gone.

usage: dead_mount.py FOLDER COMMAND...

It is a FUSE file system whose server never answers. Run it in a mount
namespace of its own.
"""
import ctypes
import os
import subprocess
import sys

UNSUPPORTED = 77


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return UNSUPPORTED
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"dead", sys.argv[1].encode(), b"fuse", 0,
                  options.encode()) != 0:
        return UNSUPPORTED
    # The device stays open here, and is closed with us.
    return subprocess.run(sys.argv[2:], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

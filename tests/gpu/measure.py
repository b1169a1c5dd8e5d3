# SPDX-License-Identifier: Apache-2.0
"""What the programs that run on the GPU say of themselves."""
import ctypes
import hashlib
import os
import time


def seconds_since_start():
    """How long this process has lived, the start of Python included."""
    with open("/proc/self/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # starttime, proc(5)
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def digest(tensors):
    """The SHA-256 of the bytes of tensors that lie on the CPU."""
    sha256 = hashlib.sha256()
    for tensor in tensors:
        whole = tensor.contiguous()
        sha256.update(ctypes.string_at(whole.data_ptr(), whole.nbytes))
    return sha256.hexdigest()

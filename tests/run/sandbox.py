# SPDX-License-Identifier: Apache-2.0
"""System calls that a sandbox, a kernel or a file system refuses."""
import ctypes
import os
import struct

from scene import Skip

# Numbers on x86_64 and aarch64.
NUMBERS = {"fchown": (93, 55), "renameat2": (316, 276), "statx": (332, 291),
           "clone3": (435, 435), "close_range": (436, 436),
           "openat2": (437, 437), "faccessat2": (439, 439)}
NEWER = tuple(NUMBERS)[1:]  # than Linux 3.10
MACHINES = ("x86_64", "aarch64")
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 2, 0x50000, 0x7fff0000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # the number of the call is at 0


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def refusing(number, *names):
    """For preexec_fn: these calls fail with this number."""
    machine = os.uname().machine
    if machine not in MACHINES:
        raise Skip(f"numbers of calls are not known for {machine}")
    code = struct.pack("HBBI", LOAD, 0, 0, 0)
    for name in names:
        code += struct.pack("HBBI", EQUAL, 0, 1,
                            NUMBERS[name][MACHINES.index(machine)])
        code += struct.pack("HBBI", RETURN, 0, 0, SECCOMP_RET_ERRNO | number)
    code += struct.pack("HBBI", RETURN, 0, 0, SECCOMP_RET_ALLOW)
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def refuse():
        program = Filter(len(code) // 8, code)
        if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or prctl(
                PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) != 0:
            raise OSError(ctypes.get_errno(), "no filter of system calls")

    return refuse

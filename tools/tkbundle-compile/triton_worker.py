# SPDX-License-Identifier: Apache-2.0
"""Worker program of `tkbundle compile`: compiles Triton kernels, one job after another.

A pool starts it with the user's Python and a socket at descriptor 3. The protocol is in
src/compile/pool/message.h, the fields of jobs and answers in
src/compile/triton/triton_fields.h.
"""

import fcntl
import os
import select
import signal
import socket
import struct
import sys
import threading
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [HERE] + [folder for folder in sys.path if folder != HERE]
sys.dont_write_bytecode, _kept = True, sys.dont_write_bytecode
from tkbundle_triton_trace import BEGUN, Trace  # first: traces later imports

TRACE = Trace()
from tkbundle_triton_inductor import compile_module
from tkbundle_triton_ir import compile_ir
from tkbundle_triton_launch import FILE, KERNEL, RECORDED, brief, compile_kernel
from tkbundle_triton_recorded import compile_recorded
from tkbundle_triton_signature import INVALID, Refused

sys.dont_write_bytecode = _kept
del sys.path[0]

POOL = 3
MAGIC = 0x746B6232
HELLO, JOB, _LOG, ANSWER, DONE = range(1, 6)
PIECE = 64 * 1024  # maximum for an answer
HEAD_FORMAT = struct.Struct("=IIQQ")
SIZE_FORMAT = struct.Struct("=Q")
DONE_FORMAT = struct.Struct("=iii512s")
FIELD_FORMAT = struct.Struct("=II")
READ, SEARCHED, LISTED, VARIABLE, LINK, SHARED, BEGAN, PROGRAM = range(74, 82)


def forget_modules(before, folders):
    """Forget modules imported from the folders of one file, before the next
    file."""
    def is_from_there(top):
        module = sys.modules.get(top)
        origin = getattr(module, "__file__", None)
        places = list(getattr(module, "__path__", ()))
        if origin is not None:
            places.append(os.path.dirname(origin))
        return any(place in (folder, os.path.join(folder, top))
                   for place in places for folder in folders)

    new = set(sys.modules) - before
    gone = {top for top in {name.partition(".")[0] for name in new} if is_from_there(top)}
    for name in new:
        if name.partition(".")[0] in gone:
            del sys.modules[name]


def forget_knobs():
    """Triton's settings, which a file may have set, come before the environment."""
    module = sys.modules.get("triton.knobs")
    for value in list(vars(module).values()) if module else []:
        if isinstance(value, getattr(module, "base_knobs", ())):
            vars(value).clear()


class Kept:
    """State of this process that a user's file may change, to be restored."""

    files = [(number, fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 10)) for number in range(3)]

    def __init__(self):
        self.environment = dict(os.environ)
        self.folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
        self.umask = os.umask(0o077)
        os.umask(self.umask)
        self.path = list(sys.path)
        self.modules = set(sys.modules)
        self.streams = sys.stdin, sys.stdout, sys.stderr

    def put_back(self):
        for number, copy in self.files:
            os.dup2(copy, number)
        for stream in {sys.stdout, sys.stderr, *self.streams[1:]}:
            try:
                stream.flush()
            except Exception:
                pass
        sys.stdin, sys.stdout, sys.stderr = self.streams
        forget_knobs()
        for name in set(os.environ) - set(self.environment):
            del os.environ[name]
        os.environ.update(self.environment)
        folders = [folder for folder in sys.path if folder not in self.path]
        forget_modules(self.modules, folders)
        sys.path[:] = self.path
        os.umask(self.umask)
        os.fchdir(self.folder)
        os.close(self.folder)


def set_kill_on_pool_exit(is_on):
    """
    During a job the pool sends nothing, so an event on the socket means that the pool
    is gone. The kernel then sends SIGKILL to our process group, ptxas included. A
    watching thread is not enough: Triton may hold the interpreter lock for a whole
    compilation.
    """
    flags = fcntl.fcntl(POOL, fcntl.F_GETFL)
    if not is_on:
        fcntl.fcntl(POOL, fcntl.F_SETFL, flags & ~os.O_ASYNC)
        return
    fcntl.fcntl(POOL, fcntl.F_SETFL, flags | os.O_ASYNC)
    poll = select.poll()
    poll.register(POOL, select.POLLIN | select.POLLRDHUP)
    if poll.poll(0):
        os._exit(0)


def pack(fields):
    """Fields are texts, bytes, or several texts in a list."""
    values = [(number, os.fsencode(value)) for number, given in fields.items()
              for value in (given if isinstance(given, list) else [given])]
    return b"".join(FIELD_FORMAT.pack(number, len(value)) + value for number, value in values)


def pack_depends(depends):
    return {number: sorted(values)
            for number, values in zip((READ, SEARCHED, LISTED, VARIABLE, LINK), depends)}


class Pool:
    def __init__(self):
        try:
            self.socket = socket.socket(fileno=POOL)
        except OSError:
            sys.exit("triton_worker.py: this is a worker: a pool starts it")
        self.job = 0
        os.set_inheritable(POOL, False)
        own = os.getpgrp()
        fcntl.fcntl(POOL, fcntl.F_SETOWN, -own if own == os.getpid() else os.getpid())
        fcntl.fcntl(POOL, fcntl.F_SETSIG, signal.SIGKILL)
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """Watch the pool's process: a process that it forked may hold the socket."""
        peer = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        try:
            pool = os.pidfd_open(struct.unpack("=iII", peer)[0])
        except (AttributeError, OSError):
            return
        poll = select.poll()
        poll.register(pool, select.POLLIN)
        poll.poll()
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    def receive(self, size):
        data = bytearray()
        while len(data) < size:
            piece = self.socket.recv(min(size - len(data), 1 << 20))
            if not piece:
                os._exit(0)
            data += piece
        return bytes(data)

    def send(self, kind, data):
        self.socket.sendall(HEAD_FORMAT.pack(MAGIC, kind, self.job, len(data)) + data)

    def receive_job(self):
        """Receive the environment and the fields of the next job."""
        magic, kind, self.job, size = HEAD_FORMAT.unpack(self.receive(HEAD_FORMAT.size))
        if magic != MAGIC or kind != JOB:
            sys.exit("triton_worker.py: descriptor 3 is not connected to a pool")
        data = self.receive(size)
        end = SIZE_FORMAT.size + SIZE_FORMAT.unpack_from(data)[0]
        fields, at = {}, end
        while at < size:
            number, length = FIELD_FORMAT.unpack_from(data, at)
            at += FIELD_FORMAT.size
            fields[number] = data[at:at + length]
            at += length
        return data[SIZE_FORMAT.size:end].split(b"\0")[:-1], fields

    def answer(self, fields):
        data = pack(fields)
        for at in range(0, len(data), PIECE):
            self.send(ANSWER, data[at:at + PIECE])
        self.send(DONE, DONE_FORMAT.pack(0, 0, 0, b""))

    def refuse(self, status, sentence):
        sentence = os.fsencode(sentence)[:511].decode("utf-8", "ignore").encode()
        self.send(DONE, DONE_FORMAT.pack(status, status, 0, sentence))


def set_environment(texts):
    """Apply the environment: "NAME=value" sets, "NAME" unsets."""
    for text in texts:
        name, is_set, value = os.fsdecode(text).partition("=")
        if is_set:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    # Interpreting would compile nothing, and a remote cache would leave no entry
    # here.
    os.environ.pop("TRITON_INTERPRET", None)
    os.environ.pop("TRITON_CACHE_MANAGER", None)


def compiler_of(fields):
    if RECORDED in fields:
        return compile_recorded
    if KERNEL in fields:
        return compile_kernel
    return compile_module if fields[FILE].endswith(b".py") else compile_ir


def main():
    pool = Pool()
    # Each job brings Triton's variables along.
    for name in [name for name in os.environ if name.startswith("TRITON_")]:
        del os.environ[name]
    pool.send(HELLO, b"")
    while True:
        environment, fields = pool.receive_job()
        kept = Kept()
        failure = None
        TRACE.begin()
        set_kill_on_pool_exit(True)
        try:
            set_environment(environment)
            answer = compiler_of(fields)(fields)
        except Refused as error:
            failure = error.status, str(error)
        except BaseException as error:
            traceback.print_exc()
            failure = INVALID, brief(error)
        root = os.environ.get("TRITON_CACHE_DIR")
        state = TRACE.end()
        kept.put_back()
        set_kill_on_pool_exit(False)
        depends = TRACE.depends(*state, os.fsdecode(fields.get(FILE, b"")), root)
        if failure is None and depends is not None:
            answer.update(pack_depends(depends[1]))
            answer.update({SHARED: pack(pack_depends(depends[0])), BEGAN: str(BEGUN),
                           PROGRAM: os.readlink("/proc/self/exe")})
        if failure is None:
            pool.answer(answer)
        else:
            pool.refuse(*failure)


main()

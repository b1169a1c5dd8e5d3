# SPDX-License-Identifier: Apache-2.0
"""Traces what an answer of this worker depends on.

These are the files that were read or looked for, the folders that were searched for
modules, and the variables that were read. While all of these are unchanged, the same
job has the same answer, and needs no worker. An answer that depends on something
untraceable, such as the output of another program, is not remembered.
"""

import functools
import os
import re
import site
import stat
import subprocess
import sys
import tempfile
import time

BEGUN = time.time_ns()
ENTRY = re.compile(r"[A-Z2-7]{52}|[0-9a-f]{64}")
SYSTEM = ("/proc/", "/sys/", "/dev/fd/", "/dev/std")
UNKNOWN = ("os.system", "os.exec", "os.fork", "os.forkpty",
           "socket.connect", "socket.getaddrinfo", "socket.gethostbyname",
           "socket.gethostbyaddr", "socket.sendto", "sqlite3.connect", "urllib.Request")
TOOLS = re.compile(r"ptxas(-blackwell)?")
MADE = os.O_TRUNC | os.O_EXCL
ALL = "*"  # all variables of the environment
READ_LINK = os.readlink  # the original, which is not traced
SPAWN = subprocess.Popen._posix_spawn.__code__


class Seen:
    """What was seen in one job, or in all."""

    def __init__(self):
        self.files, self.made, self.folders, self.variables = set(), set(), set(), set()
        self.links, self.temporary = set(), set()
        self.why = None  # why it is unknown what the answer depends on


class Trace:
    def __init__(self):
        self.is_on = True
        self.job, self.kept, self.modules = Seen(), Seen(), set()
        self.finders = set()
        sys.addaudithook(self.see)
        for name in ("stat", "lstat", "access", "readlink"):
            self.watch_look(name)
        self.watch_variables()

    def see(self, event, args):
        if not self.is_on:
            return
        if event == "open":
            self.see_open(*args)
        elif event in ("os.listdir", "os.scandir"):
            if "importlib" not in sys._getframe(1).f_code.co_filename:
                self.see_list(args[0])
        elif event == "os.mkdir":
            self.add(self.job.made, args[0])
        elif event == "tempfile.mkdtemp":
            self.add(self.job.temporary, args[0])
        elif event in ("subprocess.Popen", "os.posix_spawn"):
            self.see_program(args[0])
        elif event == "ctypes.dlopen" and args[0] and "/" in os.fsdecode(args[0]):
            self.add(self.job.files, args[0])
        elif event in UNKNOWN:
            self.job.why = event

    def see_open(self, path, _mode, flags):
        flags = flags or 0
        if flags & MADE:
            self.add(self.job.made, path)
        elif flags & os.O_ACCMODE != os.O_WRONLY:
            self.add(self.job.files, path)

    def see_list(self, path):
        if isinstance(path, int):  # shutil.rmtree() passes descriptors
            try:
                path = READ_LINK(f"/proc/self/fd/{path}")
            except OSError:
                self.job.why = "a descriptor of a folder"
        self.add(self.job.folders, "." if path is None else path)

    def see_program(self, program):
        program = os.fsdecode(program)
        if TOOLS.fullmatch(os.path.basename(program)) and "/" in program:
            self.add(self.job.files, program)
        else:
            self.job.why = program

    @staticmethod
    def add(paths, path):
        if isinstance(path, (str, bytes, os.PathLike)):
            paths.add(os.path.join(os.getcwd(), os.fsdecode(path)))

    def watch_look(self, name):
        look = getattr(os, name)

        @functools.wraps(look)
        def seen(path, *args, **kwargs):
            if not self.is_on or isinstance(path, int) or kwargs.get("dir_fd") is not None:
                return look(path, *args, **kwargs)
            self.add(self.job.files, path)
            result = look(path, *args, **kwargs)
            if name == "readlink" or name == "lstat" and stat.S_ISLNK(result.st_mode):
                self.add(self.job.links, path)
            return result

        for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks,
                      os.supports_effective_ids):
            if look in known:
                known.add(seen)
        setattr(os, name, seen)

    def watch_variables(self):
        kind = type(os.environ)
        get, walk = kind.__getitem__, kind.__iter__

        def seen_get(environ, name):
            if self.is_on and not is_for_child():
                self.job.variables.add(os.fsdecode(name))
            return get(environ, name)

        def seen_walk(environ):
            if self.is_on and not is_for_child():
                self.job.variables.add(ALL)
            return walk(environ)

        kind.__getitem__, kind.__iter__ = seen_get, seen_walk

    def begin(self):
        self.job = Seen()
        self.finders = set(sys.path_importer_cache)
        self.is_on = True

    def end(self):
        """Stop tracing. Returns what must be known before the process's state
        is restored."""
        self.is_on = False
        searched = set(sys.path_importer_cache) - self.finders
        for folder in searched:  # so that the next job's search is seen
            del sys.path_importer_cache[folder]
        return searched.union(sys.path), module_files()

    def depends(self, path, before, source, root):
        """The dependencies of all jobs of this worker, and those of this job. Each is
        a tuple of files, module folders, listed folders, variables and links. None:
        unknown. Data that was read for one job counts for all later ones, because a
        module may have kept it.
        """
        kept = module_files()
        modules, folders = (before[0] - kept[0], before[1] - kept[1])
        job, kept_seen = self.job, self.kept
        stem = source and os.path.splitext(source)[0] + "."
        kept_seen.why = kept_seen.why or job.why
        for name in ("files", "made", "folders", "variables", "links", "temporary"):
            getattr(kept_seen, name).update(getattr(job, name))
        kept_seen.files = {file for file in lasting(kept_seen.files - modules,
                                                    kept_seen.temporary)
                           if not stem or not file.startswith(stem)}
        kept_seen.folders = lasting(kept_seen.folders, kept_seen.temporary)
        self.modules |= kept[0]
        if job.why or kept_seen.why:
            return None
        shared = wanted(kept[0] | kept_seen.files | python_files(),
                        kept_seen.made | modules | job.made, root)
        own = wanted(lasting(modules | job.files, job.temporary), job.made, root) - shared
        searched = {os.path.abspath(folder) for folder in path} | folders
        listed = without_entries(kept_seen.folders, root)
        links = {link for link in without_entries(kept_seen.links, root)
                 if not link.startswith(SYSTEM)}
        return ((shared, kept[1], listed, kept_seen.variables, links),
                (own, searched, set(), set(), set()))


def is_for_child():
    """Is the environment read only to be passed to a program?"""
    frame = sys._getframe(2)
    for _ in range(3):
        if frame is None or frame.f_code is SPAWN:
            break
        frame = frame.f_back
    return frame is not None and frame.f_code is SPAWN


def lasting(paths, temporary):
    """The paths without temporary folders that a job made, and the files in these."""
    inside = tuple(folder + "/" for folder in temporary)
    return {path for path in paths if not (path + "/").startswith(inside)}


def absolute(path):
    """Avoids abspath(), which is slow for the thousands of modules of PyTorch."""
    return path if path.startswith("/") else os.path.abspath(path)


def module_files():
    """The files of all modules, and the folders of all packages."""
    files, folders = set(), set()
    for module in list(sys.modules.values()):
        values = getattr(module, "__dict__", {})
        file = values.get("__file__")
        if isinstance(file, str):
            files.add(absolute(file))
        try:
            folders.update(absolute(folder) for folder in values.get("__path__") or ()
                           if isinstance(folder, str))
        except Exception:
            continue
    return files, folders


def python_files():
    """Files that decide which Python starts, and where it looks for modules."""
    files = {sys.executable, os.path.realpath(sys.executable),
             os.path.join(sys.prefix, "pyvenv.cfg"), site.getusersitepackages(),
             os.path.join(os.path.dirname(sys.executable), "pyvenv.cfg")}
    for folder in sys.path:
        try:
            files.update(os.path.join(folder, name) for name in os.listdir(folder)
                         if name.endswith(".pth"))
        except OSError:
            continue
    return files


def without_entries(paths, root):
    """The paths without the cache's root, and without files in the folders of
    its entries."""
    if not root:
        return set(paths)
    root, folders, kept = os.path.realpath(root), {}, set()
    for path in paths:
        folder, name = os.path.split(path)
        if folder not in folders:  # many files are in few folders
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], name)
        if name in ("", os.curdir, os.pardir) or os.path.islink(real):
            real = os.path.realpath(real)
        if real != root and not (real.startswith(root + "/")
                                 and ENTRY.match(real[len(root) + 1:].split("/")[0])):
            kept.add(path)
    return kept


def wanted(files, made, root):
    """The files without those that the job itself wrote, compiled modules, and
    entries."""
    temporary = os.path.join(tempfile.gettempdir(), tempfile.gettempprefix())
    kept = set()
    for path in without_entries(files - made, root):
        if path.startswith(SYSTEM) or "/__pycache__/" in path:
            continue
        try:
            os.stat(path)
        except OSError:
            if path.startswith(temporary):
                continue  # a compiler's temporary file
        kept.add(path)
    return kept

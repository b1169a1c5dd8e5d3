# SPDX-License-Identifier: Apache-2.0
"""The package's functions: what the libraries do, as Python has it."""
import os
import signal
import sys

from machine import python
from scene import ENTRIES, KERNELS, PATIENCE, equal, require, test

IMPORT_MS = 15


def good(ended):
    equal(ended.status, 0, ended.err)
    return ended.out


def check(here, code, *words, **more):
    good(python(here, "import os, sys, tkbundle\n" + code, *words, **more))


@test("import takes 15 ms at most, and loads neither ctypes nor a library")
def _(here):
    # Of the processor: what else runs here counts for nothing.
    code = ("import sys, time; begin = time.process_time(); import tkbundle; "
            "print(1e3 * (time.process_time() - begin)); "
            "assert 'ctypes' not in sys.modules")
    # As an installed package has it, its bytecode is there after the first time.
    env = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": here.path("bytecode")}
    took = [float(good(python(here, code, env=env))) for _ in range(8)]
    require(min(took) <= IMPORT_MS * PATIENCE, took)


@test("what is collected is emitted, and reports tell")
def _(here):
    check(here, f"""
report = tkbundle.collect(sys.argv[1], "k.tkb", profile="lean")
assert report.collected == len(report.results) == {ENTRIES}, report
assert report.left_out == 0 and len(report.id) == 64
assert report.bundle_size == os.path.getsize("k.tkb")
key = report.results[-1].key
report = tkbundle.emit("k.tkb", "out", keys=[key])
assert report.emitted == 1 and report.results[0].outcome == "emitted", report
report = tkbundle.emit("k.tkb", "out", layout="triton", jobs=1)
assert (report.emitted, report.present) == ({ENTRIES} - 1, 1), report
assert tkbundle.version().count(".") == 2
""", here.fixture())


@test("a report is plain data: it can be copied, pickled, compared and told")
def _(here):
    check(here, f"""
import copy, dataclasses, pickle
report = tkbundle.collect(sys.argv[1], "k.tkb")
copies = pickle.loads(pickle.dumps(report)), copy.deepcopy(report), copy.copy(report)
assert all(len(one.results) == {ENTRIES} and one == report for one in copies), copies
assert isinstance(vars(report)["results"], tuple), vars(report)
fields = dataclasses.asdict(report)
assert fields["results"][0]["outcome"] == "collected", fields
assert "outcome='collected'" in repr(report)
assert dataclasses.replace(report, files=0).results == report.results
try:
    report.results = ()
except dataclasses.FrozenInstanceError:
    pass
else:
    raise AssertionError("a report can be changed")
""", here.fixture())


@test("what is pushed is pulled")
def _(here):
    check(here, f"""
root, remote = sys.argv[1:]
assert tkbundle.push("a/b", root, remote).pushed == {ENTRIES}
os.environ["TKBUNDLE_REMOTE"] = remote
report = tkbundle.push("a/b", root)
assert (report.pushed, report.present, report.records) == (0, {ENTRIES}, 1)
report = tkbundle.pull("a/b", "out", connections=2)
assert (report.emitted, report.fetched, report.records) == ({ENTRIES}, 1, 1)
assert tkbundle.pull("a/b", "out", dry_run=True).present == {ENTRIES}
""", here.fixture(), here.remote)


@test("a remote that is a folder may be given as a path, whatever its name")
def _(here):
    check(here, f"""
import pathlib
remote = pathlib.Path("fold\\udcffer")
with tkbundle.warm("a/b", "empty", remote=remote):
    pass
assert tkbundle.push("a/b", sys.argv[1], remote).pushed == {ENTRIES}
assert tkbundle.pull("a/b", "out", remote).emitted == {ENTRIES}
with tkbundle.recording(sys.argv[1]) as r:
    r.put(os.listdir(sys.argv[1])[0])
    r.push("c/d", remote)
with open("config", "wb") as file:
    file.write(b"remote = " + os.fsencode(remote))
os.environ["TKBUNDLE_CONFIG"] = "config"
assert tkbundle.push("a/b", sys.argv[1]).present == {ENTRIES}
with tkbundle.warm("a/b", "warm", remote=remote):
    assert len(os.listdir("warm")) >= {ENTRIES}, os.listdir("warm")
""", here.fixture())


@test("a recording packs and pushes what was put, with what it saved")
def _(here):
    check(here, """
root, remote = sys.argv[1:]
keys = [key for key in os.listdir(root) if "add_kernel.json" in
        os.listdir(os.path.join(root, key))]
with tkbundle.recording(root) as r:
    r.put(keys[0], 1)
    r.put_launcher("cache key", "add_kernel", b"a\\0pickle", keys[:1], "any")
    report = r.collect("k.tkb")
assert (report.collected, report.launchers) == (1, 1), report
with tkbundle.recording(root) as r:
    r.put(keys[0])
    r.put_winner(keys[0])
    report = r.push("a/b", remote)
assert report.pushed == 1, report
""", here.fixture(), here.remote)
    ended = here.tkbundle("ls", "k.tkb", "--launchers", "--json", status=None)
    require('"cache key"' in ended.out or ended.status != 0, ended.out)


@test("a recording packs on another thread, as hard as it is told to")
def _(here):
    check(here, """
(root,) = sys.argv[1:]
keys = [key for key in os.listdir(root) if "add_kernel.json" in
        os.listdir(os.path.join(root, key))]
sizes = []
for level in (-50, 0, 19):
    with tkbundle.recording(root) as r:
        r.put(keys[0])
        later = r.collect_later("k.tkb", level=level)
        try:
            r.put(keys[0])
            raise AssertionError("put, though it is handed over")
        except tkbundle.Error:
            pass
    report = later.result(60)
    assert report.collected == 1, report
    assert tkbundle.emit("k.tkb", "out%d" % level).emitted == 1
    sizes.append(report.bundle_size)
assert sizes[0] > sizes[1] > sizes[2], sizes
with tkbundle.recording(root) as r:
    r.put(keys[0])
    later = r.collect_later("k.tkb", level=20)
error = later.exception(60)
assert type(error) is tkbundle.Invalid and "not 20" in str(error), repr(error)
with tkbundle.recording(root) as r:
    r.put(keys[0])
    r.collect_later("last.tkb")  # and the interpreter ends
""", here.fixture())
    here.tkbundle("verify", "last.tkb")


@test("a recording that ends while a thread packs it lives until that is done")
def _(here):
    check(here, """
import threading, time
from tkbundle import _native
(root,) = sys.argv[1:]
library, begun, reports = _native.library(), threading.Event(), []
pack = library.tkb_recorder_collect_to_file
def slowly(*told):
    begun.set()
    time.sleep(0.5)
    return pack(*told)
library.tkb_recorder_collect_to_file = slowly
try:
    with tkbundle.recording(root) as r:
        for key in os.listdir(root):
            r.put(key)
        thread = threading.Thread(target=lambda: reports.append(r.collect("k.tkb")))
        thread.start()
        begun.wait()
        raise KeyError("mine")
except KeyError:
    pass
try:
    r.put("A" * 52)
    raise AssertionError("put, though the block has ended")
except tkbundle.Error as error:
    assert "no compile has begun" in str(error), error
thread.join()
assert reports[0].collected == len(os.listdir(root)), reports
""", here.fixture())


@test("a recording cannot begin in itself, and can begin again")
def _(here):
    check(here, """
r = tkbundle.recording("root")
for _ in range(2):
    with r:
        try:
            with r:
                raise AssertionError("it has begun twice")
        except tkbundle.Error as error:
            assert "begun already" in str(error), error
        r.put("A" * 52)
""")


@test("a packing that is cancelled before it begins packs nothing, and prints nothing")
def _(here):
    ended = python(here, """
import os, sys, threading, tkbundle
(root,) = sys.argv[1:]
held, run = threading.Event(), threading.Thread.run
def late(thread):
    held.wait()
    run(thread)
threading.Thread.run = late
with tkbundle.recording(root) as r:
    r.put(os.listdir(root)[0])
    later = r.collect_later("k.tkb")
    assert later.cancel() and later.cancelled()
    held.set()
""", here.fixture())
    equal((ended.status, ended.err), (0, ""))
    require(not os.path.exists(here.path("k.tkb")))


@test("threads that record at once, and call the library at once, lose nothing")
def _(here):
    check(here, f"""
import concurrent.futures, threading
root, remote = sys.argv[1:]
keys, begun = os.listdir(root), threading.Barrier(8)
def put(number):
    begun.wait()
    for key in keys[number:] + keys[:number]:
        r.put(key)
def work(number):
    begun.wait()
    report = tkbundle.collect(root, f"k{{number}}.tkb", jobs=1)
    assert tkbundle.push("a/b", root, remote, jobs=1).pushed in (0, report.collected)
    return tkbundle.emit(f"k{{number}}.tkb", f"out{{number}}", jobs=1).emitted
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    with tkbundle.recording(root) as r:
        list(pool.map(put, range(8)))
        assert r.collect("k.tkb").collected == {ENTRIES}
    assert list(pool.map(work, range(8))) == [{ENTRIES}] * 8
assert len({{open(f"k{{number}}.tkb", "rb").read() for number in range(8)}}) == 1
""", here.fixture(), here.remote)


@test("what fails raises the library's sentence, with what was done")
def _(here):
    root = here.fixture()
    torn = next(os.path.join(folder, name)
                for folder, _, names in os.walk(root) for name in names
                if name.endswith(".cubin"))
    os.truncate(torn, 0)
    check(here, f"""
def failure(kind, function, *words, **more):
    try:
        function(*words, **more)
    except tkbundle.Error as error:
        assert type(error) is kind, repr(error)
        assert str(error), error.status
        return error
    raise AssertionError("it did not fail")

root, remote = sys.argv[1:]
error = failure(tkbundle.Partial, tkbundle.collect, root, "k.tkb")
assert error.report.collected == {ENTRIES} - 1 and error.report.left_out == 1
assert error.status == "partial"
failure(tkbundle.Partial, tkbundle.collect, root, "x.tkb", strict=True)
failure(tkbundle.Partial, tkbundle.collect, root, "k.tkb",
        deadline=float("inf"))
assert not os.path.exists("x.tkb")
error = failure(tkbundle.Missing, tkbundle.collect, root, "x", keys=["ZZ"])
assert "'ZZ'" in str(error)
error = failure(tkbundle.Missing, tkbundle.pull, "a/b", "out", remote)
assert str(error) == "ref 'a/b' has no record"
failure(tkbundle.Missing, tkbundle.collect, "nowhere", "x")
assert "nowhere" in str(failure(tkbundle.Missing, tkbundle.emit, "nowhere", "x"))
error = failure(tkbundle.Unavailable, tkbundle.pull, "a/b", "out",
                "redis://me:secretword@127.0.0.1:1")
assert "Connection refused" in str(error) and "secretword" not in str(error)
failure(tkbundle.Error, tkbundle.pull, "a/b", "out", "gopher://x")
failure(tkbundle.Error, tkbundle.push, "a/b", root)
failure(tkbundle.Invalid, tkbundle.emit, "k.tkb", "out", layout="flat")
failure(tkbundle.Invalid, tkbundle.emit, "k.tkb\\0", "out")
failure(tkbundle.Invalid, tkbundle.emit, "k.tkb", "out\\0side")
failure(tkbundle.Invalid, tkbundle.emit, "k.tkb", "out", deadline=float("nan"))
assert [tkbundle._calls._ms(time) for time in (-1, 0, 1.5, 5e6, 10 ** 400)] == [
    1, 1, 1500, 2 ** 32 - 1, 2 ** 32 - 1]
assert issubclass(tkbundle.Invalid, ValueError)
for number in -1, 2 ** 32, 10 ** 30:
    for function, words, name, value in (
            (tkbundle.collect, (root, "x"), "jobs", number),
            (tkbundle.collect, (root, "x"), "device", number),
            (tkbundle.collect, (root, "x"), "level", number),
            (tkbundle.emit, ("k.tkb", "out"), "jobs", number),
            (tkbundle.emit, ("k.tkb", "out"), "devices", [0, number]),
            (tkbundle.push, ("a/b", root, remote), "jobs", number),
            (tkbundle.pull, ("a/b", "out", remote), "connections", number),
            (tkbundle.pull, ("a/b", "out", remote), "jobs", number)):
        if (name, number) != ("level", -1):
            error = failure(tkbundle.Invalid, function, *words, **{{name: value}})
            assert f"'{{name}}' is a number from " in str(error), error
with tkbundle.recording(root) as numbered:
    failure(tkbundle.Invalid, numbered.put, "A" * 52, -1)
error = failure(tkbundle.Missing, tkbundle.emit, "k.tkb", "out", keys="ZZ")
assert "'ZZ'" in str(error)
assert not os.path.exists("out") and not os.path.exists("outside")
data = bytearray(open("k.tkb", "rb").read())
data[len(data) // 2] ^= 1
open("k.tkb", "wb").write(data)
failure(tkbundle.Corrupt, tkbundle.emit, "k.tkb", "out")
recording = tkbundle.recording(root)
failure(tkbundle.Error, recording.put, "A" * 52)
with recording as r:
    failure(tkbundle.Invalid, r.put, "no/key")
    failure(tkbundle.Invalid, r.put, "")
failure(tkbundle.Invalid, tkbundle.collect, root, "x", level=99)
failure(tkbundle.Invalid, tkbundle.collect, root, "x", trees={{"a\\0b": root}})
failure(tkbundle.Invalid, tkbundle.push, "../x", root, remote)
failure(tkbundle.Invalid, tkbundle.push, "a/\\udcff", root, remote)
failure(tkbundle.Invalid, tkbundle.collect, root, "x", keys=["\\udcff"])
failure(tkbundle.Invalid, tkbundle.pull, "../x", "out", remote)
""", root, here.remote)


@test("under a policy, pull fetches nothing, for it checks no signature")
def _(here):
    here.write("policy", "unsigned = refuse\n", 0o600)
    code = """
root, remote, policy = sys.argv[1:]
tkbundle.push("a/b", root, remote)
for words in ("a/b", "out", remote), ("none", "out", remote):
    try:
        tkbundle.pull(*words)
        raise AssertionError("it pulled")
    except tkbundle.Error as error:
        assert error.status == "untrusted", error.status
        assert f"'{policy}' says whose signatures count" in str(error), error
assert not os.path.exists("out")
"""
    policy, own = here.path("policy"), here.path(".config", "tkbundle", "trust")
    check(here, code, here.fixture(), here.remote, policy,
          env={"TKBUNDLE_TRUST": policy})
    os.makedirs(os.path.dirname(own))
    os.symlink(policy, own)
    check(here, code, here.fixture("again"), here.remote, own)


@test("what is turned off does nothing, whatever it was given")
def _(here):
    here.write("damaged.tkb", "damaged")
    check(here, """
root = sys.argv[1]
os.environ["TKBUNDLE_DISABLE"] = "1"
for path in "damaged.tkb", "nowhere.tkb":
    report = tkbundle.emit(path, "out")
    assert (report.emitted, report.results) == (0, ()), report
for remote in None, "gopher://x", "redis://127.0.0.1:1", "folder":
    report = tkbundle.pull("a/b", "out", remote)
    assert (report.emitted, report.records) == (0, 0), report
    assert tkbundle.push("a/b", root, remote).pushed == 0
    with tkbundle.recording(root) as r:
        r.put(os.listdir(root)[0])
        assert r.push("a/b", remote).pushed == 0
assert tkbundle.collect(root, "k.tkb").collected == 0
assert not any(map(os.path.exists, ("out", "folder", "k.tkb")))
""", here.fixture())


@test("without the libraries, an error says what to do")
def _(here):
    ended = python(here, "import tkbundle; tkbundle.version()",
                   env={"TKBUNDLE_LIBRARY": here.folder})
    if ended.status != 0:  # the machine may have them
        require("tkbundle.Error" in ended.err or "_errors.Error" in ended.err,
                ended.err)
        require("TKBUNDLE_LIBRARY" in ended.err, ended.err)


@test("a library for another machine is told from one that is not there")
def _(here):
    with open(os.path.join(os.path.dirname(here.program), "libtkbundle.so.1"),
              "rb") as file:
        library = bytearray(file.read())
    library[18:20] = b"\xf3\0"  # RISC-V
    with open(here.path("libtkbundle.so.1"), "wb") as file:
        file.write(library)
    ended = python(here, "import tkbundle; tkbundle.version()",
                   env={"TKBUNDLE_LIBRARY": here.folder})
    require(f"libtkbundle.so.1 is not for this machine, {os.uname().machine}: "
            in ended.err, ended.err)


@test("a library that cannot be opened is not for another machine")
def _(here):
    code = """if True:
        import os, resource
        from tkbundle import _errors, _native
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
        try:
            while True:
                os.dup(0)
        except OSError:
            pass
        try:
            _native._load("libtkbundle.so.1", {})
        except _errors.Error as error:
            print(error)
        """
    ended = python(here, code, env={
        "TKBUNDLE_LIBRARY": os.path.dirname(here.program)})
    require("libtkbundle.so.1: cannot open shared object file: Too many open"
            in ended.out, ended.out + ended.err)


@test("the module is the program")
def _(here):
    ended = here.go([sys.executable, "-m", "tkbundle", "ls", here.fixture()],
                    env={"PYTHONPATH": os.path.join(os.path.dirname(
                        __file__), "..", "..", "python"),
                        "TKBUNDLE_LIBRARY": os.path.dirname(here.program)}, status=0)
    require(ended.out.count("add_kernel") >= 1 and KERNELS, ended.out)


@test("the module gives the program Python's usual signals, and an import is none")
def _(here):
    here.write("bin/tkbundle", "#!/bin/sh\ngrep SigIgn /proc/self/status\n", 0o755)
    env = {"TKBUNDLE_LIBRARY": here.path("bin")}
    ended = python(here, "import runpy\n"
                   "runpy.run_module('tkbundle', run_name='__main__')", env=env)
    ignored = int(good(ended).split()[1], 16)
    equal([one for one in (signal.SIGPIPE, signal.SIGXFSZ)
           if ignored & 1 << one - 1], [])
    ended = python(here, "import tkbundle.__main__; print('imported')", env=env)
    equal(good(ended), "imported\n")


@test("certifi's authorities are handed on, and the package is not imported")
def _(here):
    here.write("packages/certifi/__init__.py", "raise RuntimeError('imported')\n")
    here.write("packages/certifi/cacert.pem", "")
    here.write("bin/tkbundle", '#!/bin/sh\necho "$TKBUNDLE_FALLBACK_CAFILE"\n', 0o755)
    wanted = here.path("packages", "certifi", "cacert.pem")
    package = os.path.join(os.path.dirname(__file__), "..", "..", "python")
    env = {"PYTHONPATH": f"{here.path('packages')}:{package}",
           "PYTHONDONTWRITEBYTECODE": "1", "TKBUNDLE_LIBRARY": here.path("bin")}
    line = [sys.executable, "-m", "tkbundle"]
    equal(good(here.go(line, env=env)).strip(), wanted)
    own = {**env, "TKBUNDLE_FALLBACK_CAFILE": "own.pem"}
    equal(good(here.go(line, env=own)).strip(), "own.pem")
    check(here, """
from tkbundle import _calls
check, seen = _calls.check, []
def look(function, *arguments, **more):
    seen.append(arguments[1]._obj.fallback_cafile)
    return check(function, *arguments, **more)
_calls.check = look
with _calls.opened("memory://m"):
    assert seen == [os.fsencode(sys.argv[1])], seen
""", wanted, env={**env, "TKBUNDLE_LIBRARY": os.path.dirname(here.program)})

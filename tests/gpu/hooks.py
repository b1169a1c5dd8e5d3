#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that programs start warm elsewhere with the package's hooks, and nothing changed.

    hooks.py PROGRAM_DIR|WHEEL WORK [ROUNDS [PART...]]

PARTs are triton, inductor, artifacts, bundler and ranks, by default all. PROGRAM_DIR holds the
program, and both libraries beside it or in lib, as a build folder and what carry.sh makes do; a
WHEEL has the package, too. Python has PyTorch and Triton. A Triton program (model.py) and a
torch.compile program (inductor.py) run by themselves, with the hooks, and with them in another
home, where nothing may be compiled; a program with both kinds of kernels runs from PyTorch's cache
artifacts, without and with ours; PyTorch's TritonBundler and the package pack and emit the same
entries; and of two ranks, what the first one pushed warms the second. On a machine without a GPU
Inductor makes C++, and kernels are compiled for an H100 and not launched. The last line counts the
checks.
"""

import glob
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tarfile

import torch

from checks import check, finish_checks

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
FIXTURE = os.path.join(TREE, "fixtures", "inductor-2.11-llama4-h100.tar.gz")
HOOKED = os.path.join(HERE, "hooked.py")
MEMORY = "/dev/shm"
HAS_GPU = torch.cuda.is_available()
HOOKS = {"TRITON_CACHE_MANAGER": "tkbundle.triton:CacheManager", "TKBUNDLE_INDUCTOR": "1"}
LIBRARIES = ("libtkbundle.so.1", "libtkbundle-remote.so.1")
ENTRY_POINTS = "[torch.backends]\ntkbundle = tkbundle._autoload:start\n"


def library_folder(given):
    """Where the libraries of a PROGRAM_DIR are; None if it is no such folder."""
    if not os.access(os.path.join(given, "tkbundle"), os.X_OK):
        return None
    subprocess.run([os.path.join(HERE, "unpack.sh"), given], check=True)
    for folder in (given, os.path.join(given, "lib")):
        if all(os.path.exists(os.path.join(folder, name)) for name in LIBRARIES):
            return folder
    return None


def install(given, site):
    """Have the package in `site`, as pip would; tells where programs and libraries are."""
    if given.endswith(".whl"):
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps",
                        "--disable-pip-version-check", "--target", site, given], check=True)
        return {}
    info = os.path.join(site, "tkbundle-0.dist-info")
    os.makedirs(info)
    os.symlink(os.path.join(TREE, "python", "tkbundle"), os.path.join(site, "tkbundle"))
    for name, text in (("METADATA", "Metadata-Version: 2.1\nName: tkbundle\nVersion: 0\n"),
                       ("entry_points.txt", ENTRY_POINTS)):
        with open(os.path.join(info, name), "w", encoding="utf-8") as file:
            file.write(text)
    return {"TKBUNDLE_LIBRARY": library_folder(given),
            "PATH": given + os.pathsep + os.environ.get("PATH", os.defpath)}


class Bench:
    def __init__(self, given, work, rounds):
        self.work, self.rounds = work, rounds
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        site = os.path.join(work, "site")
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(
            ("TRITON_", "TORCHINDUCTOR_", "XDG_", "TKBUNDLE", "PYTHON"))}
        self.env.update(install(given, site), PYTHONDONTWRITEBYTECODE="1",
                        PYTHONPATH=os.path.join(HERE, "counted") + ":" + site,
                        TKBUNDLE_CONFIG="/dev/null")

    def path(self, *names):
        return os.path.join(self.work, *names)

    def environment(self, home, **more):
        os.makedirs(home, exist_ok=True)
        return {**self.env, "HOME": home, "TMPDIR": home, "TRITON_HOME": home,
                "TORCHINDUCTOR_CACHE_DIR": os.path.join(home, "torchinductor"),
                "HOOKS_COMPILED": os.path.join(home, "compiled"), **more}

    @staticmethod
    def finish(name, home, started):
        """What a program said, and how many kernels it compiled."""
        out, words = (text.decode() for text in started.communicate(timeout=400))
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if started.returncode != 0 or not lines:
            print(out[-1000:], words[-3000:])
            return {"seconds": -1, "sha256": name, "compiled": -1, "warnings": -1}
        said = json.loads(lines[-1])
        try:
            with open(os.path.join(home, "compiled"), encoding="utf-8") as file:
                said["compiled"] = len(file.readlines())
            os.remove(os.path.join(home, "compiled"))
        except FileNotFoundError:
            said["compiled"] = 0
        # A cold start has a ref that is not there, and says so.
        said["warnings"] = words.count("tkbundle: ") - words.count("' has no record ")
        if said["warnings"]:
            print(words[-2000:])
        shown = {key: round(value, 3) if isinstance(value, float) else value
                 for key, value in said.items() if key not in ("sha256", "versions")}
        print(f"{name:<28} {shown}", flush=True)
        return said

    def start(self, name, place, command, **more):
        home = self.path(place)
        return self.finish(name, home, subprocess.Popen(
            [sys.executable, *command], env=self.environment(home, **more), cwd=self.work,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE))

    def measure_hooks(self, name, command):
        """A program by itself, with the hooks, and warm elsewhere."""
        hooks = {**HOOKS, "TKBUNDLE_REMOTE": self.path("remote", name),
                 "TKBUNDLE_REF": "hooks/" + name}
        plain = self.start(name + ", no hooks", name + "-plain", command)
        again = [self.start(name + ", in place", name + "-plain", command)
                 for _ in range(self.rounds)]
        cold = self.start(name + ", cold", name + "-cold", command, **hooks)
        check(f"{name}: cold, it compiles what it compiles without hooks",
              cold["compiled"] == plain["compiled"] >= (1 if HAS_GPU else 0))
        if name != "inductor" or not HAS_GPU:
            shutil.rmtree(self.path(name + "-cold"))
        warm = [self.start(name + ", elsewhere", f"{name}-warm{number}", command, **hooks)
                for number in range(self.rounds)]
        check(f"{name}: elsewhere, no kernel is compiled", not any(
            one["compiled"] for one in warm))
        check(f"{name}: elsewhere, the same results",
              {one["sha256"] for one in warm} == {cold["sha256"]})
        if name == "inductor":
            check("inductor: elsewhere, its graphs are hits", all(
                one.get("graph_cache_hits") for one in warm))
        check(f"{name}: no warning", not any(
            one["warnings"] for one in (plain, cold, *again, *warm)))
        print(f"{name}: without hooks {plain['seconds']:.2f} s, with {cold['seconds']:.2f} s; warm "
              f"in place {median(again):.2f} s, elsewhere {median(warm):.2f} s: "
              f"{median(warm) / median(again):.3f}", flush=True)

    def measure_artifacts(self):
        """PyTorch's own cache artifacts, without kernels of ours and with them."""
        kinds = {"mega-cache": {}, "mega-cache with ours": {"TKBUNDLE_INDUCTOR": "artifacts"}}
        saved, loaded = {}, {kind: [] for kind in kinds}
        for kind, more in kinds.items():
            place = kind.replace(" ", "-")
            saved[kind] = self.start(kind + ", saved", place, [HOOKED, "mixed"],
                                     ARTIFACTS_OUT=self.path(place + ".blob"), **more)
            shutil.rmtree(self.path(place))
        for number in range(self.rounds):
            for kind, more in kinds.items():
                place = kind.replace(" ", "-")
                loaded[kind].append(self.start(
                    kind + ", loaded", f"{place}{number}", [HOOKED, "mixed"],
                    ARTIFACTS_IN=self.path(place + ".blob"), **more))
        for kind in kinds:
            size = os.path.getsize(self.path(kind.replace(" ", "-") + ".blob"))
            check(f"{kind}: elsewhere, graphs are hits", all(
                one.get("hits") and not one.get("misses") for one in loaded[kind]))
            print(f"{kind}: {size} bytes, {median(loaded[kind]):.2f} s, of that "
                  f"{median(loaded[kind], 'loaded') * 1000:.0f} ms to load; "
                  f"{median(loaded[kind], 'compiled'):g} of {saved[kind]['compiled']} kernels "
                  "were compiled again", flush=True)
        check("mega-cache with ours: elsewhere, no kernel is compiled", not any(
            one["compiled"] for one in loaded["mega-cache with ours"]))
        check("mega-cache with ours: no warning", not any(
            one["warnings"] for one in loaded["mega-cache with ours"]))

    def measure_bundler(self, name, root):
        for place in (self.work, MEMORY):
            said = self.start(f"bundler, {name}", "bundler", [HOOKED, "bundler", root, place])
            for what in ("collect", "emit"):
                theirs, ours = (said.get(f"{what}, {who}")
                                for who in ("TritonBundler", "package"))
                check(f"bundler, {name}, in {place}: both {what} all", theirs and ours)
                if theirs and ours:
                    print(f"{what}: package {ours} ms, TritonBundler {theirs} ms: "
                          f"{theirs / ours:.2f}×", flush=True)

    def fixture(self):
        """26 entries of a graph, as they are after Inductor has compiled them."""
        place = self.path("fixture")
        with tarfile.open(FIXTURE) as tar:
            tar.extractall(place, filter="data")
        return os.path.join(place, ".cache", "torchinductor", "triton", "0")

    def measure_ranks(self, name, more_of):
        """Each rank with a home of its own."""
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            port = listening.getsockname()[1]
        started = []
        for rank in range(2):
            home = self.path(name, str(rank))
            started.append((home, subprocess.Popen(
                [sys.executable, HOOKED, "rank"], cwd=self.work, env=self.environment(
                    home, **HOOKS, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                    MASTER_PORT=str(port), TKBUNDLE_REF="ranks/hooks",
                    TKBUNDLE_REMOTE=self.path("remote", name), **more_of(rank)),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)))
        first, second = (self.finish(f"{name}, rank {rank}", home, one)
                         for rank, (home, one) in enumerate(started))
        check(f"{name}: rank 0 compiles", first["compiled"] > 0)
        check(f"{name}: what rank 0 pushed warms rank 1: no kernel is compiled",
              second["compiled"] == 0)
        check(f"{name}: the same results", first["sha256"] == second["sha256"])
        return second


def median(results, what="seconds"):
    return statistics.median(one.get(what, -1) for one in results)


def triton(bench):
    bench.measure_hooks("triton", [os.path.join(HERE, "model.py")] if HAS_GPU
                        else [HOOKED, "kernels"])


def inductor(bench):
    bench.measure_hooks("inductor", [os.path.join(HERE, "inductor.py")] if HAS_GPU
                        else [HOOKED, "graph"])


def bundler(bench):
    """Of a graph, and of what the part "inductor" has left."""
    bench.measure_bundler("26 entries", bench.fixture())
    for root in glob.glob(bench.path("inductor-cold", "torchinductor", "triton", "0")):
        bench.measure_bundler("of inductor.py", root)


def ranks(bench):
    if not HAS_GPU or torch.cuda.device_count() > 1:
        second = bench.measure_ranks("ranks", lambda rank: {"CUDA_VISIBLE_DEVICES": str(rank)})
        check("ranks: the graphs of rank 1 are hits",
              second.get("hits") and not second.get("misses"))
    if HAS_GPU and torch.cuda.device_count() > 1:
        bench.measure_ranks("ranks that see all GPUs", lambda _rank: {})


PARTS = {"triton": triton, "inductor": inductor, "artifacts": Bench.measure_artifacts,
         "bundler": bundler, "ranks": ranks}


def main():
    if len(sys.argv) < 3 or not set(sys.argv[4:]) <= set(PARTS):
        print("usage: hooks.py PROGRAM_DIR|WHEEL WORK [ROUNDS [PART...]]", file=sys.stderr)
        return 2
    given, work = (os.path.abspath(word) for word in sys.argv[1:3])
    if not given.endswith(".whl") and library_folder(given) is None:
        print(f"hooks.py: '{given}' is no wheel, and no folder with tkbundle, and "
              f"{' and '.join(LIBRARIES)} beside it or in lib", file=sys.stderr)
        return 2
    parts = sys.argv[4:] or PARTS
    bench = Bench(given, work, int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    print(f"PyTorch {torch.__version__}, {os.cpu_count()} cores, "
          f"{torch.cuda.get_device_name() if HAS_GPU else 'no GPU'}")
    for part in parts:
        PARTS[part](bench)
    shutil.rmtree(work)
    return finish_checks()


if __name__ == "__main__":
    sys.exit(main())

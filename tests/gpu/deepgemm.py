#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that DeepGEMM's kernels start warm elsewhere.

    deepgemm.py PROGRAM_DIR WORK_DIR PACKAGE...

PROGRAM_DIR holds tkbundle. PACKAGE is a wheel or a tar archive with a built `deep_gemm`, on
its own or as vLLM has it (`vllm/third_party/deep_gemm`). A program multiplies by it cold,
then in place, and then where DeepGEMM, its cache and the home folder lie elsewhere and the old
ones are gone: with `cp -r` of the cache, and with `tkbundle run --engine deepgemm`. By nvcc and
by NVRTC, if that version of DeepGEMM has both. A folder of the cache that is made during a start
counts as compiled. All is done in WORK_DIR, which is left. The last line counts the checks.
"""

import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

from checks import check, finish_checks, run_of

SHAPES = ((128, 512, 1024), (64, 2112, 7168), (4096, 1024, 512))
CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")
TIMEOUT_S = 300


def child():
    """Multiplies; prints the seconds of the first round, and what came out."""
    import deep_gemm
    import torch
    torch.manual_seed(0)
    digest, worst = hashlib.sha256(), 0.0
    products = []
    for m, n, k in SHAPES:
        a = torch.randn((m, k), device="cuda", dtype=torch.bfloat16)
        b = torch.randn((n, k), device="cuda", dtype=torch.bfloat16)
        products.append((deep_gemm.per_token_cast_to_fp8(a, False),
                         deep_gemm.per_block_cast_to_fp8(b, False), a, b))
    torch.cuda.synchronize()
    begin = time.time()
    for a8, b8, a, b in products:
        out = torch.empty((a.shape[0], b.shape[0]), device="cuda", dtype=torch.bfloat16)
        deep_gemm.fp8_gemm_nt(a8, b8, out)
        plain = torch.empty_like(out)
        deep_gemm.bf16_gemm_nt(a, b, plain)
        for result, bound in ((out, 0.05), (plain, 0.01)):
            right = a.float() @ b.float().T
            error = ((result.float() - right).norm() / right.norm()).item()
            worst = max(worst, error / bound)
            digest.update(result.cpu().view(torch.int16).numpy().tobytes())
    print(json.dumps({"seconds": time.time() - begin, "error": worst,
                      "result": digest.hexdigest()}), flush=True)


def folders(cache):
    """The kernels of a cache, and what tells a folder from one made anew."""
    cache = os.path.join(cache, "cache")
    if not os.path.isdir(cache):
        return {}
    return {name: os.stat(os.path.join(cache, name)).st_ino for name in os.listdir(cache)}


def link_all(folder, into, but=None):
    """Link what is in `folder` into another, but for one name."""
    os.makedirs(into, exist_ok=True)
    for name in os.listdir(folder):
        if name != but and not os.path.lexists(os.path.join(into, name)):
            os.symlink(os.path.join(folder, name), os.path.join(into, name))


class Start:
    """Whose files are: the packages in `site`, the home folder in `home`."""

    def __init__(self, work, name):
        self.site = os.path.join(work, name, "site")
        self.home = os.path.join(work, name, "home")
        self.cache = os.path.join(self.home, "deep_gemm")
        os.makedirs(self.home)

    def link_cuda(self):
        """A folder for $CUDA_HOME, with the headers that DeepGEMM's NVRTC lacks of CUDA 13: those
        of CCCL, and that of cudaGridDependencySynchronize(), which no header includes."""
        cuda = os.path.join(os.path.dirname(self.site), "cuda")
        include, cccl = os.path.join(cuda, "include"), os.path.join(CUDA, "include", "cccl")
        link_all(CUDA, cuda, "include")
        link_all(os.path.join(CUDA, "include"), include)
        if os.path.isdir(cccl):
            link_all(cccl, include, "cuda")
            link_all(os.path.join(cccl, "cuda"), os.path.join(include, "cuda"), "std")
            std = os.path.join(include, "cuda", "std")
            link_all(os.path.join(cccl, "cuda", "std"), std, "cstdint")
            with open(os.path.join(std, "cstdint"), "w", encoding="utf-8") as file:
                file.write('#include "%s/cuda/std/cstdint"\n'
                           "#include <cuda_device_runtime_api.h>\n" % cccl)
        return cuda

    def environment(self, **others):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("DG_", "DJ_", "XDG_", "TKBUNDLE"))}
        env.update(HOME=self.home, PYTHONPATH=self.site, DG_JIT_CACHE_DIR=self.cache, **others)
        if "DG_JIT_USE_NVRTC" in others:
            env["CUDA_HOME"] = self.link_cuda()
        return env


class Bench:
    def __init__(self, programs, work, package):
        self.tkbundle = os.path.join(os.path.abspath(programs), "tkbundle")
        self.name = os.path.basename(package)
        self.package = package
        self.work = os.path.join(os.path.abspath(work), self.name)
        os.makedirs(self.work)

    def install(self, start):
        os.makedirs(start.site)
        if self.package.endswith(".whl"):
            command = [sys.executable, "-m", "zipfile", "-e", self.package, start.site]
        else:
            command = ["tar", "-C", start.site, "-xf", self.package]
        subprocess.run(command, check=True)
        inside = os.path.join(start.site, "vllm", "third_party", "deep_gemm")
        if os.path.isdir(inside):
            os.rename(inside, os.path.join(start.site, "deep_gemm"))

    def run(self, what, start, remote=None, **others):
        command = [sys.executable, os.path.abspath(__file__), "--child"]
        if remote:
            command = [self.tkbundle, "run", "--engine", "deepgemm", "--ref", "deepgemm/test",
                       "--remote", remote, "--json", "--wait", "20s", "--"] + command
        done = subprocess.run(command, env=start.environment(**others), capture_output=True,
                              timeout=TIMEOUT_S, check=False)
        log = done.stderr.decode(errors="replace")
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
        if not lines:
            print(done.stdout.decode()[-1000:], log[-3000:])
            return {"result": None, "seconds": -1, "error": 9, "run": {}}
        result = json.loads(lines[-1])
        result["run"] = run_of(log)
        print("%-34s %-26s %6.2f s  %2d kernels; %s" % (
            self.name[:34], what, result["seconds"], len(folders(start.cache)),
            {key: result["run"].get(key) for key in ("emitted", "compiled", "pushed", "message")}
            if remote else ""), flush=True)
        return result

    def has_nvrtc(self):
        """May NVRTC be chosen? Asks what the first proof has installed."""
        for path in glob.glob(os.path.join(self.work, "*", "site", "deep_gemm", "_C*.so")):
            with open(path, "rb") as file:
                return b"JIT_USE_NVRTC" in file.read()
        return False

    def prove(self, compiler, **others):
        remote = os.path.join(self.work, compiler + "-remote")
        first = Start(self.work, compiler + "-first")
        self.install(first)
        cold = self.run(compiler + ", cold", first, remote, **others)
        check(compiler + ": the products are right", cold["error"] <= 1)
        if cold["result"] is None:
            return
        made = folders(first.cache)
        check(compiler + ": each kernel was pushed",
              made and cold["run"].get("pushed") == len(made))
        place = self.run("in place", first, **others)
        check(compiler + ", in place: the same result, and nothing is compiled",
              place["result"] == cold["result"] and folders(first.cache) == made)

        # What moves by hand has the old names.
        copied = Start(self.work, compiler + "-copied")
        self.install(copied)
        shutil.copytree(first.cache, copied.cache)
        gone = os.path.join(self.work, compiler + "-gone")
        os.rename(os.path.dirname(first.site), gone)
        before = folders(copied.cache)
        by_hand = self.run("cp -r, elsewhere", copied, **others)
        print("   compiled after cp -r: %d of %d" % (
            len(folders(copied.cache)) - len(before), len(made)), flush=True)
        check(compiler + ", cp -r: the same result", by_hand["result"] == cold["result"])

        other = Start(self.work, compiler + "-other")
        self.install(other)
        subprocess.run([self.tkbundle, "pull", "--engine", "deepgemm", "--remote", remote,
                        "deepgemm/test", os.path.join(self.work, compiler + "-none")],
                       env=other.environment(**others), check=False)
        pulled = folders(other.cache)
        moved = self.run("run, elsewhere", other, remote, **others)
        check(compiler + ", elsewhere: as many kernels as were compiled",
              len(pulled) == len(made))
        check(compiler + ", elsewhere: nothing is compiled, nothing pushed",
              folders(other.cache) == pulled and moved["run"].get("compiled") == 0
              and not moved["run"].get("pushed"))
        check(compiler + ", elsewhere: the same result", moved["result"] == cold["result"])

        # A cache that was moved with cp -r.
        repaired = Start(self.work, compiler + "-repaired")
        self.install(repaired)
        shutil.copytree(os.path.join(gone, "home", "deep_gemm"), repaired.cache)
        both = self.run("cp -r, then run", repaired, remote, **others)
        check(compiler + ", cp -r and run: nothing is compiled",
              both["result"] == cold["result"] and both["run"].get("compiled") == 0)


def main():
    programs, work, packages = sys.argv[1], sys.argv[2], sys.argv[3:]
    shutil.rmtree(work, ignore_errors=True)
    for package in packages:
        bench = Bench(programs, work, package)
        bench.prove("nvcc")
        if bench.has_nvrtc():
            bench.prove("NVRTC", DG_JIT_USE_NVRTC="1")
    return finish_checks()


if sys.argv[1:2] == ["--child"]:
    child()
else:
    sys.exit(main())

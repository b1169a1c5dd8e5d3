#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that what FlashInfer builds with nvcc is used at another place.

    flashinfer.py PROGRAM_DIR SITE WORK_DIR [MODULE...]

PROGRAM_DIR holds tkbundle. SITE has FlashInfer's package and what its `flashinfer.jit`
imports, but for PyTorch, and a ninja in `bin`. A MODULE is a file of `flashinfer/jit` and
a function that makes a module: by default norm.gen_norm_module and page.gen_page_module;
fused_moe.gen_cutlass_fused_moe_sm90_module takes nvcc an hour, and where that is stopped
the next call goes on. They are built in one home, with one copy of SITE, collected,
and emitted for another home and copy. There ninja must have nothing to do, and norm's
result must be PyTorch's. The last line counts the checks.
"""
import os
import shutil
import subprocess
import sys
import time

from checks import check, finish_checks
from stand_in import STAND_IN

MODULES = ["norm.gen_norm_module", "page.gen_page_module"]
PROGRAM = STAND_IN + """
import importlib
for word in sys.argv[2:]:
    file, make = word.split(".")
    spec = getattr(importlib.import_module(f"flashinfer.jit.{file}"), make)()
    spec.build(verbose=True)
    print("library", spec.jit_library_path)
    if word != "norm.gen_norm_module":
        continue
    import torch, tvm_ffi
    module = tvm_ffi.load_module(str(spec.jit_library_path))
    x = torch.randn(64, 4096, dtype=torch.float16, device="cuda")
    w = torch.randn(4096, dtype=torch.float16, device="cuda")
    out = torch.empty_like(x)
    module.rmsnorm(out, x, w, 1e-6, False)
    wanted = torch.nn.functional.rms_norm(x.float(), (4096,), w.float(), 1e-6).half()
    torch.testing.assert_close(out, wanted, rtol=2e-3, atol=2e-3)
    print("normed")
"""


def machine(site, work, name):
    """Its environment: a home, and a copy of the packages."""
    home, own = os.path.join(work, name, "home"), os.path.join(work, name, "site")
    if not os.path.exists(own):
        shutil.copytree(site, own)
        os.makedirs(home)
    return {**os.environ, "HOME": home, "PYTHONPATH": own, "SITE": own,
            "FLASHINFER_CUDA_ARCH_LIST": "9.0a", "TKBUNDLE_PYTHON": sys.executable,
            "PATH": os.path.join(own, "bin") + ":" + os.environ["PATH"]}


def run(what, words, env):
    """What it says, or None if it fails; tells how long it took."""
    begin = time.time()
    process = subprocess.Popen(words, env=env, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    print(f"{what}: {time.time() - begin:.2f} s, at most {usage.ru_maxrss / 1000:.0f} MB",
          flush=True)
    if status != 0:
        print(said[-3000:], flush=True)
    return None if status != 0 else said


def build(env, modules):
    return run("FlashInfer", [sys.executable, "-c", PROGRAM, env["SITE"], *modules], env)


def main():
    programs, site, work = (os.path.realpath(path) for path in sys.argv[1:4])
    modules = sys.argv[4:] or MODULES
    program = os.path.join(programs, "tkbundle")
    bundle = os.path.join(work, "modules.tkb")

    first = machine(site, work, "first")
    said = build(first, modules)
    check("FlashInfer builds", said is not None)
    if said is None:
        return finish_checks()
    for line in said.splitlines():
        if line.startswith("library "):
            folder = os.path.dirname(line.split(" ", 1)[1])
            sizes = [os.path.getsize(os.path.join(folder, name))
                     for name in os.listdir(folder)]
            print(f"{os.path.basename(folder)}: {len(sizes)} files, "
                  f"{sum(sizes) / 1e6:.1f} MB, the largest {max(sizes) / 1e6:.1f} MB")
    said = run("collect", [program, "collect", "--engine", "flashinfer", "-o", bundle], first)
    check(f"collect: {(said or '').strip()}", said is not None)
    second = machine(site, work, "second")
    said = run("emit", [program, "emit", "--engine", "flashinfer", bundle], second)
    check(f"emit: {(said or '').strip()}", said is not None)
    shutil.rmtree(os.path.join(work, "first"))
    said = build(second, modules) or ""
    check("ninja has nothing to do elsewhere, "
          f"{said.count('no work to do')} of {len(modules)}",
          said.count("no work to do") == len(modules))
    if "norm.gen_norm_module" in modules:
        check("norm computes there what PyTorch does", "normed" in said)
    return finish_checks()


if __name__ == "__main__":
    sys.exit(main())

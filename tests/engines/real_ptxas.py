#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real PyTorch, on a machine without a GPU, that one kernel has two keys
where PyTorch has a ptxas of its own, that `why` says so, and that its advice heals it.

    real_ptxas.py TKBUNDLE PYTHON

PYTHON has torch. One process asks for Triton's hash before it takes PyTorch's ptxas, as
the one that generates Inductor's code does, and one after it, as Inductor's workers do.
The last line counts the checks.
"""

import json
import os
import subprocess
import sys
import tempfile

from real import check, finish_checks, start

KERNEL = """\
import triton
import triton.language as tl

@triton.jit
def triton_poi_fused_add_0(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, at < n) + 1.0, at < n)
"""

PROGRAM = """\
import json, sys
from torch._inductor.codecache import PyCodeCache
from torch._inductor.runtime.compile_tasks import _set_triton_ptxas_path
import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend
target = GPUTarget("cuda", 90, 32)
own = knobs.nvidia.ptxas.version
if sys.argv[1] == "parent":
    make_backend(target).hash()
_set_triton_ptxas_path()
kernel = PyCodeCache.load(sys.argv[2]).triton_poi_fused_add_0
made = triton.compile(ASTSource(
    kernel, {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(3,): 128}),
    target=target)
print(json.dumps({"key": made.hash, "own": own, "used": knobs.nvidia.ptxas.version,
                  "path": knobs.nvidia.ptxas.path}))
"""


def main():
    tkbundle, python = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="tkbundle-ptxas-") as work:
        def compile_as(name, who, **more):
            home = os.path.join(work, name)
            found, _ = start(home, [python, "-W", "ignore", "-c", PROGRAM, who, KERNEL],
                             {"PYTHONDONTWRITEBYTECODE": "1",
                              "TORCHINDUCTOR_CACHE_DIR": os.path.join(work, "modules"),
                              "TRITON_CACHE_DIR": os.path.join(home, "cache"), **more})
            print(name, found, flush=True)
            return os.path.join(home, "cache"), found

        (one, parent), (other, worker) = (compile_as(who, who) for who in ("parent", "worker"))
        if parent["own"] == worker["used"]:
            print("PyTorch has no ptxas of another version; nothing to see")
            return finish_checks()
        check("both use PyTorch's ptxas", parent["used"] == worker["used"])
        check("they have two keys", parent["key"] != worker["key"])
        told = json.loads(subprocess.run(
            [tkbundle, "why", "triton_poi_fused_add_0", one, other, "--json"],
            check=False, stdout=subprocess.PIPE).stdout)
        text = json.dumps(told)
        print(text)
        check("why says that it is the ptxas of the key",
              '"reason": "ptxas"' in text and '"part": "ptxas of the key"' in text)
        keys = {compile_as("advised-" + who, who, TRITON_PTXAS_PATH=worker["path"])[1]["key"]
                for who in ("parent", "worker")}
        check("with TRITON_PTXAS_PATH they have one", len(keys) == 1)
    return finish_checks()


sys.exit(main())

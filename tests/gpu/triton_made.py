# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that Triton uses what `tkbundle compile` made without one.

    triton_made.py TKBUNDLE

Compiles the kernels of tests/compile/model.py for the GPU that is here, with
no GPU in sight, and launches all of them in another process: Triton itself counts
what it compiles, which must be nothing, and the results must be right. Launched
with an empty cache, everything is compiled: that it counts is shown by that.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
SIZE = 512  # of the matrices; a multiple of every tile


def launch():
    """Each kernel of the list, with arguments that fit its signature."""
    import torch
    import triton

    sys.path.insert(0, os.getcwd())
    import model

    compiled, found = [], []

    def count(src, cache_hit, **_rest):
        (found if cache_hit else compiled).append(src.name)

    triton.knobs.compilation.listener = count
    torch.manual_seed(0)

    def close(got, wanted, tolerance):
        assert torch.allclose(got.float(), wanted.float(), atol=tolerance, rtol=tolerance)

    for length in (98431, 98432):
        x, y = (torch.rand(length, device="cuda") for _ in range(2))
        for block in (256, 1024):
            out = torch.empty_like(x)
            model.add_kernel[(triton.cdiv(length, block),)](x, y, out, length, BLOCK=block)
            close(out, x + y, 0)
    for columns, block in ((781, 1024), (512, 512), (4096, 4096)):
        x = torch.rand(64, columns, device="cuda")
        out = torch.empty_like(x)
        model.softmax_kernel[(64,)](out, x, columns, columns, BLOCK=block)
        close(out, torch.softmax(x, 1), 1e-6)
    a, b = (torch.randint(-3, 4, (SIZE, SIZE), device="cuda").half() for _ in range(2))
    for m, n, k, warps, stages in ((64, 128, 64, 4, 4), (128, 128, 64, 8, 3),
                                   (128, 64, 32, 4, 3), (128, 256, 64, 8, 3),
                                   (128, 128, 32, 8, 3), (64, 64, 32, 4, 3)):
        c = torch.empty_like(a)
        model.matmul_kernel.fn[(SIZE // m, SIZE // n)](
            a, b, c, SIZE, SIZE, SIZE, *a.stride(), *b.stride(), *c.stride(),
            BM=m, BN=n, BK=k, num_warps=warps, num_stages=stages)
        close(c, a.float() @ b.float(), 1e-2)
    torch.cuda.synchronize()
    print(json.dumps({"compiled": len(compiled), "found": len(found),
                      "device": torch.cuda.get_device_name(),
                      "triton": triton.__version__}))


def capability():
    import torch

    return "cuda:%d%d" % torch.cuda.get_device_capability()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--launch":
        launch()
        return
    tkbundle = os.path.abspath(sys.argv[1])
    target = capability()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(os.path.join(TESTS, "compile", "model.py"), "model.py")
        shutil.copy(os.path.join(TESTS, "compile", "model.json"), "model.json")
        made = json.loads(subprocess.run(
            [tkbundle, "compile", "model.json", "--python", sys.executable, "--target", target,
             "--cache", "made", "--json"],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, check=True,
            stdout=subprocess.PIPE).stdout)
        counts = {}
        for cache in ("made", "empty"):
            counts[cache] = json.loads(subprocess.run(
                [sys.executable, "-B", os.path.join(HERE, "triton_made.py"), "--launch"],
                env={**os.environ, "TRITON_CACHE_DIR": os.path.join(folder, cache)},
                check=True, stdout=subprocess.PIPE).stdout)
        same = sum(os.path.isdir(os.path.join("empty", kernel["key"]))
                   for kernel in made["kernels"])
    print(f"{counts['made']['device']}, Triton {counts['made']['triton']}, {target}")
    print(f"made without a GPU: {made['compiled']}; of these keys the GPU made {same}")
    print(f"launched with them: {counts['made']['found']} found, "
          f"{counts['made']['compiled']} compiled; without: {counts['empty']['compiled']} compiled")
    wanted = len(made["kernels"])
    if (made["compiled"], same, counts["made"]["found"], counts["made"]["compiled"],
            counts["empty"]["compiled"]) != (wanted, wanted, wanted, 0, wanted):
        sys.exit("FAILED")
    print("ok")


main()

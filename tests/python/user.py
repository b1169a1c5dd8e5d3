# SPDX-License-Identifier: Apache-2.0
"""A user's program: it wants kernels of Triton, for a GPU that is not here.

    user.py [plain|fork|early|workers|threads|hooks|block|odd|quiet SECONDS|
             leave]

Prints how many of them were compiled, and how long that took.
"""

import multiprocessing
import os
import sys
import threading
import time

import triton
import triton.language as tl

import tkbundle

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "support"))
from triton_kernel import Tensor, begun, use_driver, want  # noqa: E402


def want_two():
    want(4)
    want(8)


def chain_hooks():
    """Hooks of the user's own stand there before."""
    def listener(**_told):
        begun.append("told")

    knobs = triton.knobs
    knobs.compilation.listener = listener
    knobs.runtime.kernel_load_end_hook.add(print)
    want_two()
    assert begun.count("told") == 2, begun
    assert print in knobs.runtime.kernel_load_end_hook.calls
    assert len(knobs.runtime.kernel_load_end_hook.calls) == 2
    begun[:] = [one for one in begun if one != "told"]


def use_block():
    """A block of the program starts warm, and somebody listened before."""
    heard = []
    if hasattr(triton, "knobs"):
        triton.knobs.compilation.listener = lambda **told: heard.append(told)
    with tkbundle.warm("a/b", os.environ["TRITON_CACHE_DIR"]):
        want_two()
    print(f"heard {len(heard)}")


@triton.jit
def odd_kernel(out, ODD: tl.constexpr):
    """A constant that JSON does not have, and that is not used."""
    tl.store(out, 1.0)


def want_odd():
    odd_kernel.run(Tensor(), ODD=float("nan"), num_warps=4, grid=(1,),
                   warmup=True)


def fork():
    want(4)
    child = os.fork()
    want(8 if child == 0 else 2)
    if child != 0:
        assert os.waitpid(child, 0)[1] == 0


def fork_early():
    """While another thread waits for a pull, which is the parent's alone."""
    threading.Thread(target=want, args=(4,), daemon=True).start()
    while "tkbundle" not in [one.name for one in threading.enumerate()]:
        time.sleep(0.01)
    time.sleep(1)  # until it knows how long to wait
    child = os.fork()
    if child == 0:
        want(8)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def all_at_once(kind, *kernels):
    jobs = [kind(target=want, args=(warps,)) for warps in kernels]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
        assert getattr(job, "exitcode", 0) == 0


def use_workers():
    """Workers of multiprocessing end without atexit."""
    want(4)
    all_at_once(multiprocessing.get_context("fork").Process, 1, 2, 8)


def use_threads():
    all_at_once(threading.Thread, 1, 2, 4, 8)


VERBS = {"fork": fork, "early": fork_early, "workers": use_workers, "threads": use_threads,
         "hooks": chain_hooks, "odd": want_odd, "block": use_block}


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else "plain"
    use_driver()
    begin = time.monotonic()
    VERBS.get(verb, want_two)()
    print(f"compiled {len(begun)} in {time.monotonic() - begin:.3f} s",
          flush=True)
    if verb == "quiet":
        time.sleep(float(sys.argv[2]))
    if verb in ("early", "quiet", "leave"):
        os._exit(0)


main()

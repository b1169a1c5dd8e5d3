# SPDX-License-Identifier: Apache-2.0
"""Runs real programs' kernels, and notes what is compiled.

    launch.py ARCH NOTES MODULES LIMIT [TUTORIAL...]

ARCH is `gpu`, or the compute capability of one that is pretended. The calls of Liger-Kernel
are made where no tutorial is named. Of an autotuned kernel LIMIT configurations are tried.
The last line is JSON: what failed, and how many kernels were compiled.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")]
import triton
from tkbundle import _specialisations


def limit_configurations(most):
    from triton.runtime.autotuner import Autotuner

    prune = Autotuner.prune_configs
    Autotuner.prune_configs = lambda self, *args: list(prune(self, *args))[:most]


def run_once(self, *_args, **_kwargs):
    """A report of times: each of its kernels once."""
    for report in self.benchmarks if isinstance(self.benchmarks, list) else [self.benchmarks]:
        for line in report.line_vals:
            first = report.x_vals[0]
            names = report.x_names
            values = first if isinstance(first, (list, tuple)) else [first] * len(names)
            self.fn(**dict(zip(names, values)), **{report.line_arg: line}, **report.args)


def main():
    arch, notes, modules, limit, *tutorials = sys.argv[1:]
    if arch == "gpu":
        triton.testing.do_bench = lambda call, *_args, **_kwargs: call() or 1.0
    else:
        from pretend import pretend

        pretend(int(arch))
    triton.testing.Mark.run = run_once
    limit_configurations(int(limit))
    _specialisations.listen()
    names, failed = set(), []
    listener = triton.knobs.compilation.listener

    def listen(**told):
        names.add(told["src"].name)
        listener(**told)

    triton.knobs.compilation.listener = listen

    def tell(what, error):
        failed.append(f"{what}: {type(error).__name__}: {str(error)[:200]}")

    if tutorials:
        from tutorials import run_all

        sys.path.insert(0, modules)
        run_all(tutorials, modules, tell)
    else:
        from liger_calls import call_all

        call_all(tell)
    keys = _specialisations.noted()
    written = len(list(_specialisations._write(notes, keys)))
    print(json.dumps({"failed": failed, "kernels": sorted(names), "noted": len(keys),
                      "written": written}), flush=True)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long it takes to note what a kernel is compiled of, on the compiling thread.

    bench/note.py [ROUNDS]

Needs a Python that has Triton, and no GPU. Prints microseconds: of a look-up of the
cache manager, with and without the note, and of a listener's call.
"""

import os
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TREE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [os.path.join(TREE, "python"), os.path.join(TREE, "tests", "support")]
KERNELS = 200


def each(compile_one):
    """Microseconds of each call."""
    took = []
    for number in range(KERNELS):
        begin = time.perf_counter_ns()
        compile_one(number)
        took.append((time.perf_counter_ns() - begin) / 1000)
    return took


def main():
    os.environ.update(TKBUNDLE_DISABLE="1", TRITON_CACHE_DIR=tempfile.gettempdir())
    import triton_kernel as support
    from tkbundle import _specialisations as notes
    source = support.ASTSource(support.add_kernel, {"x": "*fp32"}, {}, {})

    def compile(number, do):  # the name that triton.compile() has
        src, options, target = source, object(), object()
        do(f"{number:052d}")
        return src, options, target

    listen = notes.listener(None, lambda key: key)
    ways = {
        "a note by the cache manager": notes.note_caller,
        "a note by the listener": lambda key: listen(metadata={"hash": key}),
    }
    print(f"{'microseconds of':<30} {'median':>8} {'99 %':>8}")
    for way, do in ways.items():
        took = []
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
            notes._noted.clear()
            took += each(lambda number, do=do: compile(number, do))
        took.sort()
        print(f"{way:<30} {statistics.median(took):8.2f} "
              f"{took[len(took) * 99 // 100]:8.2f}")


main()

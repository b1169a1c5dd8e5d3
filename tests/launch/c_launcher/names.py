#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold headers of add_kernel's launchers against Triton's own tools.

usage: names.py HEADER...

tools/compile.py makes a launcher of the same signature, and tools/link.py reads
our headers.
"""
import os
import pathlib
import re
import sys
import tempfile

import triton
from triton.runtime.driver import driver
from triton.tools import compile as compiler
from triton.tools import link

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at), at < n)
"""


class Driver:
    """As much of a driver as the tool asks for."""

    def get_current_target(self):
        return triton.backends.compiler.GPUTarget("cuda", 90, 32)

    def map_python_to_cpp_type(self, kind):
        from triton.backends.nvidia.driver import ty_to_cpp
        return ty_to_cpp(kind)


def check(header, folder):
    text = pathlib.Path(header).read_text()
    name, suffix, warps, stages, signature = re.search(
        r"^// tkb-launcher: 1 (\w+) (\w+) (\d+) (\d+) \w+ \w+ (.*)$", text,
        re.M).groups()
    out = os.path.join(folder, "out")
    function, _ = compiler.compile_kernel(compiler.CompileArgs(
        path=os.path.join(folder, "kernels.py"), kernel_name=name,
        signature=signature, grid="1,1,1", num_warps=int(warps),
        num_stages=int(stages), out_path=pathlib.Path(out)))
    # Triton 3.3 and later count the constants, too, and there is one, the
    # last; those after 3.6 may write hinted arguments alone.
    hinted = "".join(re.findall(r"\d+[cd]", suffix[9:]))
    assert function in (f"{name}_{suffix}4", f"{name}_{suffix[:9]}{hinted}"), (
        function, suffix)
    theirs = next(pathlib.Path(folder).glob("out.*.h")).read_text()
    pattern = r"^// tt-linker: \w+:(.*)$"
    wanted = re.search(pattern, theirs, re.M)[1]
    assert re.search(pattern, text, re.M)[1] == wanted, (text, wanted)
    for path in pathlib.Path(folder).glob("out.*"):
        path.unlink()
    return text


def main():
    driver.set_active(Driver())
    parser = link.HeaderParser()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = os.path.join(folder, "cache")
        with open(os.path.join(folder, "kernels.py"), "w",
                  encoding="utf-8") as file:
            file.write(SOURCE)
        for header in sys.argv[1:]:
            parser.extract_linker_meta(check(header, folder))
    metas = [meta for metas in parser.kernels.values() for meta in metas]
    assert len(metas) == len(sys.argv) - 1
    assert [meta.sizes[3] for meta in metas].count(16) == 2, metas
    assert all(meta.sizes[:3] == [16, 16, 16] for meta in metas)


main()

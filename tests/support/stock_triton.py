"""What stock Triton does, told nothing but its environment variables.

    stock_triton.py ptxas         print the path of Triton's own ptxas
    stock_triton.py compile       want two kernels for an H100; no GPU is needed
    stock_triton.py groups ROOT   read all entries of the cache ROOT through
                                  the remote cache manager
"""

import os
import sys

import triton
from triton.runtime.cache import FileCacheManager, RemoteCacheManager

sys.dont_write_bytecode = True
from triton_kernel import begun, use_driver, want  # noqa: E402


def compile_kernels():
    use_driver()
    for warps in (4, 8):
        kernel = want(warps)
        assert kernel.metadata.num_warps == warps
        word = "compiled" if begun else "found"
        print(f"{word} add_kernel of {warps} warps:", *sorted(kernel.asm))
        begun.clear()


def read_kernel(root, key, group_file):
    """Each file of a kernel must come out as it went in."""
    name = group_file[len("__grp__"):]
    folder = os.path.join(root, key)
    group = RemoteCacheManager(key).get_group(name)
    assert set(group) == set(os.listdir(folder)) - {group_file}, (key, group)
    for child, path in group.items():
        with open(path, "rb") as got:
            with open(os.path.join(folder, child), "rb") as put:
                assert got.read() == put.read(), (key, child)
    # What it leaves in its own cache must not trip a plain Triton.
    assert not FileCacheManager(key).get_group(name), key


def read_entries(root):
    count = 0
    for key in sorted(os.listdir(root)):
        for name in sorted(os.listdir(os.path.join(root, key))):
            if name.startswith("__grp__"):
                read_kernel(root, key, name)
                count += 1
            elif name.endswith((".autotune.json", ".so")):
                path = RemoteCacheManager(key).get_file(name)
                assert os.path.getsize(path) != 0, (key, name)
                count += 1
    print(f"{count} entries are as they were")


def main():
    verb = sys.argv[1]
    if verb == "ptxas":
        here = os.path.dirname(triton.__file__)
        print(os.path.join(here, "backends", "nvidia", "bin", "ptxas"))
    elif verb == "compile":
        compile_kernels()
    else:
        read_entries(sys.argv[2])


main()

# SPDX-License-Identifier: Apache-2.0
"""Launches the kernels of the package `user`, as its program would.

    user_launches.py SUPPORT NAME[,NAME...] ARCH[,ARCH...] NOTES

The driver knows only the target: a launch compiles. With NOTES, a folder, it is noted there
what the kernels are compiled of.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, sys.argv[1]]
from triton.backends.compiler import GPUTarget
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_kernel import Driver, use_driver
from user import kernels, shared

use_driver()


class Dtype(str):
    itemsize = property(lambda self: 2 if "16" in self else 4)


class Tensor:
    def __init__(self, dtype="float32", address=0):
        self.dtype, self.address = Dtype("torch." + dtype), address

    def data_ptr(self):
        return self.address

    def element_size(self):
        return self.dtype.itemsize

    def clone(self):
        return self

    def copy_(self, _other):
        return self


def half():
    return Tensor("float16")


def tile():
    return TensorDescriptor(half(), [1024, 512], [512, 1], [1, 1])


def layout():
    from user import layered

    return layered.gl.BlockedLayout([1], [32], [4], [0])


def moved():
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as Tile
    from user import layered

    def tile():
        return Tile(half(), [1024, 512], [512, 1], [64, 64], layered.SHARED)

    return layered.moved, (tile(), tile()), {
        "LAYOUT": layered.gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])}


def scale():
    from user import layered

    return layered.scale, (Tensor(), Tensor(), 100, 128), {"LAYOUT": layout()}


# Kernel, arguments, and those that are passed by name.
LAUNCHES = {
    "attention": lambda: (kernels.attention, (half(), half(), half(), half(), 0.125, 100, 64),
                          {"WIDTH": 64, "CAUSAL": False}),
    "persistent": lambda: (kernels.persistent, (tile(), tile(), tile(), 1024, 512, 512),
                           {"FLATTEN": True, "NUM_SMS": 132}),
    "described": lambda: (kernels.described, (half(), half(), 1024, 512, 512, 64),
                          {"ACTIVATION": shared.leaky_relu, "num_warps": 8}),
    "grouped": lambda: (kernels.grouped, (
        (shared.Operand(half(), 64), shared.Operand(half(), 100)), shared.Operand(half(), 64),
        half(), (64, 100)), {"GROUPS": 2, "BLOCK": 64}),
    "norm": lambda: (kernels.norm, (half(), half(), half(), half(), Tensor(), 1000, 1000),
                     {"WIDTH": 1024, "num_warps": 8, "num_stages": 1}),
    "adam": lambda: (kernels.adam, (Tensor(address=4), Tensor(), Tensor(), 1, 0.5, 1e-8, True),
                     {}),
    "many": lambda: (kernels.many, (Tensor("int32"), 500), {}),
    "twice": lambda: (kernels.twice, (Tensor(), 48), {}),
    "scale": scale,
    "moved": moved,
}


def main():
    _support, names, arches, notes = sys.argv[1:]
    if notes:
        from tkbundle import _specialisations as noted

        noted.listen()
    for arch in map(int, arches.split(",")):
        Driver.get_current_target = staticmethod(lambda: GPUTarget("cuda", arch, 32))
        Driver.get_current_device = staticmethod(lambda: arch)
        for name in names.split(","):
            kernel, args, more = LAUNCHES[name]()
            tuner = kernel
            while tuner is not None:
                if hasattr(tuner, "configs"):
                    tuner.cache.clear()
                tuner = getattr(tuner, "fn", None)
            kernel.run(*args, grid=(1,), warmup=True, **more)
    if notes:
        list(noted._write(notes, noted.noted()))


main()

# SPDX-License-Identifier: Apache-2.0
"""Arguments of a launch, as far as a signature describes them.

Triton gets arguments that it specializes to the signature. Functions of the kernel's
decorators (heuristics, pruning, hooks) get objects that answer what is known, and
raise Unknown when asked for anything else: values that depend on data are not
guessed.
"""

import sys

BYTES = {"bool": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4,
         "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8}


class Unknown(Exception):
    """A function asked for something that only a launch knows."""


class Dtype(str):
    """The part of a torch.dtype that Triton uses."""

    @property
    def itemsize(self):
        return BYTES.get(self[len("torch."):], 1)

    @property
    def is_floating_point(self):
        return "float" in self


class Tensor:
    """The part of a tensor that a launch uses."""

    def __init__(self, dtype, is_aligned, is_large=False):
        self.dtype = Dtype("torch." + dtype)
        self.is_large = is_large
        self.address = 1 << 40 if is_aligned else (1 << 40) + 1

    def data_ptr(self):
        return self.address

    def ptr_range(self):
        """The size of its memory, which HIP asks for."""
        return 1 << 40 if self.is_large else 1 << 20


def descriptor(dtype, block, layout):
    """A descriptor of a tensor with blocks of this shape; with a layout, it is Gluon's."""
    shape = [1 << 12] * len(block)
    strides = [1 << 12 * (len(block) - 1 - i) for i in range(len(block))]
    if layout is None:
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(Tensor(dtype, True), shape, strides, block)
    from triton.experimental.gluon.nvidia import hopper

    return hopper.TensorDescriptor(Tensor(dtype, True), shape, strides, block, layout)


def torch_dtype(name):
    """torch's own dtype if the file uses torch, so that comparisons in it hold."""
    return getattr(sys.modules.get("torch"), name, None) or Dtype("torch." + name)


class Number:
    """A number: neither 1 nor, unless the hint says so, a multiple of 16."""

    __hash__ = None

    def __init__(self, name, hint):
        self.name, self.hint = name, hint

    def unknown(self, *_args):
        raise Unknown(f"the value of '{self.name}'")

    def __mod__(self, other):
        if self.hint is not None and isinstance(other, int) and other > 0 \
                and self.hint % other == 0:
            return 0
        return self.unknown()

    def __eq__(self, other):
        if other is None or type(other) is int and other == 1:
            return False
        return self.unknown()

    def __ne__(self, other):
        return not self == other


for _name in ("add sub mul truediv floordiv divmod pow lshift rshift and or xor radd rsub "
              "rmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand ror rxor lt le "
              "gt ge neg pos abs invert bool int float index round str repr format").split():
    setattr(Number, f"__{_name}__", Number.unknown)


class Pointer:
    """A tensor whose type and alignment are known."""

    def __init__(self, name, dtype, hint):
        self.name, self.hint = name, hint
        self.dtype = torch_dtype(dtype)

    def data_ptr(self):
        return Number(f"{self.name}.data_ptr()", self.hint)

    def element_size(self):
        return self.dtype.itemsize

    def zero_(self):
        """What a hook does to a tensor has no effect on what is compiled."""
        return self

    fill_ = copy_ = clone = lambda self, *_args, **_more: self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unknown(f"'{self.name}.{name}'")

# SPDX-License-Identifier: Apache-2.0
"""Signatures of kernels, as Triton's own compiler takes them."""

import ast
import inspect
import re
import traceback

from tkbundle_triton_layout import layout_of
from tkbundle_triton_values import Number, Pointer, Tensor, descriptor

INVALID = -1  # an enum tkb_status
DESCRIPTOR = re.compile(r"tensordesc<\s*(\w+)\s*\[([\d\s,]+)\]\s*(?:,(.*))?>")
OPENING, CLOSING = ("(", "[", "{", "<"), (")", "]", "}", ">")
TUPLE = re.compile(r"([A-Za-z_][\w.]*)?\(")

# torch's names of types that a pointer may point to.
DTYPES = {
    "i1": "bool", "u1": "bool", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
    "fp64": "float64", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2",
    "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
    "fp8e4b15": "float8e4b15",
}


class Refused(Exception):
    """A failure: one sentence, and an enum tkb_status."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


class Item:
    """One item of a signature: a type with a hint or a value, or a constant. Names in
    it are looked up in a scope, which is the file of the kernel.
    """

    def __init__(self, number, text, scope=None):
        self.text, self.scope = text, scope or {}
        self.label = f"item {number} of the signature, '{text}',"
        self.type = self.hint = self.value = self.block = self.layout = self.parts = None
        self.tuple_type = None  # class of a named tuple
        self.is_large = False  # memory of 2 GiB or more, which HIP distinguishes
        self.is_pointer = False
        if text[0] == "@":
            self.value = self.evaluate(text[1:])
        elif TUPLE.match(text):
            self.read_tuple(number)
        elif not self.read_constant():
            self.read_type()

    def refuse(self, why):
        raise Refused(INVALID, f"{self.label} {why}")

    @property
    def is_constant(self):
        if self.parts is not None:
            return all(part.is_constant for part in self.parts)
        return self.type is None

    def evaluate(self, text):
        try:
            return eval(text.strip(), dict(self.scope))
        except Exception as error:
            traceback.print_exc()
            self.refuse(f"cannot be evaluated: {type(error).__name__}: {error}")

    def read_tuple(self, number):
        name = TUPLE.match(self.text)[1]
        if self.text[-1] != ")":
            self.refuse("is a tuple without an end")
        if name is not None:
            self.tuple_type = self.evaluate(name)
            if not is_named_tuple(self.tuple_type):
                self.refuse(f"is no tuple: '{name}' is no class of named tuples")
        inside = self.text[len(name or "") + 1:-1]
        self.parts = tuple(Item(number, part, self.scope) for part in split(inside, "a tuple")
                           if part)
        value = self.made([part.value for part in self.parts])
        if self.is_constant:
            self.value, self.parts = value, None

    def made(self, values):
        """A tuple of the values, of the item's class."""
        if self.tuple_type is None:
            return tuple(values)
        try:
            return self.tuple_type(*values)
        except TypeError as error:
            self.refuse(f"is no such tuple: {error}")

    def read_constant(self):
        for read in (int, float, self.read_word):
            try:
                self.value = read(self.text)
                return True
            except (SyntaxError, ValueError):
                pass
        return False

    @staticmethod
    def read_word(text):
        if text.startswith("tl."):
            import triton.language

            dtype = getattr(triton.language, text[3:], None)
            if not isinstance(dtype, triton.language.dtype):
                raise ValueError(text)
            return dtype
        if text in ("None", "True", "False") or text[:1] in ("'", '"'):
            return ast.literal_eval(text)
        raise ValueError(text)

    def read_type(self):
        match = DESCRIPTOR.fullmatch(self.text)
        if match is not None and match[1] in DTYPES:
            self.type = match[1]
            self.block = [int(size) for size in match[2].split(",")]
            self.layout = match[3] and self.read_layout(match[3])
            return
        match = re.fullmatch(r"(\*k?)?(\w+)\s*(?:([:=])(.*))?", self.text)
        if match is None or match[2] not in DTYPES:
            self.refuse("is neither a type nor a constant; types are "
                        + " ".join(sorted(DTYPES)) + ", and a * before one")
        self.is_pointer = match[1] is not None
        self.type = (match[1] or "") + match[2]
        if match[3] == "=":
            self.read_value(match[2], match[4].strip())
        elif match[3] == ":":
            self.read_hint(match[2], match[4].strip())

    def read_layout(self, text):
        try:
            return layout_of(text.strip())
        except ValueError as error:
            self.refuse(f"has a layout that {error}")

    def read_value(self, dtype, text):
        """The value that a launch passes; it implies the hint."""
        try:
            self.value = int(text, 0)
        except ValueError:
            self.refuse("has a value that is no integer")
        if self.is_pointer or dtype[0] not in "iu" or dtype in ("i1", "u1"):
            self.refuse("has a value, which only an integer has")
        size = int(dtype[1:])
        least = -(1 << (size - 1)) if dtype[0] == "i" else 0
        if not least <= self.value < least + (1 << size):
            self.refuse("has a value that its type does not hold")
        if self.value == 1:
            self.hint = 1
        elif self.value % 16 == 0:
            self.hint = 16

    def read_hint(self, dtype, text):
        hint, _, size = text.rpartition(":")
        if size == "large" and self.is_pointer:
            self.is_large = True
            if not hint:
                return
            text = hint
        if text not in ("1", "16"):
            self.refuse("has a hint that is neither 1 nor 16")
        self.hint = int(text)
        if self.hint == 1 and self.is_pointer:
            self.refuse("is a pointer, whose only hint is 16")
        if not self.is_pointer and dtype in ("i1", "u1"):
            self.refuse("is a truth value, which has no hint")
        if not self.is_pointer and dtype[0] not in "iu":
            self.refuse("is a floating-point number, which has no hint")

    def argument(self):
        """An argument that a launch specializes to this item."""
        if self.parts is not None:
            return self.made([part.argument() for part in self.parts])
        if self.type is None or self.value is not None:
            return self.value
        if self.block is not None:
            return descriptor(DTYPES[self.type], self.block, self.layout)
        if self.is_pointer:
            return Tensor(DTYPES[self.type.lstrip("*k")], self.hint == 16, self.is_large)
        if self.type in ("i1", "u1"):
            return True
        if self.type[0] not in "iu":
            return 1.5
        if self.hint == 1:
            return 1
        base = {"i64": 1 << 40, "u64": 1 << 63}.get(self.type, 32)
        return base if self.hint == 16 else base + 3

    def known(self, name):
        """The argument as decorators see it: it raises if asked for something
        unknown."""
        if self.parts is not None:
            return self.made([part.known(f"{name}[{i}]") for i, part in enumerate(self.parts)])
        if self.type is None or self.value is not None or self.block is not None:
            return self.argument()
        if self.is_pointer:
            return Pointer(name, DTYPES[self.type.lstrip("*k")], self.hint)
        return 1 if self.hint == 1 else Number(name, self.hint)


def is_named_tuple(value):
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def split(text, where):
    """Split at commas outside quotes and brackets."""
    parts = re.findall(r"""'[^']*'|"[^"]*"|[^'"()\[\]{}<>,]+|[()\[\]{}<>,]""", text)
    if "".join(parts) != text:
        raise Refused(INVALID, f"a quote in {where} is not closed")
    items, depth = [""], 0
    for part in parts:
        depth += (part in OPENING) - (part in CLOSING)
        if depth < 0:
            break
        if part == "," and depth == 0:
            items.append("")
        else:
            items[-1] += part
    if depth != 0:
        raise Refused(INVALID, f"a bracket in {where} is not closed")
    return [item.strip() for item in items]


def split_signature(text, scope):
    items = split(text, "the signature")
    for number, item in enumerate(items, 1):
        if item == "" and items != [""]:
            raise Refused(INVALID, f"item {number} of the signature is empty")
    return [Item(*pair, scope) for pair in enumerate(items, 1) if pair[1]]


def match_items(jit, name, items, given=()):
    """The names of the parameters of the items; the other parameters must have
    defaults. A launch leaves out parameters that the kernel's decorators give, so
    the signature may, too.
    """
    params = list(inspect.signature(jit.fn).parameters.values())
    left = [p for p in params if p.name not in given]
    for these in (left, params):
        needed = [p for p in these if p.default is inspect.Parameter.empty]
        if len(needed) <= len(items) <= len(these):
            break
    else:
        refuse_count(name, items, left, [p.name for p in params if p.name in given])
    constants = {param.name for param in jit.params if param.is_constexpr}
    for param, item in zip(these, items):
        if param.name in constants and not item.is_constant:
            item.refuse(f"is not a constant, and '{param.name}' is a tl.constexpr")
    return [param.name for param in these[:len(items)]]


def refuse_count(name, items, params, given):
    needed = [p for p in params if p.default is inspect.Parameter.empty]
    count = f"{len(params)}"
    if len(needed) < len(params):
        count = f"{len(needed)} to {count}"
    raise Refused(INVALID, f"the signature has {len(items)} items, and "
                  f"'{name}' has {count} parameters: " + ", ".join(p.name for p in params)
                  + (f"; its decorators give {', '.join(given)}" if given else ""))

# SPDX-License-Identifier: Apache-2.0
"""Signatures of kernels, as Triton's own compiler takes them."""

import ast
import inspect
import re

INVALID = -1  # an enum tkb_status

# torch's names of the types that a pointer may point to.
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
    """One item of a signature: a type with a hint, or a constant."""

    def __init__(self, number, text):
        self.text = text
        self.label = f"item {number} of the signature, '{text}',"
        self.type = self.hint = self.value = None
        self.is_pointer = False
        if not self.read_constant():
            self.read_type()

    def refuse(self, why):
        raise Refused(INVALID, f"{self.label} {why}")

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
        match = re.fullmatch(r"(\*k?)?(\w+)\s*(?::(.*))?", self.text)
        if match is None or match[2] not in DTYPES:
            self.refuse("is neither a type nor a constant; types are "
                        + " ".join(sorted(DTYPES)) + ", and a * before one")
        self.is_pointer = match[1] is not None
        self.type = (match[1] or "") + match[2]
        if match[3] is None:
            return
        if match[3].strip() not in ("1", "16"):
            self.refuse("has a hint that is neither 1 nor 16")
        self.hint = int(match[3])
        if self.hint == 1 and self.is_pointer:
            self.refuse("is a pointer, whose only hint is 16")
        if not self.is_pointer and match[2] in ("i1", "u1"):
            self.refuse("is a truth value, which has no hint")
        if not self.is_pointer and match[2][0] not in "iu":
            self.refuse("is a floating-point number, which has no hint")

    def argument(self):
        """An argument that a launch specializes to this item."""
        if self.type is None:
            return self.value
        if self.is_pointer:
            return Tensor(DTYPES[self.type.lstrip("*k")], self.hint == 16)
        if self.type in ("i1", "u1"):
            return True
        if self.type[0] not in "iu":
            return 1.5
        if self.hint == 1:
            return 1
        base = {"i64": 1 << 40, "u64": 1 << 63}.get(self.type, 32)
        return base if self.hint == 16 else base + 3


class Tensor:
    """The part of a tensor that a launch uses."""

    def __init__(self, dtype, is_aligned):
        self.dtype = "torch." + dtype
        self.address = 1 << 40 if is_aligned else (1 << 40) + 1

    def data_ptr(self):
        return self.address


def split_signature(text):
    """Split at commas outside quotes."""
    parts = re.findall(r"""(?:'[^']*'|"[^"]*"|[^,'"])+|,""", text)
    if "".join(parts) != text:
        raise Refused(INVALID, "a quote in the signature is not closed")
    items = [""]
    for part in parts:
        if part == ",":
            items.append("")
        else:
            items[-1] = part.strip()
    for number, item in enumerate(items, 1):
        if item == "" and items != [""]:
            raise Refused(INVALID, f"item {number} of the signature is empty")
    return [Item(*pair) for pair in enumerate(items, 1) if pair[1]]


def match_items(jit, name, items):
    """The names of the items' parameters; the rest must have defaults."""
    params = list(inspect.signature(jit.fn).parameters.values())
    needed = [p for p in params if p.default is inspect.Parameter.empty]
    if not len(needed) <= len(items) <= len(params):
        count = f"{len(params)}"
        if len(needed) < len(params):
            count = f"{len(needed)} to {count}"
        raise Refused(INVALID, f"the signature has {len(items)} items, and "
                      f"'{name}' has {count} parameters: "
                      + ", ".join(p.name for p in params))
    for param, item in zip(jit.params, items):
        if param.is_constexpr and item.type is not None:
            item.refuse(f"is not a constant, and '{param.name}' is a tl.constexpr")
    return [param.name for param in jit.params[:len(items)]]

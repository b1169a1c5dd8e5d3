# SPDX-License-Identifier: Apache-2.0
"""Reads Gluon's layouts, as Triton writes them into the types of descriptors.

The text may come from a bundle, and so from anyone. It is not evaluated as a
program: only nested calls of Gluon's classes with literals are allowed.
"""

import ast
import dataclasses
import importlib

GLUON = "triton.experimental.gluon.language"
MODULES = ("", ".nvidia.blackwell", ".nvidia.hopper", ".amd", ".extra")


def class_of(name):
    for module in MODULES:
        try:
            kind = getattr(importlib.import_module(GLUON + module), name, None)
        except ImportError:
            continue
        if isinstance(kind, type) and dataclasses.is_dataclass(kind) \
                and kind.__module__.startswith(GLUON + "."):
            return kind
    raise ValueError(f"this Triton does not have: '{name}'")


def made(node):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        kind = class_of(node.func.id)
        named = {word.arg: made(word.value) for word in node.keywords if word.arg is not None}
        return kind(*map(made, node.args), **named)
    if isinstance(node, ast.List):
        return list(map(made, node.elts))
    return ast.literal_eval(node)


def layout_of(text):
    """Parse the text of a layout. A ValueError continues the words "a layout
    that"."""
    try:
        layout = made(ast.parse(text, mode="eval").body)
    except (AssertionError, SyntaxError, TypeError) as error:
        raise ValueError(f"makes no sense: {error}") from error
    if not dataclasses.is_dataclass(layout):
        raise ValueError("is no layout of Gluon's")
    return layout

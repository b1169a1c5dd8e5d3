# SPDX-License-Identifier: Apache-2.0
"""Triton's tutorials, of which each runs kernels where it is imported.

A module of tkbundle's fleet would not. So there are modules made of them with what the
kernels need, each at its line; the rest of their statements are run here one by one.
"""
import ast
import importlib
import os
import re
import sys

DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def stored(statement):
    return {node.id for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def own(statement):
    """A function's own names: parameters, and what it assigns."""
    if not isinstance(statement, ast.FunctionDef):
        return set()
    return stored(statement) | {
        node.arg for node in ast.walk(statement.args) if isinstance(node, ast.arg)}


def loaded(nodes):
    """The names that they take from where they stand."""
    found = set()
    for top in nodes:
        names = {node.id for node in ast.walk(top)
                 if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        found |= names - own(top)
    return found


def is_kernel(statement):
    return isinstance(statement, ast.FunctionDef) and any(
        "jit" in ast.unparse(decorator) for decorator in statement.decorator_list)


def is_report(statement):
    return isinstance(statement, ast.FunctionDef) and any(
        re.search("perf_report|pytest", ast.unparse(decorator))
        for decorator in statement.decorator_list)


def definitions(tree):
    """What importing the kernels needs: imports, functions, and what these are made of."""
    kept = [one for one in tree.body if isinstance(one, DEFINITIONS) and not is_report(one)]
    while True:
        needed = set()
        for one in kept:
            if is_kernel(one) or not isinstance(one, DEFINITIONS):
                needed |= loaded([one])
            elif isinstance(one, ast.FunctionDef):
                needed |= loaded(one.decorator_list + one.args.defaults)
        called = [one for one in kept if isinstance(one, ast.FunctionDef) and one.name in needed]
        needed |= loaded(called)
        more = [one for one in tree.body if one not in kept and not is_report(one)
                and needed & stored(one)]
        if not more:
            return kept
        kept += more


def lines_of(statement):
    first = min([statement.lineno] + [one.lineno for one in getattr(
        statement, "decorator_list", [])])
    return range(first - 1, statement.end_lineno)


def split(path, folder):
    """Writes a module with the definitions; tells its name, and the other statements."""
    with open(path, encoding="utf-8") as file:
        # A fork's word for what all have.
        text = file.read().replace(".is_cuda_backend()", ".backend == 'cuda'")
    tree = ast.parse(text)
    kept = definitions(tree)
    lines = {number for one in kept for number in lines_of(one)}
    name = "tutorial_" + re.sub(r"\W", "_", os.path.basename(path)[:-3])
    place = os.path.join(folder, name + ".py")
    # Another type's turn has written it: a cubin holds the time of its source.
    if not os.path.exists(place):
        with open(place, "w", encoding="utf-8") as file:
            for number, line in enumerate(text.splitlines()):
                file.write((line if number in lines else "") + "\n")
    rest = []
    for one in tree.body:
        is_main = isinstance(one, ast.If) and "__name__" in ast.unparse(one.test)
        rest += one.body if is_main else [] if one in kept else [one]
    return name, rest


def run_all(paths, folder, tell):
    """
    Each tutorial. A statement that fails is told of: without a GPU, results are wrong.
    """
    for path in paths:
        name, statements = split(path, folder)
        sys.argv = [path]
        try:
            module = importlib.import_module(name)
        except BaseException as error:
            tell(name, error)
            continue
        for statement in statements:
            try:
                exec(compile(ast.Module([statement], []), path, "exec"), vars(module))
            except BaseException as error:
                tell(f"{name}:{statement.lineno}", error)

# SPDX-License-Identifier: Apache-2.0
"""Compiles a file of Triton's IR, as triton.compile() does if it is given a path.

The entry is Triton's own. Its key is that of this call on any machine.
"""

import json
import os
import re
import traceback

from tkbundle_triton_launch import (FILE, METADATA, SHOWN, UNSUPPORTED, Run, answer_of,
                                    answer_of_stage, brief, listed, prepare, read_options)
from tkbundle_triton_signature import INVALID, Refused
from tkbundle_triton_stage import Made

# Options of a launch that the IR does not contain.
LAUNCH_OPTIONS = ("num_warps", "num_stages", "num_ctas", "cluster_dims", "maxnreg",
                  "enable_fp_fusion", "enable_reflect_ftz", "launch_cooperative_grid",
                  "launch_pdl", "ptx_options")


def check_extension(triton, path):
    """Before 3.9, Triton confuses entries of .ttgir and .glir files with equal
    text."""
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    if path.endswith(".glir") and version < (3, 9):
        raise Refused(UNSUPPORTED, f"Triton {triton.__version__} cannot read .glir; "
                      "3.9 is the oldest that can")


def read_text(path, shown):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        raise Refused(INVALID, f"'{shown}' is not text") from None


def check_kernels(text, shown):
    """Check for a kernel here, because Triton crashes if there is no public
    function."""
    kernels = re.findall(r"tt\.func (?:public )?@([\w.$-]+)", text)
    if not kernels and '"tt.func"' not in text:
        raise Refused(INVALID, f"'{shown}' has no kernel")
    if len(kernels) > 1:
        raise Refused(INVALID, f"'{shown}' has several kernels: {listed(kernels)}; "
                      "an entry has one")


def notes_of(text, target):
    """Check the target here, because Triton does not check which one IR with
    layouts was made for."""
    made_for = re.search(r'ttg\.target = "([^"]*)"', text)
    wanted = f"{target.backend}:{target.arch}"
    if made_for is None or made_for[1] == wanted:
        return []
    return [f"the IR was made for {made_for[1]}"]


def options_of(text, known):
    """The options that the kernel with these metadata was compiled with."""
    try:
        metadata = json.loads(text)
        items = metadata.items()
    except (AttributeError, ValueError):
        raise Refused(INVALID, "the metadata are not a JSON object") from None
    return {name: tuple(value) if isinstance(value, list) else value
            for name, value in items if name in LAUNCH_OPTIONS and name in known}


def compile_ir(fields):
    triton, target = prepare(fields)
    path, shown = os.fsdecode(fields[FILE]), os.fsdecode(fields[SHOWN])
    root = os.environ.get("TRITON_CACHE_DIR")
    check_extension(triton, path)
    text = read_text(path, shown)
    check_kernels(text, shown)
    options, known = read_options(fields, triton, target)
    options = {**options_of(fields.get(METADATA, b"{}"), known), **options}
    run = Run.current = Run([], notes_of(text, target), [], fields)
    try:
        kernel = triton.compile(path, target=target, options=options)
    except Made as made:
        if made.data is None and path.endswith("." + run.stage):  # before 3.4
            made.data = text
        return answer_of_stage(run, made, triton.__version__, shown)
    except BaseException as error:
        traceback.print_exc()
        raise Refused(INVALID, f"'{shown}' does not compile: {brief(error)}") from error
    finally:
        Run.current = None
    return answer_of(run, kernel, triton.__version__, root)

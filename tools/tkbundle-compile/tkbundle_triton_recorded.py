# SPDX-License-Identifier: Apache-2.0
"""Compiles a recorded kernel again, for another target or with another Triton.

Its inputs are in its specialisation, if tkbundle's Python package noted one
(docs/format.md). Otherwise its metadata and IR have everything except the values of
constants. These are found by trying: the right values give the recorded key, or, if
another build of Triton made the kernel, the recorded IR.
"""

import functools
import importlib
import json
import os
import re
import sys
import traceback

from tkbundle_triton_guess import KEYS_TRIED, Unlike, constant, guesses, items_of_guess
from tkbundle_triton_ir import LAUNCH_OPTIONS
from tkbundle_triton_launch import (IR, METADATA, RECORDED, SPECIALISATION, Driver, Run, answer_of,
                                    answer_of_stage, brief, forget_kernels, jitted, listed,
                                    load_file, prepare)
from tkbundle_triton_layout import layout_of
from tkbundle_triton_signature import INVALID, Item, Refused, is_named_tuple
from tkbundle_triton_stage import Made
from tkbundle_triton_tuned import Launch

# Options in the metadata; its cluster_dims are Triton's choice, not an option. The
# last line has those for HIP.
OPTIONS = {*LAUNCH_OPTIONS, "debug", "sanitize_overflow",
           "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint"} - {"cluster_dims"}
IRS_TRIED = 200


def tuples(value):
    """Triton has tuples where JSON has lists."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def parse(data, what):
    try:
        value = json.loads(data or b"{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Refused(INVALID, f"its {what} is not a JSON object")
    return value


class Recorded:
    """The facts known about a kernel."""

    def __init__(self, fields):
        self.key = os.fsdecode(fields[RECORDED])
        self.noted = parse(fields.get(SPECIALISATION), "specialisation")
        if self.noted and not (isinstance(self.noted.get("function"), str)
                               and isinstance(self.noted.get("options", {}), dict)):
            raise Refused(INVALID, "its specialisation lacks its function or options")
        self.metadata = parse(fields.get(METADATA), "metadata")
        self.ir = fields.get(IR, b"").decode("utf-8", "replace")
        self.name = self.metadata.get("name") or self.noted.get("function", self.key)
        self.triton = self.noted.get("triton") or self.metadata.get("triton_version")
        self.target = self.read_target()
        self.path, self.line = self.position()
        if not self.noted and not self.ir:
            raise Refused(INVALID, f"nothing tells what '{self.name}' was compiled of: it has "
                          "neither a specialisation nor IR of Triton's")

    def read_target(self):
        """The target: an object in text form (Triton 3.0), a JSON object, or a
        list."""
        from triton.backends.compiler import GPUTarget

        target = self.noted.get("target") or self.metadata.get("target")
        if isinstance(target, dict):
            target = [target.get(name) for name in ("backend", "arch", "warp_size")]
        try:
            backend, arch, warp_size = target
            if backend not in ("cuda", "hip"):
                raise Refused(INVALID, f"'{self.name}' was compiled for {backend}, not for CUDA "
                              "or HIP")
            return GPUTarget(backend, int(arch) if backend == "cuda" else str(arch), warp_size)
        except (TypeError, ValueError):
            raise Refused(INVALID, f"nothing tells the target of '{self.name}'") from None

    def position(self):
        """File and line of the function, if the IR has them."""
        told = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", self.ir, re.M))
        end = re.search(r"^  \} loc\((#loc\d*|\".*?)\)$", self.ir, re.M)
        place = told.get(end[1], end[1]) if end else told.get("#loc", "")
        match = re.fullmatch(r'"(.+)":(\d+):\d+', place)
        return (match[1], int(match[2])) if match else (None, 0)

    def options(self, usual, known):
        """The options of the launch, and the names of options that this Triton
        lacks."""
        if self.noted:
            options = self.noted.get("options", {})
        else:
            options = {name: value for name, value in self.metadata.items()
                       if name in OPTIONS and tuples(value) != usual.get(name)}
        options = {name: tuples(value) for name, value in options.items()}
        return ({name: value for name, value in options.items() if name in known},
                sorted(set(options) - set(known)))


def import_from(path):
    """Import this file as a module, if it is below a folder of sys.path."""
    for folder in sys.path:
        parts = os.path.relpath(path, folder or ".").split(os.sep)
        if parts[0] == os.pardir:
            continue
        parts[-1] = os.path.splitext(parts[-1])[0]
        if parts[-1] == "__init__":
            parts.pop()
        if parts and all(part.isidentifier() for part in parts):
            return importlib.import_module(".".join(parts))
    return None


def places_of(path):
    """Places that may have the file: its path, or below a folder of sys.path."""
    if os.path.isfile(path):
        yield path
    parts = path.split(os.sep)
    for first in range(1, len(parts)):
        for folder in sys.path:
            place = os.path.join(folder, *parts[first:])
            if os.path.isfile(place):
                yield place


def load_path(recorded):
    if not recorded.path.endswith(".py"):
        raise Refused(INVALID, f"'{recorded.name}' was compiled from '{recorded.path}', which "
                      "is no Python file")
    place = next(places_of(recorded.path), None)
    if place is None:
        raise Refused(INVALID, f"the source of '{recorded.name}' is not found: there is no "
                      f"'{recorded.path}', nor one like it in PYTHONPATH")
    try:
        return import_from(place) or load_file(place, place), place
    except Refused as error:
        raise Refused(INVALID, f"the source of '{recorded.name}', {error}") from error
    except BaseException as error:
        traceback.print_exc()
        raise Refused(INVALID, f"the source of '{recorded.name}', '{place}' cannot be run: "
                      + brief(error)) from error


def find_named(recorded):
    """Find the kernel by module and name; if it is not found, return the
    reason."""
    module, _, name = recorded.noted["function"].partition(":")
    if "<locals>" in name:
        return None, f"'{name}' of '{module}' is defined in a function"
    try:
        value = importlib.import_module(module) if module != "__main__" else None
    except BaseException as error:
        if not isinstance(error, ModuleNotFoundError):
            traceback.print_exc()
        return None, f"'{module}' cannot be imported: {brief(error)}"
    if value is None:
        return None, "it was in a program's main file"
    for part in name.split("."):
        value = getattr(value, part, None)
    return value, f"'{module}' has no kernel '{name}'"


def is_at(jit, line):
    lines, first = len(jit.raw_src) if hasattr(jit, "raw_src") else 1, jit.starting_line_number
    return first <= line < first + lines


def find_placed(recorded):
    module, place = load_path(recorded)
    name = recorded.noted.get("function", ":" + recorded.name).rpartition(":")[2]
    found = [value for value in vars(module).values() if jitted(value) is not None]
    for fits in (lambda jit: jit.__name__ == name, lambda jit: is_at(jit, recorded.line)):
        for value in found:
            if fits(jitted(value)):
                return value
    raise Refused(INVALID, f"the source of '{recorded.name}' is not found: '{place}' has "
                  "no such kernel")


def find_function(recorded):
    why = "its IR has no name of a file"
    if recorded.noted:
        value, why = find_named(recorded)
        if jitted(value) is not None:
            return value
    if recorded.path is not None:
        return find_placed(recorded)
    raise Refused(INVALID, f"the source of '{recorded.name}' is not found: {why}")


def constant_of(value):
    """The constant from the JSON of a specialisation."""
    import triton.language as tl

    if isinstance(value, list):
        return tuple(map(constant_of, value))
    if not isinstance(value, dict):
        return value
    kind, told = next(iter(value.items()))
    if kind == "dtype":
        return tl.dtype(told)
    if kind == "constexpr":
        return tl.constexpr(constant_of(told))
    if kind == "function":
        return named(told)
    if kind == "layout":
        return layout_of(told)
    if kind == "namedtuple":
        return tuple_class(told[0])(*map(constant_of, told[1]))
    raise ValueError(f"an unknown kind of constant, '{kind}'")


def named(text):
    """The object named by "module:name"."""
    module, _, name = text.partition(":")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def tuple_class(text):
    found = named(text)
    if not is_named_tuple(found):
        raise ValueError(f"'{text}' is no class of named tuples")
    return found


def kind_of(told):
    """The type of an argument; for a tuple, the types of its parts."""
    if isinstance(told, list):
        return tuple(map(kind_of, told))
    if isinstance(told, dict):
        name, parts = told["namedtuple"]
        return tuple_class(name)(*map(kind_of, parts))
    return told


def item_of(number, path, kind, constants, hints):
    if path in constants:
        return constant(number, constants[path])
    if isinstance(kind, tuple):
        item = constant(number, None)
        item.tuple_type = type(kind) if is_named_tuple(type(kind)) else None
        item.parts = tuple(item_of(number, (*path, at), one, constants, hints)
                           for at, one in enumerate(kind))
        return item
    if kind.startswith("tensordesc"):
        return Item(number, kind)
    aligned, small = hints
    is_large = kind.startswith("*") and small is not None and path not in small
    return Item(number, kind + (":16" if path in aligned else "") + (":large" if is_large else ""))


def attributes_of(attrs, names, told_of):
    """The paths of arguments with an attribute, in the notation of each version
    of Triton."""
    pairs = [(tuples(path), told) for path, told in attrs]
    named = {path: told for path, told in pairs if isinstance(path, str)}
    if "arg_properties" in named:
        named = {name: told for name, told in named["arg_properties"]}
    for name in names:
        if name in named:
            return {(number,) for number in named[name]}
    return {path for path, told in pairs if told_of in (told or [])}


def path_of(name, jit):
    if isinstance(name, str):
        return (jit.arg_names.index(name),)
    return name if isinstance(name, tuple) else (name,)


def items_of_note(recorded, jit):
    """The items of a specialisation, by parameter."""
    noted = recorded.noted
    try:
        types_of = {path_of(tuples(name), jit)[0]: kind_of(kind)
                    for name, kind in noted["signature"]}
        constants = {path_of(tuples(path), jit): constant_of(value)
                     for path, value in noted["constants"]}
        hints = (attributes_of(noted["attrs"], ("divisible_by_16", "tt.divisibility"),
                               ["tt.divisibility", 16]),
                 attributes_of(noted["attrs"], ("tt.pointer_range",), ["tt.pointer_range", 32])
                 if recorded.target.backend == "hip" else None)
        names = range(len(jit.arg_names))
        if set(types_of) | {path[0] for path in constants} != set(names):
            raise ValueError("other parameters")
        return {jit.arg_names[at]: item_of(at + 1, (at,), types_of.get(at), constants, hints)
                for at in names}
    except Refused:
        raise
    except (AttributeError, ImportError, KeyError, TypeError, ValueError) as error:
        raise Unlike(f"has other parameters or constants than the recorded one ({error})") \
            from error


class Again:
    """A launch with these items, which compiles. With a stage, it raises Made."""

    def __init__(self, recorded, jit, items, options, defaults, fields=(), stage=None):
        self.jit = jit
        self.launch = Launch(jit, jit, recorded.name, list(items), list(items.values()),
                             options, defaults)
        self.launch.is_recorded = True
        self.run = Run([(param.num, param.name, items[param.name]) for param in jit.params],
                       self.launch.notes, self.launch.unasked, fields)
        self.run.stage = stage or self.run.stage

    def compile(self):
        Run.current = self.run
        try:
            return self.launch.compile(None)
        finally:
            Run.current = None


def bare(ir):
    """IR without positions."""
    ir = re.sub(r"^#loc.*\n", "", ir, flags=re.M)
    return re.sub(r" ?\bloc\((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*\)", "", ir).strip()


class Trial:
    """Makes the recorded kernel again, with its target and its options."""

    def __init__(self, recorded, jit, triton):
        from triton.runtime.driver import driver

        self.recorded, self.jit = recorded, jit
        driver.set_active(Driver(recorded.target))
        forget_kernels(jit)
        self.defaults = vars(triton.compiler.compiler.make_backend(recorded.target)
                             .parse_options({}))
        self.options, _ = recorded.options(self.defaults, self.defaults)
        self.ir = bare(recorded.ir)

    def stage(self, items, stage):
        """The key or the IR of the kernel; None: it does not compile."""
        try:
            Again(self.recorded, self.jit, items, self.options, self.defaults, (),
                  stage).compile()
        except Made as made:
            return made.key if stage == "key" else made.data
        except BaseException:
            pass
        return None

    def has_key(self, items):
        return self.stage(items, "key") == self.recorded.key

    def made_ir(self, items):
        return bare(self.stage(items, "ttir") or "")

    def has_ir(self, items):
        return bool(self.ir) and self.made_ir(items) == self.ir


def check_note(recorded, trial, items, triton):
    """A note, if it is unknown whether the source is the recorded one."""
    if trial.has_key(items) or trial.has_ir(items):
        return ""
    same_triton = recorded.triton == triton.__version__
    if same_triton and recorded.noted.get("source") == trial.jit.cache_key:
        return ""
    if same_triton and (trial.ir or "source" in recorded.noted):
        raise Unlike("has changed since it was recorded")
    return f"whether the source of '{recorded.name}' has changed since it was recorded, by " \
        f"Triton {recorded.triton}, is not known"


def guess(recorded, trial, found, jit, triton):
    """The items of the recorded kernel."""
    asked, first = set(), []
    for number, told in enumerate(guesses(recorded, found, jit, trial.options)):
        if number == KEYS_TRIED:
            break
        items = items_of_guess(jit, *told)
        if trial.has_key(items):
            return items
        asked.update(told[0])
        if len(first) < IRS_TRIED:
            first.append(items)
    irs = [trial.made_ir(items) for items in first]
    if trial.ir in irs:
        return first[irs.index(trial.ir)]
    constants = sorted(asked)
    if recorded.triton != triton.__version__:
        raise Unlike(f"cannot be told from the IR of Triton {recorded.triton}: Triton "
                     f"{triton.__version__} makes another; a specialisation would tell")
    raise Unlike("has changed since it was recorded" if not constants else
                 "has changed since it was recorded, or has constants that cannot be "
                 f"told from its IR: {listed(constants)}")


def kernel_of(recorded, triton):
    """The kernel, its function, the function's items, and a note."""
    found = find_function(recorded)
    jit = jitted(found)
    trial = Trial(recorded, jit, triton)
    try:
        if recorded.noted:
            items = items_of_note(recorded, jit)
            return found, jit, items, check_note(recorded, trial, items, triton)
        return found, jit, guess(recorded, trial, found, jit, triton), ""
    except Unlike as error:
        path = sys.modules[jit.fn.__module__].__file__ if jit.fn.__module__ in sys.modules \
            else jit.fn.__module__
        raise Refused(INVALID, f"'{recorded.name}' of '{path}' {error}") from error


def is_tuned(found):
    """Has the kernel an @triton.autotune? A launch then passes its values even
    if they are defaults."""
    while found is not None:
        if hasattr(found, "configs"):
            return True
        found = getattr(found, "fn", None)
    return False


def options_elsewhere(recorded, found, defaults):
    """The options of a kernel for another vendor: a default there becomes the
    default here."""
    from triton.compiler.compiler import make_backend

    usual = vars(make_backend(recorded.target).parse_options({}))
    named = recorded.noted.get("options") or recorded.metadata
    kept = ("num_warps", "num_stages", "num_ctas") if is_tuned(found) else ()
    options = {name: tuples(value) for name, value in named.items() if name in OPTIONS and
               (name in kept or name in usual and tuples(value) != usual[name])}
    return ({name: value for name, value in options.items() if name in defaults},
            [f"'{name}' is an option for {recorded.target.backend} alone"
             for name in options if name not in defaults])


def options_for(recorded, found, target, triton, defaults):
    """The options of a launch, and notes."""
    if target.backend != recorded.target.backend:
        return options_elsewhere(recorded, found, defaults)
    options, unknown = recorded.options(defaults, defaults)
    if unknown:
        raise Refused(INVALID, f"'{recorded.name}' was compiled with {listed(unknown)}, which "
                      f"Triton {triton.__version__} does not have")
    return options, []


def compile_recorded(fields):
    triton, target = prepare(fields)
    from triton.runtime.driver import driver

    root = os.environ.get("TRITON_CACHE_DIR")
    recorded = Recorded(fields)
    found, jit, items, note = kernel_of(recorded, triton)
    if root is not None:  # the module may have set its own
        os.environ["TRITON_CACHE_DIR"] = root
    driver.set_active(Driver(target))
    defaults = vars(triton.compiler.compiler.make_backend(target).parse_options({}))
    options, notes = options_for(recorded, found, target, triton, defaults)
    forget_kernels(jit)
    again = Again(recorded, jit, items, options, defaults, fields)
    again.run.notes += notes + ([note] if note else [])
    try:
        kernel = again.compile()
    except Refused:
        raise
    except Made as made:
        return answer_of_stage(again.run, made, triton.__version__, recorded.name)
    except BaseException as error:
        traceback.print_exc()
        raise Refused(INVALID, f"'{recorded.name}' does not compile: {brief(error)}") from error
    return answer_of(again.run, kernel, triton.__version__, root)

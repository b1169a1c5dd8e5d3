# SPDX-License-Identifier: Apache-2.0
"""Compiles one Triton kernel.

Launches its jitted function with made-up arguments that fit the signature, and
with a driver that only knows the target. This needs no GPU, and gives the key of
a launch on a GPU, whatever this version of Triton includes in keys.
"""

import functools
import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import traceback

from tkbundle_triton_stage import Made, print_passes, watch_stages
from tkbundle_triton_signature import INVALID, Refused, match_items, split_signature
from tkbundle_triton_tuned import Launch, given_by

(FILE, SHOWN, KERNEL, SIGNATURE, ARCH, NUM_WARPS, NUM_STAGES, OPTIONS, PTXAS,
 METADATA, CHOICE, WINNERS, STAGE, PRINTS, RECORDED, SPECIALISATION, IR) = range(1, 18)
(HASH, FOLDER, NAME, IS_HIT, VERSION, NOTE, UNASKED, CHOICES, KEY, PRODUCT) = range(64, 74)
IO, UNSUPPORTED = -3, -5
NAMES_SHOWN = 12


def brief(error):
    """The message of an exception in one line; Triton's have a line for each
    function called."""
    while type(error).__name__ == "CompilationError" and \
            isinstance(error.__cause__, type(error)):
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if type(error).__name__ == "CompilationError" and len(lines) > 1:
        return f"{lines[0]} {lines[-1]}"
    return f"{type(error).__name__}: {lines[0]}"


def listed(names):
    names = [f"'{name}'" for name in names]
    if len(names) > NAMES_SHOWN:
        names[NAMES_SHOWN:] = [f"{len(names) - NAMES_SHOWN} more"]
    return ", ".join(names) or "none"


def capability_of(target):
    """The capability as PyTorch gives it: for gfx90a, the last two digits are
    minor and stepping."""
    if target.backend == "cuda":
        return divmod(target.arch, 10)
    return int(target.arch[3:-2]), int(target.arch[-2], 16)


class Driver:
    """The part of a driver that a compilation uses."""

    def __init__(self, target):
        self.target = target

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, _device):
        return 0

    def get_device_capability(self, _device=0):
        return capability_of(self.target)

    def get_benchmarker(self):
        """A benchmark function for @triton.autotune, which is never run here."""
        def bench(*_args, **_kwargs):
            raise RuntimeError("there is no GPU to measure on")

        return bench

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", 0)


class Run:
    """One compilation, observed from inside Triton."""

    current = None

    def __init__(self, wanted, notes, unasked, fields):
        """`wanted` has number, name and item of each parameter that has an
        item."""
        self.wanted = wanted
        self.notes = notes
        self.unasked = unasked
        self.stage = os.fsdecode(fields[STAGE]) if STAGE in fields else None
        self.prints = PRINTS in fields
        self.source = None
        self.folder = None
        self.is_hit = True

    def see_source(self, source):
        """Adapt the source that Triton is about to compile to the signature."""
        self.source = source
        make_ir = source.make_ir

        def noted(*args, **kwargs):
            self.is_hit = False
            if self.prints:
                print_passes()
            return make_ir(*args, **kwargs)

        source.make_ir = noted
        for number, name, item in self.wanted:
            if item.parts is not None or item.block is not None:
                continue
            if item.type is None:
                self.want_constant(source, number, name, item)
            elif item.hint != 1:
                self.want_type(source, name, item)
            if item.hint is not None:
                self.check_hint(source, number, name, item)

    def want_constant(self, source, number, name, item):
        if source.signature.get(name, "constexpr") == "constexpr":
            return
        if not isinstance(source.attrs, dict):  # before 3.3
            if item.value is None or item.value is not True and item.value == 1:
                return
            item.refuse(f"is a constant, and '{name}' is not a tl.constexpr")
        source.signature[name] = "constexpr"
        source.constants[(number,)] = item.value
        source.attrs.pop((number,), None)
        self.unasked.append(f"a launch does not make '{name}' a constant")

    def want_type(self, source, name, item):
        got = source.signature.get(name)
        if got is None or re.sub(r"i1$", "u1", got) == re.sub(r"i1$", "u1", item.type):
            return
        if got.replace("*k", "*") == item.type:
            return
        source.signature[name] = item.type
        self.unasked.append(f"a launch passes '{name}' as {got}, not {item.type}")

    def check_hint(self, source, number, name, item):
        """Note a hint that Triton drops, because it does not specialize the
        parameter."""
        if not isinstance(source.attrs, dict):
            return
        is_constant = source.signature.get(name) == "constexpr"
        if not is_constant and not source.attrs.get((number,)):
            self.unasked.append(f"a launch does not check whether '{name}' is "
                              + ("1" if item.hint == 1 else "a multiple of 16"))

    def see_group(self, manager, group, filename):
        """Hide an incomplete entry, so that Triton makes it again."""
        self.folder = manager.cache_dir
        try:
            with open(os.path.join(self.folder, "__grp__" + filename)) as file:
                children = json.load(file)["child_paths"].values()
            with open(group[filename]) as file:
                json.load(file)["hash"]
            return group if all(map(os.path.exists, children)) else None
        except (AttributeError, KeyError, OSError, TypeError, ValueError):
            return None


@functools.lru_cache(maxsize=None)
def watch_triton():
    from triton.compiler.compiler import ASTSource, IRSource
    from triton.runtime.cache import FileCacheManager

    def watched(original):
        def init(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if Run.current is not None and Run.current.source is None:
                Run.current.see_source(self)

        return init

    def get_group(self, filename):
        group = get_group.original(self, filename)
        if Run.current is None or Run.current.source is None:
            return group
        return Run.current.see_group(self, group, filename)

    watch_hip()
    for kind in (ASTSource, IRSource):
        kind.__init__ = watched(kind.__init__)
    watch_stages(lambda: Run.current.stage if Run.current and Run.current.source else None)
    get_group.original, FileCacheManager.get_group = FileCacheManager.get_group, get_group


def watch_hip():
    """Keep HIP from importing PyTorch to learn the size of arguments that are not
    its tensors."""
    module = sys.modules.get("triton.backends.amd.compiler")
    original = getattr(getattr(module, "HIPBackend", None), "is_within_2gb", None)

    def is_within(arg):
        return arg.ptr_range() < 1 << 31 if hasattr(arg, "ptr_range") else original(arg)

    if original is not None:
        module.HIPBackend.is_within_2gb = staticmethod(is_within)


def load_triton():
    try:
        import triton
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise Refused(UNSUPPORTED, f"Triton cannot be imported: {error}") from error
        raise Refused(UNSUPPORTED, f"'{sys.executable}' has no Triton") from None
    except Exception as error:
        raise Refused(UNSUPPORTED, f"Triton cannot be imported: {brief(error)}") from error
    version = getattr(triton, "__version__", "")
    if not version.partition(".")[0].isdigit() or int(version.partition(".")[0]) < 3:
        raise Refused(UNSUPPORTED, f"Triton '{version}' of '{sys.executable}' is not "
                      "supported; 3.0 is the oldest that is")
    watch_triton()
    return triton


def forget_versions():
    """Forget the ptxas: the job's environment may name another one."""
    module = sys.modules.get("triton.backends.nvidia.compiler")
    for value in list(vars(module).values()) if module else []:
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def check_ptxas(path):
    """Check the ptxas here, because Triton silently ignores one without a
    version."""
    try:
        words = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, check=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        words = b""
    if re.search(rb"release \d+\.\d+", words) is None:
        raise Refused(IO, f"'{path}' does not print a version like ptxas")


def load_from_package(folder, stem):
    """Import a file that uses relative imports as part of its package."""
    names = [stem]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    sys.path[0] = folder
    return importlib.import_module(".".join(names))


def load_file(path, shown):
    """Run the user's file as an import would."""
    folder, base = os.path.split(path)
    stem = os.path.splitext(base)[0]
    name = stem if stem not in sys.modules else f"tkbundle_{stem}"
    sys.path.insert(0, folder)
    sys.argv = [path]
    importlib.invalidate_caches()
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(name, None, origin=path))
    module.__file__ = path
    sys.modules[name] = module
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        try:
            exec(code, vars(module))
        except ImportError as error:
            if "relative import" not in str(error):
                raise
            del sys.modules[name]
            return load_from_package(folder, stem)
    except BaseException as error:
        traceback.print_exc()
        raise Refused(INVALID, f"'{shown}' cannot be run: {brief(error)}") from error
    return module


def jitted(value):
    """The jitted function inside its decorators, or None."""
    from triton.runtime.jit import JITFunction

    while value is not None and not isinstance(value, JITFunction):
        value = getattr(value, "fn", None)
    return value


def find_kernel(module, name, shown):
    """The kernel with its decorators."""
    value = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if jitted(value) is not None:
        return value
    if value is not None:
        raise Refused(INVALID, f"'{name}' of '{shown}' is not a Triton kernel")
    there = sorted(key for key, value in vars(module).items()
                   if getattr(jitted(value), "__module__", "") == module.__name__)
    raise Refused(INVALID, f"'{shown}' has no kernel '{name}'; there are: {listed(there)}")


def forget_kernels(jit):
    """Forget kernels that an earlier job made from an imported module, for
    another target."""
    for name in ("device_caches", "cache"):
        if hasattr(jit, name):
            getattr(jit, name).clear()
    jit.pre_run_hooks = []


def read_options(fields, triton, target):
    """The keyword arguments of the launch, and the defaults of all options."""
    options = json.loads(fields.get(OPTIONS, b"{}"))
    options = {key: tuple(value) if isinstance(value, list) else value
               for key, value in options.items()}
    for field, name in ((NUM_WARPS, "num_warps"), (NUM_STAGES, "num_stages")):
        if field in fields:
            options[name] = int(fields[field])
    known = vars(triton.compiler.compiler.make_backend(target).parse_options({}))
    for name in options:
        if name not in known:
            raise Refused(INVALID, f"Triton {triton.__version__} has no option '{name}'; "
                          "it has: " + ", ".join(sorted(known)))
    return options, known


def choose(launch, fields):
    """The choices of a launch, whether to compile, and the choice to compile,
    if any."""
    choices = launch.choices()
    if CHOICE not in fields:
        return choices, len(choices) < 2, choices[0] if choices else None
    number, _, text = os.fsdecode(fields[CHOICE]).partition(" ")
    if not number.isdigit() or int(number) >= len(choices) or \
            choices[int(number)].text != text:
        raise Refused(INVALID, f"'{launch.name}' has no configuration '{text}'")
    return choices, True, choices[int(number)]


def target_of(arch):
    """The target of "90" or "gfx942". Up to gfx9, waves have 64 threads."""
    from triton.backends.compiler import GPUTarget

    if arch.startswith("gfx"):
        return GPUTarget("hip", arch, 64 if arch[3:-2] == "9" else 32)
    return GPUTarget("cuda", int(arch), 32)


def check_backend(triton, target):
    from triton.backends import backends

    if not any(backend.compiler.supports_target(target) for backend in backends.values()):
        raise Refused(UNSUPPORTED, f"Triton {triton.__version__} of '{sys.executable}' does not "
                      f"compile for {target.backend}")


def prepare(fields):
    """Load Triton with a driver that knows only the target. Returns Triton and
    the target."""
    triton = load_triton()
    from triton.runtime.driver import driver

    forget_versions()
    if PTXAS in fields:
        check_ptxas(os.fsdecode(fields[PTXAS]))
    target = target_of(os.fsdecode(fields[ARCH]))
    check_backend(triton, target)
    driver.set_active(Driver(target))
    return triton, target


def compile_kernel(fields):
    def text(field):
        return os.fsdecode(fields[field])

    triton, target = prepare(fields)
    name, shown = text(KERNEL), text(SHOWN)
    root = os.environ.get("TRITON_CACHE_DIR")
    module = load_file(text(FILE), shown)
    if root is not None:  # the file may have set its own
        os.environ["TRITON_CACHE_DIR"] = root
    found = find_kernel(module, name, shown)
    jit = jitted(found)
    options, defaults = read_options(fields, triton, target)
    items = split_signature(text(SIGNATURE), vars(module))
    names = match_items(jit, name, items, given_by(found))
    launch = Launch(found, jit, name, names, items, options, defaults)
    choices, is_chosen, choice = choose(launch, fields)
    if not is_chosen:
        return {CHOICES: [f"{number} {choice.text}" for number, choice in enumerate(choices)],
                VERSION: triton.__version__, NOTE: "; ".join(launch.notes)}
    wanted = dict(zip(names, items))
    run = Run.current = Run([(param.num, param.name, wanted[param.name])
                             for param in jit.params if param.name in wanted],
                            launch.notes, launch.unasked, fields)
    forget_kernels(jit)
    try:
        kernel = launch.compile(choice)
    except Refused:
        raise
    except Made as made:
        return answer_of_stage(run, made, triton.__version__, name)
    except BaseException as error:
        traceback.print_exc()
        raise Refused(INVALID, f"'{name}' does not compile: "
                      + brief(error)) from error
    finally:
        Run.current = None
    return answer_of(run, kernel, triton.__version__, root)


def answer_of_stage(run, made, version, shown):
    if made.data is None:
        raise Refused(INVALID, f"Triton {version} makes no {run.stage} of '{shown}'")
    return {NAME: made.name, VERSION: version, NOTE: "; ".join(run.unasked + run.notes),
            UNASKED: "1" if run.unasked else "", KEY: made.key, PRODUCT: made.data}


def answer_of(run, kernel, version, root):
    folder = run.folder or ""
    parent = os.path.realpath(os.path.dirname(folder))
    if folder and root and parent != os.path.realpath(root):
        raise Refused(IO, f"Triton stored its entry in '{folder}', not in '{root}'")
    for name in (run.source.name[:150], run.source.name) if run.source else ():
        if os.path.exists(os.path.join(folder, f"__grp__{name}.json")):
            return {HASH: getattr(kernel, "metadata", kernel).hash, FOLDER: folder, NAME: name,
                    IS_HIT: "1" if run.is_hit else "", VERSION: version,
                    NOTE: "; ".join(run.unasked + run.notes),
                    UNASKED: "1" if run.unasked else "", KEY: os.path.basename(folder)}
    raise Refused(IO, "Triton stored no entry")

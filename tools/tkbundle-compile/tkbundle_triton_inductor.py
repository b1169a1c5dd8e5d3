# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of a module written by Inductor, as its CachingAutotuner
would.

The module's own decorators, of torch._inductor.runtime.triton_heuristics, choose the
configurations; each is a choice. A reduction that uses many registers has further
choices, known only once it is compiled.
"""

import ast
import copy
import functools
import json
import os
import re
import struct
import tempfile
import traceback
import types

from tkbundle_triton_launch import (CHOICE, CHOICES, FILE, NAME, NOTE, SHOWN, UNSUPPORTED, VERSION,
                                    WINNERS, Run, answer_of, brief, load_file, prepare)
from tkbundle_triton_signature import INVALID, Refused
from tkbundle_triton_tuned import shown as shown_config

REGISTER_COUNT = 0x2F04  # EIATTR_REGCOUNT, a size, a symbol, a count


def load_inductor():
    # PyTorch takes an empty value for the name of a folder, and fails to make it.
    # The failed import leaves half of Inductor loaded, and cannot be repeated.
    if os.environ.get("TORCHINDUCTOR_CACHE_DIR") == "":
        del os.environ["TORCHINDUCTOR_CACHE_DIR"]
    try:
        from torch._inductor.runtime import (autotune_cache, compile_tasks, hints,
                                             triton_helpers, triton_heuristics)
    except ImportError as error:
        raise Refused(UNSUPPORTED, f"PyTorch's Inductor cannot be imported: {error}") from error
    return types.SimpleNamespace(cache=autotune_cache, tasks=compile_tasks, hints=hints,
                                 helpers=triton_helpers, heuristics=triton_heuristics)


class Patches:
    """Patches to Inductor's modules for one job, which has no GPU."""

    def __init__(self):
        self.kept = []

    def set(self, thing, name, value):
        self.kept.append((thing, name, getattr(thing, name)))
        setattr(thing, name, value)

    def put_back(self):
        for thing, name, value in reversed(self.kept):
            setattr(thing, name, value)


class Replaced:
    """A module in which some names are replaced."""

    def __init__(self, module, **names):
        self.__dict__.update(names, replaced_module=module)

    def __getattr__(self, name):
        return getattr(self.replaced_module, name)


class Winners:
    """The .best_config files beside a module. Their names depend on the build of
    PyTorch, so a file is chosen by its contents: it must have the module's
    configurations.
    """

    save = None

    def __init__(self, cache, filename, configs_hash):
        self.cache, self.configs_hash = cache, configs_hash
        self.folder = os.path.dirname(filename)

    def read_best(self, inductor_meta, configs):
        found = []
        for name in sorted(os.listdir(self.folder)):
            if not name.endswith(".best_config"):
                continue
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                best = self.cache._load_cached_autotuning(
                    json.load(file), self.configs_hash, configs, inductor_meta)
            if best is not None and all(best.all_kwargs() != other.all_kwargs()
                                        for other in found):
                found.append(best)
        return found[0] if len(found) == 1 else None


def patch(inductor, patches, target, only_winners, made_for):
    def properties(*args, **named):
        props = real(*args, **named)
        made_for.add(props.cc)
        return props._replace(cc=target.arch, major=target.arch // 10)

    real = inductor.hints.DeviceProperties
    properties.create = real.create
    patches.set(inductor.hints, "DeviceProperties", properties)
    # Some heuristics choose differently if PyTorch has no CUDA device.
    torch = inductor.heuristics.torch
    patches.set(inductor.heuristics, "torch", Replaced(torch, cuda=Replaced(
        torch.cuda, is_available=lambda: True)))
    for name in ("set_driver_to_gpu", "set_driver_to_cpu"):
        patches.set(inductor.helpers, name, lambda: None)
    patches.set(inductor.cache.AutotuneCache, "create", staticmethod(
        lambda _meta, filename, configs_hash:
        Winners(inductor.cache, filename, configs_hash) if only_winners else None))


def sources_of(path, shown):
    """The source texts of kernels in a module that calls them, by kernel name."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (SyntaxError, ValueError) as error:
        raise Refused(INVALID, f"'{shown}' cannot be run: {brief(error)}") from error
    return {call.args[0].value: call.args[1].value for call in ast.walk(tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            and call.func.attr == "triton" and len(call.args) > 1
            and getattr(call.func.value, "id", "") == "async_compile"
            and all(isinstance(getattr(arg, "value", None), str) for arg in call.args[:2])}


def autotuners(inductor, path, shown):
    """The autotuners of the module, by kernel name."""
    found = {}

    def add(module):
        for name, value in vars(module).items():
            if isinstance(value, inductor.heuristics.CachingAutotuner):
                found[name] = value

    sources = sources_of(path, shown)
    if not sources:
        add(load_file(path, shown))
    with tempfile.TemporaryDirectory(prefix="tkbundle-") as folder:
        for number, source in enumerate(sources.values()):
            name = os.path.join(folder, f"tkbundle_kernel_{number}.py")
            with open(name, "w", encoding="utf-8") as file:
                file.write(source)
            add(load_file(name, shown))
    if not found:
        raise Refused(INVALID, f"'{shown}' has no kernel of Inductor's; a kernel of another "
                      f"kind is named, as '{shown}:KERNEL'")
    return found


def text_of(name, config, version):
    release = re.search(r"V([\d.]+)", version)
    return (f"{name}: {shown_config(config.all_kwargs(), {'num_ctas': 1})} "
            f"ptxas={release[1] if release else version}")


VERSIONS = {}  # versions of ptxas, by the identity of the file


def version_of(compiler, arch):
    """The version of ptxas. Triton caches only one version, and its cache must
    be cleared to ask again, which starts ptxas; so this keeps a cache of its
    own."""
    if not hasattr(compiler, "get_ptxas"):
        compiler.get_ptxas_version.cache_clear()
        return compiler.get_ptxas_version(arch)
    path = compiler.get_ptxas(arch).path
    now = os.stat(path)
    key = arch, path, now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
    if key not in VERSIONS:
        compiler.get_ptxas_version.cache_clear()
        VERSIONS[key] = compiler.get_ptxas_version(arch)
    return VERSIONS[key]


def ptxas_versions(inductor, target):
    """Inductor compiles with PyTorch's ptxas if there is one. Its worker processes
    have that version in their keys. The main process has the version of Triton's own
    ptxas, which it asked for earlier. Which process compiles a kernel depends on when
    workers are ready.
    """
    import triton.backends.nvidia.compiler as compiler

    own = version_of(compiler, target.arch)
    path = inductor.tasks._set_triton_ptxas_path
    getattr(path, "__wrapped__", path)()
    used = version_of(compiler, target.arch)
    return [used] if used == own else [used, own]


def choices_of(found, only_winners, versions):
    """Kernel, autotuner, configuration and version of ptxas of each choice."""
    choices = []
    for name, autotuner in found.items():
        state = (autotuner.autotune_cache_info or {}).get("autotune_cache_state")
        if only_winners and state != "hit" and len(autotuner.configs) > 1:
            raise Refused(INVALID, f"'{name}' has no winner: no .best_config beside "
                          "the file, or several, have its configurations")
        choices += [(name, autotuner, config, version) for config in autotuner.configs
                    for version in versions]
    return choices


def scale(config):
    """The configuration with half of the largest reduction block."""
    config = copy.deepcopy(config)
    name = max((name for name in config.kwargs if name.startswith("R")),
               key=config.kwargs.__getitem__)
    config.kwargs[name] //= 2
    return config


def choose(choices, text):
    """Find a choice by its text: its number, how often it is scaled, and its
    members."""
    number, _, label = text.partition(" ")
    number, _, times = number.partition("+")
    if number.isdigit() and int(number) < len(choices):
        name, autotuner, config, version = choices[int(number)]
        for _ in range(int(times or "0")):
            config = scale(config)
        if text_of(name, config, version) == label:
            return int(number), int(times or "0"), name, autotuner, config, version
    raise Refused(INVALID, f"there is no configuration '{label}'")


def registers_of(cubin):
    """The registers of the cubin's kernel, as the driver reports when it is
    loaded; None: not found."""
    def read(form, at):
        return struct.unpack_from(form, cubin, at)

    sections, size, count = read("<Q", 40)[0], *read("<HH", 58)
    for at in range(sections, sections + size * count, size):
        _name, kind, _flags, _addr, offset, length = read("<IIQQQQ", at)
        if kind != 0x70000000:  # SHT_CUDA_INFO
            continue
        end = offset + length
        while offset < end:
            attribute, value = read("<HH", offset)
            if attribute == REGISTER_COUNT:
                return read("<II", offset + 4)[1]
            offset += 4 + (value if attribute & 0xFF == 4 else 0)
    return None


def scaled(autotuner, config, registers):
    """The further configurations that Inductor compiles if the kernel uses so
    many registers."""
    made = []
    autotuner.compile_results = [types.SimpleNamespace(
        config=config, kernel=types.SimpleNamespace(n_regs=registers))]
    autotuner._make_launchers = lambda: None
    autotuner._precompile_config = lambda new: made.append(new) or types.SimpleNamespace(
        config=new, kernel=types.SimpleNamespace(n_regs=None))
    if hasattr(autotuner, "_dynamic_scale_rblock"):
        autotuner._dynamic_scale_rblock()
    return made


def make_as(version, name, autotuner, config):
    """Compile with this version of ptxas in the key. Returns the run and the
    kernel."""
    import triton.backends.nvidia.compiler as compiler

    get_version, compiler.get_ptxas_version = compiler.get_ptxas_version, lambda _arch: version
    run = Run.current = Run([], [], [], {})
    try:
        return run, autotuner._precompile_config(config).kernel
    except BaseException as error:
        traceback.print_exc()
        raise Refused(INVALID, f"'{name}' does not compile: {brief(error)}") from error
    finally:
        Run.current = None
        compiler.get_ptxas_version = get_version


def repeat_stages(patches, run, kernel_name):
    """Let the next compilation reuse the stages of this one's entry. Only the
    version in the key differs: the same program compiles, so the stages are equal.
    """
    import triton.backends.nvidia.compiler as compiler
    from triton.compiler.compiler import ASTSource

    made = {}
    for name in os.listdir(run.folder):
        stem, _, stage = name.rpartition(".")
        if stem == kernel_name:
            with open(os.path.join(run.folder, name), "rb") as file:
                made[stage] = file.read() if stage == "cubin" else file.read().decode()
    of_all = json.loads(made.pop("json"))
    real = compiler.CUDABackend.add_stages

    def repeat(stage, _module, metadata):
        metadata.update({name: value for name, value in of_all.items()
                         if name not in ("hash", "target")})
        return made[stage]

    def add_stages(backend, stages, *args):
        real(backend, stages, *args)
        if made.keys() >= stages.keys():
            stages.update({stage: functools.partial(repeat, stage) for stage in stages})

    patches.set(compiler.CUDABackend, "add_stages", add_stages)
    if "source" in made:
        patches.set(ASTSource, "make_ir", lambda *_args: made["source"])


def compile_choice(triton, patches, choices, versions, text):
    """Compile one choice. The first version is that of the ptxas that compiles. A
    choice with the other version gets the same products under another key.
    """
    number, times, name, autotuner, config, version = choose(choices, text)
    root = os.environ.get("TRITON_CACHE_DIR")
    first, kernel = make_as(versions[0], name, autotuner, config)
    answer = answer_of(first, kernel, triton.__version__, root)
    if version != versions[0]:
        repeat_stages(patches, first, answer[NAME])
        return answer_of(*make_as(version, name, autotuner, config), triton.__version__, root)
    with open(os.path.join(first.folder, answer[NAME] + ".cubin"), "rb") as file:
        more = scaled(autotuner, config, registers_of(file.read()))
    there = [text_of(choice[0], *choice[2:]) for choice in choices]
    texts = [text_of(name, new, version) for new in more]
    suffix = f"+{times}" if times else ""
    answer[CHOICES] = [f"{number + at}{suffix} {text_of(name, config, other)}"
                       for at, other in enumerate(versions) if at]
    answer[CHOICES] += [f"{number}+{times + 1} {text}" for text in texts if text not in there]
    return answer


def notes_of(found, target, made_for):
    notes = [f"it was made for {'/'.join(f'cuda:{arch}' for arch in sorted(made_for))}: "
             f"on cuda:{target.arch} Inductor may make other kernels"] \
        if made_for - {target.arch} else []
    tuned = [name for name, autotuner in found.items()
             if autotuner.inductor_meta.get("coordinate_descent_tuning")]
    if tuned:
        notes.append("coordinate descent tries further configurations of "
                     f"{', '.join(tuned)}, which depend on measurements")
    return notes


def compile_module(fields):
    inductor = load_inductor()
    triton, target = prepare(fields)
    versions = ptxas_versions(inductor, target)
    path, shown = os.fsdecode(fields[FILE]), os.fsdecode(fields[SHOWN])
    only_winners, made_for, patches = WINNERS in fields, set(), Patches()
    root = os.environ.get("TRITON_CACHE_DIR")
    patch(inductor, patches, target, only_winners, made_for)
    try:
        found = autotuners(inductor, path, shown)
        if root is not None:
            os.environ["TRITON_CACHE_DIR"] = root
        choices = choices_of(found, only_winners, versions)
        if CHOICE in fields:
            return compile_choice(triton, patches, choices, versions,
                                  os.fsdecode(fields[CHOICE]))
        return {CHOICES: [f"{number} {text_of(choice[0], *choice[2:])}"
                          for number, choice in enumerate(choices)
                          if choice[3] == versions[0]],
                VERSION: triton.__version__, NOTE: "; ".join(notes_of(found, target, made_for))}
    finally:
        patches.put_back()

# SPDX-License-Identifier: Apache-2.0
"""The decorators @triton.autotune and @triton.heuristics of a kernel.

A launch calls them to choose constants and options. A compilation does the same here,
with what the signature tells about the arguments. A launch tries each configuration
that pruning leaves: these are the choices, and a compilation takes one of them.
"""

import copy
import itertools
import re

from tkbundle_triton_signature import INVALID, Refused
from tkbundle_triton_values import Unknown

SHOWN = 8  # configurations
ALWAYS_SHOWN = ("num_warps", "num_stages")


def decorators(value):
    """Triton's decorators, from the outermost to the innermost."""
    from triton.runtime.autotuner import Autotuner, Heuristics

    found = []
    while value is not None:
        if isinstance(value, (Autotuner, Heuristics)):
            found.append(value)
        value = getattr(value, "fn", None)
    return found


def is_autotuner(decorator):
    return hasattr(decorator, "configs")


def given_by(found):
    """The names of the constants that the decorators give."""
    given = set()
    for decorator in decorators(found):
        if is_autotuner(decorator):
            given.update(*(config.kwargs for config in decorator.configs))
        else:
            given.update(decorator.values)
    return given


def shown(choice, defaults):
    return " ".join(f"{name}={re.sub(' at 0x[0-9a-f]+', '', str(value))}"
                    for name, value in choice.items()
                    if name in ALWAYS_SHOWN or name not in defaults
                    or value != defaults[name])


class Choice:
    """One configuration for each autotuner."""

    def __init__(self, configs, defaults):
        self.configs = configs
        self.text = shown({name: value for config in configs
                           for name, value in config.all_kwargs().items()}, defaults)

    def is_like(self, other):
        return self.text == other.text and [config.pre_hook for config in self.configs] \
            == [config.pre_hook for config in other.configs]


class Launch:
    """A launch of a kernel with all its decorators."""

    def __init__(self, found, jit, name, names, items, options, defaults):
        self.found, self.jit, self.name = decorators(found), jit, name
        self.items = dict(zip(names, items))
        self.options, self.defaults = options, defaults
        self.given = given_by(found)
        self.notes = []    # messages to the user
        self.unasked = []  # reasons why no launch asks for this kernel
        self.kept = []
        self.is_recorded = False  # True: the options are those of the recorded launch

    def known(self):
        """The arguments that a caller passes, as far as the signature tells."""
        return {name: item.known(name) for name, item in self.items.items()
                if name not in self.given}

    def constants(self):
        constants = {param.name: param.default for param in self.jit.params
                     if param.has_default and param.name not in self.items}
        for name, item in self.items.items():
            if item.is_constant or item.hint == 1:
                constants[name] = 1 if item.type else item.value
        return constants

    def fits(self, config):
        """True if the configuration agrees with the requested constants and
        options."""
        asked = {**self.constants(), **self.options}
        given = {name for name in asked if name in self.items or name in self.options}
        return all(name not in given or bool(asked[name] == value)
                   for name, value in config.all_kwargs().items())

    def choices(self):
        """All choices of a launch; none if no launch asks for this kernel."""
        lists = []
        for autotuner in filter(is_autotuner, self.found):
            configs = self.prune(autotuner)
            lists.append([config for config in configs if self.fits(config)])
            if not lists[-1]:
                self.refuse_configs(configs)
                return []
        choices = []
        for configs in itertools.product(*lists):
            choice = Choice(configs, self.defaults)
            if not any(choice.is_like(other) for other in choices):
                choices.append(choice)
        return choices

    def refuse_configs(self, configs):
        asked = {**self.constants(), **self.options}
        wanted = {name: asked[name] for name in (*self.items, *self.options)
                  if name in asked and any(name in config.all_kwargs() for config in configs)}
        there = [shown(config.all_kwargs(), self.defaults) for config in configs]
        if len(there) > SHOWN:
            there[SHOWN:] = [f"{len(there) - SHOWN} more"]
        why = (f"'{self.name}' is autotuned, and no configuration of it is "
               f"{shown(wanted, {})}; there are: " + ", ".join(there))
        if not self.is_whole():
            raise Refused(INVALID, why)
        self.unasked.append(f"no launch asks for this: {why}")

    def is_whole(self):
        """True if the signature has values for everything that the decorators
        would give."""
        return all(param.name in self.items or param.has_default
                   for param in self.jit.params)

    def prune(self, autotuner):
        """The configurations that a launch tries."""
        configs = autotuner.configs
        if len(configs) == 1 or not (getattr(autotuner, "early_config_prune", None)
                                     or getattr(autotuner, "perf_model", None)):
            return configs
        constants = {param.name for param in self.jit.params if param.is_constexpr}
        known = {**self.known(), **self.heuristics_before(autotuner)}
        named = {name: value for name, value in known.items() if name in constants}
        try:
            try:
                autotuner.nargs = {name: value for name, value in known.items()
                                   if name not in constants}
                return autotuner.prune_configs(named)
            except (KeyError, TypeError):  # it wants all, as if by position
                autotuner.nargs = known
                return autotuner.prune_configs({})
        except Unknown as error:
            why = f"{error}, which the signature does not tell"
        except Exception as error:
            why = f"a function that failed here ({type(error).__name__}: {error})"
        self.notes.append(f"which of the {len(configs)} configurations of '{self.name}' a "
                          f"launch tries depends on {why}: all are compiled")
        return configs

    def heuristics_before(self, autotuner):
        """Values that the decorators around an autotuner give it."""
        values = {}
        for decorator in self.found[:self.found.index(autotuner)]:
            for name, choose in getattr(decorator, "values", {}).items():
                try:
                    values[name] = choose({**self.known(), **values})
                except Exception:
                    continue  # the failure is reported when the kernel is compiled
        return values

    def compile(self, choice):
        """Launch with this choice, or without the decorators if there is none."""
        values = self.known()
        if choice is None:
            return self.run_kernel((), {**values, **self.options, "grid": (1,),
                                        "warmup": True})
        chosen = {name for config in choice.configs for name in config.all_kwargs()}
        options = {name: value for name, value in self.options.items() if name not in chosen}
        for autotuner, config in zip(filter(is_autotuner, self.found), choice.configs):
            self.keep(autotuner, "configs", [self.hooked(autotuner, config)])
        for decorator in self.found:
            if not is_autotuner(decorator):
                self.keep(decorator, "values", {
                    name: self.watched(name, choose)
                    for name, choose in decorator.values.items()})
        outer = self.found[0] if self.found else self.jit
        self.keep(self.jit, "run", lambda *args, **more: self.run_kernel(args, more))
        args = []
        for param in self.jit.params:
            if param.name not in values or param.name in self.defaults:
                break
            args.append(values.pop(param.name))
        try:
            return outer.run(*args, grid=(1,), warmup=True, **{**options, **values})
        except Unknown as error:
            raise Refused(INVALID, f"a hook of '{self.name}' asks for {error}, which the "
                          "signature does not tell") from error
        finally:
            self.put_back()

    def keep(self, thing, name, value):
        self.kept.append((thing, name, vars(thing).get(name)))
        setattr(thing, name, value)

    def put_back(self):
        for thing, name, value in reversed(self.kept):
            delattr(thing, name)
            if value is not None:
                setattr(thing, name, value)
        self.kept = []

    @staticmethod
    def hooked(autotuner, config):
        """The configuration with the autotuner's hook. A launch that tries
        several calls that with each."""
        if len(autotuner.configs) == 1 or \
                not getattr(autotuner, "user_defined_pre_hook", False):
            return config
        hooks = [hook for hook in (config.pre_hook, autotuner.pre_hook) if hook]
        config = copy.copy(config)
        config.pre_hook = lambda args: [hook(args) for hook in hooks]
        return config

    def watched(self, name, choose):
        """The heuristic; if the signature has a constant, that is used instead."""
        item = self.items.get(name)

        def call(args):
            try:
                value = choose(args)
            except Unknown as error:
                if item is not None:
                    return item.value
                raise Refused(INVALID, f"a heuristic makes '{name}' of {error}, which the "
                              "signature does not tell: it may, as i32=4096, or give "
                              f"'{name}' as a constant") from error
            except Exception:
                if item is None:
                    raise
                return item.value
            if item is not None and bool(value != item.value):
                self.unasked.append(f"no launch asks for this: a heuristic makes '{name}' "
                                    f"{value!r}, not {item.value!r}")
            return value if item is None else item.value

        return call

    def run_kernel(self, args, more):
        """The innermost launch, with the arguments for Triton. From the first
        parameter on that is missing or has the name of an option, arguments are passed
        by name: Triton then also uses the value for the option. A recorded launch that
        did so has the option recorded.
        """
        more.update(zip((param.name for param in self.jit.params), args))
        values = {}
        for param in self.jit.params:
            item = self.items.get(param.name)
            if item is not None and (param.name not in more or not self.is_changed(item)):
                more[param.name] = item.argument()
            if param.name in more:
                values[param.name] = more.pop(param.name)
        args = []
        for param in self.jit.params:
            is_option = param.name in (self.options if self.is_recorded else self.defaults)
            if param.name not in values or is_option:
                break
            args.append(values.pop(param.name))
        return type(self.jit).run(self.jit, *args, **more, **values)

    @staticmethod
    def is_changed(item):
        """True for an argument that a hook may have changed, such as a
        descriptor's block."""
        return item.block is not None or item.is_constant

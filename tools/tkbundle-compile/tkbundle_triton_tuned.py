# SPDX-License-Identifier: Apache-2.0
"""The decorators @triton.autotune and @triton.heuristics of a kernel.

A launch calls them to choose constants and options; a compilation here does not,
since the request has them. A choice that no launch would make is noted.
"""

SHOWN = 8  # configurations
ALWAYS_SHOWN = ("num_warps", "num_stages")


def decorators(value):
    """From the outermost to the innermost."""
    while value is not None:
        inner = getattr(value, "fn", None)
        if isinstance(getattr(value, "configs", None), (list, tuple)):
            yield "autotune", value
        elif inner is not None and isinstance(getattr(value, "values", None), dict):
            yield "heuristics", value
        value = inner


class Constants(dict):
    """The known arguments of a launch; others raise KeyError."""

    def get(self, name, default=None):
        return self[name]


class Asked:
    """The request: constants by parameter name, and options."""

    def __init__(self, jit, names, items, options, defaults):
        self.constants = {param.name: param.default for param in jit.params
                          if param.has_default and param.name not in names}
        self.types = set()
        for name, item in zip(names, items):
            if item.type is None or item.hint == 1:
                self.constants[name] = 1 if item.type else item.value
            else:
                self.types.add(name)
        self.options = {**defaults, **options}

    def value_of(self, name):
        return self.constants[name] if name in self.constants else self.options[name]

    def fits(self, choice):
        """True if the request can be this choice; parameters that are not constants fit any."""
        return all(name in self.types or not self.knows(name)
                   or bool(self.value_of(name) == value)
                   for name, value in choice.items())

    def knows(self, name):
        return name in self.constants or name in self.options


def choices_of(autotuner):
    return [config.all_kwargs() for config in autotuner.configs]


def shown(choice, defaults):
    return " ".join(f"{name}={value}" for name, value in choice.items()
                    if name in ALWAYS_SHOWN or name not in defaults
                    or value != defaults[name])


def tuning_note(autotuner, name, asked, defaults):
    choices = choices_of(autotuner)
    if not choices or any(asked.fits(choice) for choice in choices):
        return None
    wanted = {key: asked.value_of(key) for key in choices[0]
              if asked.knows(key) and key not in asked.types}
    there = [shown(choice, defaults) for choice in choices]
    if len(there) > SHOWN:
        there[SHOWN:] = [f"{len(there) - SHOWN} more"]
    return (f"no launch asks for this: '{name}' is autotuned, and no configuration "
            f"of it is {shown(wanted, defaults)}; there are: " + ", ".join(there))


def heuristics_notes(heuristics, asked):
    known = Constants({**asked.options, **asked.constants})
    for name, choose in heuristics.values.items():
        if name not in asked.constants:
            continue
        try:
            value = choose(known)
            differs = bool(value != asked.constants[name])
        except Exception:
            continue  # it depends on arguments that only a launch knows
        if differs:
            yield (f"no launch asks for this: a heuristic makes '{name}' {value!r}, "
                   f"not {asked.constants[name]!r}")


def notes_of(kernel, name, asked, defaults):
    """The known reasons why no launch asks for this kernel."""
    notes = []
    for kind, decorator in decorators(kernel):
        try:
            if kind == "heuristics":
                notes.extend(heuristics_notes(decorator, asked))
            else:
                notes.append(tuning_note(decorator, name, asked, defaults))
        except Exception:
            continue  # not one of Triton's decorators, or a newer kind
    return [note for note in notes if note]

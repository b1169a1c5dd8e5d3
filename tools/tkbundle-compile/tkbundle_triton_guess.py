# SPDX-License-Identifier: Apache-2.0
"""Guesses what a kernel was compiled from, judging by its IR.

The IR has types, divisibility and names of arguments, but no values of constants.
These are guessed, the most likely first; the caller finds out which guess is right.
"""

import itertools
import re

from tkbundle_triton_signature import INVALID, Item, Refused
from tkbundle_triton_tuned import decorators, is_autotuner

KEYS_TRIED = 20000
ELEMENTS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv",
            "f8E5M2": "fp8e5", "f8E4M3FNUZ": "fp8e4b8", "f8E5M2FNUZ": "fp8e5b16"}


class Unlike(Exception):
    """The reason why this source, or these constants, did not make the recorded
    kernel."""


def constant(number, value):
    item = Item(number, "None")
    item.text, item.value = repr(value), value
    return item


def types_in_ir(text, name):
    """The types that may have become this one; the usual one first."""
    match = re.match(r"!tt\.ptr<([\w]+)", text)
    star, inner = ("*", match[1]) if match else ("", text)
    if inner in ELEMENTS:
        return [star + ELEMENTS[inner]]
    if re.fullmatch(r"i(1|8|16|32|64)", inner):
        return [star + inner, star + "u" + inner[1:]]
    raise Refused(INVALID, f"the IR of '{name}' does not tell what it takes as '{text}'")


def is_large(recorded, text):
    """Whether the argument of a kernel for HIP is a pointer to 2 GiB or more."""
    return recorded.target.backend == "hip" and "!tt.ptr<" in text and \
        "tt.pointer_range = 32" not in text


def arguments_in_ir(recorded):
    """The name, or None, the types and the hint of each argument."""
    head = re.search(r"tt\.func (?:public )?@(?:\"[^\"]*\"|[\w.$-]+)\((.*?)\)(?: ->.*)? "
                     r"(?:attributes )?\{", recorded.ir)
    if head is None:
        raise Refused(INVALID, f"the IR of '{recorded.name}' has no kernel")
    names = {number: name for number, name in
             re.findall(r'^(#loc\d*) = loc\("([^"]+)"\(#loc\d*\)\)$', recorded.ir, re.M)}
    found = []
    for text in re.split(r", (?=%)", head[1]):
        match = re.match(r"%[\w.$-]+: ([^\s{]+(?:<[^>]*>)?)", text)
        if match is None:
            continue
        place = re.search(r'loc\((?:"([^"]+)"\(|(#loc\d*))', text)
        name = place and (place[1] or names.get(place[2]))
        hint = re.search(r"tt\.divisibility = (\d+)", text)
        found.append((name, types_in_ir(match[1], recorded.name),
                      (":16" if hint and int(hint[1]) % 16 == 0 else "") +
                      (":large" if is_large(recorded, text) else "")))
    return found


def values_in_ir(recorded):
    """Candidates for a constant: numbers in the IR, and values that no IR
    shows."""
    import triton.language as tl

    numbers = {int(number) for number in re.findall(r"(?<![\w.#%])\d{1,9}(?=[x\s,>)])",
                                                    recorded.ir)}
    powers = sorted(number for number in numbers if number > 1 and number & (number - 1) == 0)
    numbers.update(int(float(number)) for number in re.findall(r"\d\.\d+E[+-]\d+",
                                                               recorded.ir, re.I)
                   if float(number).is_integer() and abs(float(number)) < 1 << 31)
    rest = sorted(number for number in numbers if number not in powers and number > 1)
    kinds = [getattr(tl, name) for word, name in
             (("f16", "float16"), ("bf16", "bfloat16"), ("f32", "float32"), ("f64", "float64"))
             if re.search(rf"\b(?:\d+x)*{word}\b", recorded.ir)]
    return powers, [True, False], [1, 0, None], kinds, rest[:48]


def values_of(param, values):
    """The same, with values first that are usual for a parameter of this name."""
    powers, truths, few, kinds, rest = values
    if re.search("(?i)type", param.name):
        order = kinds, truths, few, powers
    elif re.match("(?i)(is|has|use|do|with|enable|allow|even)_", param.name):
        order = truths, few, powers, kinds
    else:
        order = powers, truths, few, kinds
    default = [param.default] if param.has_default else []
    return [*default, *itertools.chain(*order), *rest]


def configurations(found, options):
    """Values that decorators may assign, as far as they match the kernel's
    options."""
    lists = [[config.all_kwargs() for config in decorator.configs]
             for decorator in decorators(found) if is_autotuner(decorator)]
    for configs in itertools.product(*lists):
        given = {name: value for config in configs for name, value in config.items()}
        if all(given.get(name, value) == value for name, value in options.items()):
            yield given


def guesses(recorded, found, jit, options):
    """The constants and the types that the IR allows, the most likely first."""
    told = arguments_in_ir(recorded)
    names = [name for name, _, _ in told]
    if not all(names):  # before Triton 3.5
        names = [param.name for param in jit.params if not param.is_constexpr]
        if len(names) != len(told):
            raise Unlike("has arguments that its IR does not name")
    if not set(names) <= set(jit.arg_names):
        raise Unlike("has other parameters than the recorded one")
    kinds = {name: [kind + hint for kind in kinds]
             for name, (_, kinds, hint) in zip(names, told)}
    missing = [param for param in jit.params if param.name not in kinds]
    values = values_in_ir(recorded)
    plain = {param.name: values_of(param, values) if param.is_constexpr else [1, None]
             for param in missing}
    configs = [*configurations(found, options), {}]
    for config in configs:
        lists = [[config[param.name]] if param.name in config else plain[param.name]
                 for param in missing]
        for chosen in itertools.islice(nearest(lists + list(kinds.values())),
                                       KEYS_TRIED // len(configs)):
            yield (dict(zip((param.name for param in missing), chosen)),
                   dict(zip(kinds, chosen[len(missing):])))


def nearest(lists):
    """All combinations. Those whose members all stand near the start of their
    lists come first."""
    longest = max(map(len, lists), default=1)
    size, before = min(4, longest), 0
    while True:
        for chosen in itertools.product(*(range(min(len(one), size)) for one in lists)):
            if before == 0 or any(number >= before for number in chosen):
                yield [one[number] for one, number in zip(lists, chosen)]
        if size == longest:
            return
        before, size = size, min(size * 2, longest)


def items_of_guess(jit, constants, kinds):
    return {name: constant(number, constants[name]) if name in constants
            else Item(number, kinds[name]) for number, name in enumerate(jit.arg_names, 1)}

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the public headers against those of the first version.

    layout.py COMPILER FIRST_HEADERS HEADERS

A program that was compiled with the first headers runs with the library of
today: every function has the declaration that it had, every enumerator its
value, every member its place and size. New members stand behind all that the
first version of a struct had, padding included; a struct without a struct_size
that callers hold by value, or in an array, has its size. Prints TAP.
"""

import os
import re
import subprocess
import sys
import tempfile

# Lent by the library, one by one: they may grow at their end.
LENT = {
    "tkb_compiled", "tkb_cubin_part", "tkb_dropped_launcher", "tkb_engine_external",
    "tkb_engine_root", "tkb_engine_rule", "tkb_engine_setting", "tkb_engine_variable",
    "tkb_entry", "tkb_holdings_item", "tkb_holdings_record", "tkb_launcher", "tkb_left_out",
    "tkb_machine_gpu", "tkb_op_limits", "tkb_remote_fault", "tkb_remote_url", "tkb_result",
    "tkb_revoked_list", "tkb_saved_launcher", "tkb_triton_compiled", "tkb_triton_item",
    "tkb_triton_variable", "tkb_trusted", "tkb_untrusted", "tkb_use",
}

# Their watch is for all calls with what they open, and each of these has its own limit.
WATCH_FOR_MANY = {
    "tkb_compiler_options", "tkb_op_limits", "tkb_pool_options", "tkb_remote_options",
    "tkb_triton_options",
}


def code_of(folder):
    """All public headers without comments and directives."""
    text = ""
    for name in sorted(os.listdir(os.path.join(folder, "tkbundle"))):
        with open(os.path.join(folder, "tkbundle", name), encoding="utf-8") as file:
            text += re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.S)
    return re.sub(r"^[ \t]*#.*(\\\n.*)*", "", text, flags=re.M)


def structs_of(code):
    """Names and members of structs."""
    found = {}
    for match in re.finditer(r"struct (tkb_\w+) \{(.*?)\n\};", code, re.S):
        members = []
        for part in match[2].split(";"):
            function = re.search(r"\(\*(\w+)\)", part)
            plain = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part.strip())
            if function or (part.strip() and plain):
                members.append((function or plain)[1])
        found[match[1]] = members
    return found


def constant_structs(folder):
    """Those of which error.h says that they never change."""
    with open(os.path.join(folder, "tkbundle", "error.h"), encoding="utf-8") as file:
        said = re.search(r"These never change:(.*?)\.\n", file.read(), re.S)
    return set(re.findall(r"\btkb_\w+", said[1])) if said else set()


def undecided(structs, constant):
    """Yield structs of which nothing says whether they can grow, or two things."""
    for name, members in structs.items():
        ways = [name in LENT, "struct_size" in members, "abi" in members, name in constant]
        if sum(ways) != 1:
            yield f"struct {name}: lent, sized, with an ABI number or constant? {ways}"
    for name in sorted((LENT | constant) - set(structs)):
        yield f"there is no struct {name}"


def without_deadline(structs):
    """Yield options of a call that a watch can end, and no deadline."""
    for name, members in structs.items():
        if "watch" in members and "deadline_ms" not in members and name not in WATCH_FOR_MANY:
            yield f"struct {name}"


def enumerators_of(code):
    names = []
    for match in re.finditer(r"enum(?: tkb_\w+)? \{(.*?)\}", code, re.S):
        names += re.findall(r"\b(TKB_\w+)\b(?=\s*[=,}]|\s*$)", match[1])
    return names


def functions_of(code):
    """Declarations by name, with their blanks made alike."""
    found = {}
    for match in re.finditer(r"TKB_API\b([^;{]*?\b(tkb_\w+)\([^;{]*\));", code):
        found[match[2]] = re.sub(r"\s*([(),*])\s*", r"\1", " ".join(match[1].split()))
    return found


def measure(compiler, folder, structs, enumerators):
    """What the compiler makes of them."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <tkbundle/tkbundle.h>",
             "int main(void)", "{"]
    for name, members in structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for member in members:
            lines.append(
                f'printf("{name}.{member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                f"sizeof(((struct {name} *)0)->{member}));")
    for name in enumerators:
        lines.append(f'printf("{name} %d\\n", (int){name});')
    lines += ["return 0;", "}"]
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "a.c"), os.path.join(work, "a")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        subprocess.run([compiler, "-w", "-I", folder, "-o", program, source], check=True)
        out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {line.split()[0]: tuple(map(int, line.split()[1:])) for line in out.splitlines()}


def compare(first, first_structs, now, now_structs):
    """Yield what is wrong."""
    for name, value in first.items():
        if name not in now:
            yield f"{name} is gone"
        elif name in first_structs:
            can_grow = name in LENT or "struct_size" in first_structs[name]
            if now[name] != value and not can_grow:
                yield f"struct {name} has {now[name][0]} bytes, not {value[0]}"
        elif now[name] != value:
            yield f"{name} is {now[name]}, not {value}"
    for name, members in now_structs.items():
        for member in members:
            place = f"{name}.{member}"
            if name in first and place not in first and now[place][0] < first[name][0]:
                yield f"{place} stands in what was padding"


def report(checks):
    """Print TAP: what is wrong, by the sentence that should hold. Is anything?"""
    print(f"1..{len(checks)}")
    for number, (sentence, faults) in enumerate(checks.items(), 1):
        print(f"{'not ' if faults else ''}ok {number} - {sentence}")
        for fault in faults:
            print(f"# {fault}")
    return any(checks.values())


def main():
    compiler, *folders = sys.argv[1:]
    codes = [code_of(folder) for folder in folders]
    structs = [structs_of(code) for code in codes]
    sizes = [measure(compiler, folders[i], structs[i], enumerators_of(codes[i])) for i in (0, 1)]
    functions = [functions_of(code) for code in codes]
    checks = {
        "structs and enumerators are where they were":
            list(compare(sizes[0], structs[0], sizes[1], structs[1])),
        "functions are declared as they were":
            [f"{name}: {text}" for name, text in functions[0].items()
             if functions[1].get(name) != text],
        "of each struct it is said whether it can grow":
            list(undecided(structs[1], constant_structs(folders[1]))),
        "options with a watch have a deadline":
            list(without_deadline(structs[1])),
        "there is something to compare":
            [] if len(structs[0]) > 50 and len(functions[0]) > 100 else ["nothing"],
    }
    return report(checks)


if __name__ == "__main__":
    sys.exit(main())

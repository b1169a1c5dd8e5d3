#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks single lines of the libraries, and counts those that tests notice.

    mutants.py plant LIST COUNT SEED TREE...
    mutants.py run LIST JOBS SLOWEST BUILD...

`plant` chooses lines, writes LIST, and changes src/ in each TREE, a work tree
made for that: a mutant is a line that does something else where TKB_MUTANT has
its number, so one build, with -DTKB_WERROR=OFF, serves all. Of several trees,
say of two commits, the lines stand once in each, between the same neighbours.

`run` takes the build folder of each tree. First all tests run without a mutant,
and tell which they come by; those that fail, or last SLOWEST seconds, are left
out. Then each mutant meets those that come by it, the quickest first, until one
fails twice, or does not end. BUILD/mutants.jsonl has what was found: another
`run` goes on from there, and the last prints what was missed.
"""

import array
import concurrent.futures
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = f'#include "{HERE}/mutant.h"\n#line 1\n'
EVERY = range(10000)
KINDS = ("negated", "boundary", "logic", "constant", "error", "dropped")
# Where a whole expression stands in one line: before it, it, behind it.
SLOTS = [re.compile(slot) for slot in (
    r"^(\t+(?:\} else )?(?:if|while) \()(.+)(\)(?: \{)?)$",
    r"^(\t+for \([^;]*; )([^;]+)(; [^;]*\)(?: \{)?)$",
    r"^(\t+return )([^{}]+)(;)$",
    r"^(\t+\*?[\w.>\[\]-]+ [|&+-]?= )([^{}]+)(;)$")]
CALL = re.compile(r"^(\t+)((?:\(void\))?(?!sizeof)[a-z]\w*(?:->\w+)*\(.*\);)$")
BEGIN = re.compile(r"(^|[;{})]|else|:)$")
LEFT_OUT = re.compile(r"\b(?:assert|static_assert|va_\w+)\b|/\*|\*/|\\$|#")
BRACKETS = r"\([^][(){}]*\)|\[[^][(){}]*\]|\{[^][(){}]*\}"
STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
ERROR = re.compile(r"(rc|tkb_fail\w*\(.*\)|TKB_MISS|TKB_ERR\w+)$")
SWAPS = {
    "boundary": [(r" ([<>])(=?) ",
                  lambda m: f" {m[1]} " if m[2] else f" {m[1]}= ")],
    "logic": [(r"&&", lambda m: "||"), (r"\|\|", lambda m: "&&")],
    "constant": [(r"(?<![\w.])\d{1,6}(?=[uUlL]*\b)",
                  lambda m: str(int(m[0]) + 1)),
                 (r"\btrue\b", lambda m: "false"),
                 (r"\bfalse\b", lambda m: "true")],
}


def is_whole(text):
    text = STRING.sub("", text)
    while re.search(BRACKETS, text):
        text = re.sub(BRACKETS, "", text)
    return not re.search(r"[][(){}]", text)


def mutate(before, line, after, kind, rng):
    """The line with mutant @, or None where none of this kind can be."""
    if LEFT_OUT.search(line):
        return None
    if kind == "dropped":
        begins = BEGIN.search(before) and "else" not in after
        found = begins and is_whole(line) and CALL.match(line)
        return found and f"{found[1]}if (!mutant_is(@)) {{ {found[2]} }}"
    found = next(filter(None, (slot.match(line) for slot in SLOTS)), None)
    if not found or not is_whole(found[2]):
        return None
    start, whole, end = found.groups()
    other = None
    if kind == "negated":
        other = f"!({whole})" if start.endswith("if (") else None
    elif kind == "error":
        other = "0" if "return " in start and ERROR.match(whole) else None
    else:
        masked = STRING.sub(lambda m: "_" * len(m[0]), whole)
        swaps = [(place, by) for what, by in SWAPS[kind]
                 for place in re.finditer(what, masked)]
        if swaps:
            place, by = rng.choice(swaps)
            other = whole[:place.start()] + by(place) + whole[place.end():]
    return other and f"{start}mutant_is(@) ? ({other}) : ({whole}){end}"


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_places(tree):
    """Where each line of a function stands, by it and its neighbours."""
    places = {}
    for folder, _, names in sorted(os.walk(os.path.join(tree, "src"))):
        for name in sorted(name for name in names if name.endswith(".c")):
            path = os.path.join(folder, name)
            lines = read_text(path).split("\n")
            inside = False
            for at in range(1, len(lines) - 1):
                inside = (inside or lines[at] == "{") and lines[at] != "}"
                if inside:
                    places.setdefault(tuple(lines[at - 1:at + 2]), []).append(
                        (path, at))
    return places


def plant(to, count, seed, *trees):
    rng = random.Random(int(seed))
    every = [read_places(tree) for tree in trees]
    same = sorted(three for three in every[0] if all(
        len(places.get(three, ())) == 1 for places in every))
    rng.shuffle(same)
    mutants, changes = [], {}
    for number in range(1, int(count) + 1):
        kind = KINDS[number % len(KINDS)]
        three, line = next(filter(lambda found: found[1], (
            (three, mutate(*three, kind, rng)) for three in same)))
        same.remove(three)
        line = line.replace("mutant_is(@)", f"mutant_is({number})")
        where = [places[three][0] for places in every]
        for path, at in where:
            changes.setdefault(path, {})[at] = line
        mutants.append({
            "number": number, "kind": kind, "line": three[1].strip(),
            "becomes": line.strip(), "places": [
                f"{os.path.relpath(path, tree)}:{at + 1}"
                for (path, at), tree in zip(where, trees)]})
    for path, lines in changes.items():
        text = read_text(path).split("\n")
        for at, line in lines.items():
            text[at] = line
        with open(path, "w", encoding="utf-8") as file:
            file.write(PREFIX + "\n".join(text))
    with open(to, "w", encoding="utf-8") as file:
        json.dump(mutants, file, indent=1)


class Test:
    def __init__(self, told):
        known = {one["name"]: one["value"] for one in told["properties"]}
        self.name, self.command = told["name"], told["command"]
        self.folder = known.get("WORKING_DIRECTORY")
        self.environment = dict(
            one.split("=", 1) for one in known.get("ENVIRONMENT", ()) if one)
        self.good, self.seconds, self.reached = False, 0, set()

    def passes(self, limit, **more):
        """Whether it does; None if it does not end."""
        with tempfile.TemporaryDirectory(
                prefix="tkb-mutant-", ignore_cleanup_errors=True,
                dir=self.environment.get("TMPDIR")) as folder:
            os.chmod(folder, 0o1777)
            process = subprocess.Popen(
                self.command, cwd=self.folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, env={
                    **os.environ, **self.environment, "TMPDIR": folder, **more})
            try:
                return process.wait(limit) == 0
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def explore(self, slowest):
        with tempfile.NamedTemporaryFile(prefix="tkb-mutant-") as log:
            os.chmod(log.name, 0o666)
            start = time.monotonic()
            self.good = self.passes(slowest, TKB_MUTANT_LOG=log.name)
            self.seconds = time.monotonic() - start
            self.reached = set(array.array("i", log.read()))
        if self.good is False:
            # It may count calls, the log's among them.
            self.good = self.passes(slowest)
            self.reached = EVERY

    def notices(self, number):
        limit = 30 + 6 * self.seconds
        passed = self.passes(limit, TKB_MUTANT=str(number))
        if passed is False:
            passed = self.passes(limit, TKB_MUTANT=str(number))
        return not passed


def tests_of(build, pool, slowest):
    told = json.loads(subprocess.check_output(
        ["ctest", "--test-dir", build, "--show-only=json-v1"]))
    tests = [Test(one) for one in told["tests"]
             if "command" in one and shutil.which(one["command"][0])]
    list(pool.map(lambda test: test.explore(slowest), tests))
    print(f"{build}: left out:",
          *(test.name for test in tests if not test.good))
    return sorted((test for test in tests if test.good),
                  key=lambda test: test.seconds)


def meet(number, tests, log):
    near = [test for test in tests if number in test.reached]
    by = next((test.name for test in near if test.notices(number)), None)
    found = {"number": number, "by": by, "near": len(near)}
    log.write(json.dumps(found) + "\n")
    log.flush()


def read_found(path):
    text = read_text(path) if os.path.exists(path) else ""
    return {one["number"]: one for one in map(json.loads, text.splitlines())}


def run(of, jobs, slowest, *builds):
    mutants = json.loads(read_text(of))
    logs = [os.path.join(build, "mutants.jsonl") for build in builds]
    for build, path in zip(builds, logs):
        left = {one["number"] for one in mutants} - set(read_found(path))
        with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool, open(
                path, "a", encoding="utf-8") as log:
            tests = tests_of(build, pool, int(slowest)) if left else []
            list(pool.map(lambda one: meet(one, tests, log), sorted(left)))
    found = [read_found(path) for path in logs]
    for mutant in mutants:
        ends = [one[mutant["number"]] for one in found]
        if not all(end["by"] for end in ends):
            print(mutant["number"], mutant["kind"], mutant["line"])
            for place, end in zip(mutant["places"], ends):
                print(f"    {place}:",
                      end["by"] or f"missed by {end['near']} tests")
    for build, one in zip(builds, found):
        caught = sum(end["by"] is not None for end in one.values())
        print(f"{build}: {caught} of {len(mutants)} noticed")


if __name__ == "__main__":
    {"plant": plant, "run": run}[sys.argv[1]](*sys.argv[2:])

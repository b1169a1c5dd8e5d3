#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the CI job of docs/compile.md, and starts from what it has pushed.

usage: ci_job.py PROGRAM SOURCES

Its commands run as they stand, in a folder with the list and the source that they
name; only the remote is a folder. Elsewhere, and under another path, all kernels must be
hits of a real Triton, for each of the targets. Prints TAP.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

LIST = "tests/compile/model.json"
KERNELS = 13


class Job:
    def __init__(self, text):
        self.lines = text.strip().splitlines()
        self.commands = re.findall(r"^ *- run: (.*)$", text, re.M)
        env = re.search(r"^ *env: \{(.*)\}$", text, re.M)[1]
        self.env = {name: bare or quoted for name, quoted, bare in
                    re.findall(r"(\w+): (?:\"([^\"]*)\"|([^,\" ]+))", env)}


class Scene(Tap):
    def __init__(self, program, sources, folder):
        super().__init__()
        self.program, self.sources, self.folder = program, sources, folder
        with open(os.path.join(sources, "docs", "compile.md"), encoding="utf-8") as file:
            section = file.read().partition("\n## A CI job\n")[2]
        self.job = Job(re.search(r"```yaml\n(.*?)```", section, re.S)[1])
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("TRITON_", "TKBUNDLE_", "PYTHON", "VIRTUAL_ENV"))}
        self.env.update(
            self.job.env, HOME=self.path("home"), REMOTE=self.path("remote"),
            PATH=os.pathsep.join((os.path.dirname(program),
                                  os.path.join(sources, "build", "venv", "bin"),
                                  os.environ["PATH"])),
            PYTHONDONTWRITEBYTECODE="1", TKBUNDLE_CONFIG="/dev/null")
        self.targets = self.job.env["TARGETS"].split(",")
        for name in ("home", "remote"):
            os.mkdir(self.path(name))

    def path(self, name):
        return os.path.join(self.folder, name)

    def clone(self, name):
        """What the job needs of a clone."""
        place = os.path.join(self.path(name), os.path.dirname(LIST))
        os.makedirs(place)
        for file in ("model.json", "model.py"):
            shutil.copy(os.path.join(self.sources, "tests", "compile", file), place)
        return self.path(name)

    def run(self, argv, folder):
        done = subprocess.run(argv, cwd=folder, env=self.env, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.stderr.write(done.stdout + done.stderr)
        return done

    def count_in(self, root, target, folder):
        """Compiled and hits, of all kernels for a target."""
        done = self.run([self.program, "compile", LIST, "--target", target, "--cache", root,
                         "--json"], folder)
        says = json.loads(done.stdout)
        return says["compiled"], says["hits"]


def run_job(scene):
    clone = scene.clone("first")
    scene.ok(len(scene.job.lines) == 10 and len(scene.job.commands) == 2
             and len(scene.targets) == 4, "the job has ten lines, and four types of GPU")
    done = [scene.run(["bash", "-e", "-c", command], clone).returncode
            for command in scene.job.commands]
    scene.ok(done == [0, 0], "its commands run as they stand")


def start_elsewhere(scene):
    clone = scene.clone("else/where")
    shutil.rmtree(scene.path("first"))
    for target in scene.targets:
        root = scene.path(f"root of {target}")
        scene.run([scene.program, "pull", "model", root, "--remote", scene.path("remote"),
                   "--target", target], clone)
        scene.ok(scene.count_in(root, target, clone) == (0, KERNELS),
                 f"elsewhere, a pull brings all {KERNELS} kernels for {target}")
    scene.run([scene.program, "pull", "model", "-o", scene.path("model.tkb"), "--remote",
               scene.path("remote")], clone)
    root = scene.path("emitted")
    scene.run([scene.program, "emit", scene.path("model.tkb"), root], clone)
    scene.ok(all(scene.count_in(root, target, clone) == (0, KERNELS)
                 for target in scene.targets),
             "an emit of the whole ref as a bundle brings those of all four")


def main():
    with tempfile.TemporaryDirectory(prefix="tkb-ci-job-") as folder:
        scene = Scene(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]),
                      os.path.realpath(folder))
        run_job(scene)
        start_elsewhere(scene)
        return scene.end()


sys.exit(main())

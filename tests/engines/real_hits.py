#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real PyTorch that hits of Inductor's modules start no Python, as long
as nothing has changed.

    real_hits.py TKBUNDLE PYTHON

What such a hit depends on is changed in each way, and must be seen. Prints TAP.
"""
import glob
import os
import shutil
import sys
import tarfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(TREE, "tests", "compile"))
import triton_hits_scene

FIXTURE = os.path.join(TREE, "fixtures", "inductor-2.11-llama4-h100.tar.gz")


class Scene(triton_hits_scene.Scene):
    """A module that has a winner, and one that calls such modules."""

    def __init__(self, _program, _sources, folder, count=0):
        super().__init__(sys.argv[1], TREE, folder, count)
        self.python = self.real = os.path.abspath(sys.argv[2])
        with tarfile.open(FIXTURE) as archive:
            archive.extractall(self.path("fixture"), filter="data")
        modules = self.path("fixture/.cache/torchinductor")
        self.best = glob.glob(modules + "/*/*.best_config")[0]
        beside = glob.glob(os.path.join(os.path.dirname(self.best), "*.py"))
        self.module = next(path for path in beside if "@triton_heuristics" in self.text(path))
        self.calls = min((path for path in glob.glob(modules + "/*/*.py")
                          if "async_compile.triton(" in self.text(path)), key=os.path.getsize)
        self.input = self.module

    @staticmethod
    def text(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def compile(self, kernel="add", inputs=None):
        return super().compile(kernel, [self.input])


def shadow(scene):
    """A module of PyTorch's is found earlier."""
    places = os.path.join(os.path.dirname(os.path.dirname(scene.real)), "lib", "python3*",
                          "site-packages", "typing_extensions.py")
    shutil.copy(glob.glob(places)[0], scene.path("first"))


def with_module(scene):
    hit = scene.warm()
    scene.ok(hit is not None and '"hit"' in hit, "a hit starts no Python")
    scene.seen("an edited module", lambda: scene.append(scene.module, "# more\n"))
    scene.seen("a module that comes before one of PyTorch's", lambda: shadow(scene))
    os.remove(scene.path("first/typing_extensions.py"))
    scene.seen("a variable of Inductor's", lambda: scene.variables.update(
        TORCHINDUCTOR_COORDINATE_DESCENT_TUNING="1"))
    scene.variables.clear()
    scene.seen("an entry that goes", lambda: [shutil.rmtree(os.path.dirname(path))
                                              for path in glob.glob(scene.path(
                                                  "cache/*/__grp__*"))])
    before = scene.warm()
    scene.variables["NOBODY_READS_THIS"] = "1"
    started, after = scene.compile()
    scene.ok(before is not None and started == 0 and after == before,
             "a variable that nobody reads changes nothing")


def with_winners(scene):
    scene.options.append("--winners")
    hit = scene.warm()
    scene.ok(hit is not None and '"hit"' in hit, "a hit of a winner starts no Python")
    scene.seen("another winner", lambda: scene.append(scene.best, " "))
    scene.seen("a further winner", lambda: shutil.copy(scene.best, scene.best.replace(
        ".best_config", "0.best_config")))


def with_calls(scene):
    """Its kernels are modules of their own, in a folder of a job."""
    scene.input = scene.calls
    hit = scene.warm()
    scene.ok(hit is not None and '"hit"' in hit,
             "hits of a module that calls others start no Python")
    scene.seen("an edit of it", lambda: scene.append(scene.calls, "# more\n"))


if __name__ == "__main__":
    triton_hits_scene.Scene = Scene
    sys.argv[1:] = sys.argv[1:3]
    sys.exit(triton_hits_scene.main((with_module, with_winners, with_calls)))

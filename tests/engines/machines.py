# SPDX-License-Identifier: Apache-2.0
"""Machines with the caches of a real engine on them.

A machine is a home folder of its own, in the folder of a scene; see scene.py.
"""
import json
import os
import re
import subprocess

from scene import FIXTURES, files_below, read, require

VLLM = os.path.join(FIXTURES, "vllm-0.24-small-h200.tar.gz")
TORCH = os.path.join(FIXTURES, "inductor-2.11-llama4-h100.tar.gz")
GRAPH = "torch_compile_cache/799209178a/rank_0_0/backbone"
INDEX = "vllm_compile_cache.py"
AOT = ("torch_compile_cache/torch_aot_compile/1cb23f841b7226a16f673987870be20b"
       "d48f5156ee471951fb99c0dd772af5e3")
PATHS = re.compile(rb"'(/[^']*)'")


class Machine:
    def __init__(self, scene, name, fixture=None, engine="vllm", user="serve"):
        self.scene, self.engine, self.user = scene, engine, user
        self.home = scene.path(name, user)
        os.makedirs(self.home)
        if fixture is not None:
            subprocess.run(["tar", "-xf", fixture, "-C", self.home],
                           check=True)
        self.kernels = os.path.join(self.home, ".triton", "cache")
        self.tree = os.path.join(self.home, ".cache", "vllm")
        self.environment = {"HOME": self.home, "USER": user}
        if engine == "torch":
            self.tree = os.path.join(self.home, ".cache", "torchinductor")
            self.kernels = self.tree
            self.environment["TORCHINDUCTOR_CACHE_DIR"] = self.tree
        if engine == "jax":
            self.tree = os.path.join(self.home, ".cache", "jax")
            self.environment["JAX_COMPILATION_CACHE_DIR"] = self.tree

    def path(self, *names):
        return os.path.join(self.tree, *names)

    def index(self):
        return read(self.path(GRAPH, INDEX))

    def verb(self, verb, *words, env=None, **more):
        """Run `verb` on the engine's caches."""
        return self.scene.tkbundle(
            verb, "--engine", self.engine, *words,
            env={**self.environment, **(env or {})}, **more)

    def document(self, verb, *words, **more):
        return json.loads(self.verb(verb, "--json", *words, **more).out)

    def collect(self, name, **more):
        """Returns the bundle's bytes, and what was said of it."""
        bundle = self.scene.path(name)
        ended = self.document("collect", "-o", bundle, **more)
        return read(bundle), ended

    def emit(self, name, **more):
        ended = self.document("emit", self.scene.path(name), **more)
        return ended["emitted"], ended["present"], ended["repaired"]

    def push(self, **more):
        return self.document("push", "--remote", self.scene.remote, "a/b",
                             **more)

    def pull(self, **more):
        return self.document("pull", "--remote", self.scene.remote, "a/b",
                             **more)


def full(scene):
    return Machine(scene, "first", VLLM)


def empty(scene):
    return Machine(scene, "second")


def contents(root):
    """Each file below `root`, but for tkbundle's own: its bytes by its path."""
    return {inside: ("link", os.readlink(path)) if os.path.islink(path)
            else read(path) for inside, path in files_below(root)}


def stages(root):
    """Leftovers of emits that have ended."""
    own = os.path.join(root, ".tkbundle")
    return [name for name in (os.listdir(own) if os.path.isdir(own) else [])
            if name.startswith(("stage", "tmp"))]


def names_what_is_there(machine):
    """Is the graph's index here, and all that it names, at this place?"""
    paths = [path.decode() for path in PATHS.findall(machine.index())]
    require(paths, "the index names nothing")
    for path in paths:
        require(path.startswith(machine.path(GRAPH) + "/"), path)
        require(os.path.isfile(path), f"there is no {path}")


def reasons(document):
    """Why units were left out: messages by name."""
    return {each["name"] or each["key"]: each["message"]
            for each in document["left_out"]}

# SPDX-License-Identifier: Apache-2.0
"""A machine of the fleet: a scene with Python, the package, and a Triton."""
import os
import re
import subprocess
import sys
import time

import scene

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
VENV = os.path.join(TREE, "build", "venv")
SUPPORT = os.path.join(TREE, "tests", "support")
USER = os.path.join(HERE, "user.py")
STOCK = os.path.join(TREE, "tests", "support", "stock_triton.py")
PACKAGE = os.path.join(TREE, "python")
# Where each Triton of the tests lies; that of 3.6 is Python's own.
TRITONS = {"3.0": os.path.join(VENV, "triton-3.0.0"),
           "3.3": os.path.join(VENV, "triton-3.3.1"), "3.6": "",
           "3.9": os.path.join(VENV, "triton-3.9.0")}


def variables(here, triton=""):
    """What the package needs in the environment, and nothing is awaited."""
    paths = [PACKAGE] if not triton else [triton, PACKAGE]
    return {"PYTHONPATH": ":".join(paths), "PYTHONDONTWRITEBYTECODE": "1",
            "TKBUNDLE_LIBRARY": os.path.dirname(here.program),
            "TKBUNDLE_WAIT": "60s"}


def python(here, code, *words, env=None):
    """Run Python code that has the package."""
    return here.go([sys.executable, "-c", code, *words],
                   env={**variables(here), **(env or {})})


def user(here, version, *words, script=USER, remote=None, root="cache",
         env=None):
    """The command line and the environment of a program that uses Triton."""
    interpreter = os.path.join(VENV, "bin", "python3")
    if not os.path.exists(interpreter):
        raise scene.Skip("there is no Triton in build/venv")
    return [interpreter, script, *words], {
        **variables(here, TRITONS[version]),
        "TRITON_CACHE_MANAGER": "tkbundle.triton:CacheManager",
        "TRITON_CACHE_DIR": here.path(root), "TRITON_DEFAULT_FP_FUSION": "1",
        "TKBUNDLE_REF": "a/b", "TKBUNDLE_REMOTE": remote or here.remote,
        **(env or {})}


def launch(here, line, environment):
    """Start it; here.finish() waits for it."""
    started = subprocess.Popen(
        line, env={**here.environment, **environment}, cwd=here.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    started.begin = time.monotonic()
    here.started.append(started)
    return started


def use(here, version, *words, **more):
    """Run it to its end, which is good."""
    line, environment = user(here, version, *words, **more)
    ended = here.go(line, env=environment)
    scene.equal(ended.status, 0, ended.err)
    return ended


def compiled(ended):
    """How many kernels a user's program compiled, by its own words."""
    return int(re.search(r"compiled (\d+)", ended.out)[1])


def kernels(here):
    """How many kernels the ref has."""
    ended = here.tkbundle("pull", "a/b", here.path("count"), "--json",
                          "--remote", here.remote, status=None)
    scene.require(ended.status in (0, 3), ended.err)
    if ended.status == 3:
        return 0
    found = re.search(r'"emitted":(\d+),"present":(\d+)', ended.out)
    return int(found[1]) + int(found[2])

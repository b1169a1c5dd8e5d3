# SPDX-License-Identifier: Apache-2.0
"""A user's program: it asks Inductor's remote caches for graphs, and puts what
they lack, as PyTorch does.

    graph_user.py [plain|late|fork|workers|threads|leave|again VALUE|mine]

Prints how many it found, and how long that took.
"""

import importlib
import multiprocessing
import os
import sys
import threading
import time
import warnings

import tkbundle.inductor

GRAPHS = 4
found = []
# That a process with threads forks, as programs with PyTorch do.
warnings.simplefilter("ignore", DeprecationWarning)


def modules():
    return [importlib.import_module("torch." + name) for name in (
        "_inductor.remote_cache", "_inductor.config", "_functorch.config",
        "_dynamo.config")]


def want(number, value=None):
    """One graph, which is compiled if it is not found."""
    caches = importlib.import_module("torch._inductor.remote_cache")
    cache = caches.RemoteFxGraphCache("fx-graph-v1")
    graph = None if value else cache.get(f"f{number}")
    if graph is None:
        cache.put(f"f{number}", {"data": value or f"graph {number}",
                                 "time_taken_ms": 7})
    else:
        found.append(graph["data"])


def all_at_once(kind):
    jobs = [kind(target=want, args=(number,)) for number in range(GRAPHS)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
        assert getattr(job, "exitcode", 0) == 0


def fork():
    want(0)
    child = os.fork()
    want(1 if child == 0 else 2)
    if child != 0:
        assert os.waitpid(child, 0)[1] == 0


def be_mine():
    """What the program itself has chosen stays."""
    caches, config, _, dynamo = modules()
    caches.RemoteFxGraphCache.backend_override_cls = dict
    config.fx_graph_remote_cache = False
    tkbundle.inductor.install()
    assert caches.RemoteFxGraphCache.backend_override_cls is dict
    assert caches.RemoteAOTAutogradCache.backend_override_cls is not None
    assert config.fx_graph_remote_cache is False
    assert dynamo.automatic_dynamic_remote_pgo is True


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else "plain"
    if verb == "mine":
        be_mine()
        return
    if verb == "late":
        modules()
    tkbundle.inductor.install()
    tkbundle.inductor.install()
    config = modules()[1]
    begin = time.monotonic()
    if verb == "fork":
        fork()
    elif verb == "workers":
        all_at_once(multiprocessing.get_context("fork").Process)
    elif verb == "threads":
        all_at_once(threading.Thread)
    elif verb == "again":
        want(0, sys.argv[2])
    else:
        for number in range(GRAPHS):
            want(number)
    print(f"found {len(found)} in {time.monotonic() - begin:.3f} s:",
          *sorted(found), sep="\n", flush=True)
    assert config.bundled_autotune_remote_cache == (
        True if os.environ.get("STAND_IN_GPU") else None)
    if verb == "leave":
        os._exit(0)


main()

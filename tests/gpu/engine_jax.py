#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that JAX starts warm elsewhere.

    engine_jax.py PROGRAM_DIR WORK_DIR [ROUNDS]

PROGRAM_DIR holds tkbundle. A decoder of 12 layers is compiled for three lengths of prompts
and for one token: cold, in place, and from a copy of the cache in another folder, all with
JAX's defaults; then cold by `tkbundle run --engine jax`, and, where nothing of that home is
left, by `run` in empty homes. Seconds are from the start of Python, or of tkbundle, to the
result. The last line counts the checks.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from checks import check, finish_checks
from measure import seconds_since_start

LAYERS, WIDTH, HEADS, BATCH = 12, 1024, 16, 4


def child():
    import jax
    import jax.monitoring
    import jax.numpy as jnp
    import numpy

    events = {"cache_misses": 0, "cache_hits": 0}

    def count(event, **_):
        name = event.rpartition("/")[2]
        if event.startswith("/jax/compilation_cache/") and name in events:
            events[name] += 1

    def normalized(x):
        return x * jax.lax.rsqrt((x.astype(jnp.float32) ** 2).mean(-1, keepdims=True) +
                                 1e-6).astype(x.dtype)

    @jax.jit
    def infer(layers, x):
        size = x.shape[1]
        mask = jnp.tril(jnp.ones((size, size), bool))
        for layer in layers:
            q, k, v = ((normalized(x) @ layer[name]).reshape(BATCH, size, HEADS, -1)
                       for name in ("q", "k", "v"))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(jnp.float32) / 8
            weights = jax.nn.softmax(jnp.where(mask, scores, -1e9)).astype(x.dtype)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(BATCH, size, WIDTH)
            x = x + mixed @ layer["o"]
            x = x + jax.nn.silu(normalized(x) @ layer["up"]) @ layer["down"]
        return normalized(x)

    jax.monitoring.register_event_listener(count)
    random = numpy.random.default_rng(2026)

    def made(*shape):
        return jax.device_put((random.standard_normal(shape, numpy.float32) /
                               shape[-2] ** 0.5).astype(jnp.bfloat16))

    layers = [{**{name: made(WIDTH, WIDTH) for name in "qkvo"},
               "up": made(WIDTH, 4 * WIDTH), "down": made(4 * WIDTH, WIDTH)}
              for _ in range(LAYERS)]
    result = [numpy.asarray(infer(layers, made(BATCH, size, WIDTH)).astype(jnp.float32))
              for size in (1, 128, 256, 512)]
    print(json.dumps({
        "version": jax.__version__, "device": jax.devices()[0].device_kind,
        "compiled": events["cache_misses"], "hits": events["cache_hits"],
        "result": [round(float(abs(each).sum()), 1) for each in result],
        "seconds": seconds_since_start()}), flush=True)


def start(home, before=(), **environment):
    os.makedirs(home, exist_ok=True)
    begun = time.time()
    done = subprocess.run(
        [*before, sys.executable, os.path.realpath(__file__), "child"], check=True,
        stdout=subprocess.PIPE, timeout=500,
        env={**os.environ, "HOME": home, "TMPDIR": home, "TKBUNDLE_CONFIG": "/dev/null",
             "JAX_PLATFORMS": "cuda", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
             **environment})
    found = json.loads(done.stdout.splitlines()[-1])
    if before:
        found["seconds"] = time.time() - begun
    print(f"{os.path.basename(home):9} {found}", flush=True)
    return found


def main():
    programs, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    rounds = int((sys.argv[3:] or ["3"])[0])

    def home(name):
        return os.path.join(work, name)

    def cache(name):
        return {"JAX_COMPILATION_CACHE_DIR": os.path.join(home(name), "jax")}

    run = [os.path.join(programs, "tkbundle"), "run", "--engine", "jax", "--ref", "h200/jax",
           "--remote", home("remote"), "--wait", "60s", "--"]
    cold = start(home("cold"), **cache("cold"))
    check("cold: all is compiled", cold["compiled"] > 3 and cold["hits"] == 0)
    placed = [start(home("cold"), **cache("cold")) for _ in range(rounds)]
    check("in place: nothing is compiled", not any(each["compiled"] for each in placed))
    shutil.move(home("cold"), home("copied"))
    copied = start(home("copied"), **cache("copied"))
    print("a cache that was moved, without tkbundle: %d of %d are compiled again" %
          (copied["compiled"], cold["compiled"]))
    first = start(home("first"), run)
    check("the first start by run compiles all", first["compiled"] == cold["compiled"])
    shutil.rmtree(home("first"))
    others = [start(home(f"other{number}"), run) for number in range(rounds)]
    check("elsewhere: nothing is compiled", not any(each["compiled"] for each in others))
    check("elsewhere: all are hits",
          all(each["hits"] == cold["compiled"] for each in others))
    check("elsewhere: the same results",
          all(each["result"] == first["result"] for each in others))
    for name, each in (("cold", [cold]), ("in place", placed), ("moved", [copied]),
                       ("cold, by run", [first]), ("elsewhere, by run", others)):
        print("%-18s %.1f s" % (name, statistics.median(one["seconds"] for one in each)))
    return finish_checks()


if sys.argv[1:] == ["child"]:
    child()
else:
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""A program that compiles with the real JAX, on a machine without a GPU.

Prints one line of JSON: how many programs XLA had to compile and how many came from the
cache, and the result.
"""

import json
import time

import jax
import jax.monitoring
import jax.numpy as jnp

counts = {"cache_misses": 0, "cache_hits": 0}


def count(event, **_):
    name = event.rpartition("/")[2]
    if event.startswith("/jax/compilation_cache/") and name in counts:
        counts[name] += 1


@jax.jit
def infer(weights, x):
    for _ in range(12):
        x = jax.nn.softmax(jnp.tanh(x @ weights), axis=-1)
    return x


@jax.jit
def train(weights, x):
    return jax.grad(lambda w: (infer(w, x) * w).sum() ** 2)(weights)


def main():
    jax.monitoring.register_event_listener(count)
    started = time.monotonic()
    weights = jnp.linspace(-1, 1, 64 * 64).reshape(64, 64)
    result = (infer(weights, weights) * weights).sum() + train(weights, weights)[0, 0]
    print(json.dumps({"version": jax.__version__, "compiled": counts["cache_misses"],
                      "hits": counts["cache_hits"], "result": float(result),
                      "seconds": round(time.monotonic() - started, 2)}))


if __name__ == "__main__":
    main()

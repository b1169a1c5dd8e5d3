# SPDX-License-Identifier: Apache-2.0
"""Who does what doctor says, word for word, and nothing else, has a warm machine."""
import os
import re
import shlex
import shutil

from broken import Server, entries
from clinic import TORCH, TWO_PTXAS, Clinic
from scene import equal, require, test

STEPS_LIMIT = 4
# Advice that sends to what is said further down.
LATER = ("correct what is named below", "name the right ref, then ")


def steps_of(advice):
    """The settings and commands that the first way of mending has."""
    first = re.split(r"; |, or |, which ", advice)[0]
    settings = dict(re.findall(r"export (\w+)=(\S+)", first))
    commands = re.findall(r"tkbundle (.*?)(?:, then |$)", first)
    return settings, commands


def mend(clinic, env, *words, ref="REF"):
    """Do what is advised on the worst fault until there is none; returns causes."""
    done = []
    while len(done) < STEPS_LIMIT:
        faults = [finding
                  for finding in clinic.doctor(*words, env=env)["findings"]
                  if finding["level"] == "fault" and
                  not finding["advice"].startswith(LATER)]
        if not faults:
            break
        settings, commands = steps_of(faults[0]["advice"])
        require(settings or commands, faults[0]["advice"])
        env.update(settings)
        for command in commands:
            clinic.verb(*shlex.split(command.replace("REF", ref)), env=env)
        done.append(faults[0]["cause"])
    equal(clinic.doctor(*words, env=env)["verdict"], "warm")
    return done


def published(scene):
    """A machine with a cache, and a configured remote that has all of it."""
    clinic = Clinic(scene)
    root = clinic.cache()
    env = {"TKBUNDLE_REMOTE": scene.path("remote"), "TKBUNDLE_REF": "llama/h100"}
    clinic.verb("push", "llama/h100", root, env=env)
    return clinic, env, root


@test("advice: a cache that was copied is relocated", Clinic)
def _(scene, clinic):
    root = clinic.cache(relocated=False)
    equal(mend(clinic, {}, root), ["path"])


@test("advice: a ref that was misspelt, of an empty cache, is the one that is meant")
def _(scene):
    clinic, env, root = published(scene)
    shutil.rmtree(root)
    env["TKBUNDLE_REF"] = "lama/h100"
    equal(mend(clinic, env, root), ["ref"])
    equal(env["TKBUNDLE_REF"], "llama/h100")


@test("advice: entries that are torn are pulled anew")
def _(scene):
    clinic, env, root = published(scene)
    os.remove(entries(root, ".cubin")[0])
    equal(mend(clinic, env, root, ref="llama/h100"), ["damaged"])


@test("advice: kernels of another GPU's folder are emitted for this one")
def _(scene):
    clinic = Clinic(scene, ptxas=TWO_PTXAS)
    root = clinic.inductor()
    os.rename(os.path.join(root, "triton/0"), os.path.join(root, "triton/3"))
    clinic.verb("relocate", root)
    env = {"TRITON_PTXAS_PATH": os.path.join(clinic.site, TORCH)}
    equal(mend(clinic, env, root), ["device"])


@test("advice: two ptxas become one")
def _(scene):
    clinic = Clinic(scene, ptxas=TWO_PTXAS)
    root = clinic.inductor()
    equal(mend(clinic, {}, root), ["ptxas"])


@test("advice: vLLM's settings are as where the graphs were made", Server)
def _(_scene, clinic):
    env = clinic.environment
    del env["VLLM_CONFIG_ROOT"]
    env["CUDA_HOME"] = "/opt/cuda"
    equal(sorted(mend(clinic, env, "--engine", "vllm")), ["environment", "home"])

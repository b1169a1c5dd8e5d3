#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real vLLM, on a machine without a GPU, that it starts warm elsewhere.

    real_vllm.py TKBUNDLE PYTHON [WORK_DIR [MODE...]]

PYTHON has vllm; vllm_on_cpu.py is the server. Each mode starts cold by `tkbundle run`,
then, where nothing of the first home is left, in another one: by `run` from the remote,
and by itself from a bundle that `collect` made and `emit` wrote. No graph is compiled,
and the tokens are the same. The last line counts the checks.
"""

import fnmatch
import json
import os
import shutil
import subprocess
import sys

from real import check, measure_modes, start

HERE = os.path.dirname(os.path.realpath(__file__))
SERVER = os.path.join(HERE, "vllm_on_cpu.py")
PROFILE = os.path.join(HERE, "..", "..", "share", "engines", "vllm.json")

# All variables that vLLM knows, those that are part of its keys, and its version.
ASK = ("import json, vllm, vllm.envs as envs; print(json.dumps([vllm.__version__, "
       "list(envs.environment_variables), list(envs.compile_factors())]))")

MODEL = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 128,
    "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 512,
    "max_position_embeddings": 512, "rms_norm_eps": 1e-05, "hidden_act": "silu",
    "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
    "torch_dtype": "float32", "initializer_range": 0.5}

# What vLLM writes: all graphs within the code that is compiled ahead of time, as it does
# by default where PyTorch is 2.12 or newer; an index of graphs, each a file; or a folder.
MODES = {
    "default": {},
    "files": {"VLLM_USE_MEGA_AOT_ARTIFACT": "0"},
    "folders": {"VLLM_USE_MEGA_AOT_ARTIFACT": "0",
                "VLLM_COMPILE_CACHE_SAVE_FORMAT": "unpacked"},
}

# What `run` sets, and is part of the keys.
KEYS = {"TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER": "0", "VLLM_CONFIG_ROOT": "/etc/vllm",
        "VLLM_XLA_CACHE_PATH": "/var/cache/vllm/xla"}


class Machines:
    """Homes below one folder, and a remote that they share."""

    def __init__(self, program, python, work):
        self.program = os.path.abspath(program)
        self.work = work
        self.model = os.path.join(work, "model")
        self.serve = [os.path.abspath(python), SERVER, self.model]
        os.makedirs(self.model)
        with open(os.path.join(self.model, "config.json"), "w", encoding="utf-8") as file:
            json.dump(MODEL, file)

    def path(self, *names):
        return os.path.join(self.work, *names)

    def start(self, home, mode, *before):
        found, said = start(self.path(home), [*before, *self.serve],
                            {**MODES[mode], **({} if before else KEYS)})
        print(f"{home:<20} {found}", flush=True)
        documents = [line for line in said.splitlines() if line.startswith('{"verb":"run"')]
        run = json.loads(documents[-1]) if documents else {}
        print("    run:", {name: run[name] for name in (
            "emitted", "used", "compiled", "pushed", "left_out", "kinds") if name in run},
            flush=True)
        return found, run

    def run(self, home, mode):
        return self.start(home, mode, self.program, "run", "--engine", "vllm", "--ref",
                          "cpu/" + mode, "--remote", self.path("remote"), "--wait", "60s",
                          "--json", "--")

    def tkbundle(self, verb, home, *words):
        environment = {"HOME": self.path(home), "PATH": os.environ["PATH"], "LC_ALL": "C",
                       "TKBUNDLE_CONFIG": "/dev/null"}
        ended = subprocess.run([self.program, verb, "--engine", "vllm", "--json", *words],
                               env=environment, check=False, stdout=subprocess.PIPE)
        return ended.returncode, json.loads(ended.stdout)

    @staticmethod
    def check_warm(name, warm, cold):
        check(name + ": no graph is compiled, and no code ahead of time",
              (warm["graphs"], warm["code"], warm["misses"]) == (0, 0, 0))
        check(name + ": the code is loaded, and as many graphs as were compiled",
              (warm["loaded_code"], warm["loaded_graphs"]) == (1, cold["graphs"]))
        check(name + ": the same tokens and logits",
              (warm["tokens"], warm["result"]) == (cold["tokens"], cold["result"]))

    def measure(self, mode):
        cold, run = self.run(mode + "-cold", mode)
        check(mode + ": the cold start compiles graphs", cold["graphs"] > 0)
        # By default, no index is ever written beside what tells of the key.
        unfinished = 1 if mode == "default" else 0
        check(mode + ": all that it compiled was pushed",
              run["pushed"] == run["compiled"] - unfinished > 0 and not run["left_out"])
        bundle = self.path(mode + ".tkb")
        status, said = self.tkbundle("collect", mode + "-cold", "-o", bundle)
        check(mode + ": all of it is collected",
              (status, said["collected"], said["unfinished"]) ==
              (0, run["pushed"], unfinished))
        shutil.rmtree(self.path(mode + "-cold"))
        warm, run = self.run(mode + "-run", mode)
        self.check_warm(mode + ", run", warm, cold)
        # A graph in a folder compiles its C++ into that folder when it is loaded for the
        # first time, in place, too: the cold start has it in Inductor's own.
        grown = 1 if mode == "folders" else 0
        check(mode + ", run: nothing is compiled anew that a start in place does not",
              run["compiled"] == grown)
        check(mode + ", run: what is new is pushed", (run["pushed"] > 0) == (grown > 0))
        shutil.rmtree(self.path(mode + "-run"))
        if grown:
            warm, run = self.run(mode + "-next", mode)
            self.check_warm(mode + ", next", warm, cold)
            check(mode + ", next: nothing is compiled anew, nor pushed",
                  (run["compiled"], run["pushed"]) == (0, 0))
            shutil.rmtree(self.path(mode + "-next"))
        status, said = self.tkbundle("emit", mode + "-emit", bundle)
        check(mode + ", emit: all is emitted", (status, said["emitted"]) ==
              (0, self.count(bundle)))
        warm, _ = self.start(mode + "-emit", mode)
        self.check_warm(mode + ", emit", warm, cold)

    def count(self, bundle):
        ended = subprocess.run([self.program, "ls", "--json", bundle], check=True,
                               stdout=subprocess.PIPE)
        return len(json.loads(ended.stdout)["entries"])


def check_variables(python):
    """The profile tells of each variable of vLLM's whether its keys hold it."""
    done = subprocess.run([python, "-c", ASK], check=True, stdout=subprocess.PIPE)
    version, names, factors = json.loads(done.stdout.splitlines()[-1])
    with open(PROFILE, encoding="utf-8") as file:
        rules = json.load(file)["variables"]

    def numbers(text):
        return [int(part) for part in text.split(".")[:2]]

    def enters(name):
        before = next(before for pattern, before in rules
                      if fnmatch.fnmatchcase(name, pattern))
        return before == "" or (before != "0" and numbers(version) < numbers(before))
    names = [name for name in names if name.startswith("VLLM_")]
    wrong = [name for name in names if enters(name) != (name in factors)]
    check(f"variables: of {len(names)}, the profile knows which are part of the keys; "
          f"wrong: {wrong}", names and not wrong)


check_variables(sys.argv[2])
sys.exit(measure_modes(Machines, MODES))

# SPDX-License-Identifier: Apache-2.0
"""A machine for doctor: a GPU, a Python with its packages, and a cache.

The GPU is faked by a stand-in for NVML, Python by a script with a canned answer, ptxas
by one that prints a version. The cache is a fixture.
"""
import json
import os
import shutil
import subprocess

from scene import FIXTURES, equal, need, require, write

H100 = "9.0:GPU-1:NVIDIA H100 80GB HBM3"
TRITON = "triton/backends/nvidia/bin/ptxas"
TORCH = "torch/bin/ptxas"
TWO_PTXAS = (("12.8", "93"), ("13.0", "88"))  # Triton's and PyTorch's
PTXAS = ("Cuda compilation tools, release {0}, V{0}.{1}\n"
         "Build cuda_{0}.r{0}/compiler.1_0\n")


class Clinic:
    def __init__(self, scene, gpus=H100, triton="3.6.0", tag="cpython-312",
                 packages=(), ptxas=(("12.8", "93"), None)):
        self.scene = scene
        self.site = scene.path("venv/lib/python3/site-packages")
        os.makedirs(self.site)
        answer = f"3.12.1\\t{tag}\\n"
        for name, version in (("triton", triton), *packages):
            answer += f"{name}\\t{version}\\t\\t\\n"
        self.python(f"printf '{answer}'")
        for path, version in zip((TRITON, TORCH), ptxas):
            if version is not None:
                self.ptxas(path, *version)
        self.environment = {
            "LD_LIBRARY_PATH": os.environ["TKB_NVML"],
            "FAKE_NVML": gpus,
            "TKBUNDLE_PYTHON": scene.path("venv/bin/python3"),
            "TKBUNDLE_GPU": "NVIDIA H100 80GB HBM3,580",
            "CUDA_HOME": "/nowhere",
            "PATH": "/usr/bin:/bin",
            "PYTHONNOUSERSITE": "1",
        }

    def python(self, text):
        self.scene.write("venv/bin/python3", f"#!/bin/sh\n{text}\n", 0o755)

    def ptxas(self, path, version, patch):
        write(os.path.join(self.site, path), "#!/bin/sh\n"
              f"cat <<'END'\n{PTXAS.format(version, patch)}END\n", 0o755)

    def cache(self, name="triton-3.6.0-h100", below=".triton/cache",
              relocated=True, modules=False, place="cache"):
        """A root that was filled here; without `relocated`, copied by hand."""
        source = self.scene.path("unpacked-" + place)
        os.makedirs(source)
        for end in (".tar.gz", ".tar.xz"):
            archive = os.path.join(FIXTURES, name + end)
            if os.path.exists(archive):
                subprocess.run(["tar", "-xf", archive, "-C", source], check=True)
        root = self.scene.path(place)
        if not relocated:
            shutil.move(os.path.join(source, below), root)
            return root
        bundle = self.scene.path(place + ".tkb")
        self.verb("collect", os.path.join(source, below), "-o", bundle,
                  *([] if modules else ["--no-modules"]))
        self.verb("emit", bundle, root)
        return root

    def inductor(self):
        """A root of Inductor's, of which each kernel is made by one of two ptxas."""
        return self.cache("inductor-2.11-llama4-h100", ".cache/torchinductor",
                          place="torchinductor")

    def verb(self, *words, env=None, status=0):
        return self.scene.tkbundle(*words, status=status,
                                   env={**self.environment, **(env or {})})

    def doctor(self, *words, env=None, deep=False):
        """The document, which must agree with the exit status."""
        ended = self.verb("doctor", *words, "--json",
                          *(["--deep"] if deep else []), env=env, status=None)
        require(ended.status in (0, 3, 4), ended.err, ended.out)
        document = json.loads(ended.out)
        equal(document["verdict"],
              {0: "warm", 4: "partly", 3: "cold"}[ended.status], ended.out)
        return document

    def is_well(self, *words, **more):
        document = self.doctor(*words, **more)
        equal([finding for finding in document["findings"]
               if finding["level"] == "fault"], [])
        equal(document["verdict"], "warm")
        return document

    def names(self, cause, *words, verdict=("partly", "cold"), level="fault",
              advice="", what="", **more):
        """It names this cause, and says what to do."""
        document = self.doctor(*words, **more)
        found = [finding for finding in document["findings"]
                 if (finding["cause"], finding["level"]) == (cause, level)]
        require(found, f"no {cause}", document["findings"])
        require(any(advice in finding["advice"] and what in finding["what"]
                    for finding in found), advice, what, found)
        require(document["verdict"] in verdict, document["verdict"],
                document["findings"])
        return document


def powerless(scene, *line):
    """The command, bound by permissions as root is not."""
    if os.geteuid() != 0:
        return list(line)
    need("setpriv")
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all", *line]

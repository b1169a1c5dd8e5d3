# SPDX-License-Identifier: Apache-2.0
"""Machines where all is well: doctor calls none of them sick."""
import os
import shutil
import subprocess
import sys

from broken import Server
from clinic import H100, TORCH, TRITON, TWO_PTXAS, Clinic
from scene import Skip, equal, require, test


@test("well: Triton's root, filled here", Clinic)
def _(scene, clinic):
    clinic.is_well(clinic.cache())


@test("well: the default root, with modules of this Python", Clinic)
def _(scene, clinic):
    root = clinic.cache(modules=True)
    os.makedirs(scene.path(".triton"))
    os.rename(root, scene.path(".triton/cache"))
    clinic.verb("relocate", scene.path(".triton/cache"))
    clinic.is_well()


@test("well: eight equal GPUs")
def _(scene):
    clinic = Clinic(scene, gpus=",".join([H100] * 8))
    clinic.is_well(clinic.cache())


@test("well: kernels of an older Triton beside those of this one")
def _(scene):
    clinic = Clinic(scene, gpus="9.0:GPU-1:H100")
    root = clinic.cache("triton-3.6.0-cpu")
    old = clinic.cache("triton-3.5.1-cpu", place="old")
    for name in os.listdir(old):
        if not name.startswith(".") and not os.path.exists(
                os.path.join(root, name)):
            shutil.move(os.path.join(old, name), os.path.join(root, name))
    clinic.verb("relocate", root)
    document = clinic.doctor(root)
    require(document["verdict"] == "warm", document["findings"])
    require(any(item["cause"] == "triton" for item in document["misfits"]),
            document["misfits"])


@test("well: a bundle for this GPU", Clinic)
def _(scene, clinic):
    clinic.cache()
    clinic.is_well(scene.path("cache.tkb"))


@test("well: Inductor's folder, with one ptxas for all processes")
def _(scene):
    clinic = Clinic(scene, ptxas=TWO_PTXAS)
    root = clinic.inductor()
    path = os.path.join(clinic.site, TORCH)
    clinic.is_well(root, env={"TRITON_PTXAS_PATH": path})


@test("well: kernels that Triton's ptxas for newer GPUs has made")
def _(scene):
    clinic = Clinic(scene, triton="3.9.0", tag="cpython-311",
                    ptxas=(("12.9", "86"), None))
    newer = TRITON + "-blackwell"
    clinic.ptxas(newer, "13.4", "59")
    root = clinic.cache("triton-3.9.0-cpu")
    clinic.is_well(root)
    os.rename(os.path.join(clinic.site, newer), scene.path("ptxas"))
    clinic.names("ptxas", root, what="PTX 9.4",
                 advice="set TRITON_PTXAS_BLACKWELL_PATH")
    clinic.is_well(root, env={"TRITON_PTXAS_BLACKWELL_PATH": scene.path("ptxas")})


@test("well: an empty cache, and a remote that has all of the ref", Clinic)
def _(scene, clinic):
    clinic.verb("push", "a/b", clinic.cache(), "--remote", scene.path("remote"))
    os.makedirs(scene.path("empty"))
    document = clinic.is_well(scene.path("empty"), "--remote",
                              scene.path("remote"), "--ref", "a/b")
    require(document["remote"]["missing"] > 0, document["remote"])
    require(document["remote"]["can_write"], document["remote"])


@test("well: a remote that may only be read", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    remote = scene.path("remote")
    clinic.verb("push", "a/b", root, "--remote", remote)
    document = clinic.is_well(root, "--remote", remote + "?mode=ro", "--ref",
                              "a/b")
    require(not document["remote"]["can_write"], document["remote"])


@test("well: a machine without GPU, as CI's", Clinic)
def _(scene, clinic):
    clinic.is_well(clinic.cache(), env={"LD_LIBRARY_PATH": "", "FAKE_NVML": ""})


@test("well: a Python that is asked for real", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    folder = os.path.join(scene.path("site"), "triton-3.6.0.dist-info")
    os.makedirs(folder)
    with open(os.path.join(folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write("Metadata-Version: 2.1\nName: triton\nVersion: 3.6.0\n")
    document = clinic.is_well(root, env={"TKBUNDLE_PYTHON": sys.executable,
                                         "PYTHONPATH": scene.path("site")})
    python = document["machine"]["python"]
    require({"package": "triton", "version": "3.6.0", "imported": None}
            in python["packages"], python)


@test("well: no package is looked for, or imported from, the current folder", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    scene.write("torch-9.9.dist-info/METADATA", "Version: 9.9\n")
    scene.write("torch.py", "open('imported', 'w', encoding='utf-8').close()\n")
    for deep in False, True:
        document = clinic.doctor(root, env={"TKBUNDLE_PYTHON": sys.executable}, deep=deep)
        python = document["machine"]["python"]
        require("9.9" not in str(python["packages"]), python)
    require(not os.path.exists(scene.path("imported")), "it was imported")


@test("well: vLLM's caches, with one ptxas, on the GPU that they are of", Server)
def _(_scene, clinic):
    clinic.is_well("--engine", "vllm")


@test("well: a Python's packages are found as it finds them", Clinic)
def _(scene, clinic):
    base = sys.executable
    site = scene.path("site")
    for name, text in (("triton-3.6.0.dist-info/METADATA",
                        "Metadata-Version: 2.1\nVersion: 3.6.0\n"),
                       ("below/torch-0.dist-info/METADATA",
                        "Name: torch\nVersion: 2.11.0+cu130\n"),
                       ("below/vllm.egg-info", "Version: 0.24.0\n"),
                       ("more.pth", "import nothing_that_is_there\nbelow\n\n")):
        scene.write(os.path.join(site, name), text)
    # A folder of the user's has .pth files, and PYTHONPATH comes before it.
    user = subprocess.run([base, "-m", "site", "--user-site"], check=False,
                          env={"PYTHONUSERBASE": scene.path("user")},
                          capture_output=True, text=True).stdout.strip()
    if not user:
        raise Skip("this Python has no folder for its user")
    os.makedirs(os.path.dirname(user))
    shutil.move(site, user)
    early = scene.path("early/triton-3.7.1.dist-info")
    scene.write(os.path.join(early, "METADATA"), "Version: 3.7.1\n")
    env = {"TKBUNDLE_PYTHON": base, "PYTHONUSERBASE": scene.path("user"),
           "PYTHONNOUSERSITE": ""}
    for more, triton in (({}, "3.6.0"),
                         ({"PYTHONPATH": os.path.dirname(early)}, "3.7.1")):
        document = clinic.doctor(clinic.cache(place="cache" + triton),
                                 "--engine", "vllm", env={**env, **more})
        equal({item["package"]: item["version"]
               for item in document["machine"]["python"]["packages"]},
              {"triton": triton, "torch": "2.11.0+cu130", "vllm": "0.24.0"})


@test("well: what engines log, and where, is not told to be in their keys", Clinic)
def _(scene, clinic):
    out = ("FLASHINFER_LOGLEVEL", "FLASHINFER_DISABLE_JIT", "FLASHINFER_TRACE_DUMP",
           "FLASHINFER_CUBIN_DIR", "TILELANG_VERBOSE", "TILELANG_PASS_DIFF_OUTPUT",
           "TORCHINDUCTOR_DUMP_LAUNCH_PARAMS", "TORCHINDUCTOR_MM_LOGGING_FILE",
           "TORCHINDUCTOR_COMPILE_WORKER_WATCHDOG_INTERVAL", "TORCHINDUCTOR_FX_GRAPH_CACHE",
           "TORCHINDUCTOR_CUTLASS_DIR")
    within = ("FLASHINFER_JIT_LINEINFO", "FLASHINFER_NVCC", "TILELANG_DEFAULT_TARGET",
              "TORCHINDUCTOR_MAX_AUTOTUNE", "TORCHINDUCTOR_COMPILE_WORKER_WAIT_TIMEOUT")
    told = clinic.doctor(clinic.cache(), env=dict.fromkeys(out + within, "1"))
    equal({item["name"] for item in told["machine"]["settings"]} & set(out + within),
          set(within))

# SPDX-License-Identifier: Apache-2.0
"""Machines that were broken on purpose: doctor names the cause and the remedy."""
import json
import os
import shutil
import subprocess

from clinic import TORCH, TRITON, TWO_PTXAS, Clinic, powerless
from scene import FIXTURES, UNSHARE, Skip, equal, need, need_root, require, test

VLLM = os.path.join(FIXTURES, "vllm-0.24-small-h200.tar.gz")


def entries(root, end):
    """The paths of files below `root` with this ending."""
    return sorted(os.path.join(folder, name)
                  for folder, _, names in os.walk(root) for name in names
                  if name.endswith(end))


def seed(sentence, cause, machine=(), *words, **names):
    """A test of a cache on a machine: doctor names this cause."""
    @test("broken: " + sentence)
    def _(scene):
        clinic = Clinic(scene, **dict(machine))
        clinic.names(cause, clinic.cache(), *words, **names)


seed("kernels of another architecture", "target", {"gpus": "8.0:GPU-1:NVIDIA A100"},
     verdict=("cold",), what="sm_90, and here is sm_80", advice="push")
seed("another Triton", "triton", {"triton": "3.7.1"}, verdict=("cold",),
     what="Triton 3.6.0, and here is 3.7.1", advice="Triton")
seed("another ptxas than that of the kernels", "ptxas", {"ptxas": (("12.9", "86"), None)},
     verdict=("cold",), what="PTX 8.7", advice="TRITON_PTXAS_PATH")
seed("TRITON_PTXAS_PATH names nothing", "ptxas", advice="unset TRITON_PTXAS_PATH",
     env={"TRITON_PTXAS_PATH": "/nowhere/ptxas"})
seed("CUDA_VISIBLE_DEVICES hides all GPUs", "target", advice="CUDA_VISIBLE_DEVICES",
     env={"CUDA_VISIBLE_DEVICES": "-1"})
seed("a Python without the engine that is named", "python", (), "--engine", "vllm",
     level="risk", verdict=("warm", "partly"), what="has no vllm, so it is not",
     advice="export TKBUNDLE_PYTHON=")
seed("a ref is named, and no remote", "remote", (), "--ref", "llama/h100",
     what="llama/h100")


@test("broken: a Triton for another Python")
def _(scene):
    clinic = Clinic(scene, tag="cpython-311")
    clinic.names("libtriton", clinic.cache(modules=True), verdict=("cold",),
                 what="cpython-312", advice="Python")


@test("broken: tuned on a GPU of another name", Clinic)
def _(scene, clinic):
    source = {"TKBUNDLE_GPU": "NVIDIA H200,580", "HOME": scene.path("h200")}
    scene.fixture("h200", VLLM)
    scene.write("h200/.cache/vllm/torch_compile_cache/a.best_config", "{}\n")
    clinic.verb("collect", "--engine", "vllm", "-o", scene.path("x.tkb"),
                env=source)
    clinic.names("gpu", scene.path("x.tkb"),
                 what="tuned on NVIDIA H200, driver 580", advice="tune")


@test("broken: tuned on a GPU whose name is longer than that of this one")
def _(scene):
    clinic = Clinic(scene, gpus="8.9:GPU-1:NVIDIA L40")
    scene.write("tree/a.best_config", "{}\n")
    clinic.verb("collect", "--tree", "i:inductor=" + scene.path("tree"), "-o",
                scene.path("x.tkb"), env={"TKBUNDLE_GPU": "NVIDIA L40S,580"})
    clinic.names("gpu", scene.path("x.tkb"), what="tuned on NVIDIA L40S, driver 580",
                 advice="tune", env={"TKBUNDLE_GPU": "NVIDIA L40,580"})


@test("broken: a driver that is older than the kernels' CUDA", Clinic)
def _(scene, clinic):
    env = {"FAKE_NVML_CUDA": "11080"}
    clinic.names("driver", clinic.cache(), env=env, verdict=("cold",),
                 what="CUDA 11.8", advice="update the driver")
    # Modules fit any driver, and start no kernel.
    document = clinic.names(
        "not-in-bundle", clinic.cache(modules=True, place="more"), env=env,
        verdict=("cold",), what="no kernel or graph")
    require(document["fits"], document["misfits"])


@test("broken: two ptxas, until TRITON_PTXAS_PATH is set as is told")
def _(scene):
    clinic = Clinic(scene, ptxas=TWO_PTXAS)
    root = clinic.inductor()
    path = os.path.join(clinic.site, TORCH)  # by which they were made
    clinic.names("ptxas", root, advice=f"export TRITON_PTXAS_PATH={path}")
    clinic.is_well(root, env={"TRITON_PTXAS_PATH": path})


@test("broken: a cache that cannot be made, since a file is in its way", Clinic)
def _(scene, clinic):
    document = clinic.names("path", scene.write("file", "") + "/cache/deeper",
                            verdict=("cold",), what="is a file")
    equal([finding["cause"] for finding in document["findings"]
           if finding["level"] == "fault"], ["not-in-bundle", "path"])


@test("broken: a variable that enters Triton's keys", Clinic)
def _(scene, clinic):
    document = clinic.names("environment", clinic.cache(), verdict=("cold",),
                            what="TRITON_F32_DEFAULT=ieee", advice="unset",
                            env={"TRITON_F32_DEFAULT": "ieee"})
    equal(document["machine"]["settings"],
          [{"name": "CUDA_HOME", "value": "/nowhere", "of": "vllm"},
           {"name": "TRITON_F32_DEFAULT", "value": "ieee", "of": "triton"}]
          if document["machine"]["settings"][0]["name"] == "CUDA_HOME" else
          [{"name": "TRITON_F32_DEFAULT", "value": "ieee", "of": "triton"},
           {"name": "CUDA_HOME", "value": "/nowhere", "of": "vllm"}])


@test("broken: a cache that was copied, until it is relocated as is told", Clinic)
def _(scene, clinic):
    root = clinic.cache(relocated=False)
    clinic.names("path", root,
                 advice=f"tkbundle relocate {root}")
    clinic.verb("relocate", root)
    clinic.is_well(root)


@test("broken: an entry that is torn", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    os.remove(entries(root, ".cubin")[0])
    clinic.names("damaged", root, verdict=("partly",), advice="tkbundle pull")


@test("broken: bytes that were changed, which --deep reads", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    with open(entries(root, ".cubin")[0], "r+b") as file:
        file.truncate(100)
    clinic.names("damaged", root, verdict=("partly",), deep=True)


def seed_cut(sentence, part, verdict, is_right):
    """A test of a bundle of which only this part is there."""
    @test("broken: " + sentence, Clinic)
    def _(scene, clinic):
        clinic.cache()
        path = scene.path("cache.tkb")
        count = len(clinic.doctor(path)["fits"])
        size = os.path.getsize(path)
        os.truncate(path, int(size * part) if part < 1 else size - 1)
        document = clinic.names("damaged", path, verdict=(verdict,),
                                what="it is cut short", advice="again")
        fits, misfits = len(document["fits"]), len(document["misfits"])
        require(is_right(fits, count, document["findings"]), fits, count, document)
        equal(fits + misfits, count)


seed_cut("half a bundle, of which the other half does not fit", .5, "partly",
         lambda fits, count, findings: 0 < fits < count and len(findings) == 1)
seed_cut("the beginning of a bundle, of which nothing can be used", .1, "cold",
         lambda fits, count, _: fits == 0)
seed_cut("a bundle without its last byte, whose entries can be used", 1, "partly",
         lambda fits, count, _: fits == count)


@test("broken: a bundle in which a byte is another", Clinic)
def _(scene, clinic):
    clinic.cache()
    path = scene.path("cache.tkb")
    count = len(clinic.doctor(path)["fits"])
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 3)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    document = clinic.names("damaged", path, verdict=("partly",),
                            advice="again")
    require(len(document["fits"]) > count // 2, document["misfits"])


@test("broken: a bundle that is not there is no empty cache", Clinic)
def _(scene, clinic):
    path = scene.path("kernles.tkb")
    document = clinic.names("not-in-bundle", path, verdict=("cold",),
                            what=f"there is no bundle '{path}'",
                            advice="name the right bundle")
    equal(document["bundle"], path)
    equal(document["places"], [])


@test("broken: names are told once, and long ones cut, as is shown")
def _(scene):
    clinic = Clinic(scene, gpus="8.0:GPU-1:NVIDIA A100")
    root = clinic.inductor()
    out = clinic.verb("doctor", root, status=3).out
    name = next(misfit["name"] for misfit in clinic.doctor(root)["misfits"]
                if len(misfit["name"]) > 60)
    equal(out.count(name[:60] + "..."), 1, out)
    equal(out.count(name[:60]), 1, out)


@test("broken: a kernel in the folder of a GPU that is not here", Clinic)
def _(scene, clinic):
    root = clinic.inductor()
    os.rename(os.path.join(root, "triton/0"), os.path.join(root, "triton/3"))
    clinic.verb("relocate", root)
    clinic.names("device", root, what="GPU 3", advice="emit --device 0")


class Server(Clinic):
    """A machine with vLLM and its caches, healthy except for what the test adds."""

    def __init__(self, scene, relocated=True):
        super().__init__(scene, gpus="9.0:GPU-1:NVIDIA H200",
                         packages=(("vllm", "0.24.0"),))
        self.home = scene.path("home")
        self.environment.update({
            "TKBUNDLE_GPU": "NVIDIA H200,580", "HOME": self.home,
            "TRITON_PTXAS_PATH": os.path.join(self.site, TRITON),
            "VLLM_CONFIG_ROOT": "/home/serve/.config/vllm",
            "VLLM_XLA_CACHE_PATH": "/home/serve/.cache/vllm/xla_cache",
            "CUDA_HOME": "/usr/local/cuda"})
        scene.fixture("home", VLLM)
        if relocated:
            self.verb("relocate", "--engine", "vllm")


@test("broken: a graph of a rank that is not here")
def _(scene):
    clinic = Server(scene, relocated=False)
    tree = os.path.join(clinic.home, ".cache/vllm/torch_compile_cache/799209178a")
    os.rename(os.path.join(tree, "rank_0_0"), os.path.join(tree, "rank_3_0"))
    clinic.names("rank", "--engine", "vllm", what="rank 3", advice="as many GPUs")


@test("broken: a file that is too large to move is no fault where it is", Server)
def _(scene, clinic):
    unit = "torch_compile_cache/torch_aot_compile/1f/rank_0_0"
    os.makedirs(os.path.join(clinic.home, ".cache/vllm", unit))
    with open(os.path.join(clinic.home, ".cache/vllm", unit, "model"), "wb") as file:
        file.truncate(1024 * 1024 * 1024 + 1)
    document = clinic.doctor("--engine", "vllm")
    equal([(each["cause"], each["key"]) for each in document["misfits"]
           if each["key"] == unit], [("too-large", unit)])
    equal([each for each in document["findings"] if "1073741824" in each["what"]], [])


@test("broken: a folder of the cache that is a link", Server)
def _(scene, clinic):
    folder = os.path.join(clinic.home, ".cache/vllm/torch_compile_cache")
    os.rename(folder, scene.path("elsewhere"))
    os.symlink(scene.path("elsewhere"), folder)
    clinic.names("link", "--engine", "vllm", what="symbolic link",
                 advice="links do not move")


@test("broken: a folder where a binary should be", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    binary = entries(root, ".cubin")[0]
    os.remove(binary)
    os.mkdir(binary)
    clinic.names("damaged", root, verdict=("partly",), what="is a folder")


@test("broken: modules for arm64", Clinic)
def _(scene, clinic):
    root = clinic.cache(modules=True)
    for path in entries(root, ".so"):
        with open(path, "r+b") as file:
            file.seek(18)
            file.write(b"\xb7\0")
    clinic.names("platform", root, what="aarch64", advice="machine of this kind")


@test("broken: an API key in the environment, which is not shown")
def _(scene):
    clinic = Clinic(scene, packages=(("vllm", "0.24.0"),))
    env = {"VLLM_API_KEY": "sk-very-secret"}
    root = clinic.cache()
    words = (root, "--engine", "vllm")
    clinic.names("environment", *words, what="VLLM_API_KEY", advice="--api-key",
                 env=env)
    ended = clinic.verb("doctor", *words, env=env, status=None)
    require("sk-very" not in ended.out + ended.err, ended.out)
    require("VLLM_API_KEY is set" in ended.out, ended.out)
    # Where nobody has asked for vLLM, it may be another program's.
    clinic.is_well(root, env=env)


@test("broken: SGLang's variables are told of, but not those that compile nothing")
def _(scene):
    clinic = Clinic(scene, packages=(("sglang", "0.5.23"),))
    names = ("SGLANG_ENABLE_JIT_DEEPGEMM", "SGLANG_API_KEY", "SGLANG_PORT",
             "SGLANG_LOG_REQUEST_HEADERS", "SGLANG_JIT_CACHE_KEEP",
             "SGLANG_TCP_STORE_PORT", "SGLANG_USE_CUDA_IPC_TRANSPORT")
    told = clinic.doctor("--engine", "sglang",
                         env={name: "3" for name in names})["machine"]["settings"]
    equal([each["name"] for each in told if each["name"].startswith("SGLANG_")],
          ["SGLANG_ENABLE_JIT_DEEPGEMM", "SGLANG_USE_CUDA_IPC_TRANSPORT"])


@test("broken: vLLM's variables are told of up to the version that leaves them out of keys, "
      "also those without its name")
def _(scene):
    names = ("MOONCAKE_REQUESTER_LOCAL_HOSTNAME", "VLLM_API_KEY", "K_SCALE_CONSTANT",
             "VLLM_XLA_CACHE_PATH")
    env = {name: "3" for name in names}
    for version, count in (("0.26.0", 4), ("0.27.0", 3), ("0.28.0", 2), ("0.29.0", 1)):
        clinic = Clinic(scene, packages=(("vllm", version),))
        told = clinic.doctor("--engine", "vllm", env=env)["machine"]["settings"]
        equal({item["name"] for item in told} & set(names), set(names[:count]), version)
        shutil.rmtree(clinic.site)


@test("broken: a variable that a profile says is in keys, up to a version")
def _(scene):
    name = scene.path("engines/mine.json")
    scene.write(name, json.dumps({"engine": "mine", "package": "my-engine", "versions": [],
                                  "commands": [], "models": [], "set": [],
                                  "variables": [["MINE_TOKEN", "1.10"], ["MINE_PORT", "0"],
                                                ["MINE_*", ""]],
                                  "roots": [{"name": "mine", "variable": "", "rules": [],
                                             "places": [["HOME", "/mine"]]}]}))
    env = {"TKBUNDLE_ENGINES": os.path.dirname(name), "MINE_TOKEN": "s3cret",
           "MINE_PORT": "80", "MINE_MODE": "fast"}
    for version, told in (("1.9.2", True), ("1.10", False), ("1.10.1", False)):
        clinic = Clinic(scene, packages=(("my-engine", version),))
        words = ("--engine", "mine")
        document = (clinic.names("environment", *words, what="before 1.10",
                                 advice="unset MINE_TOKEN", env=env)
                    if told else clinic.doctor(*words, env=env))
        equal(sorted((item["name"], item["value"])
                     for item in document["machine"]["settings"]
                     if item["of"] == "mine"),
              [("MINE_MODE", "fast")] + [("MINE_TOKEN", None)] * told)
        shutil.rmtree(clinic.site)


@test("broken: a virtual environment that was moved", Clinic)
def _(scene, clinic):
    gone = scene.path("old/bin/python")
    path = scene.path("moved/bin/vllm")
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!{gone}\n")
    os.chmod(path, 0o755)
    env = {"TKBUNDLE_PYTHON": "",
           "PATH": os.path.dirname(path) + ":/usr/bin:/bin"}
    clinic.names("python", "--engine", "vllm", env=env,
                 what=f"'{path}' is started by '{gone}', which does not exist",
                 advice="make the environment again")
    # Who says which Python it is does not start that script.
    document = clinic.doctor("--engine", "vllm",
                             env={"PATH": env["PATH"]})
    equal([item for item in document["findings"]
           if "is started by" in item["what"]], [])


@test("broken: a Python that this user cannot run", Clinic)
def _(scene, clinic):
    path = scene.write("python3", "#!/bin/sh\n")
    clinic.names("python", clinic.cache(), level="risk", verdict=("warm",),
                 env={"TKBUNDLE_PYTHON": path}, advice="let this user run it",
                 what=f"TKBUNDLE_PYTHON is '{path}'")


@test("broken: another $HOME, which is in vLLM's key", Server)
def _(scene, clinic):
    del clinic.environment["VLLM_CONFIG_ROOT"]
    clinic.names("home", "--engine", "vllm",
                 what="VLLM_CONFIG_ROOT was /home/serve/.config/vllm",
                 advice="export VLLM_CONFIG_ROOT=/home/serve/.config/vllm")


@test("broken: a variable that is in vLLM's key", Server)
def _(scene, clinic):
    clinic.names("environment", "--engine", "vllm",
                 env={"CUDA_HOME": "/opt/cuda"},
                 what="CUDA_HOME was /usr/local/cuda",
                 advice="export CUDA_HOME=/usr/local/cuda")


@test("broken: variables that are numbers, switches or not set in vLLM's key", Server)
def _(scene, clinic):
    for name, value, what, advice in (
            ("VLLM_BATCH_INVARIANT", "1", "was 0", "export VLLM_BATCH_INVARIANT=0"),
            ("VLLM_MAX_N_SEQUENCES", "9", "was 16384",
             "export VLLM_MAX_N_SEQUENCES=16384"),
            ("VLLM_KV_CACHE_LAYOUT", "HND", "was not set",
             "unset VLLM_KV_CACHE_LAYOUT")):
        clinic.names("environment", "--engine", "vllm", env={name: value},
                     what=f"{name} {what}", advice=advice)
    clinic.is_well("--engine", "vllm", env={
        "VLLM_BATCH_INVARIANT": "False", "VLLM_MAX_N_SEQUENCES": "16384",
        "VLLM_CONFIGURE_LOGGING": "2", "VLLM_DISABLED_KERNELS": "a,b"})


def make_graph(clinic, **versions):
    """A start under these versions makes a graph: a copy under another key."""
    for package, version in versions.items():
        os.makedirs(clinic.scene.path("packages",
                                      f"{package}-{version}.dist-info"))
    tree = os.path.join(clinic.home, ".cache/vllm/torch_compile_cache")
    script = ("cp -r 799209178a 799209178b && sed -i s/799209178a/799209178b/ "
              "799209178b/rank_*/*/vllm_compile_cache.py")
    clinic.verb("run", "--engine", "vllm", "--push", "never", "--", "sh", "-c",
                f"cd '{tree}' && {script}",
                env={"PYTHONPATH": clinic.scene.path("packages")})
    return os.path.join(tree, "799209178a")


def seed_made_by(cause, package, older, what):
    @test(f"broken: a graph of another {package}, until one of this is there", Server)
    def _(_scene, clinic):
        clinic.python("printf '3.12.1\\tcpython-312\\ntriton\\t3.6.0\\t\\t\\n"
                      "torch\\t2.11.0\\t\\t\\nvllm\\t0.24.0\\t\\t\\n'")
        versions = {"torch": "2.11.0", "vllm": "0.24.0"}
        old = make_graph(clinic, **{**versions, package: older})
        document = clinic.doctor("--engine", "vllm")
        require(any(misfit["cause"] == cause and not misfit["is_fault"]
                    for misfit in document["misfits"]), document["misfits"])
        equal(document["verdict"], "warm", document["findings"])
        # Of other graphs it is not known what made them, so they may be of this.
        for name in (old, os.path.join(os.path.dirname(old),
                                       "torch_aot_compile")):
            shutil.rmtree(name)
        clinic.names(cause, "--engine", "vllm", what=what,
                     advice="push from a machine that has the one of this")


seed_made_by("torch", "torch", "2.10.0",
             "made by PyTorch 2.10.0, and here is 2.11.0")
seed_made_by("engine", "vllm", "0.23.0", "made by vllm 0.23.0, and here is 0.24.0")


@test("broken: kernels where Inductor has put them, and nobody looks", Server)
def _(scene, clinic):
    shutil.rmtree(scene.path("home/.triton/cache"))
    clinic.names("path", "--engine", "vllm", what="are looked for in",
                 advice="tkbundle run --engine vllm")


@test("broken: nothing is cached", Clinic)
def _(scene, clinic):
    clinic.names("not-in-bundle", scene.path("nothing"), verdict=("cold",),
                 advice="tkbundle pull REF")


def without_power(scene, clinic, root):
    """What doctor says of a root to a user who is bound by permissions."""
    line = powerless(scene, scene.program, "doctor", root)
    ended = scene.go(line, env=clinic.environment)
    require(ended.status in (3, 4), ended.out, ended.err)
    return ended.out


@test("broken: a root that this user has made so that it cannot be written", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    os.chmod(root, 0o555)
    said = without_power(scene, clinic, root)
    below = without_power(scene, clinic, os.path.join(root, "more"))
    os.chmod(root, 0o755)
    require(f"owner: '{root}' belongs to" in said and
            f"do: chmod -R u+rwX {root}\n" in said, said)
    require(f"owner: '{root}/more' does not exist" in below and
            "do: let this user write the folder above" in below, below)


@test("broken: a root of somebody else")
def _(scene):
    need_root()
    clinic = Clinic(scene)
    root = clinic.cache()
    os.chown(root, 12345, -1)
    said = without_power(scene, clinic, root)
    below = without_power(scene, clinic, os.path.join(root, "more"))
    require(f"owner: '{root}' belongs to 12345, mode 755, and user 'root' may "
            "not write it" in said and
            f"do: chown -R root {root}, or start as 12345" in said, said)
    require(f"do: as 12345: install -d -o root {root}/more; or place" in below,
            below)


@test("broken: a root on a network file system, which is a risk", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    library = os.path.join(os.environ["TKB_NVML"], "libnetwork_disk.so")
    probe = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": library}, check=False,
                           stderr=subprocess.PIPE)
    if probe.returncode != 0 or probe.stderr:
        raise Skip("nothing can be preloaded: the library has a sanitizer")
    document = clinic.names(
        "file-system", root, level="risk", verdict=("warm",),
        what=f"'{root}' lies on nfs", advice="share it by a remote",
        env={"LD_PRELOAD": library})
    require(document["places"][0]["is_network"], document["places"])
    require(not clinic.is_well(root)["places"][0]["is_network"])


def seed_mounted(sentence, options, *told):
    """A test of a cache on a tmpfs with these options, in a namespace of its own."""
    @test("broken: " + sentence, Clinic)
    def _(scene, clinic):
        need("unshare")
        clinic.cache()
        script = ("mount -t tmpfs -o size=8m none mnt && cp -a cache/. mnt && "
                  f"mount -o remount,{options} none mnt && exec \"$@\" doctor mnt")
        unshare = scene.able([*UNSHARE, "--mount"])
        os.makedirs(scene.path("mnt"))
        ended = scene.go([*unshare, "sh", "-c", script, "sh", scene.program],
                         env=clinic.environment)
        for words in told:
            require(words in ended.out, words, ended.out, ended.err)


seed_mounted("a disk without inodes", "size=256m,nr_inodes=500", "inodes left",
             "tkbundle gc mnt --max-age")
seed_mounted("a root that is read-only", "ro", "read-only: 'mnt' is read-only",
             "tkbundle run")
seed_mounted("a root whose modules cannot be loaded, and one without access times",
             "noexec,noatime", "'mnt' is mounted noexec",
             "risk, access-times: 'mnt' is mounted noatime")
seed_mounted("a full disk", "size=8m", "disk: the disk of 'mnt' has only",
             "tkbundle gc mnt")

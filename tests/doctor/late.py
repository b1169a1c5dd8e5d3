# SPDX-License-Identifier: Apache-2.0
"""If something does not answer, or is too large, doctor reports the rest in time."""
import os
import shutil
import tempfile
import time

from clinic import TRITON, Clinic
from scene import equal, require, test, write

LATE_S = 10  # two seconds, and a busy machine


@test("late: a Python that hangs did not answer", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    clinic.python("sleep 60")
    begin = time.monotonic()
    document = clinic.names("python", root, level="risk", verdict=("warm",),
                            what="did not answer", advice="TKBUNDLE_PYTHON")
    require(time.monotonic() - begin < LATE_S)
    equal(len(document["misfits"]), 0)


@test("late: a driver that hangs did not answer", Clinic)
def _(scene, clinic):
    begin = time.monotonic()
    document = clinic.names("target", clinic.cache(), level="risk",
                            verdict=("warm",),
                            env={"FAKE_NVML_HANGS": "init"})
    require(time.monotonic() - begin < LATE_S)
    equal(document["machine"]["no_gpu"], "the driver did not answer")


@test("late: an NVML that fails is told, and not fatal", Clinic)
def _(scene, clinic):
    document = clinic.names("target", clinic.cache(), level="risk",
                            verdict=("warm",),
                            env={"FAKE_NVML_FAILS": "count"})
    equal(document["machine"]["no_gpu"], "NVML fails: Unknown Error")
    equal(document["machine"]["driver"], "580.65.06")
    finding, = (each for each in document["findings"] if each["cause"] == "target")
    require("nvidia-smi" in finding["advice"], finding)


@test("late: an NVML of which a function is missing tells the rest", Clinic)
def _(scene, clinic):
    document = clinic.is_well(clinic.cache(), env={"FAKE_NVML_FAILS": "cuda"})
    equal(document["machine"]["driver_cuda"], 0)
    equal(document["machine"]["gpus"][0]["arch"], 90)


@test("late: a ptxas that hangs did not answer", Clinic)
def _(scene, clinic):
    root = clinic.cache()
    write(os.path.join(clinic.site, TRITON), "#!/bin/sh\nsleep 60\n", 0o755)
    clinic.names("ptxas", root, what="does not tell its version",
                 advice="TRITON_PTXAS_PATH")


@test("late: of a cache with 100,000 folders a part is read, and that is told")
def _(scene):
    clinic = Clinic(scene)
    # Making so many takes a disk a minute.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        root = os.path.join(folder, "cache")
        shutil.copytree(clinic.cache(), root)
        read_a_part(clinic, root)


def read_a_part(clinic, root):
    entries = os.listdir(root)
    for number in range(100000):
        key = "".join("ABCDEFGHIJKLMNOP"[int(digit, 16)]
                      for digit in f"{number:052x}")
        os.mkdir(os.path.join(root, key))
    begin = time.monotonic()
    document = clinic.names("size", root, level="risk", advice="--deep",
                            verdict=("warm", "partly", "cold"),
                            what="nothing is known about the rest")
    require(time.monotonic() - begin < LATE_S)
    require(document["unread"] > 0, document["findings"])
    for finding in document["findings"]:
        require("nothing is cached" not in finding["what"], finding)
    # Empty folders are entries that somebody is about to write, and count, too.
    for name in entries:
        shutil.rmtree(os.path.join(root, name))
    clinic.names("not-in-bundle", root, verdict=("cold",),
                 what=f"of what was read in '{root}'", advice="--deep")
    clinic.names("size", root, level="risk", verdict=("cold",),
                 what="of about 100000 folders")

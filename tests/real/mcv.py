#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds images against MCV itself: it unpacks those of `push`, and `import` reads its own.

    mcv.py TKBUNDLE MCV

MCV is the program `mcv`, of August 2026 or newer. It makes images by the libraries of buildah,
so buildah and netavark must be installed; images go through docker-registry, on loopback, and
skopeo. It needs root, and writes to /tmp/.mcv and /tmp/mcv, as it always does.

For a cache of Triton and one of vLLM: what MCV unpacks of an image is what `emit` writes, names,
modes and bytes; the bundle of the image that MCV makes is that of `collect`; and both
images have the same labels and the same list, but for what depends on paths and machines.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[1:1] = [os.path.join(os.path.dirname(HERE), name) for name in ("images", "run")]
from registry import config_of, registry, skopeo, unpack  # noqa: E402
from scene import FIXTURES, Scene, equal, files_below, read, require  # noqa: E402

OWN = ("cache-size-bytes", "cache-root-env", "cache-mounts", "summary")


def mcv(scene, program, *words):
    storage = scene.path("storage")
    config = scene.write("storage.conf", f'[storage]\ndriver="vfs"\nrunroot="{storage}/run"\n'
                         f'graphroot="{storage}/graph"\n')
    ended = subprocess.run(
        [program, "--no-gpu", *words], text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env=dict(scene.environment, CONTAINERS_STORAGE_CONF=config,
                                           DOCKER_HOST="unix:///dev/null"))
    equal(ended.returncode, 0, ended.stdout)
    return ended.stdout


def tkbundle(scene, *words, **more):
    ended = scene.tkbundle(*words, **more)
    equal(ended.status, 0, ended.err)
    return ended.out


def contents(root):
    """Name, mode and bytes of each file; of a list of files what it says."""
    found = {}
    for inside, path in files_below(root):
        whole = read(path)
        if os.path.basename(path).startswith("__grp__"):
            whole = json.loads(whole)
        found[inside] = (os.stat(path).st_mode, whole)
    require(found, root)
    return found


def unpacks(scene, program, port, bundle, root, trees):
    """MCV unpacks our image of a bundle as emit writes it."""
    place = scene.path("place")
    remote = f"oci://127.0.0.1:{port}/team/ours"
    tkbundle(scene, "push", "it", "--bundle", bundle, "--as", "image", "--mount", place,
             "--remote", remote)
    os.mkdir(place)
    tkbundle(scene, "emit", bundle, os.path.join(place, *root), *trees(place))
    wanted = contents(place)
    shutil.rmtree(place)
    said = mcv(scene, program, "--extract", "--image", f"127.0.0.1:{port}/team/ours:it",
               "--dir", os.path.join(place, root[0]))
    equal(contents(place), wanted)
    require("Cache size validated" in said, said)
    shutil.rmtree(place)
    return len(wanted)


def is_read(scene, program, port, folder, bundle):
    """The image that MCV makes of a folder comes in as what collect makes of the cache."""
    name = f"127.0.0.1:{port}/team/theirs:it"
    mcv(scene, program, "--create", "--image", name, "--dir", folder)
    store = "[vfs@{0}/graph+{0}/run]".format(scene.path("storage"))
    for target in (f"docker://{name}", "docker-archive:" + scene.path("docker.tar"),
                   "oci-archive:" + scene.path("oci.tar")):
        skopeo(scene, "copy", "--dest-tls-verify=false", f"containers-storage:{store}{name}",
               target)
    for source in ("oci://" + name, scene.path("docker.tar"), scene.path("oci.tar")):
        tkbundle(scene, "import", source, "-o", "theirs.tkb")
        equal(read(scene.path("theirs.tkb")), read(bundle), source)


def listed(scene, port, kind, who):
    """Labels and list of an image, but for what is its own."""
    name = f"127.0.0.1:{port}/team/{who}:it"
    labels = {key: value for key, value in config_of(scene, name)["config"]["Labels"].items()
              if key.startswith(("cache.", "io.kserve.")) and not key.endswith(OWN)}
    entries = json.loads(read(os.path.join(unpack(scene, name, who), f"io.{kind}.manifest",
                                           "manifest.json")))[kind]
    for entry in entries:
        entry.pop("dummy_key", None)  # of the machine's Triton
        if not entry.get("debug", True):
            del entry["debug"]
    return labels, sorted(entries, key=json.dumps)


def hold(scene, program, kind):
    scene.environment["PATH"] = os.environ["PATH"]
    if "CONTAINERS_CONF" in os.environ:
        scene.environment["CONTAINERS_CONF"] = os.environ["CONTAINERS_CONF"]
    bundle, home = scene.path("it.tkb"), scene.path("home")
    file = {"triton": "triton-3.6.0-h100.tar.gz", "vllm": "vllm-0.24-small-h200.tar.gz"}[kind]
    os.mkdir(home)
    subprocess.run(["tar", "-xzf", os.path.join(FIXTURES, file), "-C", home], check=True)
    folder = os.path.join(home, ".triton", "cache")
    if kind == "vllm":
        tkbundle(scene, "collect", "--engine", "vllm", "-o", bundle, env={"HOME": home})
        # As `--source ~/.triton/cache` has it, of an MCV that knows it.
        folder = shutil.move(folder, os.path.join(home, ".cache", "vllm", "triton"))
        folder = os.path.dirname(folder)
        root = ["io.vllm.cache", "triton"]
    else:
        tkbundle(scene, "collect", folder, "-o", bundle)
        root = ["io.triton.cache"]

    def trees(place):
        return ("--tree", f"vllm={place}/io.vllm.cache") if kind == "vllm" else ()

    with registry(scene) as port:
        count = unpacks(scene, program, port, bundle, root, trees)
        is_read(scene, program, port, folder, bundle)
        equal(listed(scene, port, kind, "ours"), listed(scene, port, kind, "theirs"))
    print(f"{kind}: {count} files unpacked by MCV, same as emitted; its own image is the bundle "
          "that collect makes; labels and list are the same")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, other = (os.path.abspath(path) for path in sys.argv[1:])
    for kind in ("triton", "vllm"):
        with tempfile.TemporaryDirectory() as folder:
            hold(Scene(program, folder), other, kind)


if __name__ == "__main__":
    main()

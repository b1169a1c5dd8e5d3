# SPDX-License-Identifier: Apache-2.0
"""A cache becomes an image, whose files say that they lie where it is mounted."""
import glob
import json
import os
import re
import shutil
import subprocess
import time

from registry import config_of, copy, manifest_of, registry, unpack
from scene import (ENTRIES, FIXTURES, Skip, equal, files_below, need, need_root,
                   read, require, test)

TREE = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
VENV = os.path.join(TREE, "build", "venv")
STOCK = os.path.join(TREE, "tests", "support", "stock_triton.py")
VLLM = os.path.join(FIXTURES, "vllm-0.24-small-h200.tar.gz")
# Mount $1 at $2, so that nobody can write it, and run the rest.
MOUNTED = ('mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && '
           'shift 2 && exec "$@"')


def push(scene, port, *words, ref="model", status=0, **more):
    """Push an image; gives its name, without a tag, and the document."""
    name = f"127.0.0.1:{port}/team/kernels"
    ended = scene.tkbundle("push", ref, *words, "--as", "image", "--remote",
                           f"oci://{name}", "--json", **more, status=status)
    equal(scene.leftovers(), [])
    return name, json.loads(ended.out)


def labels(scene, image):
    return config_of(scene, image)["config"]["Labels"]


def groups(root):
    return glob.glob(os.path.join(root, "*", "__grp__*.json"))


def state(root):
    """All that a write below `root` would change."""
    found = {}
    for place, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = os.path.join(place, name)
            status = os.lstat(path)
            found[path] = (status.st_ino, status.st_mtime_ns, status.st_size)
    return found


@test("others copy and unpack an image, which holds the cache as it is mounted")
def _(scene):
    with registry(scene) as port:
        name, document = push(scene, port, scene.fixture(), "--mount",
                              "/srv/kernels/")
        root = unpack(scene, f"{name}:model")
        equal((document["pushed"], document["mount"], document["image"]),
              (ENTRIES, "/srv/kernels/", f"{name}:model"))
        equal(sorted(os.listdir(root)), ["io.tkbundle.manifest",
                                         "io.triton.cache",
                                         "io.triton.manifest"])
        cache = os.path.join(root, "io.triton.cache")
        equal(len(os.listdir(cache)), ENTRIES)
        require(groups(cache))
        for group in groups(cache):
            key = os.path.basename(os.path.dirname(group))
            paths = json.loads(read(group))["child_paths"]
            equal(paths, {child: f"/srv/kernels/io.triton.cache/{key}/{child}"
                          for child in paths})
        equal(document["digest"], subprocess.run(
            ["sha256sum"], check=True, stdout=subprocess.PIPE,
            input=subprocess.run(
                ["curl", "-s", "-H", "Accept: application/vnd.oci.image."
                 "manifest.v1+json", f"http://{name.split('/')[0]}/v2/team/"
                 "kernels/manifests/model"], check=True,
                stdout=subprocess.PIPE).stdout).stdout.decode().split()[0])


@test("what MCV and KServe read of an image of kernels is there")
def _(scene):
    with registry(scene) as port:
        name, _document = push(scene, port, scene.fixture(), "--mount", "/k",
                               "--label", "commit=4f2a")
        found = labels(scene, f"{name}:model")
        root = unpack(scene, f"{name}:model")
        listed = json.loads(read(os.path.join(
            root, "io.triton.manifest", "manifest.json")))["triton"]
        kernels = len(groups(os.path.join(root, "io.triton.cache")))
        equal(found["cache.triton.image/entry-count"], str(kernels))
        equal(len(listed), kernels)
        equal(int(found["cache.triton.image/cache-size-bytes"]), sum(
            os.path.getsize(path) for _inside, path in files_below(
                os.path.join(root, "io.triton.cache"))))
        targets = json.loads(found["cache.triton.image/summary"])["targets"]
        equal({(item["backend"], item["arch"], item["warp_size"])
               for item in targets},
              {(item["backend"], item["arch"], item["warp_size"])
               for item in listed})
        for item in listed:
            require(re.fullmatch("[0-9a-f]{64}", item["hash"]), item)
            require({"num_warps", "num_stages"} <= set(item), item)
        equal((found["commit"], found["dev.tkbundle.mount"]), ("4f2a", "/k"))
        equal(found["org.opencontainers.image.title"], "kernels")
        equal([layer["mediaType"] for layer in manifest_of(
            scene, f"{name}:model")["layers"]],
              ["application/vnd.oci.image.layer.v1.tar+gzip"])
        require("cache.vllm.image/summary" not in found, found)


@test("vLLM's cache is in an image as MCV and KServe have it, with all others in it")
def _(scene):
    os.mkdir(scene.path("home"))
    subprocess.run(["tar", "-xzf", VLLM, "-C", scene.path("home")], check=True)
    with registry(scene) as port:
        name, _document = push(scene, port, "--engine", "vllm", "--mount",
                               "/warm", env={"HOME": scene.path("home")})
        found = labels(scene, f"{name}:model")
        root = unpack(scene, f"{name}:model")
        equal(sorted(os.listdir(root)), ["io.tkbundle.manifest",
                                         "io.vllm.cache", "io.vllm.manifest"])
        equal((found["io.kserve.km/framework"], found["io.kserve.km/cache-type"],
               found["io.kserve.km/cache-root-env"]),
              ("vllm", "torch-compile", "VLLM_CACHE_ROOT=/warm/io.vllm.cache"))
        subpath = found["io.kserve.km/cache-mount-subpath"]
        require(os.path.isdir(os.path.join(root, "io.vllm.cache", subpath)))
        mounts = json.loads(found["io.kserve.km/cache-mounts"])
        require({"subPath": "triton", "absPath": "/warm/io.vllm.cache/triton",
                 "env": "TRITON_CACHE_DIR", "requiresWritable": True}
                in mounts, mounts)
        for mount in mounts:
            require(os.path.isdir(os.path.join(root, "io.vllm.cache",
                                               mount["subPath"])), mount)
        listed = json.loads(read(os.path.join(
            root, "io.vllm.manifest", "manifest.json")))["vllm"]
        equal(found["cache.vllm.image/entry-count"], str(len(listed)))
        equal(found.get("io.kserve.km/cache-hash", ""),
              ",".join(item["vllmHash"] for item in listed))
        require("cache.triton.image/summary" not in found, found)
        require(json.loads(found["cache.vllm.image/summary"])["targets"], found)
        equal(int(found["cache.vllm.image/cache-size-bytes"]), sum(
            os.path.getsize(path) for _inside, path in files_below(
                os.path.join(root, "io.vllm.cache"))))
        for path in glob.glob(os.path.join(root, "**"), recursive=True):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    require(scene.folder.encode() not in file.read(), path)


@test("graphs whose kernels are Triton's files are listed as MCV lists them")
def _(scene):
    # As vLLM 0.9 keeps them, with an index beside Inductor's folder and Triton's.
    root = scene.path("home", ".cache", "vllm")
    rank = os.path.join(root, "torch_compile_cache", "d4ec7c2a7d", "rank_0_0")
    os.makedirs(os.path.join(rank, "inductor_cache", "47"))
    shutil.copytree(scene.fixture(), os.path.join(rank, "triton_cache"))
    for path, text in (("vllm_compile_cache.py", "{}"),
                       ("inductor_cache/47/c47v.py", "def call(): pass")):
        scene.write(os.path.join(rank, path), text)
    with registry(scene) as port:
        name, _document = push(scene, port, "--engine", "vllm", "--mount",
                               "/warm", env={"HOME": scene.path("home")})
        found = labels(scene, f"{name}:model")
        inside = unpack(scene, f"{name}:model")
    listed = json.loads(read(os.path.join(
        inside, "io.vllm.manifest", "manifest.json")))["vllm"]
    equal([(item["vllmHash"], item["cacheFormat"]) for item in listed],
          [("d4ec7c2a7d", "triton")])
    kernels = groups(os.path.join(inside, "io.vllm.cache", "triton"))
    require(kernels)
    equal(len(listed[0]["triton"]), len(kernels))
    equal((found["cache.vllm.image/entry-count"],
           found["cache.vllm.image/format"], found["io.kserve.km/cache-hash"]),
          ("1", "triton", "d4ec7c2a7d"))


@test("a summary can be given for graphs that tell no GPU")
def _(scene):
    os.mkdir(scene.path("home"))
    subprocess.run(["tar", "-xzf", VLLM, "-C", scene.path("home"),
                    ".cache/vllm/torch_compile_cache/799209178a"], check=True)
    summary = "cache.vllm.image/summary"
    given = '{"targets":[{"backend":"cuda","arch":"90","warp_size":32}]}'
    with registry(scene) as port:
        for words, wanted in (((), '{"targets":[]}'),
                              (("--label", f"{summary}={given}"), given)):
            name, _document = push(scene, port, "--engine", "vllm", *words,
                                   "--mount", "/warm",
                                   env={"HOME": scene.path("home")})
            equal(labels(scene, f"{name}:model")[summary], wanted)


@test("the same cache gives the same image, and only once is it uploaded")
def _(scene):
    source = scene.fixture()
    with registry(scene) as port:
        digests = set()
        for ref in ("one", "two"):
            for _ in range(2):
                name, document = push(scene, port, source, "--mount", "/k",
                                      ref=ref)
                digests.add(document["digest"])
        scene.tkbundle("collect", source, "-o", "all.tkb")
        digests.add(push(scene, port, "--bundle", "all.tkb", "--mount", "/k",
                         ref="three")[1]["digest"])
        equal(len(digests), 1, digests)
        blobs = glob.glob(scene.path("registry", "**", "data"), recursive=True)
        equal(len(blobs), 3, blobs)  # manifest, configuration, layer
        _name, dry = push(scene, port, source, "--mount", "/k", "-n",
                          ref="dry")
        require(dry["digest"] in digests, dry)
        _name, other = push(scene, port, source, "--mount", "/l", ref="one")
        require(other["digest"] not in digests)
        equal(config_of(scene, f"{name}:one")["created"],
              "1970-01-01T00:00:00Z")
        push(scene, port, source, "--mount", "/k", ref="one",
             env={"SOURCE_DATE_EPOCH": "86400"})
        equal(config_of(scene, f"{name}:one")["created"],
              "1970-01-02T00:00:00Z")


@test("a layer may be compressed with zstd, and a ref have slashes")
def _(scene):
    need("bsdtar")
    with registry(scene) as port:
        source = scene.fixture()
        name, first = push(scene, port, source, "--mount", "/k")
        name, second = push(scene, port, source, "--mount", "/k", "--format",
                            "tar.zst", ref="a/b_c")
        equal(second["image"], f"{name}:a__b_5fc")
        layout = copy(scene, second["image"], "layout")
        layer, = manifest_of(scene, second["image"])["layers"]
        equal(layer["mediaType"],
              "application/vnd.oci.image.layer.v1.tar+zstd")
        plain = config_of(scene, second["image"])["rootfs"]["diff_ids"]
        equal(plain, config_of(scene, first["image"])["rootfs"]["diff_ids"])
        blob = os.path.join(layout, "blobs", *layer["digest"].split(":"))
        summed = subprocess.run(f"zstd -dc '{blob}' | sha256sum", shell=True,
                                check=True, stdout=subprocess.PIPE)
        equal(["sha256:" + summed.stdout.decode().split()[0]], plain)


@test("an image stands beside the ref of its name, and gc lets it be")
def _(scene):
    source = scene.fixture()
    with registry(scene) as port:
        remote = f"oci://127.0.0.1:{port}/team/kernels"
        scene.tkbundle("push", "model", source, "--remote", remote)
        name, _document = push(scene, port, source, "--mount", "/k")
        time.sleep(2.5)  # the registry tells whole seconds
        scene.tkbundle("gc", "--remote", remote, "--max-age", "1s")
        unpack(scene, f"{name}:model")
        equal(scene.tkbundle("refs", "--remote", remote).out.splitlines()[-1],
              "0 refs")


@test("what makes no sense for an image is refused, and no folder is left")
def _(scene):
    source = scene.fixture()
    for words, part in (
            ((), "'--mount PATH' is missing"),
            (("--mount", "k"), "'k' is not an absolute path"),
            (("--mount", "/k/../l"), "no plain absolute path"),
            (("--mount", b"/k\xff"), "wants a path in UTF-8, not '/k\\xff'"),
            (("--mount", "/k", "--label", b"who=\xff"), "and UTF-8, not 'who=\\xff'"),
            (("--mount", "/k", "--label", "=ci"), "wants a name, and UTF-8, not '=ci'"),
            (("--mount", "/k", "--no-compaction"), "--no-compaction"),
            (("--mount", "/k", "--metrics", "m"), "--metrics")):
        ended = scene.tkbundle("push", "model", source, "--as", "image", *words,
                               "--remote", "oci://127.0.0.1:1/k", status=2)
        require(part in ended.err, ended.err)
    ended = scene.tkbundle("push", "model", source, "--mount", "/k", "--remote",
                           "oci://127.0.0.1:1/k", status=2)
    require("are for '--as image'" in ended.err, ended.err)
    ended = scene.tkbundle("push", "model", source, "--as", "image", "--mount", "/k",
                           "--remote", scene.remote, status=1)
    require("keeps no images: a registry does" in ended.err, ended.err)
    ended = scene.tkbundle("push", "model", source, "--as", "image", "--mount", "/k",
                           "--remote", "oci://127.0.0.1:1/k", status=1)
    require("cannot connect" in ended.err, ended.err)
    equal(scene.leftovers(), [])


def triton(scene, *before, **env):
    """What a real Triton says when it wants two kernels."""
    python = os.path.join(VENV, "bin", "python3")
    if not os.path.exists(python):
        raise Skip("there is no Triton in build/venv")
    ended = scene.go([*before, python, STOCK, "compile"],
                     env={"PYTHONDONTWRITEBYTECODE": "1", **env}, status=0)
    return re.findall(r"^(compiled|found)", ended.out, re.M)


def mounted(scene, place, *words, folder="bundle", **more):
    """What `words` push, as an image that is mounted at `place`: its files, and how."""
    os.makedirs(place, exist_ok=True)
    with registry(scene) as port:
        name, _document = push(scene, port, *words, "--mount", place, **more)
        root = unpack(scene, f"{name}:model", folder)
    return root, scene.able(["unshare", "-m", "sh", "-c", MOUNTED, "sh", root, place])


def mounted_triton(scene):
    """The place of an image with two kernels, its files, and how it is mounted."""
    need_root()
    equal(triton(scene, TRITON_CACHE_DIR=scene.path("made")), ["compiled"] * 2)
    place = scene.path("mounted")
    return place, *mounted(scene, place, scene.path("made"))


@test("a real Triton finds each kernel in a mounted image, and writes nothing there")
def _(scene):
    place, root, before = mounted_triton(scene)
    cache = os.path.join(place, "io.triton.cache")
    was = state(root)
    # As a Kubernetes image volume has it: no emit, no tkbundle.
    equal(triton(scene, *before, TRITON_CACHE_DIR=cache), ["found"] * 2)
    # Under run, with a root beside it that can be written.
    line = scene.line_of(options=["--cache", cache, "--push", "never"],
                         remote=scene.remote)
    equal(triton(scene, *before, *line), ["found"] * 2)
    equal(state(root), was)


@test("a real Triton finds each kernel through links into an image, as KServe makes them")
def _(scene):
    place, root, before = mounted_triton(scene)
    was = state(root)
    linked = scene.path("linked")
    os.mkdir(linked)
    link = 'cp -sr "$1"/. "$2"/ && shift 2 && exec "$@"'
    equal(triton(scene, *before, "sh", "-c", link, "sh",
                 os.path.join(place, "io.triton.cache"), linked,
                 TRITON_CACHE_DIR=linked), ["found"] * 2)
    require(any(os.path.islink(path) for path in groups(linked)))
    equal(state(root), was)


def mounted_vllm(scene, place, folder="bundle", edit=None):
    """vLLM's caches as an image that is mounted at `place`: its files, and how."""
    need_root()
    os.makedirs(scene.path("home"), exist_ok=True)
    subprocess.run(["tar", "-xzf", VLLM, "-C", scene.path("home")], check=True)
    if edit is not None:
        edit(scene.path("home", ".cache", "vllm"))
    return mounted(scene, place, "--engine", "vllm", folder=folder,
                   env={"HOME": scene.path("home")})


def started(scene, before, place, script, **env):
    line = scene.line_of("sh", "-c", script, options=["--cache", place, "--push", "never"])
    return scene.go([*before, *line], env=env, status=0)


SHOW = 'echo "$VLLM_CACHE_ROOT $TRITON_CACHE_DIR" && echo new >"$VLLM_CACHE_ROOT/new"'


@test("a command has the trees of a mounted image beside it, and its kernels")
def _(scene):
    place = scene.path("warm")
    root, before = mounted_vllm(scene, place)
    was = state(root)
    ended = started(scene, before, place, SHOW)
    vllm, kernels = ended.out.split()
    require(vllm != os.path.join(place, "io.vllm.cache"), vllm)
    require(not kernels.startswith(place + "/"), kernels)
    equal(state(root), was)
    inside = os.path.join(root, "io.vllm.cache")
    wanted = {path: whole for path, whole in files_below(inside)
              if not path.startswith("triton/")}
    require(len(wanted) > 10, wanted.keys())
    for path, whole in wanted.items():
        equal(read(os.path.join(vllm, path)), read(whole), path)
    keys = os.listdir(os.path.join(inside, "triton"))
    equal(sorted(key for key in os.listdir(kernels) if key[0] != "."), sorted(keys))
    for group in groups(kernels):
        for path in json.loads(read(group))["child_paths"].values():
            require(path.startswith(kernels + "/"), path)
    # What was written there stays, and what is gone comes again.
    lost = os.path.join(vllm, sorted(wanted)[0])
    os.unlink(lost)
    again = started(scene, before, place, "cat $VLLM_CACHE_ROOT/new; " + SHOW)
    equal(again.out.split(), ["new", vllm, kernels])
    require(os.path.exists(lost))
    equal(state(root), was)


@test("another image at the same path is copied anew, and the first one's copies stay")
def _(scene):
    place = scene.path("warm")
    traits = "modelinfos/vllm-model_executor-models-llama-LlamaForCausalLM.json"
    show = f'cat "$VLLM_CACHE_ROOT/{traits}"; ls "$VLLM_CACHE_ROOT"'

    def edit(tree):
        path = os.path.join(tree, traits)
        text = read(path).decode()
        require("true" in text, text)
        scene.write(path, text.replace("true", "null", 1))

    _root, first = mounted_vllm(scene, place)
    _root, second = mounted_vllm(scene, place, "other", edit)
    old = started(scene, first, place, show).out
    started(scene, first, place, SHOW)
    new = started(scene, second, place, show).out
    equal(new, old.replace("true", "null", 1))
    require("\nnew\n" in started(scene, first, place, show).out, "was lost")


@test("a variable that the user has set stays, unless it names the image")
def _(scene):
    place = scene.path("warm")
    root, before = mounted_vllm(scene, place)
    was = state(root)
    own = scene.path("own")
    ended = started(scene, before, place, "echo $VLLM_CACHE_ROOT", VLLM_CACHE_ROOT=own)
    equal(ended.out, own + "\n")
    ended = started(scene, before, place, SHOW,
                    VLLM_CACHE_ROOT=os.path.join(place, "io.vllm.cache"))
    require(not ended.out.startswith(place + "/"), ended.out)
    equal(state(root), was)


@test("any path to a mounted image is of that image")
def _(scene):
    place = scene.path("warm")
    os.makedirs(os.path.join(place, "io.tkbundle.manifest"))
    os.makedirs(os.path.join(place, "io.vllm.cache"))
    root = {"name": "vllm", "path": "io.vllm.cache"}
    scene.write("warm/io.tkbundle.manifest/roots.json", json.dumps({"roots": [root]}))
    beside = f"{place}.tkbundle-{os.geteuid()}"
    for path in place + "/", "warm", "warm/.", "./warm//", ".":
        before = ["sh", "-c", 'cd "$0" && exec "$@"', place if path == "." else "."]
        ended = started(scene, before, path, "echo $VLLM_CACHE_ROOT")
        vllm = os.path.realpath(ended.out.strip())
        equal(vllm, os.path.join(os.path.realpath(beside), "io.vllm.cache"), path)


@test("a list of an image's roots that makes no sense is a cold start, and one sentence")
def _(scene):
    place = scene.path("warm")
    os.makedirs(os.path.join(place, "io.tkbundle.manifest"))
    evil = {"name": "vllm", "path": "../home", "variable": "LD_PRELOAD"}
    for text in "", "[]", json.dumps({"roots": [evil]}), json.dumps({"roots": [{}]}):
        scene.write("warm/io.tkbundle.manifest/roots.json", text)
        ended = started(scene, [], place, "env")
        require("is not a list of an image's roots" in ended.err, ended.err)
        require("LD_PRELOAD" not in ended.out, ended.out)


@test("gc lists what a registry refuses to delete, by digest and status")
def _(scene):
    source = scene.fixture()
    with registry(scene, deletes=False) as port:
        remote = f"oci://127.0.0.1:{port}/team/kernels"
        for key in "5DJU", "CPSM":
            scene.tkbundle("push", "model", source, "--key", key, "--remote", remote)
        time.sleep(2)  # then both are older than nothing
        ended = scene.tkbundle("gc", "--remote", remote, "--max-age", "0s", status=4)
        told = ended.err.splitlines()
        equal(len(told), 2, ended.err)
        for line in told:
            require(re.search("record [0-9a-f]{12} of ref 'model' stays: "
                              ".*it refuses to delete \\(HTTP 405\\)", line),
                    line)
        require(ended.out.startswith("removed 0 blobs (0 B), kept 2 (") and
                "refused 2" in ended.out, ended.out)
        ended = scene.tkbundle("gc", "--remote", remote, "--max-size", "0", "--json",
                               status=4)
        document = json.loads(ended.out)
        equal(document["refused"], 2)
        equal([(item["ref"], len(item["digest"])) for item in
               document["refused_items"]], [("model", 64)] * 2)
        equal(document["removed_items"], [])
        scene.tkbundle("pull", "model", scene.path("out"), "--remote", remote)

# SPDX-License-Identifier: Apache-2.0
"""Images of caches, ours and MCV's, become bundles."""
import hashlib
import json
import os
import shutil
import subprocess

from answers import Answering, serving
from pushing import VLLM, groups, push
from registry import registry, skopeo
from scene import equal, read, require, test

MEDIA = "application/vnd.oci.image."


def take(scene, image, *words, status=0):
    ended = scene.tkbundle("import", image, "-o", "imported.tkb", *words,
                           status=status)
    equal(scene.leftovers(), [])
    return ended


def collect(scene, *words, **more):
    scene.tkbundle("collect", *words, "-o", "collected.tkb", **more)
    return read(scene.path("collected.tkb"))


def put_blob(layout, data):
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(layout, "blobs", "sha256", digest), "wb") as file:
        file.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}


def layout_of(scene, folder, labels):
    """An image of what is in a folder, as MCV makes one, laid out as OCI has it."""
    layout = scene.path("layout")
    os.makedirs(os.path.join(layout, "blobs", "sha256"))
    plain = subprocess.run(["tar", "-cf", "-", *sorted(os.listdir(folder))],
                           cwd=folder, check=True,
                           stdout=subprocess.PIPE).stdout
    layer = subprocess.run(["gzip", "-n"], input=plain, check=True,
                           stdout=subprocess.PIPE).stdout
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "config": {"Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [
            "sha256:" + hashlib.sha256(plain).hexdigest()]}}).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
        "config": {"mediaType": MEDIA + "config.v1+json",
                   **put_blob(layout, config)},
        "layers": [{"mediaType": MEDIA + "layer.v1.tar+gzip",
                    **put_blob(layout, layer)}]}).encode()
    index = {"schemaVersion": 2, "manifests": [
        {"mediaType": MEDIA + "manifest.v1+json",
         "annotations": {"org.opencontainers.image.ref.name": "it"},
         **put_blob(layout, manifest)}]}
    for name, what in (("oci-layout", {"imageLayoutVersion": "1.0.0"}),
                       ("index.json", index)):
        scene.write(os.path.join("layout", name), json.dumps(what))
    return layout


@test("an image that was pushed comes back as the bundle that it is of")
def _(scene):
    source = scene.fixture()
    with registry(scene) as port:
        for layer in ("tar.gz", "tar.zst"):
            name, document = push(scene, port, source, "--mount", "/k",
                                  "--format", layer)
            for tail in (":model", "@sha256:" + document["digest"]):
                take(scene, f"oci://{name}{tail}")
                equal(read(scene.path("imported.tkb")),
                      collect(scene, source))
        ended = take(scene, f"oci://{name}:none", status=3)
        require("there is no image 'none' in" in ended.err, ended.err)
        ended = take(scene, f"oci://{name}", status=3)
        require("there is no image 'latest' in" in ended.err, ended.err)


@test("an image of MCV's comes in, its trees included, and goes to another path")
def _(scene):
    home = scene.path("home")
    os.mkdir(home)
    subprocess.run(["tar", "-xzf", VLLM, "-C", home], check=True)
    wanted = collect(scene, "--engine", "vllm", env={"HOME": home})
    # As `mcv --create --dir ~/.cache/vllm --source ~/.triton/cache` packs it.
    shutil.copytree(os.path.join(home, ".cache", "vllm"),
                    scene.path("made", "io.vllm.cache"))
    shutil.copytree(os.path.join(home, ".triton", "cache"),
                    scene.path("made", "io.vllm.cache", "triton"))
    scene.write("made/io.vllm.manifest/manifest.json", '{"vllm":[]}')
    layout = layout_of(scene, scene.path("made"), {
        "cache.vllm.image/summary": '{"targets":[]}',
        "io.kserve.km/cache-root-env": "VLLM_CACHE_ROOT=/home/kserve/.cache",
        "io.kserve.km/cache-mounts": json.dumps([
            {"subPath": "triton", "absPath": "/tmp/triton",
             "env": "TRITON_CACHE_DIR", "requiresWritable": True}])})
    archives = {kind: scene.path(kind) for kind in ("oci-archive",
                                                    "docker-archive")}
    for kind, path in archives.items():
        skopeo(scene, "copy", f"oci:{layout}:it", f"{kind}:{path}")
        ended = take(scene, path, "-v")
        require("found 'vllm'" in ended.err and
                "found 'triton'" in ended.err, ended.err)
        equal(read(scene.path("imported.tkb")), wanted, kind)
    with registry(scene) as port:
        name = f"127.0.0.1:{port}/mcv/image"
        skopeo(scene, "copy", "--dest-tls-verify=false", f"oci:{layout}:it",
               f"docker://{name}:v1")
        take(scene, f"oci://{name}:v1")
        equal(read(scene.path("imported.tkb")), wanted)
    place = scene.path("elsewhere")
    scene.tkbundle("emit", "imported.tkb", place, "--tree",
                   f"vllm={scene.path('tree')}")
    require(groups(place))
    for group in groups(place):
        for path in json.loads(read(group))["child_paths"].values():
            require(path.startswith(place + "/") and os.path.exists(path), path)


def liar(answers):
    """A server that answers by the first of these that the path holds."""
    class Handler(Answering):
        def do_GET(self):
            for part, *told in answers:
                if part in self.path:
                    return self.answer(*told)
            return self.send_error(404)

        do_HEAD = do_GET

    return serving(Handler)


def document(**members):
    return json.dumps({"schemaVersion": 2, **members}).encode()


LAYER = {"mediaType": MEDIA + "layer.v1.tar+gzip",
         "digest": "sha256:" + "1" * 64, "size": 10}


@test("a registry that lies about an image is one sentence, and nothing is written")
def _(scene):
    for answers, part, status in (
            ([("/manifests/", 200, b"<html>Sign in</html>")],
             "'latest' is no image", 5),
            ([("/manifests/", 200, document(layers=[]))],
             "'latest' is no image", 5),
            ([("/manifests/", 200, document(layers=[LAYER, LAYER]))],
             "has several layers", 5),
            ([("/manifests/", 200, document(
                layers=[{**LAYER, "digest": "sha256:../../etc"}]))],
             "by no SHA-256", 5),
            ([("/manifests/", 200, document(layers=[LAYER]))],
             "lacks its layer", 5),
            ([("/manifests/", 200, document(layers=[LAYER])),
              ("/blobs/", 200, b"something else")],
             "another digest", 5),
            ([("/manifests/", 200, b" " * (5 << 20))],
             "has more than 4194304 bytes", 1),
            ([("/manifests/", 302,
               b"", {"Location": "/v2/a/manifests/latest"})],
             "redirects more than", 1),
            ([("/manifests/", 200, document(manifests=[
                {"digest": "sha256:" + "2" * 64}]))],
             "has another digest", 5)):
        with liar(answers) as server:
            ended = take(scene, f"oci://127.0.0.1:{server.server_port}/a", status=status)
        require(part in ended.err, ended.err)
        equal(ended.err.count("\n"), 1, ended.err)
        require(not os.path.exists(scene.path("imported.tkb")))

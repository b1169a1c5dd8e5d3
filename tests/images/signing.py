# SPDX-License-Identifier: Apache-2.0
"""Signatures of images, beside them in the registry."""
import base64
import contextlib
import hashlib
import http.client
import json
import os
import subprocess
import time
import urllib.request

from answers import Answering, serving
from pushing import push
from registry import registry
from scene import equal, read, require, test

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def fetch(port, path, accept=MANIFEST):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v2/team/kernels/{path}",
        headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def keys(scene, *kinds):
    made = []
    for kind in kinds:
        scene.tkbundle("key", "new", f"{kind}.pem", "--kind", kind)
        with open(scene.path(f"{kind}.pub"), "wb") as file:
            file.write(subprocess.run(
                ["openssl", "pkey", "-in", scene.path(f"{kind}.pem"),
                 "-pubout"], check=True, stdout=subprocess.PIPE).stdout)
        made.append(scene.path(f"{kind}.pem"))
    return made


def check(scene, port, listed, image, wanted):
    """Each signature, by OpenSSL, is one of the image's manifest."""
    seen = set()
    for item in listed:
        equal(item["artifactType"], BUNDLE)
        text = fetch(port, "manifests/" + item["digest"])
        equal("sha256:" + hashlib.sha256(text).hexdigest(), item["digest"])
        manifest = json.loads(text)
        equal(manifest["subject"]["digest"], "sha256:" + image)
        equal(manifest["artifactType"], BUNDLE)
        bundle = json.loads(fetch(
            port, "blobs/" + manifest["layers"][0]["digest"]))
        equal(bundle["mediaType"], BUNDLE)
        envelope = bundle["dsseEnvelope"]
        payload = base64.b64decode(envelope["payload"])
        equal(json.loads(payload)["subject"][0]["digest"]["sha256"], image)
        kind = envelope["payloadType"].encode()
        with open(scene.path("signed"), "wb") as file:
            file.write(b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload),
                                                payload))
        signature, = envelope["signatures"]
        with open(scene.path("signature"), "wb") as file:
            file.write(base64.b64decode(signature["sig"]))
        for name in wanted:
            more = (("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey",
                     scene.path(name + ".pub"), "-in", scene.path("signed"),
                     "-sigfile", scene.path("signature"))
                    if name == "ed25519" else
                    ("dgst", "-sha256", "-verify", scene.path(name + ".pub"),
                     "-signature", scene.path("signature"),
                     scene.path("signed")))
            if scene.go(["openssl", *more]).status == 0:
                seen.add(name)
    equal(seen, set(wanted))


def sign(scene, port, *kinds):
    words = [word for key in keys(scene, *kinds) for word in ("--sign", key)]
    return push(scene, port, scene.path("source", ".triton", "cache"),
                "--mount", "/k", *words)


@test("an image is signed beside it, by a tag where the registry lists nothing")
def _(scene):
    scene.fixture()
    with registry(scene) as port:
        _name, document = sign(scene, port, "ed25519", "p256")
        index = json.loads(fetch(port, "manifests/sha256-" +
                                 document["digest"],
                                 "application/vnd.oci.image.index.v1+json"))
        equal(len(index["manifests"]), 2)
        check(scene, port, index["manifests"], document["digest"],
              ("ed25519", "p256"))


@contextlib.contextmanager
def listing(port, paths=None, replaced=None):
    """A registry before another, which lists what names a subject, and no tag. Without
    lists where `paths` is given, which gets what is asked; with other answers where
    `replaced` has a part of a path."""
    subjects = {}

    class Handler(Answering):
        protocol_version = "HTTP/1.1"

        def forward(self):
            if paths is not None:
                paths.append(self.path)
            for part, body in (replaced or {}).items():
                if part in self.path:
                    return self.answer(200, body)
            if "/referrers/" in self.path and paths is None:
                return self.answer(200, json.dumps({
                    "schemaVersion": 2, "manifests": subjects.get(
                        self.path.rpartition("/")[2], [])}).encode())
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size)
            server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            server.request(self.command, self.path, body, {
                name: value for name, value in self.headers.items()
                if name.lower() not in ("content-length", "expect")})
            answer = server.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding",
                                        "date"):
                    self.send_header(name, value)
            if self.command == "PUT" and "/manifests/" in self.path:
                self.note(body)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)
            server.close()
            return None

        def note(self, body):
            manifest = json.loads(body)
            if "subject" not in manifest or paths is not None:
                return
            digest = manifest["subject"]["digest"]
            self.send_header("OCI-Subject", digest)
            subjects.setdefault(digest, []).append({
                "mediaType": MANIFEST, "size": len(body),
                "artifactType": manifest["artifactType"],
                "digest": "sha256:" + hashlib.sha256(body).hexdigest()})

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = forward

    with serving(Handler) as server:
        yield server.server_port, subjects


@test("a registry that lists signatures itself gets no tag for them")
def _(scene):
    scene.fixture()
    with registry(scene) as port, listing(port) as (front, subjects):
        _name, document = sign(scene, front, "ed25519")
        (subject, listed), = subjects.items()
        equal(subject, "sha256:" + document["digest"])
        check(scene, port, listed, document["digest"], ("ed25519",))
        tags = json.loads(fetch(port, "tags/list"))["tags"]
        equal(tags, ["model"])


@test("nothing is signed in a dry run")
def _(scene):
    scene.fixture()
    with registry(scene) as port:
        push(scene, port, scene.path("source", ".triton", "cache"), "--mount",
             "/k", "-n", "--sign", keys(scene, "ed25519")[0])
        require(b"repositories\":[]" in urllib.request.urlopen(
            f"http://127.0.0.1:{port}/v2/_catalog", timeout=60).read()
            .replace(b" ", b""))
    require(read(scene.path("ed25519.pem")))


POLICY = """ci.key = ed25519.pem.pub
ci.publish = mod*
release.key = p256.pem.pub
release.promote = prod/*
"""


def policy(scene, name="policy", text=POLICY):
    os.chmod(scene.write(name, text), 0o600)


def take(scene, image, status=0, words="", trust="policy"):
    """Import an image under the policy; what is refused is one sentence."""
    ended = scene.tkbundle("import", f"oci://{image}", "-o", "taken.tkb", "--trust", trust, "-v",
                           status=status)
    require(words in ended.err, ended.err)
    if status != 0:
        equal(ended.err.count("\n"), 1, ended.err)
        require(not os.path.exists(scene.path("taken.tkb")))
    else:
        os.unlink(scene.path("taken.tkb"))


def ways(port):
    """Where signatures are found by a tag, and where the registry lists them."""
    yield contextlib.nullcontext(port)
    yield map_port(listing(port))


@contextlib.contextmanager
def map_port(context):
    with context as (front, _subjects):
        yield front


@test("an image that a policy trusts is imported, by tag and by digest")
def _(scene):
    scene.fixture()
    policy(scene)
    with registry(scene) as port:
        for way in ways(port):
            with way as front:
                name, document = sign(scene, front, "ed25519", "p256")
                for tail in ":model", "@sha256:" + document["digest"]:
                    take(scene, name + tail, 0, "the image is signed by ci")
            for key in "ed25519.pem", "p256.pem":
                os.unlink(scene.path(key))
                os.unlink(scene.path(key + ".pub"))


@test("a push that cannot sign leaves its tag to the image that is signed")
def _(scene):
    scene.fixture()
    policy(scene)
    with registry(scene) as port:
        name, _document = sign(scene, port, "ed25519", "p256")
        with replaced(port, "/sha256-", b"<html>") as front:
            ended = scene.tkbundle(
                "push", "model", scene.path("source", ".triton", "cache"), "--as", "image",
                "--mount", "/elsewhere", "--sign", scene.path("ed25519.pem"), "--remote",
                f"oci+http://{name.replace(str(port), str(front))}", status=5)
        require("is no index" in ended.err, ended.err)
        take(scene, name + ":model", 0, "the image is signed by ci")


@test("an image that nobody signed is not imported, and its layer not fetched")
def _(scene):
    source = scene.fixture()
    keys(scene, "ed25519", "p256")
    policy(scene)
    policy(scene, "warn", POLICY + "unsigned = warn\n")
    with registry(scene) as port, counted(port) as (front, paths):
        name, _document = push(scene, front, source, "--mount", "/k")
        paths.clear()
        take(scene, name + ":model", 5, "no key of the policy has signed it")
        require(paths and not [path for path in paths if "/blobs/" in path],
                paths)
        take(scene, name + ":model", 0, "it is used anyway", "warn")
    scene.tkbundle("import", "x.tar", "-o", "-", "--trust", "policy", status=2)


@contextlib.contextmanager
def counted(port):
    """What a registry is asked for."""
    paths = []
    with listing(port, paths) as (front, _subjects):
        yield front, paths


@test("a signature for another tag, by another key or for another role is none")
def _(scene):
    source = scene.fixture()
    made = keys(scene, "ed25519", "p256")
    policy(scene)
    with registry(scene) as port:
        name = f"127.0.0.1:{port}/team/kernels"

        def pushed(ref, key, *more):
            push(scene, port, source, "--mount", "/k", "--sign", key, *more,
                 ref=ref)

        pushed("model", made[0])
        text = fetch(port, "manifests/model")
        put(port, "manifests/modern", text)
        take(scene, name + ":modern", 5, "has signed it for tag 'model'")
        pushed("model2", made[1], "--label", "a=1")
        take(scene, name + ":model2", 5, "'release' has signed it, but may not publish this ref")
        pushed("prod/model", made[0], "--label", "a=2")
        take(scene, name + ":prod__model", 5, "but may not promote to")
        pushed("prod/model", made[1], "--label", "a=2")
        take(scene, name + ":prod__model", 0, "signed by release")
        scene.tkbundle("key", "new", "stranger.pem")
        pushed("model3", "stranger.pem", "--label", "a=3")
        take(scene, name + ":model3", 5, "no key of the policy has signed it")
        pushed("model4", made[0], "--label", "a=4", "--expires", "1s")
        time.sleep(2)
        take(scene, name + ":model4", 5, "its signature by 'ci' ended at")


@test("an image that is revoked, or older than one that was seen, is not imported")
def _(scene):
    source = scene.fixture()
    made = keys(scene, "ed25519", "p256")
    policy(scene, "replay", POLICY + "replay = refuse\n")
    policy(scene, "lists", POLICY + "release.revoke = yes\n")
    with registry(scene) as port:
        name = f"127.0.0.1:{port}/team/kernels"

        def pushed(label):
            return push(scene, port, source, "--mount", "/k", "--sign",
                        made[0], "--label", label)[1]["digest"]

        first = pushed("a=1")
        text = fetch(port, "manifests/model")
        take(scene, name + ":model", trust="replay")
        time.sleep(1.1)  # sequences are seconds
        second = pushed("a=2")
        require(first != second)
        take(scene, name + ":model", trust="replay")
        put(port, "manifests/model", text)
        take(scene, name + ":model", 5, "is older than one that was seen",
             "replay")
        take(scene, name + ":model", 5, "has no revocation list",
             "lists")
        scene.tkbundle("revoke", first, "--remote", f"oci://{name}", "--sign", made[1])
        take(scene, name + ":model", 5, "it is revoked", "lists")
        take(scene, name + "@sha256:" + second, trust="lists")
        # All images of a bundle, and of a layer, whoever signed them.
        text = json.loads(fetch(port, "manifests/sha256:" + second))
        layer = text["layers"][0]["digest"].partition(":")[2]
        config = json.loads(fetch(port, "blobs/" + text["config"]["digest"]))
        bundle = config["config"]["Labels"]["dev.tkbundle.bundle"]
        third = push(scene, port, source, "--mount", "/other", "--sign",
                     made[0])[1]["digest"]
        for digest, image, words in ((layer, second, "its layer is revoked"),
                                     (bundle, third, "its bundle is revoked")):
            take(scene, name + "@sha256:" + third, trust="lists")
            scene.tkbundle("revoke", digest, "--remote", f"oci://{name}", "--sign", made[1])
            take(scene, name + "@sha256:" + image, 5, words, "lists")


@test("signatures that are damaged are none, and the others count")
def _(scene):
    scene.fixture()
    with registry(scene) as port:
        name, document = sign(scene, port, "ed25519", "p256")
        policy(scene)
        tag = "manifests/sha256-" + document["digest"]
        index = json.loads(fetch(port, tag, INDEX))
        good = index["manifests"]
        for wrong in (b"<html>", b"{}", b'{"manifests":7}', b'{"manifests":[7]}',
                      b'{"manifests":[{"digest":"sha256:..\\/x"}]}',
                      json.dumps({"manifests": [{"digest": "sha256:" +
                                                 document["digest"]}]}).encode()):
            with replaced(port, "/sha256-", wrong) as front:
                take(scene, name.replace(str(port), str(front)) + ":model", 5,
                     "no key of the policy has signed it")
        for item in good:
            bundle = json.loads(fetch(port, "manifests/" + item["digest"]))
            digest = bundle["layers"][0]["digest"]
            with replaced(port, digest, b"{}") as front:
                take(scene, name.replace(str(port), str(front)) + ":model",
                     *((5, "but may not publish") if item is good[0] else
                       (0, "signed by ci")))


INDEX = "application/vnd.oci.image.index.v1+json"


def put(port, path, text):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v2/team/kernels/{path}", text,
        {"Content-Type": MANIFEST}, method="PUT")
    with urllib.request.urlopen(request, timeout=60):
        pass


@contextlib.contextmanager
def replaced(port, part, body):
    """A registry that answers with `body` where a path has `part`."""
    with listing(port, [], {part: body}) as (front, _subjects):
        yield front

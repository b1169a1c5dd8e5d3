# SPDX-License-Identifier: Apache-2.0
"""Signatures of images, beside them in the registry."""
import base64
import contextlib
import hashlib
import http.client
import http.server
import json
import subprocess
import threading
import urllib.request

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
        ended = scene.tkbundle("key", "new", f"{kind}.pem", "--kind", kind)
        equal(ended.status, 0, ended.err)
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
def listing(port):
    """A registry before another, which lists what names a subject, and no tag."""
    subjects = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self):
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

        def note(self, body):
            manifest = json.loads(body)
            if "subject" not in manifest:
                return
            digest = manifest["subject"]["digest"]
            self.send_header("OCI-Subject", digest)
            subjects.setdefault(digest, []).append({
                "mediaType": MANIFEST, "size": len(body),
                "artifactType": manifest["artifactType"],
                "digest": "sha256:" + hashlib.sha256(body).hexdigest()})

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = forward

        def log_message(self, *_words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], subjects
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


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

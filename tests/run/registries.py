# SPDX-License-Identifier: Apache-2.0
"""Behind each registry that lies, and each policy that cannot be used, the command
starts cold, and is told why once."""
import contextlib
import http.client
import os
import re
import shutil
import subprocess

from answers import Answering, serving
from registry import registry
from scene import FIXTURES, equal, require, test

RECORD = re.compile("/manifests/r[.]")
BLOB = re.compile("/blobs/")
TAGS = re.compile("/tags/list")
ANY = re.compile("/v2/")


def answer(body=b"", status=200, **headers):
    return lambda _real: (status, {name.replace("_", "-"): value
                                   for name, value in headers.items()}, body)


def flip(real):
    """Bytes of the same number, of which one is another."""
    status, headers, body = real
    return status, headers, body[:-1] + bytes([body[-1] ^ 1]) if body else body


def longer(real):
    status, headers, body = real
    return status, {**headers, "Content-Length": str(len(body) + 10)}, body


def shorter(real):
    status, headers, body = real
    return status, headers, body[:len(body) // 2]


@contextlib.contextmanager
def lying(port, where, lie):
    """A registry before another, whose answers to `where` are a lie."""
    class Handler(Answering):
        protocol_version = "HTTP/1.1"

        def forward(self):
            server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            server.request(self.command, self.path, None,
                           {"Accept": self.headers.get("Accept") or "*/*"})
            got = server.getresponse()
            real = (got.status, {
                name: value for name, value in got.getheaders()
                if name.lower() in ("content-type", "link",
                                    "docker-content-digest")}, got.read())
            server.close()
            if self.path.startswith("/token"):
                real = 200, {}, b'{"token":"a"}'
            elif where.search(self.path):
                real = lie(real)
            self.answer(real[0], real[2], {
                name: value.replace("SELF", f"http://{self.headers['Host']}")
                .replace("PATH", self.path) for name, value in real[1].items()})
            self.close_connection = True

        do_GET = do_HEAD = forward

        def handle_one_request(self):
            with contextlib.suppress(ConnectionError):
                super().handle_one_request()

    with serving(Handler) as server:
        yield server.server_port


HTML = answer(b"<html>Sign in</html>", Content_Type="text/html")
LOOP = answer(status=302, Location="SELFPATH")
SCOPE = answer(status=401, WWW_Authenticate=(
    'Bearer realm="SELF/token",service="it",scope="repository:fleet:pull"'))

# Each lie: of which answers, which it is, and what the command is told. A small record
# comes with its manifest, so that the only blob is the bundle.
LIES = (
    (TAGS, HTML, "pull: "),
    (TAGS, LOOP, "redirects more than"),
    (TAGS, answer(status=500), "500"),
    (ANY, SCOPE, "pull: "),
    (RECORD, HTML, "pull: "),
    (RECORD, answer(b" " * (5 << 20)), "pull: "),
    (RECORD, LOOP, "pull: "),
    (RECORD, flip, "pull: "),
    (RECORD, answer(status=404), "pull: "),
    (BLOB, HTML, "pull: "),
    (BLOB, flip, "damaged"),
    (BLOB, longer, "pull: "),
    (BLOB, shorter, "pull: "),
    (BLOB, answer(status=404), "is gone"),
)
# A large record is a blob of its own, and asked for before the bundle.
LIES_OF_LARGE = (
    (BLOB, HTML, "pull: "),
    (BLOB, LOOP, "pull: "),
    (BLOB, flip, "damaged"),
    (BLOB, longer, "pull: "),
    (BLOB, shorter, "pull: "),
    (BLOB, answer(status=404), "has no record"),
)
# Each character takes two bytes of the record, which is then larger than 8 KiB.
LABELS = [word for number in range(16)
          for word in ("--label", f"{'large' * 6}{number}=" + '"' * 200)]


def is_cold(scene, words, remote=None, options=(), **more):
    """It ran, nothing was emitted, and one sentence says why."""
    ended = scene.shell("ls -A $TRITON_CACHE_DIR 2>/dev/null; exit 3", remote=remote,
                        options=["--push", "never", *options], **more, status=3)
    equal([name for name in ended.out.split() if name != ".tkbundle"], [],
          ended.err)
    equal(ended.counts()[0], "0", ended.err)
    require(words in ended.reason(), words, ended.err)
    lines = ended.err.splitlines()
    equal(len(lines), 2, ended.err)
    require(all(line.startswith("tkbundle: emitted 0") for line in lines),
            ended.err)


@test("behind a registry that lies, the command starts cold, and is told why once")
def _(scene):
    small = scene.fixture()
    large = scene.fixture("large", os.path.join(FIXTURES, "triton-3.6.0-h100.tar.gz"))
    with registry(scene) as port:
        for name, words, lies, count in (("fleet", [small], LIES, "5"),
                                         ("large", [large, *LABELS], LIES_OF_LARGE, "17")):
            ended = scene.tkbundle("push", "a/b", *words, "--remote",
                                   f"oci://127.0.0.1:{port}/{name}")
            for where, lie, told in lies:
                with lying(port, where, lie) as front:
                    is_cold(scene, told, f"oci://127.0.0.1:{front}/{name}"
                                          "?retries=0&stall-timeout=2s")
            with lying(port, re.compile("nothing"), flip) as front:
                ended = scene.shell("exit 3", options=["--push", "never"],
                                    remote=f"oci://127.0.0.1:{front}/{name}")
            equal(ended.line()[0], count, ended.err)
            shutil.rmtree(scene.root)


def openssl(scene, *words):
    subprocess.run(["openssl", *words], cwd=scene.folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@test("under a policy that cannot be used, the command starts cold, and is told why once")
def _(scene):
    for words in (["key", "new", "ci.pem"],
                  ["push", "a/b", scene.fixture(), "--sign", "ci.pem",
                   "--remote", scene.remote]):
        ended = scene.tkbundle(*words)
    openssl(scene, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
            "rsa.pem", "-out", "certificate.pem", "-subj", "/CN=x")
    openssl(scene, "pkey", "-in", "rsa.pem", "-pubout", "-out", "rsa.pub")
    openssl(scene, "pkcs8", "-topk8", "-in", "ci.pem", "-out", "hidden.pem",
            "-passout", "pass:word")
    for key, mode, words in (("ci.pem.pub", 0o666, "may be written by"),
                             ("certificate.pem", 0o600, "certificate"),
                             ("rsa.pub", 0o600, "rsa.pub"),
                             ("hidden.pem", 0o600, "hidden.pem"),
                             ("ci.pem", 0o600, "is a private key"),
                             ("none.pub", 0o600, "none.pub")):
        scene.write("policy", f"ci.key = {key}\nci.publish = *\n", mode)
        is_cold(scene, words, options=["--trust", "policy"])
    scene.write("policy", "ci.key = ci.pem.pub\nci.publish = *\n", 0o600)
    ended = scene.shell("exit 3", options=["--push", "never", "--trust",
                                           "policy"])
    equal(ended.line()[0], "5", ended.err)

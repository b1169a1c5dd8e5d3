#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a registry as a remote costs.

    python3 -B bench/oci.py --program build/release/tkbundle

Bytes sent by a push of one new kernel to a ref of 1,000, against a layer of the
whole cache (tar and gzip, as MCV makes it) pushed anew by skopeo. And the time of
a pull, against skopeo that copies the same blobs to a folder and an emit of them,
in turns; the best of each. Requests of a pull of 32 signed records, by the registry's
log. docker-registry, on this machine. And, with a Python that
has Triton, how long it looks for all kernels in an image, unpacked by umoci where it
is to be mounted, against a root that was emitted.
"""

import argparse
import glob
import gzip
import hashlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
IMAGE = "application/vnd.oci.image."
RECORDS = 32  # of a ref whose requests are counted


class Counter:
    """Forwards connections to a port, and counts the bytes that go there."""

    def __init__(self, port):
        self.sent = 0
        self.to = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.to))
            for pair in ((client, server, True), (server, client, False)):
                threading.Thread(target=self.forward, args=pair,
                                 daemon=True).start()

    def forward(self, source, sink, counts):
        try:
            while data := source.recv(1 << 16):
                self.sent += len(data) if counts else 0
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def run(*words):
    done = subprocess.run(words, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stdout}")
    return done.stdout


def start_registry(folder):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    config = os.path.join(folder, "registry.json")
    with open(config, "w", encoding="utf-8") as out:
        json.dump({"version": 0.1, "log": {"level": "error"},
                   "storage": {"filesystem": {
                       "rootdirectory": os.path.join(folder, "data")}},
                   "http": {"addr": f"127.0.0.1:{port}"}}, out)
    log = open(os.path.join(folder, "log"), "wb")
    server = subprocess.Popen(["docker-registry", "serve", config],
                              stdout=log, stderr=log)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    sys.exit("docker-registry does not start")


def write_blob(layout, data):
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(layout, "blobs/sha256", digest), "wb") as out:
        out.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}


def write_image(layout, cache):
    """An OCI layout with one image, whose layer is the whole cache."""
    os.makedirs(os.path.join(layout, "blobs/sha256"))
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        tar.add(cache, "io.triton.cache")
    layer = gzip.compress(plain.getvalue(), 6)
    config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {
        "type": "layers", "diff_ids": [
            "sha256:" + hashlib.sha256(plain.getvalue()).hexdigest()]}})
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": IMAGE + "manifest.v1+json",
        "config": {"mediaType": IMAGE + "config.v1+json",
                   **write_blob(layout, config.encode())},
        "layers": [{"mediaType": IMAGE + "layer.v1.tar+gzip",
                    **write_blob(layout, layer)}]})
    index = {"schemaVersion": 2, "manifests": [
        {"mediaType": IMAGE + "manifest.v1+json",
         "annotations": {"org.opencontainers.image.ref.name": "it"},
         **write_blob(layout, manifest.encode())}]}
    for name, what in (("oci-layout", {"imageLayoutVersion": "1.0.0"}),
                       ("index.json", index)):
        with open(os.path.join(layout, name), "w", encoding="utf-8") as out:
            json.dump(what, out)


def skopeo(*words):
    return run("skopeo", "--insecure-policy", *words)


def measure_bytes(program, folder, port, count):
    counter = Counter(port)
    remote = f"oci://127.0.0.1:{counter.port}/bench/kernels"
    cache = os.path.join(folder, "cache")
    grow = os.path.join(HERE, "grow.py")
    run(sys.executable, "-B", grow, cache, str(count + 1))
    key = sorted(os.path.basename(name) for name in glob.glob(cache + "/*")
                 if glob.glob(name + "/*.cubin"))[0]
    os.rename(os.path.join(cache, key), os.path.join(folder, key))
    run(program, "push", "model", cache, "--remote", remote)
    whole = counter.sent
    os.rename(os.path.join(folder, key), os.path.join(cache, key))
    counter.sent = 0
    said = run(program, "push", "model", cache, "--remote", remote)
    one = counter.sent
    layout = os.path.join(folder, "layout")
    write_image(layout, cache)
    counter.sent = 0
    skopeo("copy", "--dest-tls-verify=false", f"oci:{layout}:it",
           f"docker://127.0.0.1:{counter.port}/bench/image:it")
    image = counter.sent
    print(said.strip())
    print(f"first push of {count}: {whole} bytes sent")
    print(f"push of 1 more: {one} bytes sent; an image anew: {image}; "
          f"1/{image / one:.0f}")


def measure_pull(program, folder, port, rounds):
    remote = f"oci://127.0.0.1:{port}/bench/kernels"
    ours, theirs = [], []
    for _ in range(rounds):
        out = os.path.join(folder, "pulled")
        begun = time.monotonic()
        run(program, "pull", "model", out, "--remote", remote)
        ours.append(time.monotonic() - begun)
        shutil.rmtree(out)
        layout = os.path.join(folder, "copied")
        tags = json.loads(skopeo("list-tags", "--tls-verify=false",
                                 f"docker://127.0.0.1:{port}/bench/kernels"))
        begun = time.monotonic()
        for tag in tags["Tags"]:
            if not tag.startswith("b."):
                continue
            skopeo("copy", "--src-tls-verify=false",
                   f"docker://127.0.0.1:{port}/bench/kernels:{tag}",
                   f"dir:{layout}-{tag}")
            run(program, "emit", f"{layout}-{tag}/{tag[2:]}", out)
        theirs.append(time.monotonic() - begun)
        for name in [out, *glob.glob(layout + "-*")]:
            shutil.rmtree(name)
    print(f"pull: {min(ours):.3f} s; skopeo and emit: {min(theirs):.3f} s; "
          f"{min(ours) / min(theirs):.2f}x")


def count_requests(folder):
    """Those that the registry has answered, by its log, which comes behind."""
    seen = -1
    while True:
        with open(os.path.join(folder, "log"), encoding="utf-8") as log:
            count = log.read().count('HTTP/1.1" ')
        if count == seen:
            return count
        seen = count
        time.sleep(0.3)


def measure_requests(program, folder, port):
    """Of a pull of records with one kernel each, with a policy and without."""
    remote = f"oci://127.0.0.1:{port}/bench/signed"
    cache = os.path.join(folder, "cache")
    key, policy = os.path.join(folder, "key"), os.path.join(folder, "policy")
    keys = sorted(os.path.basename(os.path.dirname(name))
                  for name in glob.glob(cache + "/*/*.cubin"))[:RECORDS]
    run(program, "key", "new", key)
    with open(policy, "w", encoding="utf-8") as out:
        out.write("ci.key = key.pub\nci.publish = *\n")
    os.chmod(policy, 0o644)
    for name in keys:
        run(program, "push", "model", cache, "--key", name, "--remote", remote,
            "--no-compaction", "--sign", key)
    counts = []
    for words in (), ("--trust", policy):
        out = os.path.join(folder, "asked")
        before = count_requests(folder)
        run(program, "pull", "model", out, "--remote", remote, *words)
        counts.append(count_requests(folder) - before)
        shutil.rmtree(out)
    print(f"pull of {len(keys)} records of one kernel: {counts[0]} requests; "
          f"under a policy: {counts[1]}")


LOOK_UP = """
import os, sys, time
from triton.runtime.cache import FileCacheManager
root = sys.argv[1]
wanted = [(key, name[len("__grp__"):]) for key in sorted(os.listdir(root))
          for name in os.listdir(os.path.join(root, key))
          if name.startswith("__grp__")]
begun = time.monotonic()
for key, name in wanted:
    assert FileCacheManager(key).get_group(name), key
print(len(wanted), time.monotonic() - begun)
"""


def look_up(python, root):
    said = subprocess.run(
        [python, "-c", LOOK_UP, root], check=True, text=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "TRITON_CACHE_DIR": root}).stdout
    count, seconds = said.split()
    return int(count), float(seconds)


def count_files(folder):
    return sum(len(names) for _place, _folders, names in os.walk(folder))


def measure_start(program, folder, port, python, rounds):
    cache = os.path.join(folder, "cache")
    place = os.path.join(folder, "mounted")
    image = f"127.0.0.1:{port}/bench/mounted"
    run(program, "push", "model", cache, "--as", "image", "--mount", place,
        "--remote", f"oci://{image}")
    skopeo("copy", "--src-tls-verify=false", f"docker://{image}:model",
           f"oci:{folder}/mountable:it")
    run("umoci", "unpack", *([] if os.geteuid() == 0 else ["--rootless"]),
        "--image", f"{folder}/mountable:it", f"{folder}/unpacked")
    os.rename(f"{folder}/unpacked/rootfs", place)
    warm = os.path.join(folder, "warm")
    run(program, "collect", cache, "-o", f"{folder}/all.tkb")
    run(program, "emit", f"{folder}/all.tkb", warm)
    mounted = os.path.join(place, "io.triton.cache")
    before = count_files(place)
    times = {mounted: [], warm: []}
    for _ in range(rounds):
        for root, taken in times.items():
            count, seconds = look_up(python, root)
            taken.append(seconds)
    there, here = min(times[mounted]), min(times[warm])
    print(f"{count} kernels looked up in an image: {there:.4f} s, warm in "
          f"place: {here:.4f} s; {there / here:.2f}x; files written in it: "
          f"{count_files(place) - before}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/tkbundle")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", help="one that has Triton")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    with tempfile.TemporaryDirectory() as folder:
        server, port = start_registry(folder)
        try:
            measure_bytes(program, folder, port, args.count)
            measure_pull(program, folder, port, args.rounds)
            measure_requests(program, folder, port)
            if args.python:
                measure_start(program, folder, port, args.python, args.rounds)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()

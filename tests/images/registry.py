# SPDX-License-Identifier: Apache-2.0
"""Debian's docker-registry, for one test."""
import contextlib
import json
import os
import socket
import subprocess
import time

from scene import need, require


@contextlib.contextmanager
def registry(scene, deletes=True):
    """Start it; gives its port. All that it keeps lies in the scene's folder."""
    need("docker-registry")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    config = scene.write(f"registry-{port}.json", json.dumps({
        "version": 0.1, "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": scene.path("registry")},
                    "delete": {"enabled": deletes}},
        "http": {"addr": f"127.0.0.1:{port}"}}))
    with open(os.devnull, "wb") as log:
        server = subprocess.Popen(["docker-registry", "serve", config],
                                  stdout=log, stderr=log)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            require(server.poll() is None, "docker-registry does not start")
            time.sleep(0.05)
        yield port
    finally:
        server.kill()
        server.wait()


def skopeo(scene, *words):
    need("skopeo")
    return subprocess.run(
        ["skopeo", "--insecure-policy", *words], check=True, text=True,
        cwd=scene.folder, env=scene.environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def copy(scene, image, layout):
    """Fetch an image by skopeo into a folder, as OCI lays it out."""
    skopeo(scene, "copy", "--src-tls-verify=false", f"docker://{image}",
           f"oci:{scene.path(layout)}:it")
    return scene.path(layout)


def unpack(scene, image, folder="bundle"):
    """Fetch an image by skopeo, and unpack it by umoci, which checks digests."""
    need("umoci")
    layout = copy(scene, image, folder + ".layout")
    rootless = () if os.geteuid() == 0 else ("--rootless",)
    subprocess.run(["umoci", "unpack", *rootless, "--image", f"{layout}:it",
                    scene.path(folder)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return scene.path(folder, "rootfs")


def config_of(scene, image):
    return json.loads(skopeo(scene, "inspect", "--config", "--tls-verify=false",
                             f"docker://{image}"))


def manifest_of(scene, image):
    return json.loads(skopeo(scene, "inspect", "--raw", "--tls-verify=false",
                             f"docker://{image}"))

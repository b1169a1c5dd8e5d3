# SPDX-License-Identifier: Apache-2.0
"""The real servers for remotes, each on a port of its own."""
import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys

from scene import HERE, Skip, wait_until

PORT_TRIES = 20
MOTO = os.path.join(HERE, "..", "support", "s3_server.py")
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDTEST",
        "AWS_SECRET_ACCESS_KEY": "s3cret/With+Signs"}
READER = {"AWS_ACCESS_KEY_ID": "AKIDREAD",  # may not write
          "AWS_SECRET_ACCESS_KEY": "s3cret/Of+Reader"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(port):
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def serving(scene, line_of, is_ready):
    """Run the command line_of(port). Another process may take the port first."""
    for _ in range(PORT_TRIES):
        port = free_port()
        with open(scene.path(f"server-{port}.log"), "wb") as log:
            server = subprocess.Popen(
                line_of(port), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, cwd=scene.folder, env=scene.environment)
        scene.started.append(server)
        wait_until(lambda: server.poll() is not None or is_ready(server, port),
                   "a server")
        if server.poll() is None:
            break
    else:
        raise AssertionError(scene.read(f"server-{port}.log"))
    try:
        yield port
    finally:
        server.kill()
        server.wait()


def find(program):
    # Debian's folder of servers, which is not in every user's PATH.
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if found is None:
        raise Skip(f"there is no {program}")
    return found


@contextlib.contextmanager
def redis(scene, **settings):
    """The URL of a Redis with these settings."""
    program = find("redis-server")

    def line_of(port):
        lines = {"bind": "127.0.0.1", "port": port, "save": '""',
                 "dir": scene.folder, **settings}
        return [program, scene.write(f"redis-{port}.conf", "".join(
            f"{name.replace('_', '-')} {value}\n"
            for name, value in lines.items()))]

    def is_ready(_, port):
        return "Ready to accept" in scene.read(f"server-{port}.log")
    with serving(scene, line_of, is_ready) as port:
        yield f"redis://127.0.0.1:{port}/0"


@contextlib.contextmanager
def nginx(scene, methods="PUT DELETE MKCOL"):
    """The URL of a folder that nginx serves, lists and, with these methods, writes."""
    program = find("nginx")
    os.makedirs(scene.path("nginx", "www"))
    temporary = "".join(f"{kind}_temp_path {scene.path('nginx', kind)};\n"
                        for kind in ("client_body", "proxy", "fastcgi",
                                     "uwsgi", "scgi"))

    def line_of(port):
        return [program, "-p", scene.path("nginx") + "/", "-e", "error.log",
                "-c", scene.write("nginx/nginx.conf", f"""
daemon off;
master_process off;
pid pid;
error_log error.log;
events {{}}
http {{
{temporary}
access_log off;
server {{
listen 127.0.0.1:{port};
root {scene.path("nginx", "www")};
location / {{
dav_methods {methods};
create_full_put_path on;
client_max_body_size 0;
autoindex on;
autoindex_format json;
}}
}}
}}
""")]

    def is_ready(server, _):
        # Its pid is in the file once it has its port.
        try:
            return scene.read("nginx/pid") == f"{server.pid}\n"
        except FileNotFoundError:
            return False
    with serving(scene, line_of, is_ready) as port:
        yield f"http://127.0.0.1:{port}/kernels"


def ask(port, command):
    """moto's answer to a command of the tests; None: it gave none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", f"/_test/{command}")
        return connection.getresponse().read()
    except OSError:
        return None
    finally:
        connection.close()


@contextlib.contextmanager
def s3(scene):
    """The URL of a bucket of moto's. The scene gets its keys."""
    python = os.environ.get("TKB_MOTO_PYTHON", sys.executable)
    if not os.access(python, os.X_OK):
        raise Skip(f"cannot run '{python}': ./bootstrap test makes it")

    def is_ready(_, port):
        return answers(port) and ask(port, "clock/0") == b"done"
    for name in list(scene.environment):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            del scene.environment[name]
    scene.environment.update(KEYS)
    with serving(scene, lambda port: [python, "-B", MOTO, str(port)],
                 is_ready) as port:
        if ask(port, "bucket/kernels-1") != b"done":
            raise AssertionError("no bucket can be made")
        yield f"s3://kernels-1/prod?endpoint=http://127.0.0.1:{port}"

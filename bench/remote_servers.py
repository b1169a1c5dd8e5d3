# SPDX-License-Identifier: Apache-2.0
"""The servers that remote.py measures, and what their plain clients are told.

Each is started on free ports of 127.0.0.1 and stopped by its pid.  A client's
part is a piece of shell text: it is timed together with the emit behind it.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

from bench import Failed, run, text_of

HERE = os.path.dirname(os.path.abspath(__file__))
S3_SERVER = os.path.join(HERE, "..", "tests", "support",
                         "s3_server.py")
S3_KEY, S3_SECRET = "AKIDTEST", "s3cret/With+Signs"  # as that server knows
TRIES = 600  # of 50 ms

NGINX = """\
%(user)s
daemon off;
pid %(folder)s/nginx.pid;
worker_processes 2;
error_log stderr error;
events {}
http {
	access_log off;
	client_body_temp_path %(folder)s/body;
	proxy_temp_path %(folder)s/proxy;
	fastcgi_temp_path %(folder)s/fastcgi;
	uwsgi_temp_path %(folder)s/uwsgi;
	scgi_temp_path %(folder)s/scgi;
	sendfile on;
	server {
		listen 127.0.0.1:%(port)d;
		listen 127.0.0.1:%(tls_port)d ssl http2;
		ssl_certificate %(folder)s/server.pem;
		ssl_certificate_key %(folder)s/server.key;
		root %(folder)s/www;
		client_max_body_size 0;
		location / {
			autoindex on;
			autoindex_format json;
			dav_methods PUT DELETE MKCOL;
			create_full_put_path on;
		}
	}
}
"""

REDIS = """\
bind 127.0.0.1
port %(port)d
tls-port %(tls_port)d
tls-cert-file %(folder)s/server.pem
tls-key-file %(folder)s/server.key
tls-auth-clients no
save ""
dir %(folder)s
"""


class Remote:
    """A remote, and the plain client of its kind. `where` keeps measurements apart;
    `where` and the paths may contain $ for the shell.
    """

    def __init__(self, name, client, url, put, get, has_budget=False):
        self.name = name
        self.client = client
        self.url_form = url
        self.put_form = put
        self.get_form = get
        self.has_budget = has_budget

    def url(self, where):
        return self.url_form % where

    def put(self, path, where):
        return self.put_form % {"path": path, "where": where}

    def get(self, path, where):
        return self.get_form % {"path": path, "where": where}


def free_ports(count):
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]


def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def moto_python():
    """A Python that has moto: as the tests look for it, or this one."""
    venv = os.path.join(HERE, "..", "build", "venv", "bin", "python3")
    for path in (os.environ.get("TKB_MOTO_PYTHON"), venv, sys.executable):
        if path and os.path.exists(path) and subprocess.run(
                [path, "-c", "import moto"], capture_output=True,
                check=False).returncode == 0:
            return path
    raise Failed("no Python has moto")


def make_certificates(folder):
    """Make an authority, authority.pem, and its certificate for 127.0.0.1."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
           "-nodes", "-keyout"]
    names = os.path.join(folder, "names")
    with open(names, "w", encoding="utf-8") as file:
        file.write("subjectAltName=IP:127.0.0.1\n")

    def at(name):
        return os.path.join(folder, name)

    run(["openssl", "req", "-x509", *key, at("authority.key"), "-days", "2",
         "-subj", "/CN=authority", "-out", at("authority.pem")])
    run(["openssl", "req", *key, at("server.key"), "-subj", "/CN=server",
         "-out", at("server.csr")])
    run(["openssl", "x509", "-req", "-in", at("server.csr"), "-CA",
         at("authority.pem"), "-CAkey", at("authority.key"), "-set_serial",
         "1", "-days", "2", "-extfile", names, "-out", at("server.pem")])


class Servers(contextlib.ExitStack):
    """Running servers, until the end of the `with`."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.redis_port = 0
        os.mkdir(folder)
        make_certificates(folder)

    def start(self, name, argv, port):
        log = os.path.join(self.folder, name + ".log")
        with open(log, "wb") as file:
            # pylint: disable-next=consider-using-with  # stop() waits for it
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                     stdout=file, stderr=file)
        self.callback(stop, child)
        for _ in range(TRIES):
            if child.poll() is not None:
                break
            if answers(port):
                return
            time.sleep(0.05)
        with open(log, encoding="utf-8", errors="replace") as file:
            raise Failed(f"{name} does not start: {file.read().strip()}")

    def configure(self, name, form, **values):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(form % dict(values, folder=self.folder))
        return path

    def start_file(self):
        store = os.path.join(self.folder, "store")
        os.mkdir(store)
        return [Remote(
            "file", "`cp`", f"file://{store}/%s",
            f'cp %(path)s "{store}/plain-%(where)s"',
            f'cp "{store}/plain-%(where)s" %(path)s')]

    def start_redis(self):
        port, tls_port = free_ports(2)
        path = self.configure("redis.conf", REDIS, port=port,
                              tls_port=tls_port)
        self.start("redis-server", ["redis-server", path], port)
        self.redis_port = port
        authority = os.path.join(self.folder, "authority.pem")
        found = []
        for name, scheme, at, options, more in (
            ("Redis", "redis", port, "", ""),
            ("Redis, TLS", "rediss", tls_port, f" --tls --cacert {authority}",
             f"&cafile={authority}"),
        ):
            ask = f"redis-cli -h 127.0.0.1 -p {at}{options}"
            found.append(Remote(
                name, "`redis-cli`",
                f"{scheme}://127.0.0.1:{at}?prefix=%s{more}",
                f'{ask} -x SET "plain-%(where)s" <%(path)s >/dev/null',
                f'{ask} --raw -D "" GET "plain-%(where)s" >%(path)s', True))
        return found

    def start_http(self):
        port, tls_port = free_ports(2)
        os.mkdir(os.path.join(self.folder, "www"))
        path = self.configure(
            "nginx.conf", NGINX, port=port, tls_port=tls_port,
            user="user root;" if os.geteuid() == 0 else "")
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.start("nginx", [nginx, "-c", path, "-e", "stderr"], port)
        authority = os.path.join(self.folder, "authority.pem")
        found = []
        for name, base, options, more in (
            ("HTTP", f"http://127.0.0.1:{port}", "", ""),
            ("HTTPS", f"https://127.0.0.1:{tls_port}",
             f" --cacert {authority}", f"?cafile={authority}"),
        ):
            url = f'"{base}/plain/%(where)s"'
            ask = f"curl -sSf{options}"
            found.append(Remote(
                name, "`curl`", f"{base}/%s{more}",
                f"{ask} -T %(path)s {url}", f"{ask} -o %(path)s {url}", True))
        return found

    def start_s3(self):
        [port] = free_ports(1)
        self.start("moto", [moto_python(), "-B", S3_SERVER, str(port)], port)
        base = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(base + "/_test/bucket/bench"):
            pass
        url = f'"{base}/bench/plain/%(where)s"'
        ask = ("curl -sSf --aws-sigv4 aws:amz:us-east-1:s3"
               f" -u '{S3_KEY}:{S3_SECRET}'")
        # curl 7.88 does not say what it hashed.
        digest = ("-H \"x-amz-content-sha256:"
                  ' $(sha256sum %s | cut -d " " -f 1)"')
        return [Remote(
            "S3 (moto)", "`curl`", f"s3://bench/%s?endpoint={base}",
            f"{ask} {digest % '%(path)s'} -T %(path)s {url}",
            f"{ask} {digest % '/dev/null'} -o %(path)s {url}")]

    def sent_by_redis(self):
        """Bytes that Redis has sent to anybody so far."""
        info = text_of(["redis-cli", "-p", str(self.redis_port), "INFO",
                        "stats"])
        for line in info.splitlines():
            name, _, value = line.partition(":")
            if name == "total_net_output_bytes":
                return int(value)
        raise Failed("Redis does not say what it sent")


def stop(child):
    child.terminate()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()

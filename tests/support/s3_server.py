#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moto's S3 on a port of 127.0.0.1, behind a guard that is as strict as S3.

moto believes every signature. The guard computes each anew by botocore, from
what came over the wire, and looks at the bytes of each body. Buckets whose
names begin with a word of FAULTS fail in that way. Tests ask it things at
/_test/...; see Guard.command(). Arguments: the port; a certificate and its key.
"""

import datetime
import hashlib
import http.server
import io
import ssl
import sys
import threading
import time
import urllib.parse

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.moto_server.werkzeug_app import create_backend_app
from moto.s3.models import s3_backends

ACCOUNT = "123456789012"

# Access key: secret, session token.
KEYS = {
    "AKIDTEST": ("s3cret/With+Signs", None),
    "AKIDREAD": ("s3cret/Of+Reader", None),
    "ASIATEST": ("s3cret/Of+Session", "token/With+Signs=="),
    "ASIAGONE": ("s3cret/Of+Session", "token/Of+Yesterday"),
}

SOMEBODY = (
    "AWS4-HMAC-SHA256 Credential=AKIDTEST/20130524/us-east-1/s3/aws4_request,"
    "SignedHeaders=host,Signature=0"
)
LISTING = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult>'
    "<IsTruncated>%s</IsTruncated>%s</ListBucketResult>"
)
BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        '<!ENTITY %s "%s">' % (chr(98 + i), "&%s;" % chr(97 + i) * 10)
        for i in range(10)
    )
    + "]><ListBucketResult><IsTruncated>&k;</IsTruncated></ListBucketResult>"
)
# A plus for a space, a time to come, and what S3 does not say.
OTHER = (
    "<Owner><Key>no</Key></Owner><Contents><Owner><ID>1</ID></Owner>"
    f"<Key>a+b/cas/{'0' * 64}</Key><Size>5</Size>"
    "<LastModified>2999-01-01T00:00:00Z</LastModified></Contents>"
    "<Contents><Size>1</Size></Contents>"
    f"<Contents><Key>b/cas/{'1' * 64}</Key></Contents>"
)
HUGE = f"<Contents><Key>ref/r/{'0' * 64}</Key><Size>67108865</Size></Contents>"
NESTED = (
    "<Error><Code>InternalError</Code><Message>We failed.</Message>"
    "<Cause><Code>NoSuchBucket</Code></Cause></Error>"
)
REDIRECT = "Please send all future requests to this endpoint."

# Name of the bucket: method that fails ("": each; "GET": a listing), status,
# headers, body or code.
FAULTS = {
    "bomb": ("GET", "200 OK", [], BOMB),
    "empty": ("GET", "200 OK", [], ""),
    "html": ("GET", "200 OK", [], "<html><body>Log in!</body></html>"),
    "cut": ("GET", "200 OK", [], LISTING[:60]),
    "endless": ("GET", "200 OK", [], LISTING % ("true", "")),
    "wide": ("GET", "200 OK", [], "<a>" + "x" * (17 << 20) + "</a>"),
    "slow": ("", "503 Slow Down", [("Retry-After", "7")], "SlowDown"),
    "late": (
        "",
        "400 Bad Request",
        [("x-amz-bucket-region", "us-east-1")],
        "RequestTimeout",
    ),
    "huge": ("GET", "200 OK", [], LISTING % ("false", HUGE)),
    "other": ("GET", "200 OK", [], LISTING % ("false", OTHER)),
    "moved": (
        "",
        "301 Moved Permanently",
        [("x-amz-bucket-region", "eu-west-7")],
        "PermanentRedirect",
    ),
    "fresh": (
        "",
        "307 Temporary Redirect",
        [
            ("x-amz-bucket-region", "eu-west-8"),
            ("Location", "http://127.0.0.1:1/"),
        ],
        "TemporaryRedirect",
    ),
    "lured": (
        "",
        "307 Temporary Redirect",
        [
            ("x-amz-bucket-region", "eu-west-8"),
            ("Location", "http://localhost:%(port)s/other"),
        ],
        "TemporaryRedirect",
    ),
    "away": ("", "301 Moved Permanently", [], "PermanentRedirect"),
    "here": (
        "",
        "301 Moved Permanently",
        [("x-amz-bucket-region", "us-east-1")],
        "PermanentRedirect",
    ),
    "headless": ("HEAD", "403 Forbidden", [], ""),
    "bare": ("", "403 Forbidden", [], ""),
    "gone": ("OBJECT", "404 Not Found", [], "NoSuchKey"),
    "lost": ("GET", "404 Not Found", [], "<html>nginx</html>"),
    "nowhere": ("PUT", "404 Not Found", [], "<html>nginx</html>"),
    "uncopied": ("COPY", "200 OK", [], "InternalError"),
    "failing": ("", "500 Internal Server Error", [], NESTED),
}


class Refusal(Exception):
    """An error as S3 has them."""

    def __init__(self, status, code, message="No reason is given.", more=""):
        super().__init__(code)
        self.status = status
        self.body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<Error>'
            f"<Code>{code}</Code><Message>{message}</Message>{more}</Error>"
        )


def denied(message="Access Denied"):
    return Refusal("403 Forbidden", "AccessDenied", message)


class Guard:
    def __init__(self, app):
        self.app = app
        self.lock = threading.Lock()
        self.moto_lock = threading.Lock()
        self.offset = 0  # of the server's clock, seconds
        self.regions = {}
        self.log = []
        self.active = 0
        self.most = 0
        self.connections = 0

    def command(self, name, argument, query):
        """What a test asks for; the answer is a text."""
        backend = s3_backends[ACCOUNT]["aws"]
        if name == "bucket":
            region = query.get("region", "us-east-1")
            if argument not in backend.buckets:
                backend.create_bucket(argument, "us-east-1")
            self.regions[argument] = region
        elif name == "fill":
            for i in range(int(query["count"])):
                digest = hashlib.sha256(str(i).encode()).hexdigest()
                key = query["key"].replace("*", digest)
                backend.put_object(argument, key, b"x" * (i % 7))
        elif name == "put":
            key = query["key"]
            backend.put_object(argument, key, query["value"].encode())
        elif name == "keys":
            bucket = backend.buckets[argument]
            return "".join(key + "\n" for key in sorted(bucket.keys))
        elif name == "clock":
            self.offset = int(argument)
        elif name == "log":
            with self.lock:
                text = "".join(line + "\n" for line in self.log)
                self.log.clear()
                self.most = 0
                self.connections = 0
            return text
        elif name == "most":
            return str(self.most)
        elif name == "connections":
            return str(self.connections)
        else:
            raise KeyError(name)
        return "done"

    def check_signature(self, environ, path, query, body):
        words = environ["HTTP_AUTHORIZATION"].split(None, 1)
        parts = dict(
            part.strip().split("=", 1) for part in words[1].split(",")
        )
        key, day, region, service, end = parts["Credential"].split("/")
        names = parts["SignedHeaders"].split(";")
        headers = {
            name[5:].replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        if words[0] != "AWS4-HMAC-SHA256" or end != "aws4_request":
            raise Refusal("400 Bad Request", "AuthorizationHeaderMalformed")
        unsigned = {
            name
            for name in headers
            if name == "host" or name.startswith("x-amz-")
        } - set(names)
        if unsigned:
            raise denied(f"There were headers that are not signed: {unsigned}")
        if key not in KEYS:
            raise Refusal(
                "403 Forbidden",
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist.",
            )
        if headers.get("x-amz-security-token") != KEYS[key][1]:
            raise Refusal("403 Forbidden", "InvalidToken")
        if key == "ASIAGONE":
            raise Refusal("400 Bad Request", "ExpiredToken")
        date = headers["x-amz-date"]
        then = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(
            tzinfo=datetime.timezone.utc
        )
        if abs(then.timestamp() - time.time() - self.offset) > 900:
            raise Refusal("403 Forbidden", "RequestTimeTooSkewed")
        if not date.startswith(day) or service != "s3":
            raise Refusal("400 Bad Request", "AuthorizationHeaderMalformed")
        wanted = self.regions.get(self.bucket_of(path), region)
        if region != wanted:
            raise Refusal(
                "400 Bad Request",
                "AuthorizationHeaderMalformed",
                f"The region '{region}' is wrong; expecting '{wanted}'",
                f"<Region>{wanted}</Region>",
            )
        request = AWSRequest(
            method=environ["REQUEST_METHOD"],
            url=f"http://{headers['host']}{self.canonical_path(environ)}",
            headers={name: headers.get(name, "") for name in names},
            params=query,
        )
        request.context["timestamp"] = date
        signer = S3SigV4Auth(
            Credentials(key, KEYS[key][0]), "s3", region
        )
        canonical = signer.canonical_request(request)
        text = signer.string_to_sign(request, canonical)
        if signer.signature(text, request) != parts["Signature"]:
            raise Refusal(
                "403 Forbidden",
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match.",
                f"<StringToSign>{text}</StringToSign>",
            )
        if headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            raise Refusal("400 Bad Request", "XAmzContentSHA256Mismatch")
        if key == "AKIDREAD" and environ["REQUEST_METHOD"] not in (
            "GET",
            "HEAD",
        ):
            raise denied("User: reader is not authorized to s3:PutObject")

    @staticmethod
    def canonical_path(environ):
        """Decoded and encoded again: who sends it otherwise is found out."""
        path = environ["RAW_URI"].split("?")[0]
        return urllib.parse.quote(urllib.parse.unquote(path), safe="/~")

    @staticmethod
    def bucket_of(path):
        return path.split("/")[1]

    def fail_on_purpose(self, environ, path):
        method = environ["REQUEST_METHOD"]
        bucket = self.bucket_of(path)
        if bucket.startswith("echo"):
            secret = KEYS["ASIATEST"]
            raise denied(f"{environ['HTTP_AUTHORIZATION']} {secret}")
        if method == "PUT" and "HTTP_X_AMZ_COPY_SOURCE" in environ:
            method = "COPY"
        if method == "GET" and path.count("/") > 1:
            method = "OBJECT"
        fault = FAULTS.get(bucket.split("-")[0])
        if fault is None or fault[0] not in ("", method):
            return None
        status, headers, body = fault[1:]
        if body.isalpha():
            body = Refusal(status, body, REDIRECT).body
        return status, headers, body

    def answer(self, environ, start_response, status, body, headers=()):
        data = body.encode()
        start_response(
            status,
            [
                ("Content-Length", str(len(data))),
                ("Content-Type", "application/xml"),
                *headers,
            ],
        )
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [data]

    def handle(self, environ, start_response, body):
        # "bucket.localhost" is as good as "localhost/bucket".
        host = environ["HTTP_HOST"].split(":")[0]
        path = urllib.parse.unquote(environ["RAW_URI"].split("?")[0])
        if host.endswith(".localhost"):
            path = "/" + host[: -len(".localhost")] + path
        query = dict(
            urllib.parse.parse_qsl(
                environ["QUERY_STRING"], keep_blank_values=True
            )
        )
        if path.startswith("/_test/"):
            name, argument = (path[7:] + "/").split("/")[:2]
            text = self.command(name, argument, query)
            return self.answer(environ, start_response, "200 OK", text)
        with self.lock:
            self.log.append(f"{environ['REQUEST_METHOD']} {path}")
        # The signature is that of no query.
        if environ["RAW_URI"].endswith("?"):
            raise Refusal("400 Bad Request", "AQuestionOfNothing")
        if "HTTP_AUTHORIZATION" in environ:
            self.check_signature(environ, path, query, body)
        elif not self.bucket_of(path).startswith("public"):
            raise denied()
        elif environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            raise denied()
        fault = self.fail_on_purpose(environ, path)
        if fault is not None:
            status, headers, text = fault
            port = {"port": environ["SERVER_PORT"]}
            headers = [(name, value % port) for name, value in headers]
            return self.answer(
                environ, start_response, status, text, headers
            )
        environ["PATH_INFO"] = path.encode().decode("latin-1")
        environ["RAW_URI"] = environ["REQUEST_URI"] = urllib.parse.quote(
            path, safe="/~"
        ) + ("?" + environ["QUERY_STRING"] if environ["QUERY_STRING"] else "")
        # What is public is ours to say.
        environ.setdefault("HTTP_AUTHORIZATION", SOMEBODY)
        environ["HTTP_HOST"] = "127.0.0.1:" + environ["SERVER_PORT"]
        environ["wsgi.input"] = io.BytesIO(body)
        # moto frees the bytes of an object that is replaced while it is read.
        with self.moto_lock:
            return [b"".join(self.app(environ, start_response))]

    def __call__(self, environ, start_response):
        size = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(size)
        with self.lock:
            self.active += 1
            self.most = max(self.most, self.active)
        try:
            if len(body) != size:
                raise Refusal("400 Bad Request", "IncompleteBody")
            # So that those asked at once meet.
            if environ["RAW_URI"].startswith(("/many-", "/rounds-")):
                time.sleep(0.002)
            return self.handle(environ, start_response, body)
        except Refusal as refusal:
            return self.answer(
                environ, start_response, refusal.status, refusal.body
            )
        finally:
            with self.lock:
                self.active -= 1


class Handler(http.server.BaseHTTPRequestHandler):
    """WSGI over connections that are kept alive, as S3's are."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        with self.server.guard.lock:
            self.server.guard.connections += 1

    def date_time_string(self, timestamp=None):
        seconds = time.time() if timestamp is None else timestamp
        return super().date_time_string(seconds + self.server.guard.offset)

    def log_message(self, *args):
        pass

    def environ(self):
        path, _, query = self.path.partition("?")
        environ = {
            "REQUEST_METHOD": self.command,
            "SCRIPT_NAME": "",
            "PATH_INFO": urllib.parse.unquote(path, "latin-1"),
            "QUERY_STRING": query,
            "RAW_URI": self.path,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": str(self.server.server_address[1]),
            "SERVER_PROTOCOL": self.protocol_version,
            "CONTENT_LENGTH": self.headers.get("Content-Length", ""),
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": self.rfile,
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in self.headers.items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value
        return environ

    def serve(self):
        answer = []

        def start_response(status, headers, exc_info=None):
            answer[:] = [status, headers]

        body = b"".join(self.server.guard(self.environ(), start_response))
        code, _, reason = answer[0].partition(" ")
        self.send_response(int(code), reason)
        names = [name.lower() for name, _ in answer[1]]
        for name, value in answer[1]:
            self.send_header(name, value)
        if "content-length" not in names and code != "204":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_DELETE = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    server.guard = Guard(create_backend_app("s3"))
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    server.serve_forever()


if __name__ == "__main__":
    main()

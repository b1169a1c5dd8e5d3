#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A registry that takes uploads, and breaks them without forgetting what came.

    upload_server.py PORT LOG BREAKS

BREAKS is like "PATCH:5000000,PUT:100,lost": the first PATCH loses its connection
behind so many bytes, and so does the first PUT with a body; "lost" is one more PUT
whose end arrives, and whose answer does not. Each request is a line of LOG: its
method, its path, and how many bytes of it came.
"""

import hashlib
import http.server
import re
import sys
import urllib.parse

PORT, LOG, BREAKS = sys.argv[1:]
broken = dict(part.split(":") for part in BREAKS.split(",") if ":" in part)
losses = BREAKS.split(",").count("lost")
blobs, upload = {}, None  # one at a time; None: none is begun


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    came = 0

    def say(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def forget(self):
        """What it does not know, it does not read either."""
        self.close_connection = True
        self.say(404)

    def take(self):
        """The body's bytes, into the upload; False: the connection breaks."""
        size = int(self.headers.get("Content-Length", "0"))
        breaks = size > 0 and self.command in broken
        end = int(broken.pop(self.command)) if breaks else size
        while self.came < end:
            data = self.rfile.read(min(65536, end - self.came))
            if not data:
                return False
            upload.extend(data)
            self.came += len(data)
        self.close_connection = breaks
        return not breaks

    def progress(self, status):
        end = max(len(upload) - 1, 0)
        self.say(status, Location="/v2/team/kernels/blobs/uploads/one?part=1",
                 Range=f"0-{end}")

    def do_HEAD(self):
        name = self.path.rsplit("/", 1)[1]
        found = blobs.get(name)
        if found is None:
            self.say(404)
        else:
            self.say(200, Content_Length=str(len(found)))

    def do_GET(self):
        if "/uploads/" in self.path and upload is not None:
            self.progress(204)
        else:
            self.say(404)

    def do_POST(self):
        global upload
        upload = bytearray()
        self.progress(202)

    def do_PATCH(self):
        if upload is None:
            return self.forget()
        start = int(re.match(r"(\d+)-", self.headers["Content-Range"]).group(1))
        if start != len(upload):
            self.rfile.read(int(self.headers["Content-Length"]))
            return self.say(416)
        return self.progress(202) if self.take() else None

    def do_PUT(self):
        global losses, upload
        if "/manifests/" in self.path:
            self.rfile.read(int(self.headers["Content-Length"]))
            return self.say(201)
        if upload is None:
            return self.forget()
        if not self.take():
            return None
        name = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)["digest"][0]
        data = bytes(upload)
        upload = None
        if "sha256:" + hashlib.sha256(data).hexdigest() != name:
            return self.say(400)
        blobs[name] = data
        if losses > 0:
            losses -= 1
            self.close_connection = True
            return None
        return self.say(201)

    def handle_one_request(self):
        self.came = 0
        super().handle_one_request()
        if getattr(self, "command", None):
            with open(LOG, "a", encoding="utf-8") as log:
                log.write(f"{self.command} {self.path} {self.came}\n")
            self.command = None

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()

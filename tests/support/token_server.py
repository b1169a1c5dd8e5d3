#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that gives tokens for a registry, as tests need it.

    token_server.py PORT KEY CERTIFICATE LIFETIME LOG

Whoever is writer:s3cret, or has the refresh token "again", may do everything;
anybody may pull. Each request is a line of LOG: who, and the scope.
"""

import base64
import http.server
import json
import subprocess
import sys
import time
import urllib.parse

PORT, KEY, CERTIFICATE, LIFETIME, LOG = sys.argv[1:]
WRITER = base64.b64encode(b"writer:s3cret").decode()


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(der, at):
    """The integer at `at` of a signature in DER, as 32 bytes, and its end."""
    end = at + 2 + der[at + 1]
    return int.from_bytes(der[at + 2:end], "big").to_bytes(32, "big"), end


def sign(text):
    der = subprocess.run(["openssl", "dgst", "-sha256", "-sign", KEY],
                         input=text.encode(), stdout=subprocess.PIPE,
                         check=True).stdout
    first, at = number(der, 2)
    second, _ = number(der, at)
    return encode(first + second)


def token(service, scopes, may_write):
    access = []
    for scope in scopes:
        kind, name, actions = scope.split(":")
        allowed = [action for action in actions.split(",")
                   if may_write or action == "pull"]
        access.append({"type": kind, "name": name, "actions": allowed})
    pem = open(CERTIFICATE, encoding="ascii").read()
    der = pem.split("-----BEGIN CERTIFICATE-----")[1]
    der = der.split("-----END")[0].replace("\n", "")
    now = int(time.time())
    parts = [{"typ": "JWT", "alg": "ES256", "x5c": [der]},
             {"iss": "tests", "sub": "", "aud": service, "exp": now + 600,
              "nbf": now - 60, "iat": now, "jti": str(time.time_ns()),
              "access": access}]
    text = ".".join(encode(json.dumps(part).encode()) for part in parts)
    return text + "." + sign(text)


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, query, who):
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"{who} {' '.join(query.get('scope', []))}\n")
        if who == "stranger":
            self.send_error(401)
            return
        body = json.dumps({
            "token": token(query.get("service", [""])[0],
                           query.get("scope", []), who == "writer"),
            "expires_in": int(LIFETIME)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        given = self.headers.get("Authorization")
        who = ("anybody" if given is None else
               "writer" if given == "Basic " + WRITER else "stranger")
        url = urllib.parse.urlsplit(self.path)
        self.answer(urllib.parse.parse_qs(url.query), who)

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        query = urllib.parse.parse_qs(self.rfile.read(size).decode())
        query["scope"] = " ".join(query.get("scope", [])).split()
        self.answer(query, "writer" if query.get("refresh_token") == ["again"]
                    else "stranger")

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)),
                                Handler).serve_forever()

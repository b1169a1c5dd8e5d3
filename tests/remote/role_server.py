#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers that give credentials of roles: STS, a container's agent, and a
machine's metadata service, on a port of 127.0.0.1.

    role_server.py PORT LOG

Each refuses what Amazon's refuses. A role, or the last part of a path, says what
to answer: "gone" gives a session that has ended the first time, "NNs" one that
ends in NN seconds, "none" nothing. Each request is a line of LOG.
"""

import datetime
import http.server
import json
import sys
import urllib.parse

PORT, LOG = sys.argv[1:]
ROLES = "/latest/meta-data/iam/security-credentials/"
STS = (
    '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/'
    '2011-06-15/"><AssumeRoleWithWebIdentityResult>'
    "<SubjectFromWebIdentityToken>system:pod</SubjectFromWebIdentityToken>"
    "<Credentials><AccessKeyId>{AccessKeyId}</AccessKeyId><SecretAccessKey>"
    "{SecretAccessKey}</SecretAccessKey><SessionToken>{Token}</SessionToken>"
    "<Expiration>{Expiration}</Expiration></Credentials>"
    "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
)
STS_ERROR = (
    '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>'
    "<Type>Sender</Type><Code>{}</Code><Message>{}</Message></Error>"
    "<RequestId>1</RequestId></ErrorResponse>"
)
asked = set()


def session(kind):
    is_gone = kind == "gone" and kind not in asked
    asked.add(kind)
    left = int(kind[:-1]) if kind[:-1].isdigit() else 3600
    end = datetime.datetime.now(datetime.timezone.utc)
    end += datetime.timedelta(seconds=left)
    return {
        "Code": "Success",
        "AccessKeyId": "ASIAGONE" if is_gone else "ASIATEST",
        "SecretAccessKey": "s3cret/Of+Session",
        "Token": "token/Of+Yesterday" if is_gone else "token/With+Signs==",
        "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, text):
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(f"{self.command} {self.path} {status}\n")
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        form = dict(urllib.parse.parse_qsl(self.rfile.read(size).decode()))
        role = form.get("RoleArn", "")
        kind = role.rpartition("/")[2]
        if (
            form.get("Action") != "AssumeRoleWithWebIdentity"
            or form.get("Version") != "2011-06-15"
            or not form.get("RoleSessionName")
            or not role.startswith("arn:aws:iam::123456789012:role/")
        ):
            self.answer(400, STS_ERROR.format("ValidationError", str(form)))
        elif form.get("WebIdentityToken") != "web+identity/token==":
            self.answer(400, STS_ERROR.format(
                "InvalidIdentityToken", "No OpenIDConnect provider found"))
        elif kind == "busy":
            self.answer(503, "")
        elif kind == "none":
            self.answer(403, STS_ERROR.format(
                "AccessDenied",
                "Not authorized to perform sts:AssumeRoleWithWebIdentity"))
        elif kind == "html":
            self.answer(200, "<html><body>Log in!</body></html>")
        else:
            self.answer(200, STS.format(**session(kind)))

    def do_PUT(self):
        seconds = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        if self.path != "/latest/api/token" or not seconds.isdigit():
            self.answer(400, "")
        else:
            self.answer(200, "machine-token==")

    def do_GET(self):
        kind = self.path.rpartition("/")[2]
        if self.path.startswith("/latest/"):
            is_known = (self.headers.get("X-aws-ec2-metadata-token")
                        == "machine-token==")
            may_ask = self.path.startswith(ROLES)
        else:
            is_known = self.headers.get("Authorization") == "container-token"
            may_ask = self.path.startswith("/container/")
        if not is_known:
            self.answer(401, "")
        elif not may_ask or kind == "none":
            self.answer(404, "")
        elif kind == "html":
            self.answer(200, "<html><body>Log in!</body></html>")
        elif self.path == ROLES:
            self.answer(200, "the role")
        else:
            self.answer(200, json.dumps(session(urllib.parse.unquote(kind))))

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(PORT)),
                                Handler).serve_forever()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whom the program trusts on a machine of each distribution.

    trust.py PROGRAM CERTIFICATES

Run by portable.sh, as root, in a Debian that has no authorities: this makes it
look like another one. CERTIFICATES has ca.pem, and server.pem and server.key
that it signed for localhost. Prints TAP.
"""

import contextlib
import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading

PLACES = ("/etc/ssl/certs/ca-certificates.crt",
          "/etc/pki/tls/certs/ca-bundle.crt",
          "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
          "/var/lib/ca-certificates/ca-bundle.pem",
          "/etc/ssl/cert.pem")
NO_RECORD = 3


class Empty(http.server.BaseHTTPRequestHandler):
    """A server that has nothing."""

    def answer(self):
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_PROPFIND = answer

    def log_message(self, *_words):
        pass


@contextlib.contextmanager
def serving(folder):
    """The port of an HTTPS server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/server.pem", f"{folder}/server.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()


def pull(line, port, variables):
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}
    ended = subprocess.run(
        [*line, "pull", "-v", "a", "/tmp/trust",
         "--remote", f"https://localhost:{port}/?connect-timeout=60s"],
        env=env, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stderr


def tell(number, sentence, is_good, words):
    print("ok" if is_good else "not ok", number, "-", sentence)
    if not is_good:
        print("".join(f"# {line}\n" for line in words.splitlines()), end="")
    return is_good


def main():
    program, folder = sys.argv[1:]
    authority = f"{folder}/ca.pem"
    cases = [("the authorities in " + place, place, [program], {},
              f"TLS trusts '{place}' (the system's)") for place in PLACES]
    cases += [("what a variable names", "", [program],
               {"SSL_CERT_FILE": authority},
               f"TLS trusts '{authority}' (SSL_CERT_FILE)"),
              ("certifi's, where there are no others", "certifi",
               [sys.executable, "-m", "tkbundle"], {"PYTHONPATH": "/tmp/more"},
               "TLS trusts '/tmp/more/certifi/cacert.pem' (this machine has none)")]
    results = []
    os.makedirs("/tmp/more/certifi", exist_ok=True)
    shutil.copy(authority, "/tmp/more/certifi/cacert.pem")
    with serving(folder) as port:
        status, words = pull([program], port, {})
        results.append(tell(
            1, "a machine without any says so", status == 1 and
            words.count("TLS trusts nobody: this machine has no CA ") == 2,
            words))
        for number, (name, place, line, more, wanted) in enumerate(cases, 2):
            if place.startswith("/"):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                shutil.copy(authority, place)
            status, words = pull(line, port, more)
            results.append(tell(number, name + " are trusted",
                                status == NO_RECORD and wanted in words,
                                f"exit {status}\n{words}"))
            if place.startswith("/"):
                os.remove(place)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

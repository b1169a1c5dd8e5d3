# SPDX-License-Identifier: Apache-2.0
"""HTTP servers on loopback that answer as a test wants it."""
import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answering(BaseHTTPRequestHandler):
    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **dict(headers)}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


@contextlib.contextmanager
def serving(handler, host="127.0.0.1", family=socket.AF_INET):
    """A server, which ends with the block."""
    class Server(ThreadingHTTPServer):
        address_family = family
    with Server((host, 0), handler) as server:
        server.url = f"http://{host}:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

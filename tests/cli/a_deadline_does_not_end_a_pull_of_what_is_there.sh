# SPDX-License-Identifier: Apache-2.0
# A server that lists and gives records at once, and blobs never.
cat >stalling.py <<'FILE'
import email.utils
import http.server
import json
import os
import time

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.lstrip("/")
        if path.startswith("remote/cas"):
            time.sleep(60)
        if os.path.isdir(path):
            body = json.dumps([
                {"name": name, "type": "file", "size": os.path.getsize(f"{path}/{name}"),
                 "mtime": email.utils.formatdate(usegmt=True)}
                for name in os.listdir(path)]).encode()
        else:
            with open(path, "rb") as file:
                body = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Last-Modified", email.utils.formatdate(usegmt=True))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("port.new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename("port.new", "port")
server.serve_forever()
FILE
cache cache
tkbundle push a cache --remote remote >/dev/null
tkbundle pull a warm --remote remote >/dev/null
# What nobody verified since boot is held against the ref's bundles.
rm -r warm/.tkbundle
"$python" stalling.py >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
while [ ! -e port ] && kill -0 $server; do
	sleep 0.02
done
try tkbundle pull a warm --deadline 1s \
	--remote "http://127.0.0.1:$(cat port)/remote?listing=index&connections=1" |
	sed "s/:$(cat port)/:PORT/"

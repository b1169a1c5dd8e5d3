# SPDX-License-Identifier: Apache-2.0
need_own_processes
cat >silent.py <<'FILE'
import os
import socket
import time
with socket.create_server(("127.0.0.1", 0)) as server:
    with open("port.new", "w") as file:
        file.write(str(server.getsockname()[1]))
    os.rename("port.new", "port")
    kept = []
    while True:
        kept.append(server.accept()[0])
        open("asked", "w").close()
FILE
"$python" silent.py >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
while [ ! -e port ] && kill -0 $server; do
	sleep 0.02
done
url=redis://user:secret@127.0.0.1:$(cat port)
show() {
	rm -f asked
	tkbundle "$@" >words 2>&1 &
	child=$!
	while [ ! -e asked ] && kill -0 $child; do
		sleep 0.02
	done
	tr '\0' ' ' <"/proc/$child/cmdline" | sed 's/\*\**/*/g'
	echo
	kill $child
	wait $child || true
}
mkdir cache
{
	show pull a warm --remote "$url" -n
	show pull a warm "--remote=$url" -n
	show push a cache --remote one --remote "$url"
	show refs --remote "$url" --json
	show gc --remote "$url" --max-age 1d
	TKBUNDLE_REMOTE=$url
	export TKBUNDLE_REMOTE
	show pull a warm
} 2>notices

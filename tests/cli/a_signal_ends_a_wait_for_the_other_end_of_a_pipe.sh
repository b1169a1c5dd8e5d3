# SPDX-License-Identifier: Apache-2.0
[ -r /proc/self/status ] || skip "there is no /proc to see who is ready"
cache cache
mkfifo output archive bundle key

# Its fourth digit has SIGTERM, from the moment that it is caught.
is_ready() {
	grep -q '^SigCgt:.*[4-7c-f]...$' "/proc/$1/status"
}

is_alive() {
	grep -q '^State:.[^XZ]' "/proc/$1/status"
}

# Run the verb, send it one signal, and tell how it ended: of SIGKILL if it goes on.
end() {
	{
		tkbundle "$@" &
		until is_ready $! || ! is_alive $!; do
			sleep 0.01
		done
		! is_alive $! || kill -TERM $!
		for _ in $(seq 200); do
			is_alive $! || break
			sleep 0.1
		done
		! is_alive $! || kill -KILL $!
		status=0
		wait $! || status=$?
	} 2>"words.$1"
	echo "$1: $(grep '^tkbundle' "words.$1"), exit $status" >"end.$1"
}

end collect cache -o output &
end import archive -o out.tkb &
end push name --bundle bundle --remote "file://$PWD" &
end sign name --key key --remote "file://$PWD" &
wait
cat end.*
ls -A

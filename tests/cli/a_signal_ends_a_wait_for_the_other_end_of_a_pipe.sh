# SPDX-License-Identifier: Apache-2.0
[ -r /proc/self/status ] || skip "there is no /proc to see who is ready"
cache cache
mkfifo output archive bundle key

# Its fourth digit has SIGTERM, which is caught; or the program has ended too early.
is_ready() {
	grep -Eq '^(SigCgt:.*[4-7c-f]...|State:.Z.*)$' "/proc/$1/status"
}

# Run the verb, send it one signal, and tell how it ended.
end() {
	{
		tkbundle "$@" &
		until is_ready $!; do
			sleep 0.01
		done
		kill -TERM $!
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

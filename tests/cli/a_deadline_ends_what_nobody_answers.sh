# SPDX-License-Identifier: Apache-2.0
. "$here/silent.inc"
within() {
	begin=$(date +%s%N)
	status=0
	tkbundle "$@" --remote "$url" >out 2>&1 || status=$?
	taken=$((($(date +%s%N) - begin) / 1000000))
	sed "s/:$(cat port)/:PORT/; s/cannot connect: //" out
	echo "exit $status"
	[ $taken -ge 300 ] || echo "too early: $taken ms"
	[ $taken -lt 9000 ] || echo "too late: $taken ms"
}
cache cache
within pull a warm --deadline 300ms
within pull a warm --deadline 300ms --best-effort
within pull a -o a.tkb --deadline 300ms
within push a cache --deadline 300ms
within refs --deadline 300ms
within refs --delete a --deadline 300ms
within gc --deadline 300ms
url="$url?stall-timeout=20s&connect-timeout=20s,remote"
export TKBUNDLE_DEADLINE=400ms
within pull a warm
within pull a warm --deadline 1001ms
# Not meant for those that take long.
export TKBUNDLE_DEADLINE=1ms TKBUNDLE_STALL_TIMEOUT=300ms
url="redis://127.0.0.1:$(cat port)?retries=0"
within refs
within gc
sleep 0.5
rm asked
ls

# A signal is no deadline.
unset TKBUNDLE_DEADLINE TKBUNDLE_STALL_TIMEOUT
for signal in TERM INT HUP; do
	# A shell ignores INT for what it starts in the background, nohup HUP.
	"$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' \
		tkbundle pull a warm --remote "$url" --best-effort 2>words &
	pull=$!
	while [ ! -e asked ] && kill -0 $pull; do
		sleep 0.02
	done
	kill -$signal $pull
	status=0
	wait $pull || status=$?
	rm -f asked
	sed "s/:$(cat port)/:PORT/; s/cannot connect: //" words
	echo "exit $status"
done 2>notices

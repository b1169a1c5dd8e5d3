# SPDX-License-Identifier: Apache-2.0
need_own_processes
. "$here/silent.inc"
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

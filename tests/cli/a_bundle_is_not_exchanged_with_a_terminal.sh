# SPDX-License-Identifier: Apache-2.0
script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
	skip "script(1) gives no terminal here"
cache cache
tkbundle collect cache -o a.tkb >/dev/null
on_terminal() {
	status=0
	script -qec "$1" /dev/null </dev/null | tr -d '\r' || status=$?
}
on_terminal 'tkbundle collect cache -o -; echo "exit $?"'
for verb in ls emit verify; do
	on_terminal "tkbundle $verb -; echo \"exit \$?\""
done
on_terminal 'tkbundle show - 5D; echo "exit $?"'
on_terminal 'tkbundle collect cache -o - -n; echo "exit $?"'
on_terminal 'tkbundle push a --bundle - --remote remote; echo "exit $?"'
on_terminal 'tkbundle pull a -o - --remote remote; echo "exit $?"'

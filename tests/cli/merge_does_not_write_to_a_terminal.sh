# SPDX-License-Identifier: Apache-2.0
script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
	skip "script(1) gives no terminal here"
cache cache
tkbundle collect cache --key 5D -o a.tkb >/dev/null
on_terminal() {
	script -qec "$1" /dev/null </dev/null | tr -d '\r'
}
on_terminal 'tkbundle merge a.tkb -o -; echo "exit $?"'
on_terminal 'tkbundle merge - -o m.tkb; echo "exit $?"'
[ ! -e m.tkb ]

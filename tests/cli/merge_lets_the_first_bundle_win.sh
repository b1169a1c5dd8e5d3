# SPDX-License-Identifier: Apache-2.0
cache one/triton/0
cp -r one two
sed -i 's|/srv/app/|/srv/bob/|' two/triton/0/5D*/add_kernel.source
mv two/triton/0 two/triton/1
cp -r two/triton/1 two/triton/0
tkbundle collect one --key 5D --key QT -o one.tkb >/dev/null
tkbundle collect two --key 5D --key QT -o two.tkb >/dev/null
user() {
	tkbundle show "$1" 5D --stage source | grep -o -m 1 '/srv/[a-z]*'
}
try tkbundle merge one.tkb two.tkb -o m.tkb
tkbundle ls m.tkb
user m.tkb
try tkbundle merge two.tkb one.tkb -o n.tkb
tkbundle ls n.tkb
user n.tkb
tkbundle verify m.tkb
tkbundle verify n.tkb

# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D --key CP -o a.tkb >/dev/null
tkbundle collect cache --key CP --key QT -o b.tkb >/dev/null
tkbundle merge a.tkb b.tkb -o m.tkb --json | json |
	sed 's/"id": ".*"/"id": $ID/'
tkbundle merge a.tkb none.tkb -o n.tkb --json 2>/dev/null | json
[ ! -e n.tkb ]

# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
tkbundle emit a.tkb warm >/dev/null
tkbundle stats --json --used warm >document
if json <document | grep -q '"known": false'; then
	tkbundle stats --used warm | grep -q '^uses      unknown'
	skip "this file system keeps no access times"
fi
# Sizes are those of the files as they lie there, with the folder's name.
when() {
	sed -e 's/20[0-9-]* [0-9:]*/$DATE           $TIME/' \
		-e 's/ *[0-9.]* k*B  / $SIZE  /'
}
tkbundle stats --used warm | sed '1,/^paths\|^lean/d' | when
cat warm/QT*/__grp__softmax_kernel.json >/dev/null
sleep 0.1
cat warm/5D*/__grp__add_kernel.json >/dev/null
tkbundle stats --used --paths warm >/dev/null
tkbundle stats --used warm | sed '1,/^paths\|^lean/d' | when
tkbundle stats --json --used warm | json | sed -n '/"uses": {/,/}/p' |
	sed 's/\(_ns": \|"size": \)[1-9][0-9]*/\1$NUMBER/'
tkbundle stats --json --used warm | json | grep '"state": '

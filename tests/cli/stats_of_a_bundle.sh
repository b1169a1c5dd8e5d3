# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
sizes() {
	sed 's/^packed    [0-9.]* kB \(.*\), [0-9.]* /packed    $SIZE \1, $N /'
}
tkbundle stats a.tkb | sizes
tkbundle stats --json a.tkb >document
json <document | sed 's/"packed": [1-9][0-9]*/"packed": $SIZE/'
[ "$(json <document | sed -n 's/.*"packed": \([0-9]*\),/\1/p')" -eq \
	"$(stat -c %s a.tkb)" ]
tkbundle stats --json - <a.tkb | sed 's/"bundle":"-"/"bundle":"a.tkb"/' |
	cmp - document
cat a.tkb | tkbundle stats - | tail -n 4
cat a.tkb | tkbundle stats --json - | json | grep packed
tkbundle collect --profile lean cache -o lean.tkb >/dev/null
tkbundle stats --paths lean.tkb | sizes

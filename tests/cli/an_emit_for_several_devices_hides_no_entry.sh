# SPDX-License-Identifier: Apache-2.0
cache folder/triton/0
cp -r folder/triton/0 folder/triton/1
tkbundle collect folder -o two.tkb --key 5D >/dev/null
cache root

keys() {
	tkbundle ls root --json | json | sed -n 's/.*"key": "\(.*\)",/\1/p' |
		sort
}
keys >before
tkbundle emit two.tkb root >/dev/null 2>&1 || true
keys >after
comm -23 before after | sed 's/$/ is no longer listed/'

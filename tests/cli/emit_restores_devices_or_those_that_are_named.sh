# SPDX-License-Identifier: Apache-2.0
cache folder/triton/0
cp -r folder/triton/0 folder/triton/5
rm -r folder/triton/5/OH*
tkbundle collect folder -o a.tkb >/dev/null
show() {
	(cd "$1" && ls -d triton/*/??* | cut -c 1-11)
}
try tkbundle emit a.tkb same
show same
try tkbundle emit a.tkb one --device 1 --layout inductor --key 5D
show one
try tkbundle emit a.tkb two --device 1 --device=2 --device 1 --key 5D
show two
try tkbundle emit a.tkb flat --layout triton --key 5D
ls flat
try tkbundle emit a.tkb torchinductor_me --key OH
show torchinductor_me

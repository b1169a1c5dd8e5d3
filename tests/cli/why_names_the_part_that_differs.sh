# SPDX-License-Identifier: Apache-2.0
# Another key needs another folder and hash; a bundle has no root to look at.
rekey() {
	old=$(cd "$1" && echo 5DJU*)
	mv "$1/$old" "$1/6$(echo "$old" | cut -c 2-)"
	sed -i 's/"hash": "e8/"hash": "f0/' "$1"/6*/add_kernel.json
	sed -i "s/$old/6$(echo "$old" | cut -c 2-)/g" "$1"/6*/__grp__*
}
cache a
cp -R a b && rekey b
sed -i 's/"num_warps": 4/"num_warps": 2/' b/6*/add_kernel.json
try tkbundle why add_kernel a b
cp -R a c && rekey c
sed -i 's/"enable_fp_fusion"/"DISABLE_PTXAS_OPT": "1", &/' c/6*/add_kernel.json
try tkbundle why add_kernel a c
cp -R a d && rekey d
sed -i 's/^.version 8.7/.version 9.0/' d/6*/add_kernel.ptx
try tkbundle why add_kernel a d
tkbundle why add_kernel a d --json | json
try tkbundle why add_kernel a a
# B has both keys; as refs, and from standard input, they are the same.
cp -R d/6* a/ && cp -R a e && rm -r a/6*
try tkbundle why add_kernel a e
mkdir remote
tkbundle push one a --remote remote >words
tkbundle push two e --remote remote >words
try tkbundle why add_kernel one two --remote remote
try tkbundle why add_kernel one three --remote remote
tkbundle collect a -o a.tkb >words
try_line 'tkbundle why add_kernel - e <a.tkb'
# Of half a bundle, the list is there.
size=$(wc -c <a.tkb)
head -c $((size / 2)) a.tkb >half.tkb
try tkbundle why add_kernel half.tkb a
try tkbundle why add_kernel a half.tkb --json
cp half.tkb other.tkb
try tkbundle why add_kernel half.tkb other.tkb
try tkbundle why add_kernel a none
try tkbundle why none a d
try tkbundle why add_kernel a
try tkbundle why --last a
try env XDG_STATE_HOME="$PWD/none" TMPDIR="$PWD/none" tkbundle why --last

try tkbundle why --last --remote remote
try tkbundle why K a b --deadline 1s
try_line 'tkbundle why --json'
# An entry that is not whole is not said to be absent.
cache whole
cp -R whole broken
echo '{' >"$(echo broken/5DJU*)/add_kernel.json"
try tkbundle why add_kernel whole broken
try tkbundle why add_kernel broken whole --json

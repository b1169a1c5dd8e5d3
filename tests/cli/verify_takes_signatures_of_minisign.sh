# SPDX-License-Identifier: Apache-2.0
command -v minisign >/dev/null || skip "minisign is not installed"
cache cache
for name in ours others; do
	minisign -G -W -p $name.pub -s $name.key >/dev/null
done
cat >policy <<'FILE'
ours.key = ours.pub
ours.publish = *
FILE
tkbundle collect -o a.tkb cache >/dev/null
sign() {
	minisign -S -W -m a.tkb "$@" >/dev/null
}
letters() {
	sed -n 2p a.tkb.minisig | base64 -d | head -c 2
	echo
}
hide() {
	sed 's/[0-9a-f]\{64\}/ID/'
}
try tkbundle verify none.tkb --trust policy
try tkbundle verify a.tkb --trust policy
sign -s ours.key -t 'of our CI'
try letters
try tkbundle verify a.tkb --trust policy
try_line 'tkbundle verify a.tkb --trust policy --json | hide'

# The older kind, of the file itself.
sign -s ours.key -l
try letters
try tkbundle verify a.tkb --trust policy

# What is changed is refused: the comment that is signed, the signature, the file.
cp a.tkb.minisig kept
try_line 'sed "3s/file:a/file:b/" kept >a.tkb.minisig; tkbundle verify a.tkb --trust policy'
try_line 'sed "2s/^\(.\{40\}\)[A-Ma-m]/\1Z/;t;2s/^\(.\{40\}\)./\1A/" kept >a.tkb.minisig; tkbundle verify a.tkb --trust policy'
try_line 'sed 4d kept >a.tkb.minisig; tkbundle verify a.tkb --trust policy'
cp kept a.tkb.minisig
cp a.tkb b.tkb && cp kept b.tkb.minisig && printf x >>b.tkb
try tkbundle verify b.tkb --trust policy
sign -s others.key
try tkbundle verify a.tkb --trust policy
sign -s ours.key
echo 'ours.not-after = 2020-01-01T00:00:00Z' >>policy
try tkbundle verify a.tkb --trust policy
printf '%s\n' 'ours.key = ours.pub' 'ours.revoke = yes' >policy
try tkbundle verify a.tkb --trust policy
try_line 'tkbundle verify - --trust policy <a.tkb'

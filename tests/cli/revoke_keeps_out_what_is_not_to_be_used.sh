# SPDX-License-Identifier: Apache-2.0
cache cache
# Keys differ each time; what is said of them does not.
hide() {
	sed 's/record [0-9a-f]\{12\}/record ID/; s/"sequence":[0-9]*/"sequence":N/'
}
trust ci 'publish = *'
trust old 'publish = *'
trust security 'revoke = yes' --kind p256
export TKBUNDLE_REMOTE=remote XDG_STATE_HOME=$PWD/state
try tkbundle push model/a cache --sign ci.pem
try tkbundle push model/b cache --sign old.pem

# A remote without a list is not trusted at all: somebody may hide it.
try tkbundle pull model/a one --trust policy
try tkbundle revoke --sign ci.pem
try tkbundle pull model/a one --trust policy
try tkbundle revoke --sign security.pem
try tkbundle pull model/a one --trust policy

# A key, a record, all that a ref holds.
try_line 'tkbundle revoke $(key_id old.pem) --sign security.pem --json | hide'
try_line 'tkbundle pull model/b two --trust policy 2>&1 | hide'
try tkbundle pull model/a three --trust policy
# A list by a key that may not revoke would take the place of that one.
try tkbundle revoke --sign ci.pem --trust policy
try_line 'tkbundle pull model/b two --trust policy 2>&1 | hide'
try_line 'tkbundle revoke $(key_id security.pem) --sign security.pem --trust policy'
try tkbundle revoke --ref model/a --sign security.pem --expires 7d
try_line 'tkbundle pull model/a four --trust policy 2>&1 | hide'
try_line 'sed s/^/unsigned=accept\\n/ policy | head -1 | cat - policy >lax;
	tkbundle pull model/a four --trust lax 2>&1 | hide'
try_line 'tkbundle ls model/a --remote - 2>&1 | wc -l'
try_line 'TKBUNDLE_TRUST=$PWD/policy tkbundle ls model/a --remote - 2>&1 | hide'
# Again is nothing new.
try tkbundle revoke --ref model/a --sign security.pem
# Compressed otherwise, it is another blob of the same bundle.
tkbundle collect cache --key 5DJU -o part.tkb >>out
tkbundle collect cache -o all.tkb >>out
tkbundle merge part.tkb all.tkb -o other.tkb >>out
try_line 'cmp -s all.tkb other.tkb || echo another'
try tkbundle push model/e --bundle other.tkb --sign ci.pem
try_line 'tkbundle pull model/e four --trust policy 2>&1 | hide'
try_line 'tkbundle revoke --ref model/e --sign security.pem 2>&1'

# An older list, or none, is noticed.
try tkbundle push model/c cache --sign ci.pem --key 5DJU
cp -r remote kept
try tkbundle revoke --sign security.pem
try tkbundle pull model/c five --trust policy
mv remote newer && mv kept remote
try tkbundle pull model/c six --trust policy
# Signed again, an older list would look like the newest.
try_line 'tkbundle revoke --sign security.pem --trust policy 2>&1 | sed "s#$PWD#HERE#"'
rm -r remote/ref/@revoked
try tkbundle pull model/c six --trust policy
try_line 'tkbundle revoke --sign security.pem --trust policy 2>&1 | sed "s#$PWD#HERE#"'
try_line 'tkbundle revoke --sign security.pem --trust policy 2>/dev/null'
# A machine that has seen nothing cannot know of a newer one.
rm -r remote && mv newer remote
try_line 'XDG_STATE_HOME=$PWD/other tkbundle pull model/c six --trust policy'

# A memory that is damaged is one sentence.
echo nonsense >state/tkbundle/seen
try_line 'tkbundle pull model/c seven --trust policy 2>&1 | sed "s#$PWD#HERE#"'
try_line 'tkbundle run --ref model/c --cache seven --trust policy --push never \
	-- true 2>&1 | grep -o "the memory of signed refs, is damaged" | uniq'
rm state/tkbundle/seen
try tkbundle pull model/c seven --trust policy

# A ref that goes back, where the policy refuses that.
cp -r remote kept
try tkbundle sign model/c --key ci.pem --all
{ cat policy; echo 'replay = refuse'; } >strict
try tkbundle pull model/c eight --trust strict
rm -r remote && mv kept remote
try tkbundle pull model/c nine --trust policy
try tkbundle pull model/c ten --trust strict
try_line 'ls ten 2>&1'

fault() {
	printf '%b' "$1" >fault
	printf '# %s\n' "$1"
	try tkbundle pull model/a none --trust fault
}
fault 'ci.key = ci.pem.pub\nci.revoke = no\n'
fault 'replay = maybe\n'
fault 'replay = refuse\nreplay = refuse\n'
try_line 'env -u HOME -u XDG_STATE_HOME tkbundle pull model/c none --trust strict'
try tkbundle revoke abc --sign security.pem
try tkbundle revoke --ref nothing --sign security.pem
try tkbundle revoke

# A short digest is of something at hand: a record as messages name it, or a key.
try tkbundle push model/d cache --sign ci.pem --key 5DJU --no-compaction
try_line 'tkbundle revoke $(ls remote/ref/model,d | cut -c -12) --sign security.pem'
try_line 'tkbundle pull model/d seven --trust policy 2>&1 | hide'
try_line 'tkbundle revoke $(key_id ci.pem | cut -c -12) --sign security.pem --trust policy'
try tkbundle pull model/c eight --trust policy
try_line 'tkbundle revoke $(key_id security.pem | cut -c -8) --sign security.pem 2>&1 |
	sed "s/[0-9a-f]\{8\}/DIGITS/"'
try tkbundle revoke 1234567 --sign security.pem

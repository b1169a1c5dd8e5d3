# SPDX-License-Identifier: Apache-2.0
cache cache
trust ci 'publish = model/*'
trust release 'promote = prod/*'
# Keys and times differ each time.
hide() {
	sed -E 's/[0-9a-f]{64}/ID/g
		s/key [0-9a-f]{12}/key ID/
		s/(sequence\"?[: ])[0-9]+/\1NUMBER/g
		s/[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:]*Z)?/DATE/g'
}
export TKBUNDLE_REMOTE=remote
tkbundle push model/a cache --sign ci.pem >/dev/null
tkbundle push model/b cache >/dev/null
tkbundle promote model/a --to prod/a --sign release.pem --trust policy >/dev/null

try_line 'tkbundle pull model/a one --trust policy -v 2>&1 | hide'
try_line 'tkbundle pull model/a one --trust policy --json | grep -o "\"signatures.*" | hide'
try_line 'tkbundle verify model/a --remote - --trust policy 2>&1 | hide'
try_line 'tkbundle verify model/b --remote - --trust policy --json | grep -o "\"untrusted.*" | hide'
try_line 'tkbundle verify prod/a --remote - --trust policy --json | grep -o "\"untrusted.*" | hide'
# The configured policy counts, too; of a whole remote, nothing is judged.
try_line 'TKBUNDLE_TRUST=policy tkbundle verify model/a --remote - | tail -n 1 | hide'
try_line 'TKBUNDLE_TRUST=policy tkbundle verify model/b --remote -'
try_line 'TKBUNDLE_TRUST=policy tkbundle verify --remote -'
try_line 'tkbundle refs --trust policy | sed "s/  .*:90//" | hide'
try_line 'tkbundle refs "prod/*" -l --trust policy | tail -n 2 | hide'
try_line 'tkbundle refs model/b --trust policy --json | grep -o "\"untrusted.*" | hide'
try_line 'TKBUNDLE_TRUST=policy tkbundle ls prod/a --remote - | grep signed | hide'
try_line 'TKBUNDLE_TRUST=policy TKBUNDLE_REF=prod/a tkbundle doctor one | grep signed | hide'

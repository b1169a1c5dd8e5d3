# SPDX-License-Identifier: Apache-2.0
cache cache
trust ci 'publish = model/* prod/ci'
trust release 'promote = prod/*'
key security.pem
key other.pem
hide() {
	sed 's/has no key [0-9a-f]\{12\}/has no key ID/'
}
export TKBUNDLE_REMOTE=remote XDG_STATE_HOME=$PWD/state

# What counts is not warned of, and without a policy nothing is.
try tkbundle push model/a cache --sign ci.pem --trust policy
try tkbundle push elsewhere/y cache --sign ci.pem
export TKBUNDLE_TRUST=$PWD/policy
try tkbundle push model/a cache --sign other.pem --sign ci.pem
try tkbundle promote model/a --to prod/a --sign release.pem

# The key, the ref and the stage.
try tkbundle push elsewhere/y cache --sign ci.pem
try tkbundle sign model/a --key release.pem
try tkbundle sign model/a --key release.pem
try tkbundle sign model/a --key ci.pem --stage prod
try tkbundle push prod/ci cache --sign ci.pem
try_line 'tkbundle push model/a cache --sign other.pem 2>&1 | hide'
try tkbundle promote model/a --to other/y --sign ci.pem
# What is refused anyway is not warned of, too.
try tkbundle promote model/a --to prod/b --sign ci.pem

# A record of an unknown key counts as unsigned.
sed '$aunsigned = accept' policy >accept
try tkbundle push model/b cache --sign other.pem --trust accept

# The time, and what is revoked.
sed '$aci.not-after = 2020-01-01T00:00:00Z' policy >past
try tkbundle push model/a cache --sign ci.pem --trust past
printf '%s\n' 'security.key = security.pem.pub' 'security.revoke = yes' >>policy
tkbundle revoke --sign security.pem >/dev/null 2>&1
try tkbundle push model/a cache --sign ci.pem
tkbundle revoke "$(key_id ci.pem)" --sign security.pem >/dev/null 2>&1
try tkbundle push model/a cache --sign ci.pem

# SPDX-License-Identifier: Apache-2.0
cache cache
trust ci 'publish = *'
trust old 'publish = *'
trust security 'revoke = yes'
export TKBUNDLE_REMOTE=remote XDG_STATE_HOME=$PWD/state
export TKBUNDLE_TRUST=$PWD/policy
tkbundle revoke --sign security.pem
tkbundle push model/a cache --sign old.pem --key 5DJU >/dev/null
try tkbundle pull model/a warm
tkbundle push model/b cache --sign ci.pem >/dev/null
try tkbundle pull model/b warm
try tkbundle pull model/a other
try tkbundle gc warm --revoked
try tkbundle gc other --revoked

# One entry came from what a key has signed that was lost.
try_line 'tkbundle revoke $(key_id old.pem) --sign security.pem'
try tkbundle gc other --revoked -n
try tkbundle verify other --trust policy
try_line 'tkbundle verify other --trust policy --json | grep -o "\"useless\".*\"layout"'
try tkbundle verify other
try_line 'tkbundle verify model/a --remote - --trust policy 2>&1 | sed "s/record [0-9a-f]\{12\}/record ID/"'
try_line 'tkbundle verify model/b --remote - --trust policy | grep -c signed'
try tkbundle verify --remote - --trust policy
try_line 'ls -d other/[0-9A-Z]* | wc -l'
try tkbundle gc other --revoked
try_line 'ls -d other/[0-9A-Z]* 2>/dev/null | wc -l'
try tkbundle gc other --revoked
# It stood in the other cache before the good one came: nobody knows which it is.
try_line 'tkbundle gc warm --revoked --json | sed "s/.*\(\"removed\":[0-9]*\).*/\1/"'
# It comes again, of another origin, and stays.
try tkbundle pull model/b warm
try tkbundle gc warm --revoked --trust policy --remote -

try tkbundle verify warm --trust policy

# Without a list that counts, nothing is removed.
rm -r remote/ref/@revoked
try tkbundle gc warm --revoked
try_line 'TKBUNDLE_TRUST= tkbundle gc warm --revoked'
try_line 'TKBUNDLE_REMOTE= tkbundle gc warm --revoked'
try tkbundle gc warm --trust policy --max-age 1d

# SPDX-License-Identifier: Apache-2.0
cache cache
# Keys differ each time; what is said of them does not.
hide() {
	sed 's/record [0-9a-f]\{12\}/record ID/; s/key [0-9a-f]\{12\}/key ID/'
}
key ci.pem
key release.pem --kind p256
echo word >word
key hidden.pem --passphrase-file word
export TKBUNDLE_REMOTE=remote

try tkbundle push model/a cache --sign ci.pem
try tkbundle push model/a cache --sign ci.pem
try tkbundle push model/b cache --sign hidden.pem --passphrase-file word
try tkbundle push model/c cache
cat >policy <<'FILE'
# Of our fleet.
unsigned = refuse
ci.key = ci.pem.pub
ci.publish = model/* other/?

release.key = release.pem.pub
release.publish = *
release.promote = prod/*
FILE
try tkbundle pull model/a one --trust policy
try_line 'tkbundle pull model/b two --trust policy 2>&1 | hide'
try_line 'tkbundle pull model/c two --trust policy --json 2>&1 | hide'
try tkbundle pull model/c --trust policy -o two.tkb
try_line 'ls two two.tkb 2>&1'
try_line 'TKBUNDLE_TRUST=$PWD/policy tkbundle ls model/c --remote - 2>&1 | hide'
try tkbundle pull model/c two --trust policy --best-effort
try_line 'TKBUNDLE_CONFIG= XDG_CONFIG_HOME=$PWD/xdg; export XDG_CONFIG_HOME;
	mkdir -p xdg/tkbundle; cp policy ci.pem.pub release.pem.pub xdg/tkbundle;
	mv xdg/tkbundle/policy xdg/tkbundle/trust;
	tkbundle pull model/c two 2>&1 | hide'

# A part that is signed is used.
try tkbundle push model/a cache --sign release.pem
try tkbundle push model/c cache --sign release.pem --key 5DJU
try_line 'tkbundle pull model/c part --trust policy 2>&1 | hide'

# Two keys of two.
sed 's/^unsigned.*/threshold = 2/' policy >both
try tkbundle pull model/a both-signed --trust both
try_line 'tkbundle pull model/c both-not --trust both 2>&1 | hide'

# Where nobody refuses.
sed 's/refuse/warn/' policy >warn
try_line 'tkbundle pull model/b three --trust warn 2>&1 | hide'
sed 's/refuse/accept/' policy >accept
try tkbundle pull model/b four --trust accept

# What is wrong with a policy is one sentence.
fault() {
	printf '%b' "$1" >fault
	printf '# %s\n' "$1"
	try tkbundle pull model/a none --trust fault
}
fault 'unsigned = maybe\n'
fault 'ci.key = nothing.pub\n'
fault 'ci.publish = *\n'
fault 'ci.key = ci.pem.pub\nci.key = release.pem.pub\n'
fault 'ci.key = policy\n'
fault 'ci.key = ci.pem.pub\nalso.key = ci.pem.pub\nthreshold = 2\n'
fault 'c!.key = ci.pem.pub\n'
fault 'ci.sing = x\n'
fault 'speed = 1\n'
fault 'threshold = 0\n'
fault 'threshold = -18446744073709551615\n'
fault 'threshold = 2\nthreshold = 2\n'
fault 'ci.not-after = tomorrow\n'
fault 'ci.not-after = 2027-02-30T00:00:00Z\n'
fault 'nonsense\n'
try tkbundle pull model/a none --trust nothing
chmod g+w policy
try tkbundle pull model/a none --trust policy
chmod g-w policy
chmod o+w policy
try tkbundle pull model/a none --trust policy
chmod o-w policy
chmod g+w ci.pem.pub
try tkbundle pull model/a none --trust policy
chmod o+w ci.pem.pub
try tkbundle pull model/a none --trust policy

try tkbundle push model/a cache --sign ci.pem.pub
try tkbundle push model/a cache --sign policy
try tkbundle push model/a cache --expires 1d
try tkbundle push model/a cache --sign ci.pem --expires 0s
try tkbundle push - cache --layout triton --sign ci.pem

# The one that counts where none is named.
try tkbundle config --get trust
try_line 'tkbundle config | grep ^trust | tr -s " "'
ln -sf nowhere/policy xdg/tkbundle/trust
try tkbundle pull model/c none
# Nor is one that cannot be reached passed over.
rm -r xdg/tkbundle
ln -s tkbundle xdg/tkbundle
export TKBUNDLE_CONFIG=/dev/null
try tkbundle pull model/c none

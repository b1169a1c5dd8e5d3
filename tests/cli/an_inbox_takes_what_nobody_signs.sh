# SPDX-License-Identifier: Apache-2.0
cache cache
trust ci 'publish = model/* inbox/*'
trust release 'promote = prod/*'
echo inbox = inbox >>policy
export TKBUNDLE_REMOTE=remote

# What has no key goes there, whoever asks for which ref.
try tkbundle push prod/a cache --trust policy -n
try tkbundle push prod/a cache --key 5DJU --trust policy
try tkbundle push inbox/prod/a cache --key 5DJU --trust policy
try_line "tkbundle push prod/b cache --key 5DJU --trust policy --json | json | grep '\"ref\"'"
try tkbundle collect cache -o bundle.tkb --key 5DJU
try tkbundle push prod/c --bundle bundle.tkb --trust policy
try tkbundle push model/a cache --sign ci.pem --trust policy
try tkbundle push free/a cache
try_line "tkbundle refs | awk '{ print \$1, \$2, \$3 }'"

# Nothing comes from there, whatever is signed.
try tkbundle pull inbox/prod/a out --trust policy
try tkbundle sign inbox/prod/a --key ci.pem
try tkbundle pull inbox/prod/a out --trust policy
try tkbundle pull inbox/prod/a --output out.tkb --trust policy
try_line 'TKBUNDLE_TRUST=policy tkbundle ls inbox/prod/a --remote -'
try_line 'ls'
try tkbundle promote inbox/prod/a --to prod/a --sign release.pem --trust policy
try tkbundle pull prod/a out --trust policy
# Of what is promoted, nothing is pushed again.
try tkbundle push prod/a cache --trust policy
try tkbundle push prod/a cache --trust policy

# Where unsigned records count, the inbox is a ref as others.
sed 's/^inbox.*/&\nunsigned = accept/' policy >accept
try tkbundle pull inbox/prod/c out --trust accept

# The setting, and names that it cannot make.
for value in '' '../up' '@signed' a/; do
	printf 'inbox = %s\n' "$value" >wrong
	try tkbundle push model/a cache --trust wrong
done
printf 'inbox = a\ninbox = b\n' >wrong
try tkbundle push model/a cache --trust wrong
long=$(printf '%0198d' 0)
tkbundle push "$long" cache --trust policy 2>said || echo $?
sed 's/0\{198\}/LONG/' said
try tkbundle push - cache --layout triton --trust policy

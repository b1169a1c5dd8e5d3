# SPDX-License-Identifier: Apache-2.0
cache cache
trust ci 'publish = model/*'
trust release 'promote = prod/*' --kind p256
echo word >word
key hidden.pem --passphrase-file word
export TKBUNDLE_REMOTE=remote

# What somebody pushed without a key, CI signs.
try tkbundle push model/a cache --key 5DJU
try tkbundle pull model/a one --trust policy
try tkbundle sign model/a --key ci.pem -n
try tkbundle pull model/a one --trust policy
try tkbundle sign model/a --key ci.pem --expires 7d
try tkbundle pull model/a one --trust policy
try tkbundle sign model/a --key ci.pem
try tkbundle sign model/a --key ci.pem --import none
try tkbundle sign model/a --key ci.pem --all
try tkbundle sign model/a --key ci.pem --json
try tkbundle sign model/a --key hidden.pem --passphrase-file word
# The wrong stage is not trusted.
try tkbundle push model/s cache
try tkbundle sign model/s --key ci.pem --stage prod
try tkbundle pull model/s stage --trust policy

# Promoted, and nothing is uploaded again: the blob stands there already.
try tkbundle promote model/a --to prod/a --sign release.pem --trust policy -n
try_line "tkbundle refs | awk '{ print \$1, \$2, \$3 }'"
try tkbundle promote model/a --to prod/a --sign release.pem --trust policy
try_line 'find remote/cas -type f | wc -l'
try tkbundle promote model/a --to prod/a --sign release.pem --trust policy
try tkbundle pull prod/a two --trust policy
try_line "tkbundle refs | awk '{ print \$1, \$2, \$3 }'"
# A key without the role does not promote, unless the policy knows of no key that may:
# then it is for others to trust that or not.
try tkbundle promote model/a --to prod/b --sign ci.pem --trust policy
try tkbundle promote model/a --to stage/b --sign ci.pem --trust policy
try tkbundle pull stage/b three --trust policy
# A part that nobody has signed stays where it is.
try tkbundle push model/a cache
try tkbundle promote model/a --to prod/a --sign release.pem --trust policy
try tkbundle promote model/s --to prod/s --sign release.pem --trust policy --json
try tkbundle refs prod/s
# Of a blob that is gone, nothing is promoted.
try tkbundle sign model/a --key ci.pem
rm -r remote/cas
try tkbundle promote model/a --to prod/c --sign release.pem --trust policy
try tkbundle refs prod/c

try tkbundle sign model/none --key ci.pem
try tkbundle promote model/none --to prod/none --sign ci.pem --trust policy
try tkbundle promote model/a --to prod/a --sign ci.pem
try tkbundle promote model/a --to model/a --sign ci.pem --trust policy
try tkbundle promote model/a --to '@signed/x' --sign ci.pem --trust policy
try tkbundle promote model/a --sign ci.pem
try tkbundle promote model/a --to prod/a
try tkbundle sign model/a
try tkbundle sign model/a --key ci.pem.pub
try tkbundle sign model/a --key nothing
try_line 'TKBUNDLE_DISABLE=1 tkbundle sign model/a --key ci.pem --json'
# A signature that does not fit is no file.
try_line '(ulimit -f 1; trap "" XFSZ
	tkbundle sign model/a --key ci.pem.pub --export signatures >>out 2>&1) ||
	{ echo no room; ls signatures; }'

# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle key new ci.pem >/dev/null
tkbundle collect -o a.tkb cache >/dev/null
cat >policy <<'FILE'
ci.key = ci.pem.pub
ci.publish = *
FILE
mkfifo a.tkb.minisig pipe
try timeout 20 tkbundle verify a.tkb --trust policy
try timeout 20 tkbundle verify pipe --trust policy

# SPDX-License-Identifier: Apache-2.0
cache cache
trust ci 'publish = *'
tkbundle collect -o a.tkb cache >/dev/null
mkfifo a.tkb.minisig pipe
try timeout 20 tkbundle verify a.tkb --trust policy
try timeout 20 tkbundle verify pipe --trust policy

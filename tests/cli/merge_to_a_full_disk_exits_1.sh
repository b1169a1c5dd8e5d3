# SPDX-License-Identifier: Apache-2.0
[ -w /dev/full ] || skip "there is no /dev/full"
cache cache
tkbundle collect cache --key 5D -o a.tkb >/dev/null
try tkbundle merge a.tkb -o /dev/full
try_line 'tkbundle merge a.tkb -o - >/dev/full'
try_line 'tkbundle merge a.tkb -o m.tkb >/dev/full'
try_line 'tkbundle merge a.tkb -o m.tkb --json >/dev/full'
tkbundle collect cache --key OH -o small.tkb >/dev/null
try_line 'tkbundle merge small.tkb -o - >/dev/full'

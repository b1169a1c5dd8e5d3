# SPDX-License-Identifier: Apache-2.0
powerless true 2>/dev/null || skip "root cannot give up its powers here"
cache cache
tkbundle collect cache -o a.tkb --key 5D >/dev/null
tkbundle collect cache -o all.tkb >/dev/null
mkdir locked
tkbundle emit a.tkb out >/dev/null
chmod 555 locked out
try powerless tkbundle emit a.tkb locked
try powerless tkbundle emit a.tkb locked/below
try powerless tkbundle collect cache -o locked/a.tkb
try powerless tkbundle emit a.tkb out
try powerless tkbundle emit all.tkb out
ls -A locked
chmod 755 locked out

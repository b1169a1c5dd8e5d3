# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try_line 'tkbundle emit - piped <a.tkb'
try_line 'cat a.tkb | tkbundle emit - piped'
try_line 'cat a.tkb | tkbundle ls -'
try_line 'cat a.tkb | tkbundle show - 5D --stage ptx | cmp - cache/5D*/*.ptx'
try_line 'cat a.tkb | tkbundle verify -'
try_line 'tkbundle verify - </dev/null'
try_line 'head -c 1000 a.tkb | tkbundle emit - cut'

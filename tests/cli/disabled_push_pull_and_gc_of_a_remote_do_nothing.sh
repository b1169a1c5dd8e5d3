# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle push a cache --remote remote >words
find remote -printf '%p %i %T@\n' | sort >before
export TKBUNDLE_DISABLE=1
try tkbundle push b cache --remote remote
try tkbundle pull a warm --remote remote --metrics file
try_line 'tkbundle pull a warm --json | json'
try tkbundle pull a -o a.tkb --remote remote
try tkbundle gc --remote remote --max-size 0
try tkbundle pull a b c
ls
find remote -printf '%p %i %T@\n' | sort | cmp - before

# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
export TKBUNDLE_DISABLE=1
try tkbundle collect cache -o b.tkb
try_line 'tkbundle collect cache -o - | wc -c'
try tkbundle emit a.tkb out
try tkbundle emit nowhere.tkb out
try_line 'tkbundle emit a.tkb out --json | json'
try_line 'tkbundle collect cache -o b.tkb --json | json'
try tkbundle collect --nonsense
ls
try tkbundle verify a.tkb
try tkbundle ls a.tkb --key 5D
TKBUNDLE_DISABLE=0 try tkbundle emit a.tkb zero
TKBUNDLE_DISABLE= try tkbundle emit a.tkb none

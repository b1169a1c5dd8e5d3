# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle collect cache -o b.tkb --key -x
try tkbundle collect cache -o b.tkb --key=-x
try tkbundle emit a.tkb out --key --
try tkbundle show -- a.tkb -x

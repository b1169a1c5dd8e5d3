# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle emit a.tkb out --key 5D --key QTEE --key 5DJU
ls out
try tkbundle emit a.tkb none --key 5D --key nothing
try test -e none

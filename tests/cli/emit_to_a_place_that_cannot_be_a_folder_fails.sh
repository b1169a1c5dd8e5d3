# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
touch file
try tkbundle emit a.tkb file
try tkbundle emit a.tkb file/below
try tkbundle emit a.tkb /proc/tkbundle
try_line 'tkbundle emit a.tkb /proc/tkbundle --json 2>/dev/null | json'

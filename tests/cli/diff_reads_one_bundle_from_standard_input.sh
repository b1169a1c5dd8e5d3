# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try_line 'tkbundle diff - cache <a.tkb'
try_line 'cat a.tkb | tkbundle diff cache -'
try tkbundle diff - -
